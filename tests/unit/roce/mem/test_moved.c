/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that only its client can reach: every operation from and to it, in every mixture with
 * memory of the arena, on a wire that loses and with a client that dawdles.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/scripted_peer.h"

#define MTU	1024u
#define LONG	UINT64_C(60000000000)
#define AREA	16384u
#define SHARERS 8u /* of the slots */

enum kind { WRITE, READ, SEND, KINDS };

static uint8_t
pattern(uint32_t i, uint32_t salt)
{
	return (uint8_t)(i * 7 + (i >> 8) * 13 + salt * 31 + 1);
}

static void
fill(uint8_t *at, uint32_t bytes, uint32_t salt)
{
	for (uint32_t i = 0; i < bytes; i++)
		at[i] = pattern(i, salt);
}

static bool
is_filled(const uint8_t *at, uint32_t bytes, uint32_t salt)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (at[i] != pattern(i, salt))
			return false;
	return true;
}

static uint8_t *
memory(struct pair *p, unsigned side, bool moved, uint32_t at)
{
	return (moved ? p->side[side].moved : p->side[side].arena) + at;
}

static struct ndsh_sge
sge_of(const struct pair *p, unsigned side, bool moved, uint32_t at, uint32_t bytes)
{
	return moved ? pair_moved_sge(p, side, at, bytes) : pair_sge(p, side, at, bytes);
}

/* Three SGEs that are no multiple of anything, near and far by turns if mixed. */
static uint32_t
scatter(const struct pair *p, unsigned side, bool moved, bool mixed, uint32_t at, uint32_t bytes,
	struct ndsh_sge *sge)
{
	uint32_t first = bytes / 3, second = bytes / 2 - first;

	if (!mixed || first == 0 || second == 0) {
		sge[0] = sge_of(p, side, moved, at, bytes);
		return 1;
	}
	sge[0] = sge_of(p, side, moved, at, first);
	sge[1] = sge_of(p, side, !moved, at + first, second);
	sge[2] = sge_of(p, side, moved, at + first + second, bytes - first - second);
	return 3;
}

/* One request of side 0 on queue pair i, from or to the area at of both sides. */
struct request {
	enum kind kind;
	bool moved[2], mixed;
	uint32_t at, bytes, salt;
};

static void
parts_fill(struct pair *p, unsigned side, const struct request *r)
{
	uint8_t *area[2] = {memory(p, side, false, r->at), memory(p, side, true, r->at)};

	fill(area[0], r->bytes, r->salt);
	fill(area[1], r->bytes, r->salt);
}

/* As scatter() laid it out. */
static bool
parts_filled(struct pair *p, unsigned side, const struct request *r, bool mixed)
{
	struct ndsh_sge sge[3];
	uint32_t n = scatter(p, side, r->moved[side], mixed, r->at, r->bytes, sge), at = 0;

	for (uint32_t i = 0; i < n; at += sge[i++].len) {
		const uint8_t *got = sge[i].key == p->side[side].moved_key
					     ? (const uint8_t *)(uintptr_t)sge[i].addr
					     : p->side[side].arena + (sge[i].addr - PAIR_VA);

		for (uint32_t k = 0; k < sge[i].len; k++)
			if (got[k] != pattern(at + k, r->salt))
				return false;
	}
	return true;
}

static void
post(struct pair *p, unsigned i, uint64_t context, const struct request *r)
{
	static const uint8_t op[KINDS] = {NDSH_OP_WRITE, NDSH_OP_READ, NDSH_OP_SEND};
	struct ndsh_sge ours[3], theirs[3], remote = sge_of(p, 1, r->moved[1], r->at, r->bytes);
	uint32_t n = scatter(p, 0, r->moved[0], r->mixed, r->at, r->bytes, ours);
	struct pair_side *peer = &p->side[1];

	parts_fill(p, r->kind == READ, r);
	if (r->kind == SEND)
		ndsh_rq_push(peer->srq != NULL ? &peer->srq_rq : &peer->q[i].rq, context, theirs,
			scatter(p, 1, r->moved[1], r->mixed, r->at, r->bytes, theirs));
	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = context,
			.raddr = remote.addr,
			.rkey = remote.key,
			.ctrl = NDSH_CTRL(op[r->kind], n, 0, 0)},
		ours, NULL);
}

