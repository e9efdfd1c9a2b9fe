/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

static void
make_memory(struct rig *r, int side)
{
	r->memory[side] =
		mmap(NULL, RIG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	WANT(r->memory[side] != MAP_FAILED);
	r->mr[side] = ibv_reg_mr(r->pd, r->memory[side], RIG_BYTES, RIG_ALL);
	WANT(r->mr[side] != NULL);
}

static void
open_context(struct rig *r)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	memset(r, 0, sizeof(*r));
	WANT(list != NULL && list[0] != NULL);
	r->context = ibv_open_device(list[0]);
	ibv_free_device_list(list);
	WANT(r->context != NULL);
	r->pd = ibv_alloc_pd(r->context);
	WANT(r->pd != NULL);
}

static void
make_sides(struct rig *r)
{
	WANT(r->cq != NULL);
	for (int side = 0; side < 2; side++) {
		make_memory(r, side);
		r->qp[side] = rig_make_qp(r, 0);
	}
}

void
rig_open(struct rig *r, bool with_channel)
{
	open_context(r);
	if (with_channel) {
		r->channel = ibv_create_comp_channel(r->context);
		WANT(r->channel != NULL);
	}
	r->cq = ibv_create_cq(r->context, 4 * RIG_DEPTH, r, r->channel, 0);
	make_sides(r);
}

void
rig_open_extended(struct rig *r, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {.cqe = 4 * RIG_DEPTH,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = flags};

	open_context(r);
	r->ex = ibv_create_cq_ex(r->context, &attr);
	WANT(r->ex != NULL);
	r->cq = ibv_cq_ex_to_cq(r->ex);
	make_sides(r);
}

struct ibv_qp *
rig_make_qp(struct rig *r, int signal_all)
{
	struct ibv_qp_init_attr a = {.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = {RIG_DEPTH, RIG_DEPTH, 4, 4, 64},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = signal_all};
	struct ibv_qp *qp = ibv_create_qp(r->pd, &a);

	WANT(qp != NULL && qp->state == IBV_QPS_RESET);
	return qp;
}

static void
modify_to(struct ibv_qp *qp, struct ibv_qp_attr *a, enum ibv_qp_state state, int mask)
{
	a->qp_state = state;
	WANT(ibv_modify_qp(qp, a, mask | IBV_QP_STATE) == 0);
	WANT(qp->state == state);
}

