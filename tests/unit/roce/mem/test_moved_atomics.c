/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics and memory that only its client can reach: as the word that is changed, as the place that
 * the old value goes to, and as what must be in its place before a word of the arena is changed.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/exact_sums.h"

#define QPS    8u
#define MTU    1024u
#define PSN    100u
#define LONG   UINT64_C(100000000000)
#define WORD   (1u << 20)
#define RIGHTS (NDSH_ACCESS_REMOTE_ATOMIC | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)
#define ALL    (NDSH_ACCESS_LOCAL_WRITE | RIGHTS)

static struct pair *
moved_pair(struct pair_opts o)
{
	o.mtu = MTU;
	o.moved = true;
	o.retry = o.retry != 0 ? o.retry : 7;
	o.max_rd = o.max_dest_rd = 16;
	o.access = RIGHTS;
	o.mr_access = o.mr_access != 0 ? o.mr_access : ALL;
	return pair_new(&o);
}

static uint64_t *
word(struct pair *p, unsigned side, bool moved, uint32_t at)
{
	return (uint64_t *)(void *)((moved ? p->side[side].moved : p->side[side].arena) + at);
}

static struct ndsh_sge
place(const struct pair *p, unsigned side, bool moved, uint32_t at, uint32_t bytes)
{
	return moved ? pair_moved_sge(p, side, at, bytes) : pair_sge(p, side, at, bytes);
}

/* A request of side 0 for what is at the same offset of side 1, there and here in either memory. */
struct what {
	uint8_t op, flags;
	bool moved_here, moved_there;
	uint32_t here, there, bytes;
	uint64_t swap_add, compare;
};

static void
post(struct pair *p, unsigned i, uint64_t context, const struct what *w)
{
	uint32_t bytes = w->bytes != 0 ? w->bytes : 8;
	struct ndsh_sge here = place(p, 0, w->moved_here, w->here, bytes),
			there = place(p, 1, w->moved_there, w->there, bytes);

	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = context,
			.raddr = there.addr,
			.rkey = there.key,
			.arg = {w->swap_add, w->compare},
			.ctrl = NDSH_CTRL(w->op, 1, w->flags, 0)},
		&here, NULL);
}

static void
add(struct pair *p, unsigned i, uint64_t context, bool moved, uint32_t here, uint64_t n)
{
	post(p, i, context,
		&(struct what){.op = NDSH_OP_FETCH_ADD,
			.moved_here = moved,
			.moved_there = moved,
			.here = here,
			.there = WORD,
			.swap_add = n});
}

static uint64_t
rnr_sent(struct pair *p)
{
	return roce_shard_counters(p->side[1].shard)->tx_rnr;
}

/* checks W-ATOM-03[1,2]: the values, and no byte beside them */
Test(moved_atomics, values)
{
	const uint64_t v = 0x0102030405060708;
	struct pair *p = moved_pair((struct pair_opts){.qps = 1});
	const struct what ops[] = {
		{.op = NDSH_OP_FETCH_ADD,
			.moved_there = true,
			.here = 8,
			.there = WORD,
			.swap_add = 0x10,
			.compare = UINT64_MAX},
		{.op = NDSH_OP_CMP_SWAP,
			.moved_there = true,
			.moved_here = true,
			.here = 17,
			.there = WORD,
			.swap_add = 7,
			.compare = v},
		{.op = NDSH_OP_CMP_SWAP,
			.moved_there = true,
			.here = 32,
			.there = WORD,
			.swap_add = 7,
			.compare = v + 0x10},
		{.op = NDSH_OP_FETCH_ADD,
			.moved_here = true,
			.here = 40,
			.there = WORD,
			.swap_add = 5},
	};
	uint64_t got;

	*word(p, 1, true, WORD) = v;
	*word(p, 1, false, WORD) = 11;
	for (unsigned i = 0; i < 4; i++)
		post(p, 0, i, &ops[i]);
	cr_assert(pair_run(p, LONG));
	for (unsigned i = 0; i < 4; i++)
		cr_assert_eq(pair_expect(p, 0, i, NDSH_WC_SUCCESS).bytes, 8);
	cr_assert_eq(*word(p, 0, false, 8), v);
	memcpy(&got, p->side[0].moved + 17, 8);
	cr_assert_eq(got, v + 0x10);
	cr_assert_eq(*word(p, 0, false, 32), v + 0x10);
	cr_assert_eq(*word(p, 0, true, 40), 11);
	cr_assert_eq(*word(p, 1, true, WORD), 7);
	cr_assert_eq(*word(p, 1, false, WORD), 16);
	cr_assert_eq(*word(p, 1, true, WORD - 8) | *word(p, 1, true, WORD + 8), 0);
	cr_assert_eq(rnr_sent(p), 0);
	pair_free(p);
}

