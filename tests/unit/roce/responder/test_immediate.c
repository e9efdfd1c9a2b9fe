/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and writes with immediate, between two engines. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define MTU  1024u
#define LONG UINT64_C(100000000000)

static void
post_immediate(struct pair *p, uint8_t op, uint32_t bytes, uint32_t imm)
{
	struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);

	memset(p->side[0].arena, (int)(imm & 0xff), bytes);
	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = imm,
			.raddr = PAIR_VA + (1u << 20),
			.rkey = p->side[1].key,
			.imm = imm,
			.ctrl = NDSH_CTRL(op, 1, NDSH_WRF_SOLICIT, 0)},
		&sge, NULL);
}

/* The four bytes stand in the last packet, and go on as they are: checks W-RESP-15[1,2,3,4]. */
Test(immediate, W_RESP_15_immediates)
{
	static const uint32_t sizes[] = {0, 1, MTU, MTU + 1, 5 * MTU};

	for (unsigned i = 0; i < 10; i++) {
		uint8_t op = i % 2 ? NDSH_OP_WRITE_IMM : NDSH_OP_SEND_IMM;
		uint32_t bytes = sizes[i / 2], imm = 0x11223300 + i + 1;
		struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU});
		struct ndsh_cqe c;

		pair_recv(p, 1, 0, 5, 0, 8 * MTU);
		pair_recv(p, 1, 0, 6, 0, 8 * MTU);
		post_immediate(p, op, bytes, imm);
		cr_assert(pair_run(p, LONG));
		c = pair_expect(p, 0, imm, NDSH_WC_SUCCESS);
		cr_assert_eq(c.op, op);
		cr_assert_eq(c.bytes, bytes);
		c = pair_expect(p, 1, 5, NDSH_WC_SUCCESS);
		cr_assert_eq(c.op, NDSH_OP_RECV);
		cr_assert_eq(c.bytes, bytes);
		cr_assert_eq(c.data, imm);
		cr_assert_eq(c.flags & ~NDSH_CQEF_PHASE,
			NDSH_CQEF_IMM | NDSH_CQEF_SOLICITED |
				(op == NDSH_OP_WRITE_IMM ? NDSH_CQEF_WRITE : 0));
		for (uint32_t k = 0; k < bytes; k++) {
			cr_assert_eq(p->side[1].arena[1u << 20 | k],
				op == NDSH_OP_WRITE_IMM ? imm & 0xff : 0);
			cr_assert_eq(p->side[1].arena[k], op == NDSH_OP_SEND_IMM ? imm & 0xff : 0);
		}
		pair_send(p, 0, 0, 7, 0, 8, 0);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 1, 6, NDSH_WC_SUCCESS);
		pair_free(p);
	}
}

/* A write needs no receive until its end; then it waits for one, and its end alone comes again. */
Test(immediate, W_RESP_08_a_write_with_immediate_and_no_receive)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.mtu = MTU, .rnr_retry = 7, .min_rnr_code = 14}); /* 1 ms */

	post_immediate(p, NDSH_OP_WRITE_IMM, 3 * MTU, 7);
	(void)pair_run(p, 100000);
	cr_assert_eq(roce_shard_counters(p->side[1].shard)->tx_rnr, 1);
	cr_assert_eq(p->side[1].arena[(1u << 20) + 2 * MTU - 1], 7);
	cr_assert_eq(p->side[1].arena[(1u << 20) + 2 * MTU], 0, "its end is not there");
	pair_expect_none(p, 1);
	pair_recv(p, 1, 0, 5, 0, 64);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 7, NDSH_WC_SUCCESS);
	cr_assert_eq(pair_expect(p, 1, 5, NDSH_WC_SUCCESS).bytes, 3 * MTU);
	cr_assert_eq(p->side[1].arena[(1u << 20) + 3 * MTU - 1], 7);
	cr_assert_eq(roce_shard_counters(p->side[0].shard)->retransmitted_packets, 1);
	pair_free(p);
}
