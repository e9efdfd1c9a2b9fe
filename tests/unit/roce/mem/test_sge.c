/* SPDX-License-Identifier: BSD-3-Clause */
/* Between packets and scatter/gather lists: every byte in its place. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "rigs/lone_shard.h"
#include "roce/mem/mr.h"
#include "roce/mem/sge.h"
#include "roce/qp/qp.h"

#define HALF (PAIR_ARENA / 2)

static void
fill(uint8_t *p, uint32_t bytes, uint32_t seed)
{
	for (uint32_t i = 0; i < bytes; i++) {
		seed = seed * 1664525 + 1013904223;
		p[i] = (uint8_t)(seed >> 24);
	}
}

static void
expect_all(
	struct pair *p, unsigned side, uint64_t context, uint8_t op, uint8_t status, uint32_t bytes)
{
	struct ndsh_cqe c = pair_expect(p, side, context, status);

	cr_assert_eq(c.op, op);
	cr_assert_eq(c.bytes, bytes, "%u bytes instead of %u", c.bytes, bytes);
}

Test(sge, scatter_gather_of_16_uneven_pieces)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 512});
	struct ndsh_sge from[16], to[16];
	uint32_t total = 0, src = 0, dst = 0;
	static uint8_t want[65536], got[65536];

	fill(p->side[0].arena, 200000, 5);
	for (unsigned i = 0; i < 16; i++) {
		uint32_t n = i % 5 == 3 ? 0 : i * 173 + 1;

		from[i] = pair_sge(p, 0, src, n);
		memcpy(want + total, p->side[0].arena + src, n);
		src += n + 11;
		total += n;
	}
	for (unsigned i = 0; i < 16; i++) {
		to[i] = pair_sge(p, 1, dst, i < 15 ? 700 + i : total);
		dst += to[i].len + 3;
	}
	ndsh_rq_push(&p->side[1].q[0].rq, 7, to, 16);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 8, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 16, 0, 0)}, from,
		NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	expect_all(p, 1, 7, NDSH_OP_RECV, NDSH_WC_SUCCESS, total);
	expect_all(p, 0, 8, NDSH_OP_SEND, NDSH_WC_SUCCESS, total);
	for (uint32_t i = 0, left = total, at = 0; left > 0; i++) {
		uint32_t n = to[i].len < left ? to[i].len : left;

		memcpy(got + at, p->side[1].arena + (to[i].addr - PAIR_VA), n);
		at += n;
		left -= n;
	}
	cr_assert_eq(memcmp(want, got, total), 0);
	pair_free(p);
}
/* ---- every list of up to four pieces ---- */

#define ROOM 64u

/* A queue pair's protection domain with one region, and a request whose list a test writes. */
struct walk {
	struct roce_shard *s;
	struct roce_qp qp;
	uint32_t key;
	uint8_t mem[1024];
	struct roce_wqe w;
	union roce_wqe_ext ext;
	uint32_t total;
	uint8_t *where[ROOM]; /* of each byte of the message */
};

static struct walk *
walk_new(void)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct walk *k = calloc(1, sizeof(*k));
	uint32_t pd;

	k->s = lone_shard_new(&cfg);
	pd = roce_pd_create(k->s);
	k->qp.pd = pd;
	k->key = roce_mr_key(roce_mr_register(
		k->s, pd, PAIR_VA, sizeof(k->mem), k->mem, NDSH_ACCESS_LOCAL_WRITE));
	return k;
}

static void
walk_free(struct walk *k)
{
	free(k->s);
	free(k);
}

/* Pieces of these lengths, each behind the one before with a gap of one byte, in reverse order. */
static void
walk_list(struct walk *k, const uint32_t *len, uint32_t n)
{
	struct ndsh_sge *sge = n > ROCE_WQE_SGE ? k->ext.sge : k->w.sge;
	uint32_t at = sizeof(k->mem);

	k->w.ext = n > ROCE_WQE_SGE ? &k->ext : NULL;
	k->w.num_sge = (uint8_t)n;
	k->w.op = NDSH_OP_SEND;
	k->total = 0;
	for (uint32_t i = 0; i < n; i++) {
		at -= len[i] + 1;
		sge[i] = (struct ndsh_sge){.addr = PAIR_VA + at, .len = len[i], .key = k->key};
		for (uint32_t b = 0; b < len[i]; b++)
			k->where[k->total++] = k->mem + at + b;
	}
	k->w.bytes = k->total;
}

static void
walk_fill(struct walk *k)
{
	memset(k->mem, 0xee, sizeof(k->mem));
	for (uint32_t i = 0; i < k->total; i++)
		*k->where[i] = (uint8_t)(i + 1);
}

/* Bytes [from, from + bytes) of the message, and not one more, in dst. */
static void
walk_gather(struct walk *k, struct roce_sge_pos *pos, uint32_t from, uint32_t bytes)
{
	uint8_t dst[ROOM + 1];

	memset(dst, 0, sizeof(dst));
	cr_assert(roce_sge_gather(k->s, &k->qp, pos, &k->w, from, dst, bytes));
	for (uint32_t i = 0; i < bytes; i++)
		cr_assert_eq(dst[i], from + i + 1, "byte %u of %u..%u", i, from, from + bytes);
	cr_assert_eq(dst[bytes], 0, "one too many");
}

