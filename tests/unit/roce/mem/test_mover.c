/* SPDX-License-Identifier: BSD-3-Clause */
/* Movers: copy commands to a client, their staging, and what is made of how far it says it is. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "rigs/lone_shard.h"
#include "roce/mem/mover.h"
#include "roce/shard/principal.h"
#include "roce/shard/shard.h"

#define MEMORY 65536u
#define STEPS  300000u

static const struct roce_move none;

struct bench {
	struct roce_shard *s;
	void *mem, *shared;
	struct roce_mover *m;
	struct ndsh_mover client;
	uint64_t *consumer; /* how far the client says that it is */
};

static struct bench
bench_new(void)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct bench b = {.s = lone_shard_new(&cfg)};

	b.mem = calloc(1, roce_mover_bytes());
	b.shared = aligned_alloc(64, (ndsh_mover_bytes(true) + 63) & ~63u);
	memset(b.shared, 0, ndsh_mover_bytes(true));
	b.m = roce_mover_create(b.s, NULL, b.mem, b.shared, true, &b);
	cr_assert_not_null(b.m);
	ndsh_mover_view(&b.client, b.shared, true);
	b.consumer = &b.m->cq->ring.page->consumer;
	return b;
}

static void
bench_free(struct bench *b)
{
	struct roce_usage u;

	cr_assert(roce_mover_destroy(b->s, b->m));
	roce_shard_usage(b->s, &u);
	cr_assert_eq(u.cqs, 0);
	free(b->mem);
	free(b->shared);
	free(b->s);
}

/* refused: the commands that the client can't carry out, by their numbers mod 32. */
static uint32_t refused;

static uint32_t
copy(void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n)
{
	uint64_t first = m->reader.taken - n;
	uint32_t failed = 0;

	(void)ctx;
	for (uint32_t i = 0; i < n; i++) {
		if (refused >> (first + i) % 32 & 1)
			failed |= 1u << i;
		else
			ndsh_mover_copy_plain(m, &commands[i]);
	}
	return failed;
}

static uint32_t
mover_run(struct bench *b, uint32_t n)
{
	return ndsh_mover_run(&b->client, n, copy, NULL);
}

/* Commands of all lengths, as many as have room, and a client that carries out some of them now and
 * then: each finds the bytes that it was given with, since nothing is staged over them before. */
Test(mover, staging_is_not_used_again_too_early)
{
	struct bench b = bench_new();
	static uint8_t memory[MEMORY], want[MEMORY], src[NDSH_MOVER_SLOT_BYTES];
	uint64_t dice = 1;
	unsigned full = 0;

	memset(b.m->out, 0xcc, NDSH_MOVER_SLOTS * NDSH_MOVER_SLOT_BYTES);

	for (unsigned step = 0; step < STEPS; step++) {
		uint32_t bytes, at;

		dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
		bytes = 1 + (dice >> 40) % ((dice >> 60) < 12 ? 4096 : 64);
		at = (dice >> 20) % (MEMORY - bytes);
		if (roce_mover_has_room(b.m, 1, bytes)) {
			memset(src, (int)(dice >> 56), bytes);
			src[0] = (uint8_t)step;
			roce_mover_in(b.s, b.m, (uintptr_t)memory + at, src, bytes, &none);
			memcpy(want + at, src, bytes); /* they are carried out in order */
		} else {
			full++;
			roce_shard_publish(b.s);
			(void)mover_run(&b, 1 + (dice >> 50) % 40);
			cr_assert_gt(roce_shard_movers(b.s, 1), 0);
		}
		cr_assert_leq(roce_mover_posted(b.m) - b.m->done, NDSH_MOVER_DEPTH);
	}
	roce_shard_publish(b.s);
	while (mover_run(&b, 100) > 0)
		(void)roce_shard_movers(b.s, 1);
	cr_assert_eq(memcmp(memory, want, MEMORY), 0);
	for (uint32_t i = 0; i < NDSH_MOVER_SLOTS * NDSH_MOVER_SLOT_BYTES; i++)
		cr_assert_eq(b.m->out[i], 0xcc, "staging of IN runs over its end");
	cr_assert_gt(full, 100);
	cr_assert_eq(b.client.reader.page->fault, NDSH_CQ_OK);
	cr_assert_eq(b.m->done, roce_mover_posted(b.m));
	cr_assert_eq(b.s->movers, 0);
	bench_free(&b);
}