static void
check(struct pair *p, const struct request *r)
{
	unsigned to = r->kind != READ;

	cr_assert(parts_filled(p, to, r, r->mixed && r->kind != WRITE),
		"kind %d, %u bytes, far %d to %d, mixed %d", r->kind, r->bytes, r->moved[0],
		r->moved[1], r->mixed);
}

/* All completions are there, and good. */
static void
expect_completions(struct pair *p, unsigned side, unsigned n)
{
	struct ndsh_cqe cqe;

	for (unsigned i = 0; i < n; i++) {
		cr_assert(pair_poll(p, side, &cqe), "completion %u of %u", i, n);
		cr_assert_eq(cqe.status, NDSH_WC_SUCCESS, "status %u", cqe.status);
	}
	cr_assert(!pair_poll(p, side, &cqe));
}

Test(moved, every_operation_from_and_to_every_kind_of_memory)
{
	static const uint32_t bytes[] = {
		1, 7, 100, MTU - 1, MTU, MTU + 1, 3 * MTU, 5 * MTU + 77, AREA};
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});
	uint32_t salt = 0;

	for (unsigned b = 0; b < sizeof(bytes) / sizeof(bytes[0]); b++)
		for (unsigned v = 0; v < KINDS * 8; v++) {
			struct request r = {.kind = (enum kind)(v % KINDS),
				.bytes = bytes[b],
				.moved = {v / KINDS & 1, v / KINDS & 2},
				.mixed = v / KINDS & 4,
				.salt = ++salt};

			memset(memory(p, r.kind != READ, false, 0), 0, AREA);
			memset(memory(p, r.kind != READ, true, 0), 0, AREA);
			post(p, 0, salt, &r);
			cr_assert(pair_run(p, LONG));
			expect_completions(p, 0, 1);
			expect_completions(p, 1, r.kind == SEND);
			check(p, &r);
		}
	pair_free(p);
}

/* checks W-RESP-14[5]: the peer is told of nothing that is not in its place. */
Test(moved, acknowledged_when_it_is_placed)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});
	struct request r = {.kind = WRITE, .moved = {false, true}, .bytes = 3 * MTU, .salt = 1};
	struct ndsh_cqe cqe;

	p->side[1].stalled = true;
	post(p, 0, 1, &r);
	(void)pair_run(p, 5000000);
	cr_assert(!pair_poll(p, 0, &cqe), "acknowledged though it was not there");
	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 1);
	check(p, &r);
	pair_free(p);
}

/* Two writes, of which one is in its place: an ACK names it alone, with its number of messages.
 * checks W-RESP-14[5], W-AETH-01[10] */
Test(moved, told_of_what_is_placed)
{
	struct peer_tape t;
	struct pair *p = peer_with(&t, (struct pair_opts){.moved = true});
	struct roce_pkt w = peer_packet(p, ROCE_WRITE_ONLY, PEER_PSN, 8);

	w.va = (uintptr_t)p->side[1].moved;
	w.rkey = p->side[1].moved_key;
	p->side[1].stalled = true;
	for (uint32_t i = 0; i < 2; i++, w.psn++, w.va += 8)
		peer_say(p, &w);
	peer_silent(p, &t, 0);
	for (uint32_t i = 0; i < 2; i++) {
		cr_assert_eq(pair_client_moves(p, 1, 1), 1);
		peer_heard(p, &t, i + 1, ROCE_SYN_ACK, PEER_PSN + i);
		cr_assert_eq(t.said[i].msn, i + 1);
		cr_assert_eq(p->side[1].moved[8 * i], 0xa5);
		cr_assert_eq(p->side[1].moved[8], i == 1 ? 0xa5 : 0);
	}
	pair_free(p);
}

/* The client that finds the completion of a receive carries out what was ordered before it, and has
 * the bytes. checks W-RESP-14[4] */
Test(moved, a_completion_comes_behind_its_orders)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});
	struct request r = {.kind = SEND, .moved = {false, true}, .bytes = 3 * MTU, .salt = 1};

	p->side[1].stalled = true;
	post(p, 0, 1, &r);
	(void)pair_run(p, 5000000);
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	(void)pair_client_moves(p, 1, UINT32_MAX);
	check(p, &r);
	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 1);
	pair_free(p);
}

