/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs of unreliable connections. */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "scenarios.h"

#define PSN 77u

static const struct ibv_qp_attr values = {.port_num = 1,
	.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	.path_mtu = IBV_MTU_1024,
	.rq_psn = PSN,
	.sq_psn = PSN,
	.ah_attr = {.is_global = 1, .port_num = 1, .grh.hop_limit = 64}};

static const struct step {
	enum ibv_qp_state from, to;
	int needs, takes;
} steps[] = {
	{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
	{IBV_QPS_INIT, IBV_QPS_RTR, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN,
		IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
	{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
	{IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
	{IBV_QPS_SQD, IBV_QPS_SQD, 0, IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS | IBV_QP_AV},
	{IBV_QPS_SQD, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static struct ibv_qp *
make_qp(struct rig *r)
{
	struct ibv_qp_init_attr_ex init = {.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = {RIG_DEPTH, RIG_DEPTH, 4, 4, 64},
		.qp_type = IBV_QPT_UC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = r->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM |
				  IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM};
	struct ibv_qp *qp = ibv_create_qp_ex(r->context, &init);

	WANT(qp != NULL);
	return qp;
}

static int
take_step(
	const struct rig *r, struct ibv_qp *qp, struct ibv_qp *peer, const struct step *s, int mask)
{
	struct ibv_qp_attr a = values;

	a.qp_state = s->to;
	a.cur_qp_state = s->from;
	a.dest_qp_num = peer->qp_num;
	WANT(ibv_query_gid(r->context, 1, 0, &a.ah_attr.grh.dgid) == 0);
	return ibv_modify_qp(qp, &a, IBV_QP_STATE | mask);
}

static enum ibv_qp_state
query_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	WANT(ibv_query_qp(qp, &a, IBV_QP_STATE, &init) == 0 && init.qp_type == IBV_QPT_UC);
	return a.qp_state;
}

/* Both ends are in RTS. */
static void
open_pair(struct rig *r)
{
	rig_open(r, false);
	for (int side = 0; side < 2; side++) {
		WANT(ibv_destroy_qp(r->qp[side]) == 0);
		r->qp[side] = make_qp(r);
	}
	for (int side = 0; side < 2; side++)
		for (size_t i = 0; i < 3; i++)
			WANT(take_step(r, r->qp[side], r->qp[!side], &steps[i], steps[i].needs) ==
				0);
}

/* Each step without one of what it needs, with one thing too many, and then as it should be. */
static void
take_each_step(const struct rig *r, struct ibv_qp *qp)
{
	const int never = IBV_QP_QKEY | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			  IBV_QP_MIN_RNR_TIMER | IBV_QP_MAX_QP_RD_ATOMIC |
			  IBV_QP_MAX_DEST_RD_ATOMIC;

	for (size_t i = 0; i < STEPS; i++) {
		const struct step *s = &steps[i];

		for (int bit = IBV_QP_CUR_STATE; bit <= IBV_QP_DEST_QPN; bit <<= 1) {
			int wrong = s->needs & bit ? s->needs & ~bit : s->needs | bit;

			if ((s->takes & bit) || bit == IBV_QP_ALT_PATH ||
				bit == IBV_QP_PATH_MIG_STATE)
				continue;
			WANT(take_step(r, qp, qp, s, wrong) == EINVAL);
		}
		WANT((never & (s->needs | s->takes)) == 0);
		WANT(query_state(qp) == s->from);
		WANT(take_step(r, qp, qp, s, s->needs | s->takes) == 0);
		WANT(query_state(qp) == s->to);
	}
}

void
run_unreliable_states(void)
{
	const struct step end = {IBV_QPS_RTS, IBV_QPS_ERR, 0, 0};
	const struct step again = {IBV_QPS_ERR, IBV_QPS_RESET, 0, 0};
	struct rig r;

	rig_open(&r, false);
	WANT(ibv_destroy_qp(r.qp[0]) == 0);
	r.qp[0] = make_qp(&r);
	for (int lap = 0; lap < 2; lap++) {
		take_each_step(&r, r.qp[0]);
		WANT(take_step(&r, r.qp[0], r.qp[0], &end, 0) == 0);
		WANT(take_step(&r, r.qp[0], r.qp[0], &again, 0) == 0);
	}
	rig_close(&r);
}

static int
post(struct rig *r, enum ibv_wr_opcode op)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 8);
	struct ibv_send_wr wr = rig_request(r, op, &sge, 1), *bad;

	return ibv_post_send(r->qp[0], &wr, &bad);
}

static void
what_is_refused(struct rig *r)
{
	static const uint64_t operations[] = {IBV_QP_EX_WITH_RDMA_READ,
		IBV_QP_EX_WITH_SEND_WITH_INV, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		IBV_QP_EX_WITH_BIND_MW, IBV_QP_EX_WITH_LOCAL_INV};
	static const enum ibv_wr_opcode ops[] = {IBV_WR_RDMA_READ, IBV_WR_SEND_WITH_INV,
		IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_BIND_MW,
		IBV_WR_LOCAL_INV};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		WANT(post(r, ops[i]) == EINVAL);
	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		struct ibv_qp_init_attr_ex init = {.send_cq = r->cq,
			.recv_cq = r->cq,
			.cap = {1, 1, 1, 1, 0},
			.qp_type = IBV_QPT_UC,
			.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			.pd = r->pd,
			.send_ops_flags = operations[i]};

		WANT(ibv_create_qp_ex(r->context, &init) == NULL && errno == EOPNOTSUPP);
	}
}

/* Of several packets, by ibv_post_send(), and by the calls that fill a request step by step. */
static void
messages(struct rig *r)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(r->qp[0]);
	struct ibv_sge sge = rig_sge(r, 0, 0, 5000);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_SEND, &sge, 10);
	struct ibv_wc wc;

	for (int i = 0; i < 5000; i++)
		r->memory[0][i] = (uint8_t)(i * 7 + i / 256);
	rig_receive(r, 1, 8192, 6000, 20);
	rig_receive(r, 1, 0, 8, 21);
	rig_post(r, &wr);
	for (int i = 0; i < 2; i++) {
		wc = rig_wait(r);
		WANT(wc.status == IBV_WC_SUCCESS && (wc.wr_id == 10 || wc.byte_len == 5000));
	}
	WANT(memcmp(r->memory[1] + 8192, r->memory[0], 5000) == 0);
	ibv_wr_start(ex);
	ex->wr_id = 11;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_rdma_write_imm(ex, r->mr[1]->rkey, (uintptr_t)r->memory[1] + 16384, 0xabcd);
	ibv_wr_set_sge(ex, sge.lkey, sge.addr, sge.length);
	WANT(ibv_wr_complete(ex) == 0);
	for (int i = 0; i < 2; i++) {
		wc = rig_wait(r);
		WANT(wc.status == IBV_WC_SUCCESS);
		WANT(wc.wr_id == 11 || (wc.wr_id == 21 && wc.imm_data == 0xabcd &&
					       wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM));
	}
	WANT(memcmp(r->memory[1] + 16384, r->memory[0], 5000) == 0);
}

