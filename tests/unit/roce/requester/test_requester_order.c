/* SPDX-License-Identifier: BSD-3-Clause */
/* What the requester sends of a row of requests of every kind: each packet with the PSN, the fields
 * and the payload that the row asks for, the first time and each time after. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/faults.h"
#include "rigs/overheard.h"

#define MTU   256u
#define ROW   120u
#define AREA  2048u /* of each request, in both arenas */
#define FIRST 0xffff80u
#define ALL                                                                                        \
	(NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |            \
		NDSH_ACCESS_REMOTE_ATOMIC)

struct asked { /* for, by one request */
	uint8_t op, flags;
	uint32_t bytes;
	uint32_t psn, n; /* counted from FIRST */
};

static struct row {
	struct asked of[ROW];
	uint64_t dice;
	uint32_t sent;	/* PSNs that left so far */
	uint32_t again; /* packets that left once more */
	uint32_t opcodes[32];
	unsigned loss; /* one frame of so many is lost; 0: none */
} row;

static uint32_t
draw(uint32_t n)
{
	row.dice = row.dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(row.dice >> 33) % n;
}

static uint8_t
byte_of(uint32_t i, uint32_t at)
{
	return (uint8_t)(i * 37 + at + at / MTU);
}

/* Fields that are the same in every request, as they stand on the wire. checks W-REQ-09[1-3] */
static void
expect_fixed(const struct pair *p, const struct roce_pkt *pkt)
{
	const uint8_t *bth = pkt->l3 + (pkt->v6 ? 40 : 20) + 8;
	uint32_t qpn = roce_qp_num(p->side[1].q[0].qp);

	cr_assert_eq(bth[1] & 0x40, 0x40, "M");
	cr_assert_eq(bth[1] & 0x0f, 0, "TVer");
	cr_assert(bth[2] == 0xff && bth[3] == 0xff, "P_Key");
	cr_assert_eq(bth[4], 0, "FECN, BECN, reserved");
	cr_assert_eq((uint32_t)bth[5] << 16 | (uint32_t)bth[6] << 8 | bth[7], qpn);
	cr_assert_eq(bth[8] & 0x7f, 0, "reserved");
}

static uint8_t
data_opcode(uint8_t op, bool first, bool last)
{
	bool send = op == NDSH_OP_SEND || op == NDSH_OP_SEND_IMM || op == NDSH_OP_SEND_INV;

	if (!last)
		return send ? (first ? ROCE_SEND_FIRST : ROCE_SEND_MIDDLE)
			    : (first ? ROCE_WRITE_FIRST : ROCE_WRITE_MIDDLE);
	switch (op) {
	case NDSH_OP_SEND:
		return first ? ROCE_SEND_ONLY : ROCE_SEND_LAST;
	case NDSH_OP_SEND_IMM:
		return first ? ROCE_SEND_ONLY_IMM : ROCE_SEND_LAST_IMM;
	case NDSH_OP_SEND_INV:
		return first ? ROCE_SEND_ONLY_INV : ROCE_SEND_LAST_INV;
	case NDSH_OP_WRITE:
		return first ? ROCE_WRITE_ONLY : ROCE_WRITE_LAST;
	default:
		return first ? ROCE_WRITE_ONLY_IMM : ROCE_WRITE_LAST_IMM;
	}
}

/* Packet k of a SEND or WRITE. */
static void
expect_data(const struct asked *a, uint32_t k, const struct roce_pkt *pkt)
{
	uint32_t i = (uint32_t)(a - row.of);
	bool first = k == 0, last = k + 1 == a->n;
	bool solicited = last && a->op != NDSH_OP_WRITE && (a->flags & NDSH_WRF_SOLICIT);

	cr_assert_eq(pkt->opcode, data_opcode(a->op, first, last));
	cr_assert_eq(pkt->payload_bytes, last ? a->bytes - k * MTU : MTU);
	cr_assert_eq(pkt->pad, -pkt->payload_bytes & 3);
	cr_assert_eq(pkt->se, solicited, "SE of %x", pkt->opcode);
	cr_assert(pkt->ackreq || !last, "each message asks for its ACK");
	for (uint32_t at = 0; at < pkt->payload_bytes; at++)
		cr_assert_eq(pkt->payload[at], byte_of(i, k * MTU + at));
	if (pkt->opflags & ROCE_OPF_RETH) {
		cr_assert_eq(pkt->va, PAIR_VA + i * AREA);
		cr_assert_eq(pkt->dma_bytes, a->bytes);
	}
	if (pkt->opflags & ROCE_OPF_IMM)
		cr_assert_eq(pkt->imm, i ^ 0x5a000000);
	if (pkt->opflags & ROCE_OPF_IETH)
		cr_assert_eq(pkt->ieth, 0x12345600 + i);
}

