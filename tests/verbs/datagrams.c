/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs of datagrams. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "rig.h"
#include "scenarios.h"

#define Q_KEY	   0x1234u
#define GRH_BYTES  40u
#define RECEIVE_ID 100u
#define LEAVING	   20

static struct ibv_poll_cq_attr plain;

static struct ibv_qp *
make_qp(struct rig *r)
{
	struct ibv_qp_init_attr_ex init = {.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = {RIG_DEPTH, RIG_DEPTH, 4, 4, 64},
		.qp_type = IBV_QPT_UD,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = r->pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM};
	struct ibv_qp *qp = ibv_create_qp_ex(r->context, &init);

	WANT(qp != NULL);
	return qp;
}

/* Both ends are of datagrams. The handle leads to this device. */
static struct ibv_ah *
open_pair(struct rig *r)
{
	struct ibv_ah_attr to = {.is_global = 1, .port_num = 1, .grh.hop_limit = 64};
	struct ibv_ah *ah;

	rig_open_extended(r, 0);
	for (int side = 0; side < 2; side++) {
		WANT(ibv_destroy_qp(r->qp[side]) == 0);
		r->qp[side] = make_qp(r);
	}
	WANT(ibv_query_gid(r->context, 1, 0, &to.grh.dgid) == 0);
	ah = ibv_create_ah(r->pd, &to);
	WANT(ah != NULL);
	return ah;
}

static void
close_pair(struct rig *r, struct ibv_ah *ah)
{
	WANT(ibv_destroy_ah(ah) == 0);
	rig_close(r);
}

static void
start_send(struct ibv_qp_ex *ex, uint64_t id)
{
	ibv_wr_start(ex);
	ex->wr_id = id;
	ex->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send(ex);
}

static int
send_from(struct rig *r, int side, struct ibv_ah *ah, uint64_t id, const char *bytes)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(r->qp[side]);
	char buffer[8];

	snprintf(buffer, sizeof(buffer), "%s", bytes);
	start_send(ex, id);
	ibv_wr_set_ud_addr(ex, ah, r->qp[!side]->qp_num, Q_KEY);
	ibv_wr_set_inline_data(ex, buffer, sizeof(buffer));
	return ibv_wr_complete(ex);
}

static int
send_bytes(struct rig *r, struct ibv_ah *ah, uint64_t id, const char *bytes)
{
	return send_from(r, 0, ah, id, bytes);
}

/* The next completion of a receive; sends before it succeed. */
static void
want_received(struct rig *r, uint64_t id, const char *bytes)
{
	time_t end = time(NULL) + 5;
	bool received = false;

	while (!received) {
		WANT(time(NULL) <= end);
		if (ibv_start_poll(r->ex, &plain) != 0)
			continue;
		WANT(r->ex->status == IBV_WC_SUCCESS);
		received = r->ex->wr_id >= RECEIVE_ID;
		if (received) {
			WANT(r->ex->wr_id == id);
			WANT(ibv_wc_read_opcode(r->ex) == IBV_WC_RECV);
			WANT(ibv_wc_read_src_qp(r->ex) == r->qp[0]->qp_num);
			WANT(ibv_wc_read_qp_num(r->ex) == r->qp[1]->qp_num);
			WANT(ibv_wc_read_wc_flags(r->ex) & IBV_WC_GRH);
			WANT(ibv_wc_read_byte_len(r->ex) == GRH_BYTES + 8);
			WANT(strcmp((char *)r->memory[1] + GRH_BYTES, bytes) == 0);
		}
		ibv_end_poll(r->ex);
	}
}

/* By the calls that fill requests; one that has no destination is not posted. */
void
run_datagrams(void)
{
	struct ibv_qp_ex *ex;
	struct ibv_ah *ah;
	struct rig r;

	ah = open_pair(&r);
	ex = ibv_qp_to_qp_ex(r.qp[0]);
	WANT(send_bytes(&r, ah, 1, "early") == EINVAL); /* in RESET */
	rig_bring_up_datagrams(r.qp[0], Q_KEY);
	rig_bring_up_datagrams(r.qp[1], Q_KEY);
	rig_receive(&r, 1, 0, 100, RECEIVE_ID);
	start_send(ex, 2);
	WANT(ibv_wr_complete(ex) == EINVAL);
	WANT(send_bytes(&r, NULL, 3, "none") == EINVAL);
	start_send(ex, 4);
	ibv_wr_set_ud_addr(ex, ah, r.qp[1]->qp_num, Q_KEY);
	ibv_wr_rdma_write(ex, 0, 0);
	WANT(ibv_wr_complete(ex) == EINVAL);
	WANT(send_bytes(&r, ah, 5, "hello") == 0);
	want_received(&r, RECEIVE_ID, "hello");
	close_pair(&r, ah);
}

static enum ibv_qp_state
query_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	WANT(ibv_query_qp(qp, &a, IBV_QP_STATE, &init) == 0 && a.qp_state == qp->state);
	WANT(a.sq_psn == RIG_SQ_PSN && a.qkey == Q_KEY);
	return a.qp_state;
}

/* A datagram from memory that is not registered, and a good one behind it. */
static void
stop_sending(struct rig *r, struct ibv_ah *ah)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(r->qp[0]);

	start_send(ex, 1);
	ibv_wr_set_ud_addr(ex, ah, r->qp[1]->qp_num, Q_KEY);
	ibv_wr_set_sge(ex, ~0u, (uintptr_t)r->memory[0], 8);
	ex->wr_id = 2;
	ibv_wr_send(ex);
	ibv_wr_set_ud_addr(ex, ah, r->qp[1]->qp_num, Q_KEY);
	WANT(ibv_wr_complete(ex) == 0);
	rig_wait_for(r, 1, IBV_WC_LOC_PROT_ERR, 0);
	rig_wait_for(r, 2, IBV_WC_WR_FLUSH_ERR, 0);
}