/* ---- order ---- */

/* A client that finds the word changed may count on what was written before it, and what is written
 * behind it stays: whichever of the two memories the word is in, no peer is told to wait. */
static void
between_writes(bool moved)
{
	struct pair *p = moved_pair((struct pair_opts){.qps = 1, .rnr_retry = 1});
	const struct what before = {.op = NDSH_OP_WRITE, .moved_there = true, .bytes = 3000};
	const struct what after = {
		.op = NDSH_OP_WRITE, .moved_there = moved, .here = 4096, .there = WORD};
	const struct what read = {
		.op = NDSH_OP_READ, .moved_there = moved, .here = 4104, .there = WORD};

	memset(p->side[0].arena, 0x77, 3000);
	*word(p, 0, false, 4096) = 99;
	*word(p, 1, moved, WORD) = 41;
	p->side[1].stalled = true;
	post(p, 0, 1, &before);
	add(p, 0, 2, moved, 8192, 1);
	post(p, 0, 3, &after);
	post(p, 0, 4, &read);
	(void)pair_run(p, 5000000);
	cr_assert_eq(*word(p, 1, moved, WORD), 41, "before what was written is there");
	p->side[1].stalled = false;
	p->side[1].moves = 1;
	cr_assert(pair_run(p, LONG));
	for (uint64_t i = 1; i <= 4; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert_eq(p->side[1].moved[2999], 0x77);
	cr_assert_eq(*word(p, 0, moved, 8192), 41);
	cr_assert_eq(*word(p, 1, moved, WORD), 99);
	cr_assert_eq(*word(p, 0, false, 4104), 99);
	cr_assert_eq(rnr_sent(p), 0);
	pair_free(p);
}

Test(moved_atomics, between_writes_on_a_word_of_the_arena)
{
	between_writes(false);
}

Test(moved_atomics, between_writes_on_a_word_behind_the_mover)
{
	between_writes(true);
}

/*
 * checks W-DUP-05[2]: the client takes its time, and the peer asks again and again: done once
 * all the same.
 */
Test(moved_atomics, W_DUP_05_repeated_before_it_is_done)
{
	struct pair *p = moved_pair((struct pair_opts){.qps = 1});
	const struct what write = {.op = NDSH_OP_WRITE, .moved_there = true, .bytes = 3000};

	p->side[1].stalled = true;
	add(p, 0, 1, true, 0, 1);
	post(p, 0, 2, &write);
	add(p, 0, 3, false, 8, 1);
	(void)pair_run(p, UINT64_C(40000000));
	cr_assert_gt(roce_shard_counters(p->side[1].shard)->rx_duplicate, 2);
	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	for (uint64_t i = 1; i <= 3; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert_eq(*word(p, 1, true, WORD), 1);
	cr_assert_eq(*word(p, 1, false, WORD), 1);
	pair_free(p);
}

/* ---- losses ---- */

/* Atomics on both memories among writes and reads of them, with a client that is slow. */
static void
run_one(struct fault *fault, uint64_t sent[2])
{
	struct pair *p =
		moved_pair((struct pair_opts){.qps = 1, .set_psn = true, .sq_psn = {0xfffffe, 5}});
	const struct what write = {.op = NDSH_OP_WRITE,
		.moved_there = true,
		.there = WORD,
		.here = 16,
		.bytes = 2 * MTU + 8};
	const struct what read = {.op = NDSH_OP_READ,
		.moved_there = true,
		.there = WORD,
		.here = 128,
		.flags = NDSH_WRF_FENCE};
	const struct what swap = {.op = NDSH_OP_CMP_SWAP,
		.moved_here = true,
		.moved_there = true,
		.here = 72,
		.there = WORD,
		.swap_add = 2000,
		.compare = 1005,
		.flags = NDSH_WRF_FENCE};

	p->tap = fault_tap;
	p->tap_ctx = fault;
	p->side[1].moves = 1;
	*word(p, 0, false, 16) = 1000;
	post(p, 0, 1, &write);
	add(p, 0, 2, true, 64, 5);
	add(p, 0, 3, false, 64, 3);
	post(p, 0, 4, &read);
	post(p, 0, 5, &swap);
	add(p, 0, 6, true, 80, 7);
	add(p, 0, 7, false, 80, 4);
	cr_assert(pair_run(p, LONG));
	for (uint64_t i = 1; i <= 7; i++)
		pair_expect(p, 0, i, NDSH_WC_SUCCESS);
	cr_assert_eq(*word(p, 0, true, 64), 1000);
	cr_assert_eq(*word(p, 0, false, 64), 0);
	cr_assert_eq(*word(p, 0, false, 128), 1005);
	cr_assert_eq(*word(p, 0, true, 72), 1005);
	cr_assert_eq(*word(p, 0, true, 80), 2000);
	cr_assert_eq(*word(p, 0, false, 80), 3);
	cr_assert_eq(*word(p, 1, true, WORD), 2007);
	cr_assert_eq(*word(p, 1, false, WORD), 7);
	memcpy(sent, p->sent, sizeof(p->sent));
	pair_free(p);
}

/* checks W-DUP-05[1,2]: a lost request, a lost answer, either of them twice or late */
Test(moved_atomics, W_DUP_05_each_frame_lost_or_doubled_or_late, .timeout = 120)
{
	fault_each_frame(run_one);
}

static void
add_one(struct pair *p, uint32_t i)
{
	add(p, i / 16, i, true, 8 * i, 1);
}

static uint64_t
found(struct pair *p, uint32_t i)
{
	(void)pair_client_moves(p, 0, UINT32_MAX);
	return *word(p, 0, true, 8 * i);
}

/*
 * checks W-DUP-05[1,2]: many queue pairs add to one counter behind the mover, 5 of 100 frames
 * are lost and as many come twice: what the adders saw are the sums 0..n-1, each once.
 * ATOMICS=1000000 for a long run.
 */
Test(moved_atomics, W_DUP_05_exact_sums_under_loss, .timeout = 600)
{
	struct pair *p = moved_pair((struct pair_opts){.qps = QPS});
	uint32_t n;

	p->side[1].moves = 3;
	n = exact_sums(p, &(struct sums){.adders = QPS * 16, .add = add_one, .found = found});
	cr_assert_eq(*word(p, 1, true, WORD), n);
	pair_free(p);
}

/* ---- refusals ---- */

static void
refused(uint32_t mr_access, uint32_t at, uint8_t status)
{
	struct pair *p = moved_pair((struct pair_opts){.qps = 1, .mr_access = mr_access});

	post(p, 0, 1, &(struct what){.op = NDSH_OP_FETCH_ADD, .moved_there = true, .there = at});
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, status);
	cr_assert_eq(p->side[1].client.reader.taken, 0, "the client was asked");
	pair_free(p);
}

/* checks W-ATOM-02[1,2], W-RESP-12: the daemon judges, the client only executes */
Test(moved_atomics, W_ATOM_02_refused)
{
	refused(ALL, WORD + 4, NDSH_WC_REM_INV_REQ_ERR);
	refused(ALL, PAIR_ARENA, NDSH_WC_REM_ACCESS_ERR);
	refused(ALL, PAIR_ARENA - 4, NDSH_WC_REM_INV_REQ_ERR);
	refused(ALL & ~(uint32_t)NDSH_ACCESS_REMOTE_ATOMIC, WORD, NDSH_WC_REM_ACCESS_ERR);
}

/* The region of the arena goes while the atomic waits for what was written before it. */
Test(moved_atomics, deregistered_while_it_waits)
{
	struct pair *p = moved_pair((struct pair_opts){.qps = 1});
	const struct what write = {.op = NDSH_OP_WRITE, .moved_there = true, .bytes = 3000};

	p->side[1].stalled = true;
	post(p, 0, 1, &write);
	add(p, 0, 2, false, 0, 1);
	(void)pair_run(p, UINT64_C(40000000)); /* and is repeated */
	cr_assert(roce_mr_deregister(p->side[1].shard, p->side[1].mr));
	p->side[1].mr = NULL;
	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	cr_assert_eq(*word(p, 1, false, WORD), 0);
	pair_free(p);
}

static void
say(struct pair *p, uint8_t opcode, uint32_t psn)
{
	struct ndsh_sge there = pair_moved_sge(p, 1, WORD, 8);

	pair_inject(p, 1, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(p->side[1].q[0].qp),
			.psn = psn,
			.pkey = ROCE_PKEY_DEFAULT,
			.ackreq = true,
			.va = there.addr,
			.rkey = there.key,
			.dma_bytes = opcode == ROCE_READ_REQUEST ? 8 : 0,
			.swap_add = 1},
		NULL);
}