static void
await_peer(struct ibv_qp *qp, uint32_t number, const union ibv_gid *gid)
{
	struct ibv_qp_attr a = {.port_num = 1,
		.qp_access_flags = RIG_ALL,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = number,
		.rq_psn = 77,
		.max_dest_rd_atomic = 4,
		.min_rnr_timer = 1,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = *gid, .hop_limit = 64}}};

	modify_to(qp, &a, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	modify_to(qp, &a, IBV_QPS_RTR,
		IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static union ibv_gid
own_gid(const struct rig *r)
{
	union ibv_gid gid;

	WANT(ibv_query_gid(r->context, 1, 0, &gid) == 0);
	return gid;
}

void
rig_await_peer(struct rig *r, struct ibv_qp *qp, uint32_t number)
{
	const union ibv_gid gid = own_gid(r);

	await_peer(qp, number, &gid);
}

void
rig_go_on(struct ibv_qp *qp)
{
	struct ibv_qp_attr a = {
		.sq_psn = 77, .max_rd_atomic = 4, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7};

	modify_to(qp, &a, IBV_QPS_RTS,
		IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
			IBV_QP_MAX_QP_RD_ATOMIC);
}

void
rig_connect_qp(struct rig *r, struct ibv_qp *qp, uint32_t number)
{
	const union ibv_gid gid = own_gid(r);

	rig_connect_to(qp, number, &gid);
}

void
rig_connect_to(struct ibv_qp *qp, uint32_t number, const union ibv_gid *gid)
{
	await_peer(qp, number, gid);
	rig_go_on(qp);
}

void
rig_connect(struct rig *r)
{
	rig_connect_qp(r, r->qp[0], r->qp[1]->qp_num);
	rig_connect_qp(r, r->qp[1], r->qp[0]->qp_num);
}

void
rig_connect_again(struct rig *r)
{
	for (int side = 0; side < 2; side++) {
		struct ibv_qp_attr a = {.qp_state = IBV_QPS_RESET};

		WANT(ibv_modify_qp(r->qp[side], &a, IBV_QP_STATE) == 0);
	}
	rig_connect(r);
}

void
rig_bring_up_datagrams(struct ibv_qp *qp, uint32_t q_key)
{
	struct ibv_qp_attr a = {.port_num = 1, .qkey = q_key, .sq_psn = RIG_SQ_PSN};

	a.qp_state = IBV_QPS_INIT;
	WANT(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) ==
		0);
	a.qp_state = IBV_QPS_RTR;
	WANT(ibv_modify_qp(qp, &a, IBV_QP_STATE) == 0);
	a.qp_state = IBV_QPS_RTS;
	WANT(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
}

void
rig_close(struct rig *r)
{
	for (int side = 0; side < 2; side++) {
		WANT(r->qp[side] == NULL || ibv_destroy_qp(r->qp[side]) == 0);
		WANT(ibv_dereg_mr(r->mr[side]) == 0);
		munmap(r->memory[side], RIG_BYTES);
	}
	WANT(ibv_destroy_cq(r->cq) == 0);
	WANT(r->channel == NULL || ibv_destroy_comp_channel(r->channel) == 0);
	WANT(ibv_dealloc_pd(r->pd) == 0);
	WANT(ibv_close_device(r->context) == 0);
}

struct ibv_sge
rig_sge(const struct rig *r, int side, size_t offset, uint32_t bytes)
{
	return (struct ibv_sge){(uintptr_t)r->memory[side] + offset, bytes, r->mr[side]->lkey};
}

struct ibv_send_wr
rig_request_to(
	uint64_t addr, uint32_t rkey, enum ibv_wr_opcode op, struct ibv_sge *sge, uint64_t id)
{
	struct ibv_send_wr wr = {.wr_id = id,
		.opcode = op,
		.sg_list = sge,
		.num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED};

	if (op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = addr;
		wr.wr.atomic.rkey = rkey;
	} else {
		wr.wr.rdma.remote_addr = addr;
		wr.wr.rdma.rkey = rkey;
	}
	return wr;
}

struct ibv_send_wr
rig_request(const struct rig *r, enum ibv_wr_opcode op, struct ibv_sge *sge, uint64_t id)
{
	return rig_request_to((uintptr_t)r->memory[1], r->mr[1]->rkey, op, sge, id);
}

void
rig_fill(uint8_t *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(seed + i * 31 + (i >> 8));
}

bool
rig_holds(const uint8_t *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != (uint8_t)(seed + i * 31 + (i >> 8)))
			return false;
	return true;
}

void
rig_post(struct rig *r, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	WANT(ibv_post_send(r->qp[0], wr, &bad) == 0);
}

void
rig_receive(struct rig *r, int side, size_t offset, uint32_t bytes, uint64_t id)
{
	struct ibv_sge sge = rig_sge(r, side, offset, bytes);
	struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;

	WANT(ibv_post_recv(r->qp[side], &wr, &bad) == 0);
}

struct ibv_wc
rig_wait(struct rig *r)
{
	time_t end = time(NULL) + 5;
	struct ibv_wc wc;
	int got;

	while ((got = ibv_poll_cq(r->cq, 1, &wc)) == 0)
		WANT(time(NULL) <= end);
	WANT(got == 1);
	return wc;
}

void
rig_wait_for(struct rig *r, uint64_t id, enum ibv_wc_status status, enum ibv_wc_opcode op)
{
	struct ibv_wc wc = rig_wait(r);

	if (wc.wr_id != id || wc.status != status || (status == IBV_WC_SUCCESS && wc.opcode != op))
		fprintf(stderr, "completion of %llu: %s, operation %d\n",
			(unsigned long long)wc.wr_id, ibv_wc_status_str(wc.status), wc.opcode);
	WANT(wc.wr_id == id && wc.status == status);
	WANT(status != IBV_WC_SUCCESS || wc.opcode == op);
}