/* Commands of bytes each, from so many bytes before the end of the ring on. */
static void
stage_three(struct bench *b, uint32_t left, uint32_t bytes)
{
	uint8_t memory[3][256], src[256];
	const uint32_t lines = (bytes + 63) / 64 * 64;
	uint32_t at = NDSH_MOVER_IN_BYTES - left;

	b->m->in_head = b->m->in_tail = at;
	for (unsigned i = 0; i < 3; i++) {
		uint64_t n = roce_mover_posted(b->m);

		memset(src, (int)(i + 1), bytes);
		roce_mover_in(b->s, b->m, (uintptr_t)memory[i], src, bytes, &none);
		at = at + bytes <= NDSH_MOVER_IN_BYTES ? at : 0;
		cr_assert_eq(b->m->cq->ring.produced, n + 1);
		cr_assert_arr_eq(b->m->in + at, src, bytes);
		at += lines;
	}
	roce_shard_publish(b->s);
	cr_assert_eq(mover_run(b, 3), 3);
	for (unsigned i = 0; i < 3; i++)
		for (uint32_t k = 0; k < bytes; k++)
			cr_assert_eq(memory[i][k], i + 1, "%u bytes, %u left", bytes, left);
	cr_assert_eq(roce_shard_movers(b->s, 1), 1);
}

/* Each has cache lines of its own, one behind the other, and none reaches over the end of the ring.
 * When all are done there is room for as much as ever. */
Test(mover, staging_by_lines)
{
	struct bench b = bench_new();

	for (uint32_t left = 64; left <= 192; left += 64)
		for (uint32_t bytes = 1; bytes <= 129; bytes++) {
			stage_three(&b, left, bytes);
			cr_assert(roce_mover_has_room(
				b.m, 1, NDSH_MOVER_IN_BYTES - ROCE_MTU_MAX - 64));
		}
	bench_free(&b);
}

/* Two commands that lie badly about the end of a ring that is nearly full: either there is no room,
 * or they are not staged over what the client has not taken. */
Test(mover, the_end_of_a_full_ring)
{
	struct bench b = bench_new();
	const uint32_t begin = 4032, full = begin + NDSH_MOVER_IN_BYTES - 2 * begin;
	static uint8_t first[ROCE_MTU_MAX], rest[ROCE_MTU_MAX], src[ROCE_MTU_MAX];

	b.m->in_head = b.m->in_tail = begin;
	memset(src, 1, sizeof(src));
	roce_mover_in(b.s, b.m, (uintptr_t)first, src, sizeof(src), &none);
	memset(src, 2, sizeof(src));
	while (b.m->in_head < full)
		roce_mover_in(b.s, b.m, (uintptr_t)rest, src,
			full - b.m->in_head < sizeof(src) ? full - b.m->in_head : sizeof(src),
			&none);
	if (roce_mover_has_room(b.m, 2, sizeof(src))) {
		roce_mover_in(b.s, b.m, (uintptr_t)rest, src, sizeof(src) - 1, &none);
		roce_mover_in(b.s, b.m, (uintptr_t)rest, src, 1, &none);
	}
	roce_shard_publish(b.s);
	(void)mover_run(&b, UINT32_MAX);
	for (uint32_t i = 0; i < sizeof(first); i++)
		cr_assert_eq(first[i], 1, "byte %u", i);
	(void)roce_shard_movers(b.s, 1);
	bench_free(&b);
}

/* Many short ones are limited by the queue, before it overruns; in one go there is room for as many
 * as were asked about. */