/* A peer that repeats what waits, so that it would not count, and asks for more: its own error. */
Test(moved_atomics, W_RESP_07_repeating_makes_no_room)
{
	struct pair *p =
		moved_pair((struct pair_opts){.qps = 1, .set_psn = true, .sq_psn = {PSN, 5}});

	p->side[1].stalled = true;
	for (uint32_t i = 0; i < 16; i++)
		say(p, i % 2 ? ROCE_READ_REQUEST : ROCE_FETCH_ADD, PSN + i);
	for (uint32_t i = 0; i < 16; i++)
		say(p, i % 2 ? ROCE_READ_REQUEST : ROCE_FETCH_ADD, PSN + i);
	pair_expect_alive(p, 1, 0);
	say(p, ROCE_FETCH_ADD, PSN + 16);
	while (pair_turn(p, 1) > 0)
		;
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_INV_REQ);
	p->side[1].stalled = false;
	while (pair_turn(p, 1) > 0)
		;
	cr_assert_eq(*word(p, 1, true, WORD), 8);
	pair_free(p);
}

/* More than there are slots for their results: the peers of the rest are told to wait, and each is
 * executed, once. */
Test(moved_atomics, more_than_there_are_slots)
{
	struct pair *p = moved_pair((struct pair_opts){.qps = 13});
	bool seen[13 * 16] = {false};

	p->side[1].stalled = true;
	for (unsigned i = 0; i < 13 * 16; i++)
		add(p, i / 16, i, true, 8 * i, 1);
	(void)pair_run(p, 1000000);
	cr_assert_gt(rnr_sent(p), 0);
	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	for (unsigned i = 0; i < 13 * 16; i++) {
		uint64_t old = *word(p, 0, true, 8 * i);
		struct ndsh_cqe c;

		cr_assert(pair_poll(p, 0, &c));
		cr_assert_eq(c.status, NDSH_WC_SUCCESS);
		cr_assert(old < 13 * 16 && !seen[old], "atomic %u found %lu", i, old);
		seen[old] = true;
	}
	cr_assert_eq(*word(p, 1, true, WORD), 13 * 16);
	pair_free(p);
}

