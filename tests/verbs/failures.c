/* SPDX-License-Identifier: BSD-3-Clause */
/* What must fail, with which word, and what is refused at once. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"
#include "scenarios.h"

static struct ibv_qp_attr
query_state(struct ibv_qp *qp)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	WANT(ibv_query_qp(qp, &a, IBV_QP_STATE, &init) == 0);
	return a;
}

/* The peer refuses a key: this side hears it, and is in ERR, whose number is 6. */
void
run_denied(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	sge = rig_sge(&r, 0, 0, 8);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 1);
	wr.wr.rdma.rkey ^= 0x100;
	wr.send_flags = 0; /* a failure is told all the same */
	rig_post(&r, &wr);
	rig_wait_for(&r, 1, IBV_WC_REM_ACCESS_ERR, 0);
	WANT(query_state(r.qp[0]).qp_state == IBV_QPS_ERR && IBV_QPS_ERR == 6);
	WANT(r.qp[0]->state == IBV_QPS_ERR);
	rig_close(&r);
}

/* A byte beyond either region. */
void
run_bounds(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	sge = rig_sge(&r, 0, RIG_BYTES - 8, 9);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 1);
	rig_post(&r, &wr);
	rig_wait_for(&r, 1, IBV_WC_LOC_PROT_ERR, 0);
	rig_close(&r);
	rig_open(&r, false);
	rig_connect(&r);
	sge = rig_sge(&r, 0, 0, 9);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 1);
	wr.wr.rdma.remote_addr += RIG_BYTES - 8;
	rig_post(&r, &wr);
	rig_wait_for(&r, 1, IBV_WC_REM_ACCESS_ERR, 0);
	rig_close(&r);
}

/* By a change to ERR: what is posted comes back in order, and so does what is posted then. */
void
run_flush(void)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	for (uint64_t i = 0; i < 10; i++)
		rig_receive(&r, 0, 0, 64, i);
	WANT(ibv_modify_qp(r.qp[0], &a, IBV_QP_STATE) == 0);
	for (uint64_t i = 0; i < 10; i++)
		rig_wait_for(&r, i, IBV_WC_WR_FLUSH_ERR, 0);
	sge = rig_sge(&r, 0, 0, 8);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 11);
	rig_post(&r, &wr);
	rig_wait_for(&r, 11, IBV_WC_WR_FLUSH_ERR, 0);
	rig_receive(&r, 0, 0, 64, 12);
	rig_wait_for(&r, 12, IBV_WC_WR_FLUSH_ERR, 0);
	rig_close(&r);
}

static void
reset(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};

	WANT(ibv_modify_qp(qp, &a, IBV_QP_STATE) == 0);
}

/* What was completed before a RESET is not seen behind it; what others completed is. */
void
run_reset(void)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct ibv_wc wc;
	unsigned others = 0;
	struct rig r;

	rig_open(&r, false);
	rig_connect(&r);
	rig_receive(&r, 1, 0, 64, 50);
	for (uint64_t i = 0; i < 5; i++)
		rig_receive(&r, 0, 0, 64, 20 + i);
	sge = rig_sge(&r, 0, 0, 8);
	wr = rig_request(&r, IBV_WR_SEND, &sge, 1);
	rig_post(&r, &wr);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 2);
	for (int i = 0; i < 10; i++)
		rig_post(&r, &wr);
	wc = rig_wait(&r);
	others += wc.qp_num == r.qp[1]->qp_num;
	usleep(100000); /* more of them lie there */
	reset(r.qp[0]);
	for (; ibv_poll_cq(r.cq, 1, &wc) == 1; others++)
		WANT(wc.qp_num == r.qp[1]->qp_num && wc.wr_id == 50);
	WANT(others == 1);
	reset(r.qp[1]);
	rig_connect(&r);
	wr = rig_request(&r, IBV_WR_RDMA_WRITE, &sge, 60);
	rig_post(&r, &wr);
	rig_wait_for(&r, 60, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(ibv_poll_cq(r.cq, 1, &wc) == 0);
	rig_close(&r);
}

static int
post_one_receive(struct ibv_qp *qp)
{
	struct ibv_recv_wr wr = {.wr_id = 1}, *bad = NULL;
	int err = ibv_post_recv(qp, &wr, &bad);

	WANT(err == 0 || bad == &wr);
	return err;
}

static int
post_one_send(struct ibv_qp *qp)
{
	struct ibv_send_wr wr = {.wr_id = 1, .opcode = IBV_WR_SEND}, *bad = NULL;
	int err = ibv_post_send(qp, &wr, &bad);

	WANT(err == 0 || bad == &wr);
	return err;
}

