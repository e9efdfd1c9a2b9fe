/* SPDX-License-Identifier: BSD-3-Clause */
/* Compare-and-swap and fetch-and-add between two engines; the peer's part, where it must lie. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "rigs/exact_sums.h"
#include "roce/responder/atomic.h"

#define QPS    8u
#define MTU    1024u
#define PSN    100u
#define LONG   UINT64_C(100000000000)
#define WORD   (1u << 20)
#define ATOMIC (NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)
#define ALL    (ATOMIC | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)

static struct pair *
atomic_pair(struct pair_opts o)
{
	o.mtu = MTU;
	o.min_rnr_code = 14;
	o.access = o.access != 0 ? o.access
				 : NDSH_ACCESS_REMOTE_ATOMIC | NDSH_ACCESS_REMOTE_READ |
					   NDSH_ACCESS_REMOTE_WRITE;
	o.mr_access = o.mr_access != 0 ? o.mr_access : ALL;
	return pair_new(&o);
}

static uint64_t *
word(struct pair *p, unsigned side, uint32_t at)
{
	return (uint64_t *)(void *)(p->side[side].arena + at);
}

/* The old value goes to byte `to` of side 0. */
static void
post(struct pair *p, unsigned i, uint8_t op, uint64_t context, uint32_t to, uint32_t at,
	uint64_t swap_add, uint64_t compare, uint32_t flags)
{
	struct ndsh_sge sge = pair_sge(p, 0, to, 8);

	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA + at,
			.rkey = p->side[1].key,
			.arg = {swap_add, compare},
			.ctrl = NDSH_CTRL(op, 1, flags, 0)},
		&sge, NULL);
}

static void
add(struct pair *p, uint64_t context, uint32_t to, uint64_t n)
{
	post(p, 0, NDSH_OP_FETCH_ADD, context, to, WORD, n, 0, 0);
}

/*
 * In this machine's byte order on both sides, and only where they belong. checks
 * W-ATOM-03[1,2,3], W-COMP-11[2]
 */
Test(atomics, W_ATOM_03_W_COMP_11_values)
{
	const uint64_t v = 0x0102030405060708;
	struct pair *p = atomic_pair((struct pair_opts){.qps = 1});
	struct ndsh_cqe c;

	*word(p, 1, WORD) = v;
	memset(p->side[0].arena, 0xee, 64);
	post(p, 0, NDSH_OP_FETCH_ADD, 1, 8, WORD, 0x10, UINT64_MAX, 0);
	post(p, 0, NDSH_OP_CMP_SWAP, 2, 17, WORD, 7, v, 0);
	post(p, 0, NDSH_OP_CMP_SWAP, 3, 32, WORD, 7, v + 0x10, 0);
	post(p, 0, NDSH_OP_FETCH_ADD, 4, 40, WORD, UINT64_MAX - 6, 0, 0);
	cr_assert(pair_run(p, LONG));
	for (uint64_t i = 1; i <= 4; i++) {
		c = pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		cr_assert_eq(c.bytes, 8);
		cr_assert_eq(c.op, i == 1 || i == 4 ? NDSH_OP_FETCH_ADD : NDSH_OP_CMP_SWAP);
	}
	cr_assert_eq(*word(p, 0, 8), v);
	cr_assert_eq(memcmp(p->side[0].arena + 17, &(uint64_t){v + 0x10}, 8), 0);
	cr_assert_eq(*word(p, 0, 32), v + 0x10);
	cr_assert_eq(*word(p, 0, 40), 7);
	cr_assert_eq(*word(p, 1, WORD), 0, "the sum wraps");
	cr_assert_eq(p->side[0].arena[7] & p->side[0].arena[16] & p->side[0].arena[25] &
			     p->side[0].arena[48],
		0xee);
	cr_assert_eq(*word(p, 1, WORD - 8) | *word(p, 1, WORD + 8), 0);
	pair_expect_none(p, 1);
	pair_free(p);
}

/* ---- among the CPU's ---- */

#define ONE_OF_PEER (UINT64_C(1) << 32) /* in the same word as what the CPU counts */
#define MEETINGS    300u		/* changes of the other's seen between two own ones */
#define AT_LEAST    200000u

struct cpu {
	uint64_t word;
	uint32_t added;
	bool stop;
};