/* A READ from packet k on, or an atomic. */
static void
expect_fetch(const struct asked *a, uint32_t k, const struct roce_pkt *pkt)
{
	uint32_t i = (uint32_t)(a - row.of);

	cr_assert(pkt->ackreq);
	cr_assert_not(pkt->se);
	cr_assert_eq(pkt->va, PAIR_VA + i * AREA + k * MTU);
	if (a->op == NDSH_OP_READ) {
		cr_assert_eq(pkt->opcode, ROCE_READ_REQUEST);
		cr_assert_eq(pkt->dma_bytes, a->bytes - k * MTU);
		return;
	}
	cr_assert_eq(k, 0);
	cr_assert_eq(pkt->opcode, a->op == NDSH_OP_CMP_SWAP ? ROCE_CMP_SWAP : ROCE_FETCH_ADD);
	cr_assert_eq(pkt->swap_add, i + 1);
	cr_assert_eq(pkt->compare, a->op == NDSH_OP_CMP_SWAP ? 0xc0 + i : 0);
}

/* New PSNs come without a gap; older ones must be those of the same packet as before. */
static unsigned
row_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	uint32_t n = (pkt->psn - FIRST) & ROCE_PSN_MASK;
	const struct asked *a = row.of;
	bool fetch;

	(void)late_ns;
	(void)ctx;
	if (from == 0) {
		expect_fixed(p, pkt);
		while (a < row.of + ROW - 1 && n >= a->psn + a->n)
			a++;
		fetch = a->op == NDSH_OP_READ || a->op >= NDSH_OP_CMP_SWAP;
		if (fetch)
			expect_fetch(a, n - a->psn, pkt);
		else
			expect_data(a, n - a->psn, pkt);
		cr_assert_leq(n, row.sent, "a PSN was passed over");
		row.again += n < row.sent;
		if (n == row.sent)
			row.sent = fetch ? a->psn + a->n : n + 1;
		row.opcodes[pkt->opcode & 31]++;
	}
	return row.loss == 0 || draw(row.loss) != 0;
}

static void
row_post(struct pair *p, uint32_t i)
{
	const struct asked *a = &row.of[i];
	bool atomic = a->op >= NDSH_OP_CMP_SWAP;
	struct ndsh_sge sge = pair_sge(p, 0, i * AREA, a->bytes);
	struct ndsh_swr wr = {.context = i,
		.raddr = PAIR_VA + i * AREA,
		.rkey = a->op == NDSH_OP_SEND_INV ? 0x12345600 + i : p->side[1].key,
		.imm = i ^ 0x5a000000,
		.ctrl = NDSH_CTRL(a->op, 1, a->flags, 0)};

	if (atomic) {
		wr.arg[0] = i + 1;
		wr.arg[1] = 0xc0 + i;
	}
	for (uint32_t at = 0; at < a->bytes && !atomic && a->op != NDSH_OP_READ; at++)
		p->side[0].arena[i * AREA + at] = byte_of(i, at);
	pair_post(p, 0, 0, &wr, &sge, NULL);
	if (a->op == NDSH_OP_SEND || a->op == NDSH_OP_SEND_IMM || a->op == NDSH_OP_WRITE_IMM)
		pair_recv(p, 1, 0, 1000 + i, (ROW + i) * AREA, AREA);
}

static void
row_draw(const uint8_t *ops, uint32_t num_ops)
{
	uint32_t psn = 0;

	for (uint32_t i = 0; i < ROW; i++) {
		struct asked *a = &row.of[i];

		*a = (struct asked){.op = ops[draw(num_ops)], .psn = psn};
		a->flags = a->op < NDSH_OP_CMP_SWAP && draw(2) ? NDSH_WRF_SOLICIT : 0;
		a->bytes = a->op >= NDSH_OP_CMP_SWAP ? 8 : draw(3) == 0 ? draw(8) : draw(6 * MTU);
		a->n = a->bytes > MTU ? (a->bytes + MTU - 1) / MTU : 1;
		if (a->op == NDSH_OP_READ)
			a->flags = 0;
		psn += a->n;
	}
	row.sent = row.again = 0;
	memset(row.opcodes, 0, sizeof(row.opcodes));
}

