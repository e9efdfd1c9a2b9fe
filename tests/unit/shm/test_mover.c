/* SPDX-License-Identifier: BSD-3-Clause */
/* Movers: what the client does with copy commands, and when the daemon sees it. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "models/edge.h"

#include "../../../lib/shm/ndsh_cq.c"
#include "../../../lib/shm/ndsh_mover.c"

struct moving {
	uint8_t *block;
	struct ndsh_cq daemon;
	struct ndsh_mover client;
	uint8_t memory[32];
	uint32_t failing;
	unsigned got;
};

static uint32_t
moving_copy(void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n)
{
	struct moving *v = ctx;

	for (uint32_t i = 0; i < n; i++)
		if (!(v->failing >> i & 1))
			ndsh_mover_copy_plain(m, &commands[i]);
	return v->failing;
}

static void
daemon_sees_done(const struct edge_access *a, void *ctx)
{
	struct moving *v = ctx;

	if (a->p == &v->daemon.page->consumer) {
		cr_expect_eq(a->order, __ATOMIC_RELEASE);
		cr_expect_eq(v->client.failed[0], 2, "the second");
		cr_expect_str_eq((char *)v->memory, "from staging");
		cr_expect_str_eq((char *)v->client.staging + NDSH_MOVER_IN_BYTES, "from staging");
		v->got++;
	}
}

static struct moving *
moving_make(bool tells)
{
	struct moving *v = calloc(1, sizeof(*v));

	v->block = aligned_alloc(64, (ndsh_mover_bytes(true) + 63) & ~63u);
	memset(v->block, 0, ndsh_mover_bytes(true));
	ndsh_cq_view(&v->daemon, v->block, NDSH_MOVER_DEPTH);
	ndsh_mover_view(&v->client, v->block, tells);
	return v;
}

static void
moving_free(struct moving *v)
{
	free(v->block);
	free(v);
}

static void
command(struct moving *v, uint8_t op, uint32_t staging)
{
	edge_begin(NULL, NULL);
	cr_assert(ndsh_cq_push(&v->daemon,
		&(struct ndsh_cqe){
			.context = (uintptr_t)v->memory, .bytes = 13, .data = staging, .op = op}));
}

Test(shm_mover, a_command_is_acknowledged_when_it_is_done)
{
	struct moving *v = moving_make(true);

	memcpy(v->client.staging, "from staging", 13);
	command(v, NDSH_MOVE_IN, 0);
	command(v, NDSH_MOVE_IN, 32);
	command(v, NDSH_MOVE_OUT, NDSH_MOVER_IN_BYTES);
	v->failing = 2;
	edge_begin(daemon_sees_done, v);
	cr_expect_eq(ndsh_mover_run(&v->client, 8, moving_copy, v), 3);
	cr_expect_eq(v->got, 1);
	moving_free(v);
}

/* Queue, staging of IN, staging of OUT, failed[]: none upon the other. */
Test(shm_mover, parts_of_a_block)
{
	cr_expect_eq(ndsh_mover_staging(), ndsh_cq_bytes(NDSH_MOVER_DEPTH));
	cr_expect_eq(ndsh_mover_staging() % NDSH_CACHE_LINE, 0);
	cr_expect_eq(ndsh_mover_failed() - ndsh_mover_staging(),
		NDSH_MOVER_IN_BYTES + NDSH_MOVER_SLOTS * NDSH_MOVER_SLOT_BYTES);
}

/* failed[] is at the end of the block, if the daemon looks at it. */
Test(shm_mover, a_block_without_failures)
{
	struct moving *v = moving_make(false);

	cr_expect_eq(ndsh_mover_bytes(false), ndsh_mover_failed());
	cr_expect_eq(ndsh_mover_bytes(true), ndsh_mover_failed() + NDSH_MOVER_DEPTH / 8);
	cr_expect_null(v->client.failed);
	command(v, NDSH_MOVE_IN, 0);
	v->failing = 1;
	edge_begin(NULL, NULL);
	cr_expect_eq(ndsh_mover_run(&v->client, 8, moving_copy, v), 1);
	cr_expect_eq(
		edge_count_in(EDGE_STORE, v->block + ndsh_mover_failed(), NDSH_MOVER_DEPTH / 8), 0);
	moving_free(v);
}

/* Each command's bit, and no other: those of a lap before are the daemon's still. */
Test(shm_mover, every_command_has_its_bit)
{
	struct moving *v = moving_make(true);
	const uint64_t *failed = v->client.failed;

	for (unsigned i = 0; i < NDSH_MOVER_DEPTH + 70; i++) {
		const bool fails = i % 3 == 0,
			   before = failed[i % NDSH_MOVER_DEPTH / 64] >> i % 64 & 1;

		command(v, NDSH_MOVE_IN, 0);
		v->failing = fails ? 1 : ~1u; /* of one command, one bit counts */
		edge_begin(NULL, NULL);
		cr_expect_eq(ndsh_mover_run(&v->client, 8, moving_copy, v), 1);
		for (unsigned k = 0; k < NDSH_MOVER_DEPTH; k++)
			cr_assert_eq(failed[k / 64] >> k % 64 & 1,
				k <= i % NDSH_MOVER_DEPTH ? (i - i % NDSH_MOVER_DEPTH + k) % 3 == 0
				: i >= NDSH_MOVER_DEPTH	  ? k % 3 == 0
							  : 0,
				"bit %u behind command %u", k, i);
		cr_expect_eq(edge_count_in(EDGE_STORE, failed, NDSH_MOVER_DEPTH / 8),
			fails != before, "the daemon's line is left alone unless a bit changes");
	}
	moving_free(v);
}

