/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes wrong: refusals in both roles, retries, RNR, overrun, bad clients. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define LONG   UINT64_C(100000000000)
#define REMOTE (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)

static void
write_with(struct pair *p, uint64_t context, uint64_t raddr, uint32_t rkey, uint32_t bytes)
{
	struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);

	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.raddr = raddr,
			.rkey = rkey,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, 0, 0)},
		&sge, NULL);
}

/* A request, then one refused, then one more; receives on both sides: checks R-CR-08, R-POST-03,
 * W-ERR-01. */
static void
refused_write(uint64_t raddr, uint32_t key_xor, uint32_t bytes)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	pair_recv(p, 0, 0, 10, 0, 64);
	pair_recv(p, 1, 0, 20, 0, 64);
	pair_recv(p, 1, 0, 21, 0, 64);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	write_with(p, 2, raddr, p->side[1].key ^ key_xor, bytes);
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 0, 10, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 1, 20, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 1, 21, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_NAK_REM_ACCESS);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	cr_assert_eq(roce_shard_counters(p->side[1].shard)->tx_nak_fatal, 1);
	/* Posted to a dead queue pair: flushed too. */
	pair_write(p, 0, 0, 4, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

Test(errors, W_RESP_13_key)
{
	for (unsigned bit = 0; bit < 32; bit++)
		refused_write(PAIR_VA, 1u << bit, 8);
}

Test(errors, W_RESP_13_range)
{
	refused_write(PAIR_VA + PAIR_ARENA - 7, 0, 8);
	refused_write(PAIR_VA - 1, 0, 8);
	refused_write(PAIR_VA + PAIR_ARENA, 0, 1);
	refused_write(UINT64_MAX, 0, 8);
	refused_write(UINT64_MAX - 6, 0, 8);
	refused_write(PAIR_VA + 1, 0, PAIR_ARENA);
	refused_write(0, 0, 1);
}

/* checks R-POST-06 */
Test(errors, W_RESP_12_length_0_needs_no_key)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	write_with(p, 1, 12345, 0xdeadbeef, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

Test(errors, W_RESP_13_region_without_the_right)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ});

	pair_read(p, 0, 0, 1, 0, 0, 8, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	pair_free(p);
}

/* checks R-MR-02 */
Test(errors, W_RESP_13_other_protection_domain)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[1].shard;
	uint32_t pd = roce_pd_create(s);
	struct roce_mr *mr = roce_mr_register(s, pd, PAIR_VA, 4096, p->side[1].arena,
		NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_WRITE);

	write_with(p, 1, PAIR_VA, roce_mr_key(mr), 8);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	cr_assert_not(roce_pd_destroy(s, pd), "in use by the region");
	roce_mr_deregister(s, mr);
	cr_assert(roce_pd_destroy(s, pd));
	pair_free(p);
}

/* A queue pair without the right refuses as invalid request, whatever the region grants. */
static void
right_missing(uint32_t access, uint8_t max_dest_rd, bool read)
{
	struct pair *p =
		pair_new(&(struct pair_opts){.access = access, .max_dest_rd = max_dest_rd});

	if (read)
		pair_read(p, 0, 0, 1, 0, 0, 8, 0);
	else
		pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_INV_REQ_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_NAK_INV_REQ);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_INV_REQ);
	pair_free(p);
}

Test(errors, W_RESP_06_W_RESP_07_queue_pair_rights)
{
	right_missing(NDSH_ACCESS_REMOTE_READ, 4, false);
	right_missing(NDSH_ACCESS_REMOTE_WRITE, 4, true);
	right_missing(REMOTE, 255, true);
}

Test(errors, W_REQ_05_read_with_initiator_depth_0)
{
	struct pair *p = pair_new(&(struct pair_opts){.max_rd = 255});

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_LOC_QP_OP_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_OP);
	pair_free(p);
}