/* What is too long for its receive, and what finds none, is lost; the next message is not. */
static void
what_is_lost(struct rig *r)
{
	struct ibv_sge sge = rig_sge(r, 0, 0, 2000);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_SEND, &sge, 10);
	struct ibv_wc wc;

	rig_post(r, &wr);
	rig_wait_for(r, 10, IBV_WC_SUCCESS, IBV_WC_SEND);
	wr = rig_request(r, IBV_WR_RDMA_WRITE, &sge, 11);
	wr.wr.rdma.rkey ^= 1;
	rig_post(r, &wr);
	rig_wait_for(r, 11, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	rig_receive(r, 1, 0, 100, 20);
	wr = rig_request(r, IBV_WR_SEND, &sge, 12);
	rig_post(r, &wr);
	rig_wait_for(r, 12, IBV_WC_SUCCESS, IBV_WC_SEND);
	sge.length = 100;
	wr = rig_request(r, IBV_WR_SEND, &sge, 13);
	rig_post(r, &wr);
	for (int i = 0; i < 2; i++) {
		wc = rig_wait(r);
		WANT(wc.status == IBV_WC_SUCCESS && (wc.wr_id == 13 || wc.wr_id == 20));
	}
	WANT(query_state(r->qp[0]) == IBV_QPS_RTS && query_state(r->qp[1]) == IBV_QPS_RTS);
}

/* A request of a wrong key stops the send side alone. */
static void
stop_and_go_on(struct rig *r)
{
	const struct step up = {IBV_QPS_SQE, IBV_QPS_RTS, 0, 0};
	struct ibv_sge sge = rig_sge(r, 0, 0, 100);
	struct ibv_send_wr wr = rig_request(r, IBV_WR_SEND, &sge, 10);

	sge.lkey ^= 1;
	rig_post(r, &wr);
	rig_wait_for(r, 10, IBV_WC_LOC_PROT_ERR, 0);
	WANT(query_state(r->qp[0]) == IBV_QPS_SQE);
	sge.lkey ^= 1;
	wr = rig_request(r, IBV_WR_SEND, &sge, 11);
	rig_post(r, &wr);
	rig_wait_for(r, 11, IBV_WC_WR_FLUSH_ERR, 0);
	WANT(take_step(r, r->qp[0], r->qp[1], &up, IBV_QP_TIMEOUT) == EINVAL);
	WANT(take_step(r, r->qp[0], r->qp[1], &up, IBV_QP_CUR_STATE) == 0);
	WANT(query_state(r->qp[0]) == IBV_QPS_RTS);
	rig_receive(r, 1, 0, 100, 20);
	wr = rig_request(r, IBV_WR_SEND, &sge, 12);
	rig_post(r, &wr);
	for (int i = 0; i < 2; i++)
		WANT(rig_wait(r).status == IBV_WC_SUCCESS);
}

void
run_unreliable(void)
{
	struct rig r;

	open_pair(&r);
	what_is_refused(&r);
	messages(&r);
	what_is_lost(&r);
	stop_and_go_on(&r);
	messages(&r);
	rig_close(&r);
}