static uint32_t
counting_copy(void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n)
{
	unsigned *calls = ctx;

	(void)m;
	(void)commands;
	cr_expect(n > 0 && n <= NDSH_MOVER_BATCH, "%u", n);
	(*calls)++;
	return 0;
}

/* As many as there are and as many as are wanted, in batches. */
Test(shm_mover, commands_come_in_batches)
{
	enum { BATCH = NDSH_MOVER_BATCH, MANY = 2 * BATCH + 8 };
	static const struct {
		unsigned made, wanted, done, calls;
	} rows[] = {
		{0, 8, 0, 0},
		{1, 8, 1, 1},
		{BATCH, 1000, BATCH, 1},
		{BATCH + 1, 1000, BATCH + 1, 2},
		{MANY, 1000, MANY, 3},
		{MANY, BATCH + 4, BATCH + 4, 2},
		{MANY, BATCH, BATCH, 1},
		{MANY, 0, 0, 0},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct moving *v = moving_make(true);
		unsigned calls = 0;

		for (unsigned k = 0; k < rows[i].made; k++)
			command(v, NDSH_MOVE_IN, 0);
		edge_begin(NULL, NULL);
		cr_expect_eq(ndsh_mover_run(&v->client, rows[i].wanted, counting_copy, &calls),
			rows[i].done, "row %u", i);
		cr_expect_eq(calls, rows[i].calls, "row %u", i);
		cr_expect_eq(v->daemon.page->consumer, rows[i].done, "row %u", i);
		moving_free(v);
	}
}

/* A newer daemon's commands do nothing to the memory of an older client. */
Test(shm_mover, other_commands_do_nothing)
{
	struct moving *v = moving_make(true);
	uint8_t memory[sizeof(v->memory)];

	memset(v->client.staging, 0x55, 64);
	memset(v->memory, 0xaa, sizeof(v->memory));
	memcpy(memory, v->memory, sizeof(memory));
	for (unsigned op = 0; op < 256; op++) {
		const struct ndsh_cqe c = {
			.context = (uintptr_t)v->memory, .bytes = 8, .data = 64, .op = (uint8_t)op};

		if (op >= NDSH_MOVE_IN && op <= NDSH_MOVE_FETCH_ADD)
			continue;
		ndsh_mover_copy_plain(&v->client, &c);
		cr_expect_arr_eq(v->memory, memory, sizeof(memory), "%u", op);
		cr_expect_eq(v->client.staging[64], 0, "%u", op);
	}
	moving_free(v);
}

/* The old value goes where the operands say. */
Test(shm_mover, atomics_of_both_kinds)
{
	static const struct {
		uint64_t before, swap_add, compare, after;
		uint8_t op;
	} rows[] = {
		{7, 100, 7, 100, NDSH_MOVE_CMP_SWAP},
		{7, 100, 8, 7, NDSH_MOVE_CMP_SWAP},
		{7, 100, 7, 107, NDSH_MOVE_FETCH_ADD},
		{UINT64_MAX, 3, 0, 2, NDSH_MOVE_FETCH_ADD},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct moving *v = moving_make(true);
		const struct ndsh_move_atomic a = {
			rows[i].swap_add, rows[i].compare, NDSH_MOVER_IN_BYTES + 8};
		uint64_t word = rows[i].before, old;

		memcpy(v->client.staging + 48, &a, sizeof(a));
		ndsh_mover_copy_plain(&v->client, &(struct ndsh_cqe){.context = (uintptr_t)&word,
							  .bytes = 8,
							  .data = 48,
							  .op = rows[i].op});
		memcpy(&old, v->client.staging + NDSH_MOVER_IN_BYTES + 8, sizeof(old));
		cr_expect_eq(word, rows[i].after, "row %u", i);
		cr_expect_eq(old, rows[i].before, "row %u", i);
		moving_free(v);
	}
}

struct placing {
	uint8_t to[40];
	const uint8_t *from, *at;
	uint32_t bytes;
};

/* Nothing behind what has just been stored, everything in front of it. */
static void
application_polls(const struct edge_access *a, void *ctx)
{
	struct placing *w = ctx;
	const uint32_t done = (uint32_t)((const uint8_t *)a->p + a->bytes - w->at);

	cr_expect_eq(a->order, __ATOMIC_RELEASE);
	for (uint32_t i = 0; i < w->bytes; i++)
		cr_expect_eq(w->at[i], i < done ? w->from[i] : 0);
}

/* checks R-ORD-07[2]: and whole words whole, for applications that poll one of those. */
Test(shm_mover, R_ORD_07_the_last_bytes_come_last)
{
	static const uint8_t from[] = "all of these bytes are not 0";

	for (uint32_t at = 0; at < 8; at++)
		for (uint32_t bytes = 1; bytes < sizeof(from); bytes++) {
			_Alignas(8) struct placing w = {
				.from = from, .at = w.to + at, .bytes = bytes};
			uint32_t tail = bytes < NDSH_PLACE_TAIL ? bytes : NDSH_PLACE_TAIL;

			edge_begin(application_polls, &w);
			ndsh_place(w.to + at, from, bytes);
			if (bytes >= 8 && (at + bytes) % 8 == 0)
				tail = 1;
			cr_expect_eq(edge.count, tail, "%u bytes at %u", bytes, at);
		}
}