/* A READ behind a WRITE to the same bytes sees them, however long they take. */
Test(moved, a_read_waits_for_the_writes_before_it)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});
	struct ndsh_sge from = pair_sge(p, 0, 0, 100), to = pair_sge(p, 0, AREA, 100),
			remote = pair_moved_sge(p, 1, 0, 100);

	fill(p->side[0].arena, 100, 5);
	p->side[1].stalled = true;
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.raddr = remote.addr,
			.rkey = remote.key,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, 0, 0)},
		&from, NULL);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.raddr = remote.addr,
			.rkey = remote.key,
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0)},
		&to, NULL);
	(void)pair_run(p, 5000000);
	cr_assert_eq(p->side[0].reader.page->produced, 0);
	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 2);
	cr_assert(is_filled(p->side[0].arena + AREA, 100, 5));
	pair_free(p);
}

/* Its response would say that they are done, wherever it is read from. */
Test(moved, a_read_of_other_memory_waits_for_them_too)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});
	struct request write = {.kind = WRITE, .moved = {false, true}, .bytes = 100, .salt = 5};
	struct request read = {.kind = READ, .at = AREA, .bytes = 100, .salt = 6};

	p->side[1].stalled = true;
	post(p, 0, 1, &write);
	post(p, 0, 2, &read);
	(void)pair_run(p, 5000000);
	cr_assert_eq(p->side[0].reader.page->produced, 0);
	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 2);
	check(p, &write);
	check(p, &read);
	pair_free(p);
}

/* More than the staging holds, to a client that sleeps: the peer waits, and nothing is lost. */
Test(moved, a_full_staging_is_not_ready)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.mtu = 4096, .window = 1024, .moved = true, .rnr_retry = 7});
	struct ndsh_sge remote = pair_moved_sge(p, 1, 0, 3u << 20);

	fill(p->side[0].arena, 3u << 20, 9);
	p->side[1].stalled = true;
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.raddr = remote.addr,
			.rkey = remote.key,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, 0, 0)},
		&(struct ndsh_sge){.addr = PAIR_VA, .len = 3u << 20, .key = p->side[0].key}, NULL);
	(void)pair_run(p, 5000000);
	p->side[1].stalled = false;
	p->side[1].moves = 3;
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 1);
	cr_assert(is_filled(p->side[1].moved, 3u << 20, 9));
	pair_free(p);
}

/* The same for what is read: the responses that find no room are asked for again. */
Test(moved, a_full_staging_makes_a_read_begin_again)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.mtu = 4096, .window = 1024, .moved = true, .retry = 1});
	struct ndsh_sge to = pair_moved_sge(p, 0, 0, 3u << 20);

	fill(p->side[1].arena, 3u << 20, 11);
	p->side[0].moves = 3;
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.raddr = PAIR_VA,
			.rkey = p->side[1].key,
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0)},
		&to, NULL);
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 1);
	cr_assert(is_filled(p->side[0].moved, 3u << 20, 11));
	cr_assert_eq(pair_count(p, 0)->timeouts, 0, "it waited for a timer");
	pair_free(p);
}

/* No response behind them tells that the last ones found none: they are asked for as soon as there
 * is some all the same, and once. */
Test(moved, the_end_of_a_read_finds_no_room)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.mtu = 4096, .window = 1024, .moved = true, .retry = 1});
	struct ndsh_sge to = pair_moved_sge(p, 0, 0, 2u << 20);
	struct request next = {.kind = WRITE, .moved = {true, false}, .bytes = 3 * 4096};
	uint64_t sent;

	fill(p->side[1].arena, 2u << 20, 13);
	p->side[0].stalled = true;
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.raddr = PAIR_VA,
			.rkey = p->side[1].key,
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, 0, 0)},
		&to, NULL);
	(void)pair_run(p, 500000);
	p->side[0].stalled = false;
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 1);
	cr_assert(is_filled(p->side[0].moved, 2u << 20, 13));
	cr_assert_eq(pair_count(p, 0)->timeouts, 0, "it waited for a timer");
	sent = p->sent[0];
	p->side[0].moves = 1;
	post(p, 0, 2, &next);
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 1);
	cr_assert_eq(p->sent[0], sent + 3, "it was asked for once more");
	pair_free(p);
}