/* Queue pairs that die with atomics under way leave the slots of their results to the others. */
Test(moved_atomics, the_dead_leave_their_slots)
{
	struct pair *p = moved_pair((struct pair_opts){.qps = 13, .ignore_events = true});
	const struct what read = {.op = NDSH_OP_READ, .moved_there = true, .bytes = 8 * MTU};
	struct ndsh_cqe c;

	p->side[1].stalled = true;
	for (unsigned i = 0; i < 12 * 16; i++)
		add(p, i / 16, i, true, 8 * i, 1);
	(void)pair_run(p, 1000000);
	cr_assert_eq(*word(p, 1, true, WORD), 0);
	for (unsigned i = 0; i < 12; i++)
		cr_assert_eq(roce_qp_modify(p->side[1].shard, p->side[1].q[i].qp, p->now_ns,
				     ROCE_QPS_ERR, 0, NULL),
			ROCE_MODIFY_OK);
	p->side[1].stalled = false;
	post(p, 12, 1000, &read);
	(void)pair_run(p, 5000000);
	while (pair_poll(p, 0, &c) && c.context != 1000)
		;
	cr_assert_eq(c.context, 1000);
	cr_assert_eq(c.status, NDSH_WC_SUCCESS);
	cr_assert_eq(*word(p, 1, true, WORD), 12 * 16, "an order is not taken back");
	pair_free(p);
}