static void
walk_scatter(struct walk *k, struct roce_sge_pos *pos, uint32_t from, uint32_t bytes)
{
	uint8_t src[ROOM], want[sizeof(k->mem)];

	memset(k->mem, 0xee, sizeof(k->mem));
	memcpy(want, k->mem, sizeof(want));
	for (uint32_t i = 0; i < bytes; i++) {
		src[i] = (uint8_t)(from + i + 1);
		want[k->where[from + i] - k->mem] = src[i];
	}
	cr_assert_eq(roce_sge_scatter(k->s, &k->qp, pos, &k->w, from, src, bytes), ROCE_COPY_OK);
	cr_assert_eq(memcmp(want, k->mem, sizeof(want)), 0, "%u..%u", from, from + bytes);
}

/* Each part of the message by itself, and all of it in packets of each size; not beyond its end. */
static void
walk_all(struct walk *k)
{
	struct roce_sge_pos pos = {0};
	uint8_t over[ROOM + 1] = {0};

	walk_fill(k);
	for (uint32_t from = 0; from <= k->total; from++)
		for (uint32_t bytes = 1; from + bytes <= k->total; bytes++)
			walk_gather(k, &pos, from, bytes);
	for (uint32_t mtu = 1; mtu <= k->total; mtu++)
		for (uint32_t from = 0; from < k->total; from += mtu)
			walk_gather(k, &pos, from, mtu < k->total - from ? mtu : k->total - from);
	for (uint32_t from = 0; from < k->total; from++) /* from any place to any other */
		for (uint32_t to = 0; to < k->total; to++) {
			walk_gather(k, &pos, from, 1);
			walk_gather(k, &pos, to, k->total - to);
		}
	for (uint32_t from = 0; from <= k->total; from++) {
		memset(over, 0xdd, sizeof(over));
		cr_assert_not(roce_sge_gather(
			k->s, &k->qp, &pos, &k->w, from, over, k->total - from + 1));
		cr_assert_eq(over[k->total - from], 0xdd, "of what is behind the list");
	}
	for (uint32_t from = k->total + 1; from < k->total + 3; from++)
		cr_assert_not(roce_sge_gather(k->s, &k->qp, &pos, &k->w, from, over, 1));
	for (uint32_t from = 0; from < k->total; from++)
		for (uint32_t bytes = 1; from + bytes <= k->total; bytes++)
			walk_scatter(k, &pos, from, bytes);
	for (uint32_t mtu = 1; mtu <= k->total; mtu++)
		for (uint32_t from = 0; from < k->total; from += mtu)
			walk_scatter(k, &pos, from, mtu < k->total - from ? mtu : k->total - from);
	cr_assert_eq(roce_sge_scatter(k->s, &k->qp, &pos, &k->w, 0, over, k->total + 1),
		ROCE_COPY_REFUSED);
}

/* Empty pieces at the beginning, between and at the end among them.
 * checks W-REQ-02[2], W-REQ-10[1] */
Test(sge, each_part_of_each_short_list)
{
	struct walk *k = walk_new();
	uint32_t len[4];

	for (uint32_t n = 1; n <= 4; n++)
		for (uint32_t code = 0; code < 1u << 2 * n; code++) {
			for (uint32_t i = 0; i < n; i++)
				len[i] = code >> 2 * i & 3;
			walk_list(k, len, n);
			walk_all(k);
		}
	walk_free(k);
}

/* Lists that do not fit into the request itself. */
Test(sge, each_part_of_long_lists)
{
	struct walk *k = walk_new();
	uint32_t len[NDSH_SGE_MAX], dice = 1;

	for (unsigned round = 0; round < 200; round++) {
		uint32_t n = ROCE_WQE_SGE + 1 + round % (NDSH_SGE_MAX - ROCE_WQE_SGE);

		for (uint32_t i = 0; i < n; i++) {
			dice = dice * 1664525 + 1013904223;
			len[i] = dice >> 28 & 3;
		}
		walk_list(k, len, n);
		walk_all(k);
	}
	walk_free(k);
}

/* A request is found at the address of one before it, which failed at its first byte: what is known
 * of that one's list is old. */
Test(sge, a_list_of_another_request_at_the_same_address)
{
	struct walk *k = walk_new();
	const uint32_t first[] = {0, 3, 3}, second[] = {1, 2, 6};
	struct roce_sge_pos pos = {0};
	uint8_t buf[8];

	walk_list(k, first, 3);
	k->w.sge[1].key ^= 1;
	cr_assert_not(roce_sge_gather(k->s, &k->qp, &pos, &k->w, 0, buf, 2));
	walk_list(k, second, 3);
	walk_fill(k);
	walk_gather(k, &pos, 0, 4);
	walk_gather(k, &pos, 4, 5);
	walk_free(k);
}