static unsigned
lossy(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	unsigned *seed = ctx;
	int dice = rand_r(seed) % 100;

	(void)p;
	(void)from;
	(void)pkt;
	if (dice < 5)
		return 0;
	if (dice < 8)
		*late_ns = (uint64_t)(rand_r(seed) % 20000);
	return dice > 96 ? 2 : 1;
}

#define BATCH 32u

static void
random_batch(struct pair *p, unsigned *seed)
{
	struct request r[BATCH];
	unsigned sends = 0;

	for (unsigned i = 0; i < BATCH; i++) {
		r[i] = (struct request){.kind = (enum kind)(rand_r(seed) % KINDS),
			.moved = {rand_r(seed) & 1, rand_r(seed) & 1},
			.mixed = rand_r(seed) & 1,
			.at = i * AREA,
			.bytes = 1 + (uint32_t)rand_r(seed) % (AREA - 1),
			.salt = (uint32_t)rand_r(seed)};
		post(p, i % p->opts.qps, i, &r[i]);
		sends += r[i].kind == SEND;
		for (unsigned side = 0; side < 2; side++) {
			p->side[side].stalled = rand_r(seed) % 4 == 0;
			p->side[side].moves = 1 + (unsigned)rand_r(seed) % 20;
		}
		(void)pair_run(p, (uint64_t)(rand_r(seed) % 100000));
	}
	p->side[0].stalled = p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, BATCH);
	expect_completions(p, 1, sends);
	for (unsigned i = 0; i < BATCH; i++)
		check(p, &r[i]);
}

Test(moved, random_mixes_over_a_lossy_wire)
{
	for (unsigned start = 1; start <= 40; start++) {
		unsigned seed = start;
		struct pair *p = pair_new(&(struct pair_opts){
			.mtu = 256u << (start % 5), .qps = 1 + start % 4, .moved = true});

		p->tap = lossy;
		p->tap_ctx = &seed;
		random_batch(p, &seed);
		random_batch(p, &seed);
		pair_free(p);
	}
}

/* What a client says about its progress is worth as much as it did. */
Test(moved, a_client_that_lies_hurts_itself)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});
	struct request r = {.kind = WRITE, .moved = {false, true}, .bytes = 3 * MTU, .salt = 1};
	uint64_t *consumer = &p->side[1].client.reader.page->consumer;

	p->side[1].stalled = true;
	post(p, 0, 1, &r);
	*consumer = 12345;
	(void)pair_run(p, 5000000);
	*consumer = UINT64_MAX;
	(void)pair_run(p, 5000000);
	cr_assert_eq(p->side[0].reader.page->produced, 0);
	*consumer = 3;
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, 1);
	pair_free(p);
}

/* However many there are: none waits until another is destroyed. */
Test(moved, each_queue_pair_may_use_it)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .qps = PAIR_QPS, .moved = true});
	struct request r[PAIR_QPS];

	for (unsigned i = 0; i < PAIR_QPS; i++) {
		r[i] = (struct request){.kind = WRITE,
			.moved = {true, true},
			.at = i * AREA,
			.bytes = 3 * MTU,
			.salt = i};
		post(p, i, i, &r[i]);
	}
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, PAIR_QPS);
	for (unsigned i = 0; i < PAIR_QPS; i++)
		check(p, &r[i]);
	pair_free(p);
}

/* More queue pairs than there are slots for all of them to ask ahead: each has its turn. */
Test(moved, many_queue_pairs_share_the_slots)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256, .qps = SHARERS, .moved = true});
	struct request r[SHARERS][4];
	unsigned seed = 7, n = 0;

	p->tap = lossy;
	p->tap_ctx = &seed;
	p->side[0].moves = p->side[1].moves = 5;
	for (unsigned k = 0; k < 4; k++)
		for (unsigned i = 0; i < SHARERS; i++, n++) {
			r[i][k] = (struct request){.kind = k % 2 == 0 ? WRITE : READ,
				.moved = {true, true},
				.at = n * AREA,
				.bytes = AREA,
				.salt = n};
			post(p, i, n, &r[i][k]);
		}
	cr_assert(pair_run(p, LONG));
	expect_completions(p, 0, n);
	for (unsigned k = 0; k < 4; k++)
		for (unsigned i = 0; i < SHARERS; i++)
			check(p, &r[i][k]);
	pair_free(p);
}