/* SQE: what is sent comes back, what comes is received, and a step leads back to RTS. */
void
run_stopped(void)
{
	struct ibv_qp_attr up = {.qp_state = IBV_QPS_RTS, .cur_qp_state = IBV_QPS_RTS};
	const int step = IBV_QP_STATE | IBV_QP_CUR_STATE;
	struct ibv_ah *ah;
	struct rig r;

	ah = open_pair(&r);
	rig_bring_up_datagrams(r.qp[0], Q_KEY);
	rig_bring_up_datagrams(r.qp[1], Q_KEY);
	for (int lap = 0; lap < 2; lap++) {
		WANT(query_state(r.qp[0]) == IBV_QPS_RTS);
		stop_sending(&r, ah);
		WANT(query_state(r.qp[0]) == IBV_QPS_SQE);
		WANT(query_state(r.qp[1]) == IBV_QPS_RTS);
		WANT(send_bytes(&r, ah, 3, "back") == 0);
		rig_wait_for(&r, 3, IBV_WC_WR_FLUSH_ERR, 0);
		rig_receive(&r, 0, 0, 100, RECEIVE_ID);
		WANT(send_from(&r, 1, ah, 4, "in") == 0);
		for (int i = 0; i < 2; i++)
			WANT(rig_wait(&r).status == IBV_WC_SUCCESS);
		WANT(strcmp((char *)r.memory[0] + GRH_BYTES, "in") == 0);
		up.cur_qp_state = IBV_QPS_RTS;
		WANT(ibv_modify_qp(r.qp[0], &up, step) == EINVAL);
		up.cur_qp_state = IBV_QPS_SQE;
		WANT(ibv_modify_qp(r.qp[0], &up, step) == 0);
		rig_receive(&r, 1, 0, 100, RECEIVE_ID);
		WANT(send_bytes(&r, ah, 5, "again") == 0);
		want_received(&r, RECEIVE_ID, "again");
	}
	close_pair(&r, ah);
}

static void
to_state(struct ibv_qp *qp, enum ibv_qp_state state)
{
	struct ibv_qp_attr a = {.qp_state = state};

	WANT(ibv_modify_qp(qp, &a, IBV_QP_STATE) == 0);
	WANT(qp->state == state);
}

/* To RESET from RTS, SQE and ERR, and up again: what was posted before is neither told, nor
 * received into, and nothing is taken before RTR. */
void
run_datagrams_reset(void)
{
	struct ibv_ah *ah;
	struct rig r;

	ah = open_pair(&r);
	rig_bring_up_datagrams(r.qp[0], Q_KEY);
	rig_bring_up_datagrams(r.qp[1], Q_KEY);
	for (int lap = 0; lap < 3; lap++) {
		if (lap == 1)
			stop_sending(&r, ah);
		rig_receive(&r, 1, 512, 100, RECEIVE_ID + 1);
		rig_receive(&r, 0, 512, 100, RECEIVE_ID + 2);
		if (lap == 2)
			to_state(r.qp[0], IBV_QPS_ERR);
		to_state(r.qp[0], IBV_QPS_RESET);
		to_state(r.qp[1], IBV_QPS_RESET);
		WANT(send_bytes(&r, ah, 3, "early") == EINVAL);
		rig_bring_up_datagrams(r.qp[0], Q_KEY);
		rig_bring_up_datagrams(r.qp[1], Q_KEY);
		WANT(query_state(r.qp[0]) == IBV_QPS_RTS);
		rig_receive(&r, 1, 0, 100, RECEIVE_ID);
		WANT(send_bytes(&r, ah, 4, "anew") == 0);
		want_received(&r, RECEIVE_ID, "anew");
	}
	close_pair(&r, ah);
}

/* What was posted before the handle, or the queue pair, is destroyed arrives. */
static void
want_all(bool by_handle)
{
	const struct timespec rest = {.tv_nsec = 20000000}; /* the lcore sleeps by then */
	struct ibv_ah *ah;
	struct rig r;

	ah = open_pair(&r);
	rig_bring_up_datagrams(r.qp[0], Q_KEY);
	rig_bring_up_datagrams(r.qp[1], Q_KEY);
	for (int i = 0; i < LEAVING; i++)
		rig_receive(&r, 1, 0, 100, RECEIVE_ID);
	nanosleep(&rest, NULL);
	for (uint64_t i = 0; i < LEAVING; i++)
		WANT(send_bytes(&r, ah, i, "leaves") == 0);
	if (by_handle)
		WANT(ibv_destroy_ah(ah) == 0);
	WANT(ibv_destroy_qp(r.qp[0]) == 0);
	r.qp[0] = NULL;
	for (int i = 0; i < LEAVING; i++) {
		const struct ibv_wc wc = rig_wait(&r);

		WANT(wc.status == IBV_WC_SUCCESS && wc.opcode == IBV_WC_RECV);
		WANT(strcmp((char *)r.memory[1] + GRH_BYTES, "leaves") == 0);
	}
	if (!by_handle)
		WANT(ibv_destroy_ah(ah) == 0);
	rig_close(&r);
}

void
run_leaving(void)
{
	for (int lap = 0; lap < 10; lap++)
		want_all(lap % 2 == 0);
}