static struct pair *
row_pair(bool v6)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU,
		.v6 = v6,
		.window = 16,
		.set_psn = true,
		.sq_psn = {FIRST, 500},
		.access = ALL & ~NDSH_ACCESS_LOCAL_WRITE,
		.mr_access = ALL});

	p->tap = row_tap;
	return p;
}

/* Whatever is lost: in the order of posting, in the order of PSNs, never two messages mixed, each
 * packet the same each time. The row runs over the wrap. checks W-REQ-01[1-3], W-REQ-02[1-4],
 * W-REQ-03[1,2], W-REQ-04[1,5], W-REQ-06[2], W-REQ-10[1,2], W-PSN-03[1-4], W-PSN-05[2],
 * W-COMP-11[3], W-REQ-09[1-3] */
Test(requester_order, each_packet_of_a_row)
{
	static const uint8_t ops[] = {NDSH_OP_SEND, NDSH_OP_SEND_IMM, NDSH_OP_WRITE,
		NDSH_OP_WRITE_IMM, NDSH_OP_READ, NDSH_OP_CMP_SWAP, NDSH_OP_FETCH_ADD};

	for (unsigned run = 0; run < 60; run++) {
		struct pair *p = row_pair(run & 1);

		row.dice = run;
		row.loss = run % 3 == 0 ? 0 : run % 3 == 1 ? 10 : 40;
		row_draw(ops, sizeof(ops));
		for (uint32_t i = 0; i < ROW; i++) {
			row_post(p, i);
			if (draw(4) == 0)
				(void)pair_run(p, draw(20000));
		}
		cr_assert(pair_run(p, PAIR_LONG));
		for (uint32_t i = 0; i < ROW; i++)
			pair_expect(p, 0, i, NDSH_WC_SUCCESS);
		cr_assert_eq(row.sent, row.of[ROW - 1].psn + row.of[ROW - 1].n);
		cr_assert_eq(row.again > 0, row.loss > 0);
		cr_assert_eq(pair_count(p, 1)->rx_icrc_error, 0);
		pair_free(p);
	}
}

/* SENDs with a key to invalidate, whose receiver would need it: nothing arrives.
 * checks W-REQ-02[4] */
Test(requester_order, a_row_with_keys_to_invalidate)
{
	static const uint8_t ops[] = {NDSH_OP_SEND_INV, NDSH_OP_SEND, NDSH_OP_WRITE};
	struct pair *p = row_pair(false);

	row.dice = 7;
	row.loss = 1;
	row_draw(ops, sizeof(ops));
	for (uint32_t i = 0; i < ROW; i++)
		row_post(p, i);
	while (row.sent < row.of[ROW - 1].psn + row.of[ROW - 1].n) {
		pair_turn(p, 0);
		watched_answer(p, ROCE_ACK, (FIRST + row.sent - 1) & ROCE_PSN_MASK, ROCE_SYN_ACK);
	}
	cr_assert_geq(row.opcodes[ROCE_SEND_LAST_INV & 31], 1);
	cr_assert_geq(row.opcodes[ROCE_SEND_ONLY_INV & 31], 1);
	pair_free(p);
}

/* For each path MTU, the lengths around its multiples: the request behind tells how many it took.
 * checks W-PSN-03[1-4] */
Test(requester_order, W_PSN_03_numbers_that_a_message_takes)
{
	static const uint8_t ops[] = {NDSH_OP_SEND, NDSH_OP_WRITE, NDSH_OP_READ, NDSH_OP_FETCH_ADD};

	for (uint32_t mtu = 256; mtu <= 4096; mtu *= 2)
		for (size_t o = 0; o < sizeof(ops); o++)
			for (uint32_t half = 0; half < 18; half++) {
				bool atomic = ops[o] == NDSH_OP_FETCH_ADD;
				uint32_t bytes = atomic ? 8 : half / 3 * mtu + half % 3 - !!half;
				uint32_t n = bytes > mtu ? (bytes + mtu - 1) / mtu : 1;
				struct pair *p = watched_pair(
					&(struct pair_opts){.mtu = mtu,
						.access = ALL & ~NDSH_ACCESS_LOCAL_WRITE,
						.mr_access = ALL},
					false);
				struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);

				pair_recv(p, 1, 0, 9, 1 << 20, 8 * 4096);
				pair_post(p, 0, 0,
					&(struct ndsh_swr){.context = 1,
						.raddr = PAIR_VA + (1 << 21),
						.rkey = p->side[1].key,
						.ctrl = NDSH_CTRL(ops[o], 1, 0, 0)},
					&sge, NULL);
				pair_write(p, 0, 0, 2, 0, 0, 0, 0);
				cr_assert(pair_run(p, PAIR_LONG));
				pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
				pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
				cr_assert_eq(watched.pkt[watched.n - 1].psn, WATCHED_PSN + n);
				cr_assert_eq(watched.n, ops[o] < NDSH_OP_READ ? n + 1 : 2);
				pair_free(p);
			}
}