Test(mover, the_queue_has_an_end)
{
	for (uint32_t at_once = 1; at_once <= 16; at_once++) {
		struct bench b = bench_new();
		uint8_t byte = 7, memory = 0;
		uint32_t n = 0;

		while (roce_mover_has_room(b.m, at_once, at_once))
			for (uint32_t i = 0; i < at_once; i++, n++)
				roce_mover_in(b.s, b.m, (uintptr_t)&memory, &byte, 1, &none);
		cr_assert_eq(n, NDSH_MOVER_DEPTH / at_once * at_once);
		roce_shard_publish(b.s);
		cr_assert_eq(b.client.reader.page->fault, NDSH_CQ_OK);
		cr_assert_eq(mover_run(&b, UINT32_MAX), n);
		cr_assert_eq(roce_shard_movers(b.s, 1), 1);
		cr_assert(roce_mover_has_room(b.m, at_once, at_once));
		bench_free(&b);
	}
}

/* Backwards, further than there are commands, or anything else: no progress, and no harm. */
Test(mover, nonsense_is_no_progress)
{
	struct bench b = bench_new();
	const uint64_t lies[] = {11, 12, 1000, UINT32_MAX, UINT64_MAX, UINT64_MAX - 3, 3, 0};
	uint8_t byte = 7, memory = 0;

	for (unsigned i = 0; i < 10; i++)
		roce_mover_in(b.s, b.m, (uintptr_t)&memory, &byte, 1, &none);
	roce_shard_publish(b.s);
	cr_assert_eq(mover_run(&b, 4), 4);
	cr_assert_not(roce_shard_movers_rest(b.s), "done, and not seen");
	cr_assert_eq(roce_shard_movers(b.s, 1), 1);
	cr_assert(roce_shard_movers_rest(b.s));
	cr_assert_eq(b.m->done, 4);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		*b.consumer = lies[i];
		cr_assert_eq(roce_shard_movers(b.s, 1), 0, "%lu", lies[i]);
		cr_assert_eq(b.m->done, 4);
	}
	*b.consumer = 4;
	cr_assert_eq(roce_shard_movers(b.s, 1), 0);
	cr_assert_eq(mover_run(&b, 100), 6);
	cr_assert_eq(roce_shard_movers(b.s, 1), 1);
	cr_assert_eq(b.m->done, 10);
	cr_assert_eq(roce_shard_movers(b.s, 1), 0, "nothing is under way");
	bench_free(&b);
}

/* Each command that failed is noticed, whatever its place in the ring and the client's pace; not
 * before it is done. */
Test(mover, failures_are_told_by_their_bits)
{
	struct bench b = bench_new();
	uint64_t number = 0, told = 0;

	for (unsigned round = 0; round < 400; round++) {
		uint32_t n = 1 + round * 7 % NDSH_MOVER_SLOTS, most = 1 + round % 50, done;

		refused = round * 0x9e3779b9u;
		for (uint32_t i = 0; i < n; i++) {
			b.m->fill[i] = (typeof(b.m->fill[i])){.since = number + i};
			roce_mover_out(b.s, b.m, (uintptr_t)b.client.staging, 1, i, 0);
		}
		roce_shard_publish(b.s);
		for (uint32_t from = 0; from < n; from += done) {
			done = mover_run(&b, most);
			(void)roce_shard_movers(b.s, 1);
			for (uint32_t i = 0; i < n; i++)
				cr_assert_eq(b.m->fill[i].lost,
					i < from + done && (refused >> (number + i) % 32 & 1),
					"round %u, command %u", round, i);
		}
		number += n;
		told += refused != 0;
	}
	cr_assert_gt(told, 300);
	refused = 0;
	bench_free(&b);
}

/* Commands n and following, each to fill a slot anew. */
static void
give_outs(struct bench *b, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = roce_mover_posted(b->m);
		uint32_t slot = number % NDSH_MOVER_SLOTS;

		b->m->fill[slot] = (typeof(b->m->fill[slot])){.since = number};
		roce_mover_out(b->s, b->m, (uintptr_t)b->client.staging, 1, slot, 0);
	}
	roce_shard_publish(b->s);
}

