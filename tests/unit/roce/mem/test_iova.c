/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions whose bytes requests name by other addresses than their client's own: by an iova. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/windows.h"
#include "roce/mem/mr.h"

#define MTU    1024u
#define BYTES  (3 * MTU + 5)
#define RIGHTS (NDSH_ACCESS_REMOTE_ATOMIC | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)

/* Of each side both regions, of the arena and of moved memory, have this one. */
static const uint64_t iova[2] = {UINT64_MAX - PAIR_ARENA, 0};

static struct pair *
named_pair(void)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2,
		.mtu = MTU,
		.moved = true,
		.max_rd = 16,
		.max_dest_rd = 16,
		.access = RIGHTS,
		.mr_access = NDSH_ACCESS_LOCAL_WRITE | RIGHTS});

	for (unsigned side = 0; side < 2; side++)
		p->side[side].mr->va = p->side[side].moved_mr->va = iova[side];
	return p;
}

static uint8_t *
memory(struct pair *p, unsigned side, bool moved)
{
	return moved ? p->side[side].moved : p->side[side].arena;
}

static struct ndsh_sge
named(struct pair *p, unsigned side, bool moved, uint64_t at, uint32_t bytes)
{
	return (struct ndsh_sge){.addr = iova[side] + at,
		.len = bytes,
		.key = moved ? p->side[side].moved_key : p->side[side].key};
}

static void
fill(uint8_t *at, uint32_t bytes, uint8_t seed)
{
	for (uint32_t i = 0; i < bytes; i++)
		at[i] = (uint8_t)(i * 7 + i / 256 + seed);
}

static void
post(struct pair *p, uint64_t context, uint8_t op, struct ndsh_sge here, struct ndsh_sge there)
{
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.raddr = there.addr,
			.rkey = there.key,
			.arg = {9, 0},
			.ctrl = NDSH_CTRL(op, 1, 0, 0)},
		&here, NULL);
}

/* The last bytes of the regions, there and back. */
static void
written_and_read(bool here, bool there)
{
	const uint32_t last = PAIR_ARENA - BYTES;
	struct pair *p = named_pair();

	fill(memory(p, 0, here) + last, BYTES, 1);
	post(p, 1, NDSH_OP_WRITE, named(p, 0, here, last, BYTES), named(p, 1, there, last, BYTES));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_expect_eq(memcmp(memory(p, 0, here) + last, memory(p, 1, there) + last, BYTES), 0);
	cr_expect_eq(memory(p, 1, there)[last - 1], 0);
	fill(memory(p, 1, there), BYTES, 2);
	post(p, 2, NDSH_OP_READ, named(p, 0, here, 0, BYTES), named(p, 1, there, 0, BYTES));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_expect_eq(memcmp(memory(p, 0, here), memory(p, 1, there), BYTES), 0);
	cr_expect_eq(memory(p, 0, here)[BYTES], 0);
	pair_free(p);
}

/* checks W-MEM-08[1] */
Test(iova, written_and_read)
{
	for (unsigned kinds = 0; kinds < 4; kinds++)
		written_and_read(kinds & 1, kinds & 2);
}

static void
received(bool moved)
{
	struct pair *p = named_pair();
	struct ndsh_sge sge = named(p, 1, moved, 100, BYTES);

	ndsh_rq_push(&p->side[1].q[0].rq, 3, &sge, 1);
	fill(memory(p, 0, !moved) + 50, BYTES, 3);
	post(p, 1, NDSH_OP_SEND, named(p, 0, !moved, 50, BYTES), (struct ndsh_sge){0});
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_expect_eq(pair_expect(p, 1, 3, NDSH_WC_SUCCESS).bytes, BYTES);
	cr_expect_eq(memcmp(memory(p, 0, !moved) + 50, memory(p, 1, moved) + 100, BYTES), 0);
	pair_free(p);
}

Test(iova, sent_and_received)
{
	received(false);
	received(true);
}

/* The word, and where its old value goes. */
static void
added(bool here, bool there)
{
	struct pair *p = named_pair();
	uint64_t word = 5;

	memcpy(memory(p, 1, there) + 64, &word, sizeof(word));
	post(p, 1, NDSH_OP_FETCH_ADD, named(p, 0, here, 33, 8), named(p, 1, there, 64, 8));
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	memcpy(&word, memory(p, 0, here) + 33, sizeof(word));
	cr_expect_eq(word, 5);
	memcpy(&word, memory(p, 1, there) + 64, sizeof(word));
	cr_expect_eq(word, 14);
	pair_free(p);
}