static void *
cpu_adds(void *arg)
{
	struct cpu *c = arg;

	while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
		__atomic_fetch_add(&c->word, 1, __ATOMIC_RELAXED);
		c->added++;
	}
	return NULL;
}

/* An operation of the peer and what it found; it changed the word if `changed`. */
static uint64_t
peer_changes(struct cpu *c, uint8_t op, uint64_t last, bool *changed)
{
	uint64_t found;

	if (op == ROCE_FETCH_ADD) {
		*changed = true;
		return roce_atomic_execute((uint8_t *)&c->word, op, ONE_OF_PEER, 0);
	}
	found = roce_atomic_execute((uint8_t *)&c->word, op, last + ONE_OF_PEER, last);
	*changed = found == last;
	return found;
}

static void
meet_the_cpu(uint8_t op)
{
	struct cpu c = {.stop = false};
	uint64_t last = 0, found, changes = 0;
	uint32_t meetings = 0, n = 0;
	pthread_t thread;
	bool changed;

	cr_assert_eq(pthread_create(&thread, NULL, cpu_adds, &c), 0);
	while (n++ < AT_LEAST || meetings < MEETINGS) {
		found = peer_changes(&c, op, last, &changed);
		meetings += (uint32_t)found != (uint32_t)last;
		changes += changed;
		last = changed ? found + ONE_OF_PEER : found;
	}
	__atomic_store_n(&c.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	cr_assert_eq(c.word, changes * ONE_OF_PEER + c.added, "opcode %x: one was lost", op);
}

/* checks W-ATOM-03[5]: a word that a thread of this host adds to meanwhile loses nothing. */
Test(atomics, W_ATOM_03_a_thread_adds_to_the_same_word, .timeout = 60)
{
	meet_the_cpu(ROCE_FETCH_ADD);
	meet_the_cpu(ROCE_CMP_SWAP);
}

/* ---- losses ---- */

/* A write, a read of what it wrote, two atomics, a send, an atomic: whatever happens to one frame,
 * each atomic is executed once, between those before and after it. */
static void
run_one(struct fault *fault, uint64_t sent[2])
{
	struct pair *p =
		atomic_pair((struct pair_opts){.qps = 1, .set_psn = true, .sq_psn = {0xfffffe, 5}});

	p->tap = fault_tap;
	p->tap_ctx = fault;
	*word(p, 0, 0) = 1000;
	pair_recv(p, 1, 0, 50, 2 * WORD, 64);
	pair_write(p, 0, 0, 1, 0, WORD, 8, 0);
	add(p, 2, 64, 5);
	pair_read(p, 0, 0, 3, 128, WORD, 2 * MTU + 8, NDSH_WRF_FENCE);
	post(p, 0, NDSH_OP_CMP_SWAP, 4, 72, WORD, 2000, 1005, NDSH_WRF_FENCE);
	pair_send(p, 0, 0, 5, 0, 8, 0);
	add(p, 6, 80, 7);
	cr_assert(pair_run(p, LONG));
	for (uint64_t i = 1; i <= 6; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 50, NDSH_WC_SUCCESS);
	cr_assert_eq(*word(p, 0, 64), 1000);
	cr_assert_eq(*word(p, 0, 128), 1005);
	cr_assert_eq(*word(p, 0, 72), 1005);
	cr_assert_eq(*word(p, 0, 80), 2000);
	cr_assert_eq(*word(p, 1, WORD), 2007);
	memcpy(sent, p->sent, sizeof(p->sent));
	pair_free(p);
}

/* checks W-DUP-05[1,2]: a lost request, a lost answer, either of them twice or late */
Test(atomics, W_DUP_05_each_frame_lost_or_doubled_or_late, .timeout = 60)
{
	fault_each_frame(run_one);
}

static void
add_one(struct pair *p, uint32_t i)
{
	post(p, i / 16, NDSH_OP_FETCH_ADD, i, 8 * i, WORD, 1, 0, 0);
}

static uint64_t
found(struct pair *p, uint32_t i)
{
	return *word(p, 0, 8 * i);
}

/*
 * checks W-ATOM-03[4], W-DUP-05[1,2]: many queue pairs add to one counter, 5 of 100 frames are
 * lost and as many come twice: what the adders saw are the sums 0..n-1, each once.
 * ATOMICS=1000000 for a long run.
 */
Test(atomics, W_DUP_05_exact_sums_under_loss, .timeout = 600)
{
	struct pair *p = atomic_pair((struct pair_opts){.qps = QPS, .retry = 7});
	uint32_t n =
		exact_sums(p, &(struct sums){.adders = QPS * 16, .add = add_one, .found = found});

	cr_assert_eq(*word(p, 1, WORD), n);
	cr_assert_gt(roce_shard_counters(p->side[0].shard)->retransmitted_packets, n / 50);
	pair_free(p);
}

/* ---- limits ---- */

struct watch {
	unsigned most, now;
};

static unsigned
count_open(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct watch *w = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0 && (pkt->opcode == ROCE_FETCH_ADD || pkt->opcode == ROCE_READ_REQUEST))
		w->now++;
	if (from == 1 && (pkt->opcode == ROCE_ATOMIC_ACK || pkt->opcode == ROCE_READ_RESP_ONLY))
		w->now--;
	w->most = w->now > w->most ? w->now : w->most;
	return 1;
}