/* Those of a whole word are noticed; and the bit of a command that is not done yet still tells of
 * the one that had it before. */
Test(mover, failures_of_whole_words)
{
	struct bench b = bench_new();
	uint32_t slot = (NDSH_MOVER_DEPTH + 63) % NDSH_MOVER_SLOTS;

	refused = UINT32_MAX;
	give_outs(&b, NDSH_MOVER_DEPTH);
	cr_assert_eq(mover_run(&b, UINT32_MAX), NDSH_MOVER_DEPTH);
	cr_assert_eq(roce_shard_movers(b.s, 1), 1);
	for (uint32_t i = 0; i < NDSH_MOVER_SLOTS; i++)
		cr_assert(b.m->fill[i].lost, "slot %u", i);
	refused = 0;
	give_outs(&b, 64);
	cr_assert_eq(mover_run(&b, 63), 63);
	cr_assert_eq(roce_shard_movers(b.s, 1), 1);
	cr_assert_not(b.m->fill[slot].lost, "not done yet");
	cr_assert_eq(mover_run(&b, 1), 1);
	cr_assert_eq(roce_shard_movers(b.s, 1), 1);
	cr_assert_not(b.m->fill[slot].lost);
	bench_free(&b);
}

/* A slot that was given to another packet is not lost by what its former one was to have. */
Test(mover, a_failure_of_the_slots_former_packet)
{
	struct bench b = bench_new();

	roce_mover_out(b.s, b.m, (uintptr_t)b.client.staging, 1, roce_mover_next_slot(b.m), 0);
	roce_mover_out(b.s, b.m, (uintptr_t)b.client.staging, 1, roce_mover_next_slot(b.m), 0);
	roce_shard_publish(b.s);
	refused = 1;
	cr_assert_eq(mover_run(&b, 2), 2);
	(void)roce_shard_movers(b.s, 1);
	cr_assert_not(b.m->fill[b.m->slot[b.m->slots - 1]].lost);
	refused = 0;
	bench_free(&b);
}

/* A client of an older version tells nothing, and has no room for it. */
Test(mover, one_that_tells_nothing)
{
	struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	void *mem = calloc(1, roce_mover_bytes()),
	     *shared = aligned_alloc(64, (ndsh_mover_bytes(true) + 63) & ~63u);
	struct ndsh_mover client;
	struct roce_mover *m;

	memset(shared, 0xff, ndsh_mover_bytes(true)); /* behind its block lies what may */
	memset(shared, 0, ndsh_mover_bytes(false));
	m = roce_mover_create(s, NULL, mem, shared, false, NULL);
	ndsh_mover_view(&client, shared, false);
	roce_mover_out(s, m, (uintptr_t)client.staging, 1, 3, 0);
	roce_shard_publish(s);
	refused = UINT32_MAX;
	cr_assert_eq(ndsh_mover_run(&client, 1, copy, NULL), 1);
	refused = 0;
	cr_assert_eq(roce_shard_movers(s, 1), 1);
	cr_assert_not(m->fill[3].lost);
	cr_assert(roce_mover_destroy(s, m));
	free(shared);
	free(mem);
	free(s);
}