/* What may be posted where; a queue pair that was reset is as a new one. */
void
run_states(void)
{
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
	struct ibv_qp_attr reset = {.qp_state = IBV_QPS_RESET}, error = {.qp_state = IBV_QPS_ERR};
	const int to_init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	struct rig r;

	rig_open(&r, false);
	WANT(post_one_receive(r.qp[0]) == EINVAL && post_one_send(r.qp[0]) == EINVAL);
	WANT(query_state(r.qp[0]).qp_state == IBV_QPS_RESET);
	WANT(ibv_modify_qp(r.qp[0], &init, to_init & ~IBV_QP_PORT) == EINVAL);
	WANT(ibv_modify_qp(r.qp[0], &init, to_init | IBV_QP_SQ_PSN) == EINVAL);
	WANT(ibv_modify_qp(r.qp[0], &init, to_init) == 0);
	WANT(query_state(r.qp[0]).qp_state == IBV_QPS_INIT);
	WANT(post_one_receive(r.qp[0]) == 0 && post_one_send(r.qp[0]) == EINVAL);
	WANT(ibv_modify_qp(r.qp[0], &reset, IBV_QP_STATE) == 0);
	WANT(query_state(r.qp[0]).qp_state == IBV_QPS_RESET);
	WANT(post_one_receive(r.qp[0]) == EINVAL);
	rig_connect(&r);
	WANT(query_state(r.qp[0]).qp_state == IBV_QPS_RTS);
	WANT(ibv_modify_qp(r.qp[0], &init, to_init) == EINVAL);
	WANT(ibv_modify_qp(r.qp[0], &reset, IBV_QP_STATE) == 0);
	WANT(ibv_modify_qp(r.qp[0], &error, IBV_QP_STATE) == 0);
	WANT(query_state(r.qp[0]).qp_state == IBV_QPS_ERR);
	WANT(post_one_receive(r.qp[0]) == 0);
	rig_wait_for(&r, 1, IBV_WC_WR_FLUSH_ERR, 0);
	rig_close(&r);
}

static int
create_with(const struct rig *r, enum ibv_qp_type type, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr a = {
		.send_cq = r->cq, .recv_cq = r->cq, .cap = cap, .qp_type = type};
	struct ibv_qp *qp = ibv_create_qp(r->pd, &a);

	if (qp == NULL)
		return errno;
	WANT(a.cap.max_send_wr >= cap.max_send_wr && a.cap.max_send_sge >= cap.max_send_sge);
	WANT(a.cap.max_inline_data >= cap.max_inline_data && a.cap.max_inline_data >= 64);
	WANT(ibv_destroy_qp(qp) == 0);
	return 0;
}

/* What the device says is what it takes, and no more. */
void
run_limits(void)
{
	struct ibv_device_attr d;
	struct rig r;

	rig_open(&r, false);
	WANT(ibv_query_device(r.context, &d) == 0);
	WANT(create_with(&r, IBV_QPT_RC, (struct ibv_qp_cap){1, 1, (uint32_t)d.max_sge, 1, 0}) ==
		0);
	WANT(create_with(&r, IBV_QPT_RC,
		     (struct ibv_qp_cap){1, 1, (uint32_t)d.max_sge + 1, 1, 0}) != 0);
	WANT(create_with(&r, IBV_QPT_RC,
		     (struct ibv_qp_cap){(uint32_t)d.max_qp_wr + 1, 1, 1, 1, 0}) != 0);
	WANT(create_with(&r, IBV_QPT_RC, (struct ibv_qp_cap){1, 0, 1, 0, 1u << 20}) != 0);
	WANT(create_with(&r, IBV_QPT_RC, (struct ibv_qp_cap){0, 0, 0, 0, 0}) == 0);
	WANT(create_with(&r, IBV_QPT_XRC_SEND, (struct ibv_qp_cap){1, 1, 1, 1, 0}) == EOPNOTSUPP);
	WANT(ibv_create_cq(r.context, d.max_cqe + 1, NULL, NULL, 0) == NULL);
	WANT(ibv_create_cq(r.context, 1, NULL, NULL, 1) == NULL && errno == EINVAL);
	WANT(ibv_reg_mr(r.pd, NULL, 4096, 0) == NULL);
	WANT(ibv_reg_mr(r.pd, r.memory[0], 4096, IBV_ACCESS_REMOTE_WRITE) == NULL &&
		errno == EINVAL);
	rig_close(&r);
}