/* The packets of three vectors in tests/data. checks W-PSN-05[1] */
Test(requester_order, W_PSN_05_three_packets_over_the_wrap)
{
	static const struct {
		uint32_t psn;
		uint8_t opcode;
	} want[] = {
		{0xfffffe, ROCE_SEND_FIRST}, {0xffffff, ROCE_SEND_MIDDLE}, {0, ROCE_SEND_LAST_IMM}};
	struct pair *p = watched_pair(
		&(struct pair_opts){.mtu = MTU, .set_psn = true, .sq_psn = {0xfffffe, 0xfffffe}},
		false);
	struct ndsh_sge sge = pair_sge(p, 0, 0, 3 * MTU);

	pair_recv(p, 1, 0, 2, 4096, 3 * MTU);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = 1, .ctrl = NDSH_CTRL(NDSH_OP_SEND_IMM, 1, 0, 0)},
		&sge, NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(watched.n, 3);
	for (unsigned i = 0; i < 3; i++) {
		cr_assert_eq(watched.pkt[i].psn, want[i].psn);
		cr_assert_eq(watched.pkt[i].opcode, want[i].opcode);
	}
	pair_free(p);
}

/* ---- what a request is made of ---- */

static struct {
	uint8_t byte[4];
	unsigned n;
} copies;

static unsigned
first_copies_lost(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	(void)p;
	(void)late_ns;
	(void)ctx;
	if (from == 0 && copies.n < 4) {
		copies.byte[copies.n++] = pkt->payload[0];
		return copies.n > 2;
	}
	return 1;
}

/* A client that changes its buffer meanwhile spoils its data, but no ICRC: the rig checks that of
 * each frame, and the peer takes the last copy. checks W-REQ-06[1,2] */
Test(requester_order, W_REQ_06_memory_is_read_for_each_copy)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	p->tap = first_copies_lost;
	copies.n = 0;
	memset(p->side[0].arena, 1, 64);
	pair_write(p, 0, 0, 1, 0, 4096, 64, 0);
	for (uint8_t i = 2; copies.n < 3; i++) {
		(void)pair_run(p, 500000);
		memset(p->side[0].arena, i, 64);
	}
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	cr_assert_eq(copies.byte[0], 1);
	cr_assert_gt(copies.byte[1], copies.byte[0]);
	cr_assert_gt(copies.byte[2], copies.byte[1]);
	cr_assert_eq(p->side[1].arena[4096], copies.byte[2]);
	cr_assert_eq(pair_count(p, 1)->rx_icrc_error, 0);
	pair_free(p);
}

/* Inline data are the request's own, and so is its list of memory: what the client writes to its
 * ring afterwards changes neither. checks W-REQ-06[1] */
Test(requester_order, W_REQ_06_the_request_is_read_once)
{
	for (uint32_t bytes = 8; bytes <= 200; bytes += 192)
		for (unsigned inl = 0; inl < 2; inl++) {
			struct pair *p = pair_new(&(struct pair_opts){0});
			struct ndsh_sq *sq = &p->side[0].q[0].sq;

			p->tap = first_copies_lost;
			copies.n = 0;
			memset(p->side[0].arena, 7, 4096);
			pair_write(p, 0, 0, 1, 0, 4096, bytes, inl ? NDSH_WRF_INLINE : 0);
			pair_turn(p, 0);
			cr_assert_eq(copies.n, 1);
			memset(sq->ring, 0x5a, sizeof(*sq->ring) - sizeof(uint32_t));
			memset(sq->inl, 0x5a, bytes);
			memset(sq->sge, 0x5a, 16 * sizeof(*sq->sge));
			if (inl)
				memset(p->side[0].arena, 0x5a, 4096);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
			cr_assert_eq(copies.n, 3);
			for (uint32_t i = 0; i < bytes; i++)
				cr_assert_eq(p->side[1].arena[4096 + i], 7);
			cr_assert_eq(p->side[1].arena[4096 + bytes], 0);
			pair_free(p);
		}
}