/* What a command says. */
Test(mover, what_the_client_reads)
{
	struct bench b = bench_new();
	const struct roce_pkt swap = {
		.opcode = ROCE_CMP_SWAP, .va = 4096, .swap_add = 5, .compare = 6};
	const struct roce_pkt add = {.opcode = ROCE_FETCH_ADD, .va = 8192, .swap_add = 9};
	struct ndsh_move_atomic a;
	struct ndsh_cqe c;

	roce_mover_out(b.s, b.m, 12345, 678, 3, 90);
	roce_mover_atomic(b.s, b.m, &swap, 4104, 2);
	roce_mover_atomic(b.s, b.m, &add, 8200, 1);
	roce_shard_publish(b.s);
	cr_assert_eq(ndsh_cq_poll(&b.client.reader, &c, 1), 1);
	cr_assert_eq(c.op, NDSH_MOVE_OUT);
	cr_assert_eq(c.context, 12345);
	cr_assert_eq(c.bytes, 678);
	cr_assert_eq(c.data, NDSH_MOVER_IN_BYTES + 3 * NDSH_MOVER_SLOT_BYTES + 90);
	for (unsigned i = 0; i < 2; i++) {
		cr_assert_eq(ndsh_cq_poll(&b.client.reader, &c, 1), 1);
		cr_assert_eq(c.op, i == 0 ? NDSH_MOVE_CMP_SWAP : NDSH_MOVE_FETCH_ADD);
		cr_assert_eq(c.context, i == 0 ? 4104 : 8200);
		cr_assert_eq(c.bytes, 8);
		memcpy(&a, b.client.staging + c.data, sizeof(a));
		cr_assert_eq(a.swap_add, i == 0 ? 5 : 9);
		cr_assert_eq(a.compare, i == 0 ? 6 : 0);
		cr_assert_eq(a.result, NDSH_MOVER_IN_BYTES + (2 - i) * NDSH_MOVER_SLOT_BYTES);
	}
	bench_free(&b);
}

/* The slots that are given out until none is left are all different. */
Test(mover, each_slot_once)
{
	struct bench b = bench_new();
	bool given[NDSH_MOVER_SLOTS] = {false};

	for (; b.m->slots > 0; b.m->slots--) {
		uint32_t slot = roce_mover_next_slot(b.m);

		cr_assert(slot < NDSH_MOVER_SLOTS && !given[slot], "slot %u", slot);
		given[slot] = true;
	}
	bench_free(&b);
}

Test(mover, no_completion_queue_is_left)
{
	struct bench b = bench_new();
	void *page = aligned_alloc(64, ndsh_cq_bytes(64)), *mem = calloc(1, roce_mover_bytes());
	struct roce_cq *cq;

	memset(page, 0, ndsh_cq_bytes(64));
	cq = roce_cq_create(b.s, NULL, page, 64, NULL);
	cr_assert_not_null(cq);
	cr_assert_null(roce_mover_create(b.s, NULL, mem, b.shared, true, NULL));
	cr_assert(roce_cq_destroy(b.s, cq));
	free(mem);
	free(page);
	bench_free(&b);
}

/* Its client ends with commands under way: the memory of the mover is the host's again. */
Test(mover, one_that_goes_with_commands_under_way)
{
	struct bench b = bench_new();

	roce_mover_out(b.s, b.m, (uintptr_t)b.client.staging, 1, 3, 0);
	roce_shard_publish(b.s);
	cr_assert(roce_mover_destroy(b.s, b.m));
	cr_assert_eq(b.s->movers, 0);
	cr_assert_eq(roce_shard_movers(b.s, 1), 0);
	free(b.mem);
	free(b.shared);
	free(b.s);
}

/* A mover with regions is not destroyed. */
Test(mover, one_in_use_stays)
{
	struct bench b = bench_new();
	uint32_t pd = roce_pd_create(b.s);
	struct roce_mr *mr = roce_mr_register_moved(b.s, pd, 0, 4096, b.m, NDSH_ACCESS_LOCAL_WRITE);

	cr_assert_null(roce_mr_register_moved(b.s, pd, 0, 4096, b.m, NDSH_ACCESS_REMOTE_WRITE),
		"rights that can't be");
	cr_assert_not_null(mr);
	cr_assert_not(roce_mover_destroy(b.s, b.m));
	cr_assert(roce_mr_deregister(b.s, mr));
	cr_assert(roce_pd_destroy(b.s, pd));
	bench_free(&b);
}

/* ---- many movers ----------------------------------------------------------------------------- */

#define CROWD 100u
#define LOOKS 64u /* a turn looks at no more */

struct crowd {
	struct roce_shard *s;
	struct roce_principal principal[2];
	struct roce_client client[2];
	struct roce_mover *m[CROWD + 1]; /* the last one is the second principal's */
	void *mem[CROWD + 1], *shared[CROWD + 1];
};