/* checks R-POST-08 */
Test(errors, W_REQ_07_local_key_fails_behind_what_was_sent_before)
{
	static const uint8_t ops[] = {NDSH_OP_SEND, NDSH_OP_WRITE, NDSH_OP_READ};

	for (size_t i = 0; i < sizeof(ops); i++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});
		struct ndsh_sge sge[2] = {pair_sge(p, 0, 0, 700), pair_sge(p, 0, 0, 8)};

		sge[1].key ^= 1;
		pair_recv(p, 1, 0, 9, 0, 4096);
		pair_write(p, 0, 0, 1, 0, 0, 3000, 0);
		pair_post(p, 0, 0,
			&(struct ndsh_swr){.context = 2,
				.raddr = PAIR_VA,
				.rkey = p->side[1].key,
				.ctrl = NDSH_CTRL(ops[i], 2, 0, 0)},
			sge, NULL);
		pair_write(p, 0, 0, 3, 0, 0, 8, 0);
		cr_assert(pair_run(p, LONG));
		pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
		pair_expect(p, 0, 2, NDSH_WC_LOC_PROT_ERR);
		pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
		pair_expect_dead(p, 0, 0, ROCE_REASON_LOCAL_PROT);
		cr_assert_neq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_ERR);
		pair_free(p);
	}
}

Test(errors, W_RESP_10_send_longer_than_the_receive)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});

	pair_recv(p, 1, 0, 7, 0, 600);
	pair_recv(p, 1, 0, 8, 0, 600);
	pair_send(p, 0, 0, 1, 0, 601, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_INV_REQ_ERR);
	pair_expect(p, 1, 7, NDSH_WC_LOC_LEN_ERR);
	pair_expect(p, 1, 8, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_TOO_SMALL);
	pair_free(p);
}

Test(errors, W_RESP_11_receive_with_a_bad_key)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct ndsh_sge sge = pair_sge(p, 1, 0, 64);

	sge.key ^= 2;
	ndsh_rq_push(&p->side[1].q[0].rq, 7, &sge, 1);
	pair_send(p, 0, 0, 1, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_OP_ERR);
	pair_expect(p, 1, 7, NDSH_WC_LOC_PROT_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_NAK_REM_OP);
	pair_expect_dead(p, 1, 0, ROCE_REASON_RECV_PROT);
	pair_free(p);
}

static unsigned
black_hole(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const unsigned *side = ctx;

	(void)p;
	(void)pkt;
	(void)late_ns;
	return from != *side;
}

/* The budget that verbs know: (retry + 1) timeouts, however often we tried in between. */
static void
no_answer(uint8_t retry, unsigned retries)
{
	struct pair *p = pair_new(&(struct pair_opts){.retry = retry, .timeout_code = 12});
	uint64_t t_ns = UINT64_C(4096) << 12, start = p->now_ns;
	unsigned mute = 1;

	p->tap = black_hole;
	p->tap_ctx = &mute;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	pair_run(p, t_ns * (retries + 1) - 1000);
	pair_expect_none(p, 0);
	pair_run(p, 2 * t_ns);
	pair_expect(p, 0, 1, NDSH_WC_RETRY_EXC_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RETRY_EXC);
	cr_assert_geq(roce_shard_counters(p->side[0].shard)->timeouts, retries + 1);
	cr_assert_lt(p->now_ns - start, 20 * t_ns);
	pair_free(p);
}

Test(errors, W_TMR_03_W_TMR_04_W_TMR_07_retries)
{
	no_answer(255, 0);
	no_answer(1, 1);
	no_answer(3, 3);
	no_answer(7, 7);
}

Test(errors, W_TMR_01_code_0_is_no_timeout)
{
	struct pair *p = pair_new(&(struct pair_opts){.timeout_code = 255});
	unsigned mute = 1;

	p->tap = black_hole;
	p->tap_ctx = &mute;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	cr_assert(pair_run(p, LONG));
	cr_assert_eq(roce_shard_next_deadline(p->side[0].shard), UINT64_MAX);
	cr_assert_eq(p->sent[0], 1);
	pair_expect_none(p, 0);
	pair_free(p);
}

static unsigned
rnr_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	unsigned *naks = ctx;

	(void)p;
	(void)late_ns;
	if (from == 1 && pkt->opcode == ROCE_ACK && pkt->syndrome >> 5 == 1) {
		cr_assert_eq(pkt->syndrome, ROCE_SYN_RNR | 14);
		++*naks;
	}
	cr_assert(from != 1 || pkt->syndrome != ROCE_SYN_NAK_SEQ, "W-RESP-03");
	return 1;
}