/* Atomics count together with reads. checks W-REQ-05[1] */
Test(atomics, W_REQ_05_no_more_under_way_than_agreed)
{
	struct pair *p = atomic_pair((struct pair_opts){.qps = 1, .max_rd = 3, .max_dest_rd = 3});
	struct watch w = {0, 0};

	p->tap = count_open;
	p->tap_ctx = &w;
	for (uint32_t i = 0; i < 20; i++)
		if (i % 2)
			pair_read(p, 0, 0, i, 4096 + 8 * i, WORD + 64, 8, 0);
		else
			add(p, i, 8 * i, 1);
	cr_assert(pair_run(p, LONG));
	for (uint64_t i = 0; i < 20; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert_eq(w.most, 3);
	cr_assert_eq(*word(p, 1, WORD), 10);
	pair_free(p);
}

/* checks W-REQ-05[3] */
Test(atomics, W_REQ_05_with_none_agreed_it_fails)
{
	struct pair *p = atomic_pair((struct pair_opts){.qps = 1, .max_rd = 255});

	add(p, 1, 0, 1);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_LOC_QP_OP_ERR);
	cr_assert_eq(*word(p, 1, WORD), 0);
	pair_free(p);
}

/* What was written and fenced is sent when the answer is there. checks W-FENCE-01[2] */
Test(atomics, W_FENCE_01_a_fence_waits_for_atomics)
{
	struct pair *p = atomic_pair((struct pair_opts){.qps = 1});
	struct fault lost = {.from = 1, .nth = 1};

	p->tap = fault_tap;
	p->tap_ctx = &lost;
	add(p, 1, 0, 1);
	pair_write(p, 0, 0, 2, 0, WORD + 8, 8, NDSH_WRF_FENCE);
	*word(p, 1, WORD) = 77;
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(*word(p, 1, WORD + 8), 77, "it wrote what the atomic had brought");
	pair_free(p);
}

/* ---- what the peer refuses ---- */

static void
refused(struct pair_opts o, uint32_t at, uint8_t status)
{
	struct pair *p = atomic_pair(o);

	post(p, 0, NDSH_OP_CMP_SWAP, 1, 0, at, 1, 0, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, status);
	pair_expect_dead(p, 1, 0,
		status == NDSH_WC_REM_ACCESS_ERR ? ROCE_REASON_SENT_REM_ACCESS
						 : ROCE_REASON_SENT_INV_REQ);
	for (uint32_t i = 0; i < PAIR_ARENA; i += 8)
		cr_assert_eq(*word(p, 1, i), 0);
	pair_free(p);
}

/* checks W-ATOM-02[1,2], W-RESP-06[3], W-RESP-07[1]: the queue pair's right and depth */
Test(atomics, W_ATOM_02_refused)
{
	refused((struct pair_opts){.qps = 1}, WORD + 4, NDSH_WC_REM_INV_REQ_ERR);
	refused((struct pair_opts){.qps = 1}, WORD + 1, NDSH_WC_REM_INV_REQ_ERR);
	refused((struct pair_opts){.qps = 1}, PAIR_ARENA, NDSH_WC_REM_ACCESS_ERR);
	refused((struct pair_opts){.qps = 1}, UINT32_MAX - 7, NDSH_WC_REM_ACCESS_ERR);
	refused((struct pair_opts){.qps = 1,
			.mr_access = ALL & ~(uint32_t)NDSH_ACCESS_REMOTE_ATOMIC},
		WORD, NDSH_WC_REM_ACCESS_ERR);
	refused((struct pair_opts){.qps = 1,
			.access = NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE},
		WORD, NDSH_WC_REM_INV_REQ_ERR);
	refused((struct pair_opts){.qps = 1, .max_dest_rd = 255}, WORD, NDSH_WC_REM_INV_REQ_ERR);
}