/* Hundreds of megabytes, of which a test needs a few pages. */
static void *
untouched(size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert_neq(mem, MAP_FAILED);
	return mem;
}

static struct crowd *
crowd_new(void)
{
	const struct roce_principal_cfg one = {
		.weight = 1, .pool = {{0, ROCE_CAP_NONE}, {0, ROCE_CAP_NONE}}};
	struct roce_shard_cfg cfg = lone_config();
	struct crowd *c = calloc(1, sizeof(*c));

	cfg.max_cqs = CROWD + 1;
	c->s = lone_shard_new(&cfg);
	for (unsigned i = 0; i < 2; i++) {
		cr_assert(roce_principal_init(c->s, &c->principal[i], &one));
		roce_client_init(&c->client[i], &c->principal[i]);
	}
	for (unsigned i = 0; i <= CROWD; i++) {
		c->mem[i] = calloc(1, roce_mover_bytes());
		c->shared[i] = untouched(ndsh_mover_bytes(false));
		c->m[i] = roce_mover_create(
			c->s, &c->client[i == CROWD], c->mem[i], c->shared[i], false, c);
		cr_assert_not_null(c->m[i]);
	}
	return c;
}

static void
crowd_free(struct crowd *c)
{
	for (unsigned i = 0; i <= CROWD; i++) {
		cr_assert(roce_mover_destroy(c->s, c->m[i]));
		free(c->mem[i]);
		munmap(c->shared[i], ndsh_mover_bytes(false));
	}
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_client_fini(c->s, &c->client[i]));
	free(c->s);
	free(c);
}

/* Each has a command, and its client has carried it out. */
static void
crowd_move(struct crowd *c)
{
	for (unsigned i = 0; i <= CROWD; i++) {
		roce_mover_in(c->s, c->m[i], 0, (const uint8_t *)"12345678", 8, &none);
		c->m[i]->cq->ring.page->consumer++;
	}
	roce_shard_publish(c->s);
}

static unsigned
crowd_behind(const struct crowd *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i <= CROWD; i++)
		n += c->m[i]->done != roce_mover_posted(c->m[i]);
	return n;
}

/* However many movers there are, a turn looks at so many; and those of one principal do not keep
 * another one's waiting. */
Test(mover, a_turn_looks_at_some_of_a_crowd)
{
	struct crowd *c = crowd_new();

	for (unsigned round = 1; round < 10; round++) {
		unsigned calls = 0;

		crowd_move(c);
		cr_assert_not(roce_shard_movers_rest(c->s));
		for (unsigned behind = CROWD + 1; behind > 0; calls++) {
			unsigned seen = roce_shard_movers(c->s, 1);

			cr_assert_leq(seen, LOOKS);
			cr_assert_eq(crowd_behind(c), behind - seen);
			behind -= seen;
			cr_assert_eq(c->m[CROWD]->done, round, "in each first call");
		}
		cr_assert_eq(calls, 2);
		cr_assert(roce_shard_movers_rest(c->s));
		cr_assert_eq(c->s->movers, 0);
	}
	crowd_free(c);
}

/* One whose client carries out nothing stays in sight, and is no work. */
Test(mover, those_that_stand_still_take_turns)
{
	struct crowd *c = crowd_new();

	crowd_move(c);
	for (unsigned i = 0; i < CROWD; i++)
		c->m[i]->cq->ring.page->consumer--;
	cr_assert_eq(roce_shard_movers(c->s, 1), 1);
	cr_assert_eq(c->m[CROWD]->done, 1);
	for (unsigned i = 0; i < 5; i++)
		cr_assert_eq(roce_shard_movers(c->s, 1), 0);
	cr_assert_eq(c->s->movers, CROWD);
	for (unsigned i = 0; i < CROWD; i++) {
		c->m[i]->cq->ring.page->consumer++;
		cr_assert_not(roce_shard_movers_rest(c->s));
		for (unsigned turn = 0; c->m[i]->done == 0; turn++) {
			(void)roce_shard_movers(c->s, 1);
			cr_assert_lt(turn, 2);
		}
	}
	crowd_free(c);
}