/* No receive is posted: each try waits 1.28 ms (code 14). */
static void
not_ready(uint8_t rnr_retry, unsigned tries)
{
	struct pair *p = pair_new(&(struct pair_opts){.rnr_retry = rnr_retry, .min_rnr_code = 14});
	unsigned naks = 0;

	p->tap = rnr_tap;
	p->tap_ctx = &naks;
	pair_send(p, 0, 0, 1, 0, 3000, 0);
	pair_send(p, 0, 0, 2, 0, 8, 0);
	pair_run(p, (tries + 2) * 2000000);
	cr_assert_eq(naks, tries);
	pair_expect(p, 0, 1, NDSH_WC_RNR_RETRY_EXC_ERR);
	pair_expect(p, 0, 2, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RNR_RETRY_EXC);
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RTS);
	pair_free(p);
}

Test(errors, W_COMP_04_rnr_retry_0_and_1)
{
	not_ready(255, 1);
	not_ready(1, 2);
}

/* checks W-COMP-05 */
Test(errors, W_TMR_06_rnr_retry_7_waits_for_ever)
{
	struct pair *p = pair_new(&(struct pair_opts){.rnr_retry = 7, .min_rnr_code = 14});
	unsigned naks = 0;

	p->tap = rnr_tap;
	p->tap_ctx = &naks;
	pair_write(p, 0, 0, 1, 0, 4096, 8, 0);
	pair_send(p, 0, 0, 2, 0, 3000, 0);
	pair_write(p, 0, 0, 3, 0, 4096, 8, 0);
	cr_assert_not(pair_run(p, 100000000));
	cr_assert_geq(naks, 50);
	cr_assert_leq(naks, 78);
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect_none(p, 0);
	pair_recv(p, 1, 0, 9, 0, 4096);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 3, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 9, NDSH_WC_SUCCESS);
	pair_free(p);
}

/*
 * R-SR-05: for ever is what the peer grants; our own patience is a time, counted from the first
 * refusal since the last progress, and answers to the silence of receives alone.
 */
Test(errors, R_SR_05_patience_is_a_time)
{
	struct pair *p = pair_new(
		&(struct pair_opts){.rnr_retry = 7, .min_rnr_code = 14, .rnr_give_up_ms = 100});
	unsigned naks = 0;

	p->tap = rnr_tap;
	p->tap_ctx = &naks;
	pair_send(p, 0, 0, 1, 0, 8, 0);
	cr_assert_not(pair_run(p, 90000000));
	pair_expect_none(p, 0);
	pair_recv(p, 1, 0, 9, 0, 64); /* in the last moment: patience begins anew */
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 1, 9, NDSH_WC_SUCCESS);
	naks = 0;
	pair_send(p, 0, 0, 2, 0, 8, 0);
	pair_send(p, 0, 0, 3, 0, 8, 0);
	cr_assert_not(pair_run(p, 90000000));
	pair_expect_none(p, 0);
	pair_run(p, 12000000);
	pair_expect(p, 0, 2, NDSH_WC_RNR_RETRY_EXC_ERR);
	pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_RNR_RETRY_EXC);
	cr_assert_geq(naks, 50, "it was tried all the while");
	pair_expect_none(p, 1);
	pair_free(p);
}

Test(errors, W_EVT_03_overrun_fails_the_queue_pairs)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2, .cq_depth = 4});
	struct ndsh_cqe c;
	unsigned n = 0;

	for (unsigned i = 0; i < 8; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_run(p, 100000000);
	while (pair_poll(p, 0, &c))
		cr_assert_eq(c.context, n++);
	cr_assert_eq(n, 4);
	cr_assert_eq(p->side[0].reader.page->fault, NDSH_CQ_OVERRUN);
	cr_assert(p->side[0].events & 1u << ROCE_EV_CQ_ERROR);
	for (unsigned i = 0; i < 2; i++) /* the one that had nothing to do with it, too */
		cr_assert_eq(roce_qp_reason(p->side[0].q[i].qp), ROCE_REASON_CQ_OVERRUN);
	pair_free(p);
}