/* Its answer has no place to go: it is not even asked for. */
Test(atomics, a_bad_local_token)
{
	struct pair *p = atomic_pair((struct pair_opts){.qps = 1});
	struct ndsh_sge sge = pair_sge(p, 0, PAIR_ARENA - 4, 8);

	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 1,
			.raddr = PAIR_VA + WORD,
			.rkey = p->side[1].key,
			.arg = {1, 0},
			.ctrl = NDSH_CTRL(NDSH_OP_FETCH_ADD, 1, 0, 0)},
		&sge, NULL);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_LOC_PROT_ERR);
	cr_assert_eq(p->sent[0], 0);
	pair_free(p);
}

/* ---- a peer that is the test ---- */

struct tape {
	struct roce_pkt said[64];
	unsigned n;
};

static unsigned
record(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct tape *t = ctx;

	(void)p;
	(void)late_ns;
	if (from == 1 && t->n < 64)
		t->said[t->n++] = *pkt;
	return 0;
}

static struct pair *
peer_new(struct tape *t, uint8_t max_dest_rd)
{
	struct pair *p = atomic_pair((struct pair_opts){
		.qps = 1, .set_psn = true, .sq_psn = {PSN, 500}, .max_dest_rd = max_dest_rd});

	*t = (struct tape){.n = 0};
	p->tap = record;
	p->tap_ctx = t;
	return p;
}

static void
say_of(struct pair *p, uint8_t opcode, uint32_t psn, uint32_t at, uint32_t key)
{
	pair_inject(p, 1, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(p->side[1].q[0].qp),
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.ackreq = true,
			.va = PAIR_VA + at,
			.rkey = key,
			.swap_add = 1},
		NULL);
}

static void
say(struct pair *p, uint8_t opcode, uint32_t psn, uint64_t swap_add, uint32_t bytes)
{
	static const uint8_t payload[8];

	pair_inject(p, 1, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(p->side[1].q[0].qp),
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.ackreq = true,
			.payload_bytes = opcode == ROCE_READ_REQUEST ? 0 : bytes,
			.dma_bytes = bytes,
			.va = PAIR_VA + WORD,
			.rkey = p->side[1].key,
			.swap_add = swap_add},
		payload);
}

static void
drain(struct pair *p)
{
	while (pair_turn(p, 1) > 0)
		;
}

static void
heard(const struct tape *t, unsigned i, uint8_t opcode, uint32_t psn, uint64_t old)
{
	cr_assert_lt(i, t->n);
	cr_assert_eq(t->said[i].opcode, opcode, "answer %u: opcode %x", i, t->said[i].opcode);
	cr_assert_eq(t->said[i].psn, psn, "answer %u: PSN %u", i, t->said[i].psn);
	if (opcode == ROCE_ATOMIC_ACK)
		cr_assert_eq(t->said[i].atomic_orig, old);
}

/*
 * checks W-ACK-03, W-ACK-04, W-AETH-01[3,4,5]: in PSN order, with reads in between, no ACK to
 * spare
 */
Test(atomics, W_ACK_03_answers_leave_in_order)
{
	struct tape t;
	struct pair *p = peer_new(&t, 16);

	say(p, ROCE_WRITE_ONLY, PSN, 0, 8);
	say(p, ROCE_FETCH_ADD, PSN + 1, 3, 0);
	say(p, ROCE_READ_REQUEST, PSN + 2, 0, 2 * MTU);
	say(p, ROCE_FETCH_ADD, PSN + 4, 4, 0);
	say(p, ROCE_WRITE_ONLY, PSN + 5, 0, 8);
	drain(p);
	cr_assert_eq(t.n, 5);
	heard(&t, 0, ROCE_ATOMIC_ACK, PSN + 1, 0);
	heard(&t, 1, ROCE_READ_RESP_FIRST, PSN + 2, 0);
	heard(&t, 2, ROCE_READ_RESP_LAST, PSN + 3, 0);
	heard(&t, 3, ROCE_ATOMIC_ACK, PSN + 4, 3);
	heard(&t, 4, ROCE_ACK, PSN + 5, 0);
	cr_assert_eq(t.said[4].msn, 5);
	pair_free(p);
}