/* Two requests in turns, as when the later one is sent again from its middle: the place in one list
 * is not that in the other, even at the same byte; and a list of one has nothing to do with it. */
Test(sge, lists_in_turns)
{
	struct walk *k = walk_new();
	const uint32_t first[] = {4, 2, 3}, second[] = {1, 2, 6}, alone[] = {3};
	struct roce_sge_pos pos = {0};
	struct roce_wqe other;
	uint8_t buf[8];

	walk_list(k, first, 3);
	other = k->w;
	walk_list(k, second, 3);
	walk_fill(k);
	cr_assert(roce_sge_gather(k->s, &k->qp, &pos, &other, 0, buf, 4));
	walk_gather(k, &pos, 4, 5);

	walk_list(k, alone, 1);
	other = k->w;
	walk_list(k, second, 3);
	walk_fill(k);
	walk_gather(k, &pos, 0, 2);
	cr_assert_not(roce_sge_gather(k->s, &k->qp, &pos, &other, 0, buf, 4), "it has 3");
	walk_gather(k, &pos, 5, 4);
	walk_free(k);
}

/* A piece in the middle of its region: no byte behind it is taken, though the key opens it. */
Test(sge, nothing_behind_the_piece)
{
	struct walk *k = walk_new();
	const uint32_t len[] = {3};
	struct roce_sge_pos pos = {0};

	walk_list(k, len, 1);
	k->w.sge[0].addr = PAIR_VA + 100;
	for (uint32_t from = 0; from < 7; from++) {
		uint32_t there = from < 3 ? 3 - from : 0;
		uint8_t buf[16];

		memset(buf, 0xdd, sizeof(buf));
		cr_assert_not(roce_sge_gather(k->s, &k->qp, &pos, &k->w, from, buf, there + 1));
		for (uint32_t i = there; i < sizeof(buf); i++)
			cr_assert_eq(buf[i], 0xdd, "byte %u from %u on", i, from);
	}
	walk_free(k);
}

/* What the peer may read is not what a receive may write. checks W-RESP-11 */
Test(sge, no_bytes_into_a_region_without_local_write)
{
	struct walk *k = walk_new();
	const uint32_t len[] = {8};
	struct roce_sge_pos pos = {0};
	uint8_t buf[8] = {0};

	walk_list(k, len, 1);
	k->w.sge[0].key = roce_mr_key(roce_mr_register(
		k->s, k->qp.pd, PAIR_VA, sizeof(k->mem), k->mem, NDSH_ACCESS_REMOTE_READ));
	walk_fill(k);
	cr_assert_eq(roce_sge_scatter(k->s, &k->qp, &pos, &k->w, 0, buf, 8), ROCE_COPY_REFUSED);
	walk_gather(k, &pos, 0, 8);
	walk_free(k);
}

/* Each piece has its key, which is looked at when its bytes are moved and not before; a piece of no
 * bytes needs none (W-RESP-12 for the local side). checks W-REQ-07[1], W-RESP-11 */
Test(sge, every_piece_needs_its_key)
{
	struct walk *k = walk_new();
	const uint32_t len[] = {2, 0, 1, 2};
	uint8_t buf[8] = {0};

	for (uint32_t bad = 0; bad < 4; bad++) {
		struct roce_sge_pos pos = {0};

		walk_list(k, len, 4);
		k->w.sge[bad].key ^= 1;
		for (uint32_t from = 0; from < k->total; from++) {
			bool good = k->where[from] <
					    (uint8_t *)k->mem + (k->w.sge[bad].addr - PAIR_VA) ||
				    k->where[from] >= (uint8_t *)k->mem +
							      (k->w.sge[bad].addr - PAIR_VA) +
							      k->w.sge[bad].len;

			cr_assert_eq(
				roce_sge_gather(k->s, &k->qp, &pos, &k->w, from, buf, 1), good);
			cr_assert_eq(roce_sge_scatter(k->s, &k->qp, &pos, &k->w, from, buf, 1),
				good ? ROCE_COPY_OK : ROCE_COPY_REFUSED);
		}
		cr_assert_eq(
			roce_sge_check(k->s, &k->qp, &k->w, NDSH_ACCESS_LOCAL_WRITE), bad == 1);
	}
	walk_free(k);
}

/* checks R-POST-08[2]: one byte more than the region holds; the post was taken, the entry fails. */
Test(sge, a_range_that_leaves_its_region)
{
	static const uint8_t ops[] = {NDSH_OP_SEND, NDSH_OP_WRITE, NDSH_OP_READ};

	for (size_t i = 0; i < sizeof(ops); i++) {
		struct pair *p = pair_new(&(struct pair_opts){0});
		struct ndsh_sge sge = pair_sge(p, 0, PAIR_ARENA - 7, 8);

		pair_recv(p, 1, 0, 9, 0, 64);
		pair_post_sge(p, 0, 0, 1, ops[i], 0, &sge);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 1, NDSH_WC_LOC_PROT_ERR);
		pair_free(p);
	}
}