/* checks R-CQ-32: whatever it is armed for it fires once; what was made stays, nothing follows */
Test(errors, R_CQ_32_a_queue_that_fails_ends_its_queue_pairs)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2});
	struct pair_side *side = &p->side[0];
	struct ndsh_cqe c;

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_run(p, 1000000);
	pair_recv(p, 0, 1, 2, 0, 64);
	cr_assert_eq(ndsh_cq_arm(&side->reader, NDSH_ARM_ERRORS, NULL), NDSH_ARMED);
	roce_cq_fail(side->shard, side->cq);
	roce_cq_fail(side->shard, side->cq);
	cr_assert_eq(side->reader.page->fault, NDSH_CQ_OK, "not in the middle of a turn");
	pair_run(p, 100000000);
	cr_assert_eq(side->reader.page->fault, NDSH_CQ_FATAL);
	cr_assert_eq(ndsh_cq_armed(&side->reader), NDSH_ARM_NONE);
	cr_assert_eq(side->fired, 1);
	cr_assert(side->events & 1u << ROCE_EV_CQ_ERROR);
	for (unsigned i = 0; i < 2; i++)
		cr_assert_eq(roce_qp_reason(side->q[i].qp), ROCE_REASON_CQ_FATAL);
	cr_assert(pair_poll(p, 0, &c));
	cr_assert_eq(c.context, 1);
	cr_assert_not(pair_poll(p, 0, &c), "not even what was cancelled by it");
	cr_assert_eq(ndsh_cq_arm(&side->reader, NDSH_ARM_ANY, NULL), NDSH_ARM_FAULT, "it stays");
	pair_free(p);
}

/* An overrun in the same turn was first. */
Test(errors, a_queue_that_overran_does_not_fail_again)
{
	struct pair *p = pair_new(&(struct pair_opts){.cq_depth = 4});

	for (unsigned i = 0; i < 8; i++)
		pair_write(p, 0, 0, i, 0, 0, 8, 0);
	pair_run(p, 100000000);
	roce_cq_fail(p->side[0].shard, p->side[0].cq);
	pair_run(p, 1000000);
	cr_assert_eq(p->side[0].reader.page->fault, NDSH_CQ_OVERRUN);
	pair_free(p);
}

Test(errors, a_descriptor_that_breaks_the_contract)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_post(p, 0, 0, &(struct ndsh_swr){.ctrl = NDSH_CTRL(77, 0, 0, 0)}, NULL, NULL);
	pair_run(p, 1000000);
	cr_assert(p->side[0].events & 1u << ROCE_EV_CLIENT_BREACH);
	cr_assert_eq(roce_qp_reason(p->side[0].q[0].qp), ROCE_REASON_CLIENT_BREACH);
	pair_free(p);
}

static unsigned
deregister_tap(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const unsigned *when = ctx; /* frame of side 0, frame of side 1 */

	(void)pkt;
	(void)late_ns;
	if (p->side[1].mr != NULL && when[from] != 0 && p->sent[from] == when[from]) {
		roce_mr_deregister(p->side[1].shard, p->side[1].mr);
		p->side[1].mr = NULL;
	}
	return 1;
}

Test(errors, W_RESP_13_revoked_in_the_middle_of_a_write)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});
	unsigned when[2] = {3, 0};

	p->tap = deregister_tap;
	p->tap_ctx = when;
	pair_write(p, 0, 0, 1, 0, 0, 256 * 64, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	pair_free(p);
}

Test(errors, W_RESP_13_revoked_in_the_middle_of_a_read)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});
	unsigned when[2] = {0, 5};

	p->tap = deregister_tap;
	p->tap_ctx = when;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 0, 0, 2, 0, 0, 256 * 100, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	cr_assert_lt(p->sent[1], 64, "no byte of a dead region leaves");
	pair_free(p);
}

Test(errors, records_tell_what_happened)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_record rec[8];
	unsigned n;

	write_with(p, 1, PAIR_VA, p->side[1].key ^ 1, 8);
	cr_assert(pair_run(p, LONG));
	n = roce_qp_records(p->side[0].q[0].qp, rec);
	cr_assert_eq(n, 2);
	cr_assert_eq(rec[0].kind_psn >> 24, ROCE_REC_NAK_RECEIVED);
	cr_assert_eq(rec[0].detail, ROCE_SYN_NAK_REM_ACCESS);
	cr_assert_eq(rec[1].kind_psn >> 24, ROCE_REC_ERROR);
	cr_assert_eq(rec[1].detail, ROCE_REASON_NAK_REM_ACCESS);
	pair_free(p);
}

Test(errors, every_reason_has_words)
{
	for (int r = 0; r < ROCE_REASON_COUNT; r++)
		cr_assert_not_null(roce_reason_name((enum roce_reason)r));
}