/*
 * checks W-ATOM-01[1,2], W-DUP-05[1,2,3,4]: as many as were agreed are answered again with what
 * they found then; an older one, one that was none, or not that one, in silence. None is
 * executed again.
 */
Test(atomics, W_ATOM_01_W_DUP_05_duplicates)
{
	struct tape t;
	struct pair *p = peer_new(&t, 16);

	for (uint32_t i = 0; i < 17; i++) {
		say(p, ROCE_FETCH_ADD, PSN + i, 1, 0);
		drain(p);
	}
	say(p, ROCE_WRITE_ONLY, PSN + 17, 0, 8); /* zero again */
	drain(p);
	cr_assert_eq(t.n, 18);
	for (uint32_t i = 1; i < 17; i++) {
		say(p, ROCE_FETCH_ADD, PSN + i, 1, 0);
		drain(p);
		heard(&t, 17 + i, ROCE_ATOMIC_ACK, PSN + i, i);
	}
	cr_assert_eq(t.n, 34);
	say(p, ROCE_FETCH_ADD, PSN, 1, 0);     /* forgotten */
	say(p, ROCE_CMP_SWAP, PSN + 16, 1, 0); /* was another */
	say(p, ROCE_READ_REQUEST, PSN + 16, 0, 8);
	say(p, ROCE_FETCH_ADD, PSN + 17, 1, 0);
	say_of(p, ROCE_FETCH_ADD, PSN + 16, WORD + 8, p->side[1].key); /* of another word */
	say_of(p, ROCE_FETCH_ADD, PSN + 16, WORD, p->side[1].key ^ 1);
	drain(p);
	cr_assert_eq(t.n, 34);
	cr_assert_eq(*word(p, 1, WORD), 0);
	pair_expect_alive(p, 1, 0);
	pair_free(p);
}

/* checks W-ATOM-01[4]: fewer were agreed, and there are 16 slots all the same. */
Test(atomics, W_ATOM_01_sixteen_slots_whatever_was_agreed)
{
	struct tape t;
	struct pair *p = peer_new(&t, 1);

	for (uint32_t i = 0; i < 17; i++) {
		say(p, ROCE_FETCH_ADD, PSN + i, 1, 0);
		drain(p);
	}
	for (uint32_t i = 1; i < 17; i++) {
		say(p, ROCE_FETCH_ADD, PSN + i, 1, 0);
		drain(p);
		heard(&t, 16 + i, ROCE_ATOMIC_ACK, PSN + i, i);
	}
	say(p, ROCE_FETCH_ADD, PSN, 1, 0); /* the 17th is in its slot */
	drain(p);
	cr_assert_eq(t.n, 33);
	cr_assert_eq(*word(p, 1, WORD), 17);
	pair_free(p);
}

/*
 * checks W-DUP-02: an ACK for a duplicate does not cover atomics behind it: their answers may be
 * lost (W-DUP-02).
 */
Test(atomics, W_DUP_02_an_ack_for_a_duplicate_stops_before_an_atomic)
{
	struct tape t;
	struct pair *p = peer_new(&t, 16);

	say(p, ROCE_WRITE_ONLY, PSN, 0, 8);
	drain(p);
	say(p, ROCE_FETCH_ADD, PSN + 1, 3, 0);
	drain(p);
	say(p, ROCE_WRITE_ONLY, PSN, 0, 8);
	drain(p);
	cr_assert_eq(t.n, 3);
	heard(&t, 2, ROCE_ACK, PSN, 0);
	pair_free(p);
}

/* More than agreed at once is the peer's error. */
Test(atomics, W_RESP_07_too_many)
{
	struct tape t;
	struct pair *p = peer_new(&t, 2);

	for (uint32_t i = 0; i < 3; i++)
		say(p, i == 1 ? ROCE_READ_REQUEST : ROCE_FETCH_ADD, PSN + i, 1, 0);
	drain(p);
	cr_assert_eq(t.n, 3);
	heard(&t, 0, ROCE_ATOMIC_ACK, PSN, 0);
	cr_assert_eq(t.said[2].syndrome, ROCE_SYN_NAK_INV_REQ);
	cr_assert_eq(*word(p, 1, WORD), 1);
	pair_free(p);
}