Test(iova, atomics)
{
	for (unsigned kinds = 0; kinds < 4; kinds++)
		added(kinds & 1, kinds & 2);
}

/* checks W-ATOM-02[3]: the iova is aligned, the place in memory is not: no instruction of ours
 * crosses a cache line, and no client is asked for one. */
Test(iova, atomics_on_words_that_are_not_aligned)
{
	for (unsigned moved = 0; moved < 2; moved++) {
		struct pair *p = named_pair();
		struct roce_mr *mr = moved ? p->side[1].moved_mr : p->side[1].mr;

		mr->va += 4;
		memset(memory(p, 1, moved) + 56, 1, 16);
		post(p, 1, NDSH_OP_FETCH_ADD, named(p, 0, false, 0, 8), named(p, 1, moved, 64, 8));
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
		for (unsigned i = 56; i < 72; i++)
			cr_expect_eq(memory(p, 1, moved)[i], 1);
		cr_expect_eq(p->side[1].client.reader.taken, 0);
		pair_free(p);
	}
}

/* One byte too many at either end, and what would be right without the iova. */
static void
refused(uint8_t op, bool moved, bool here, uint64_t addr, uint32_t bytes)
{
	struct pair *p = named_pair();
	struct ndsh_sge wrong = named(p, !here, moved, 0, bytes),
			right = named(p, here, false, 0, bytes);

	wrong.addr = addr;
	post(p, 1, op, here ? wrong : right, here ? right : wrong);
	(void)pair_run(p, PAIR_LONG);
	pair_expect(p, 0, 1, here ? NDSH_WC_LOC_PROT_ERR : NDSH_WC_REM_ACCESS_ERR);
	cr_expect_eq(p->side[0].client.reader.taken + p->side[1].client.reader.taken, 0);
	pair_free(p);
}

/* checks W-MEM-08[2] */
Test(iova, bounds)
{
	static const uint8_t ops[] = {NDSH_OP_WRITE, NDSH_OP_READ};

	for (unsigned i = 0; i < 8; i++) {
		uint8_t op = ops[i & 1];
		bool moved = i & 2, here = i & 4;
		uint64_t base = iova[!here];

		refused(op, moved, here, base - 1, 1);
		refused(op, moved, here, base - 1, 2);
		refused(op, moved, here, base + PAIR_ARENA, 1);
		refused(op, moved, here, base + PAIR_ARENA - 1, 2);
		refused(op, moved, here, PAIR_VA, 8);
	}
}

/* A window has its region's iova. */
static void
through_a_window(bool moved)
{
	struct pair *p = named_pair();
	struct pair_side *d = &p->side[1];
	struct window v = window_new(p);

	d->mr->access &= (uint8_t)~RIGHTS;
	d->moved_mr->rights &= (uint8_t)~RIGHTS;
	v.generation = 1;
	v.token = ndsh_window_token(v.slot, v.secret, v.generation);
	pair_post(p, 1, 0,
		&(struct ndsh_swr){.context = 1,
			.raddr = iova[1] + 4096,
			.rkey = v.token,
			.imm = v.generation,
			.arg = {BYTES, WINDOW_RW | (uint64_t)(moved ? d->moved_key : d->key) << 32},
			.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, 0, 0)},
		NULL, NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	fill(p->side[0].arena, BYTES, 4);
	post(p, 2, NDSH_OP_WRITE, named(p, 0, false, 0, BYTES),
		(struct ndsh_sge){.addr = iova[1] + 4096, .key = v.token});
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_expect_eq(memcmp(p->side[0].arena, memory(p, 1, moved) + 4096, BYTES), 0);
	fill(memory(p, 1, moved) + 4096, BYTES, 5);
	post(p, 3, NDSH_OP_READ, named(p, 0, true, 0, BYTES - 1),
		(struct ndsh_sge){.addr = iova[1] + 4097, .key = v.token});
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	cr_expect_eq(memcmp(p->side[0].moved, memory(p, 1, moved) + 4097, BYTES - 1), 0);
	post(p, 4, NDSH_OP_WRITE, named(p, 0, false, 0, 2),
		(struct ndsh_sge){.addr = iova[1] + 4095, .key = v.token});
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_REM_ACCESS_ERR);
	window_free(p, &v);
	pair_free(p);
}

/* checks W-MEM-08[1] */
Test(iova, through_a_window)
{
	through_a_window(false);
	through_a_window(true);
}
