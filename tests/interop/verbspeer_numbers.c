/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second queue pair, without a connection manager: what the other side tells and hears goes over
 * the connection, and would go over a socket as well. As perftest without -R does it.
 */
#include <arpa/inet.h>

#include "verbspeer.h"

#define OWN_PSN	     0xabcdef
#define TIMEOUT_CODE 14

/* The way back: the peer's address, by the index of ours, as the connection has them. */
static void
path_of(struct peer *p, struct ibv_ah_attr *ah)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	peer_must(ibv_query_qp(p->id->qp, &attr, IBV_QP_AV, &init) == 0, "ibv_query_qp");
	*ah = attr.ah_attr;
}

static struct ibv_qp *
make_qp(struct peer *p)
{
	struct ibv_qp_init_attr init = {.qp_type = IBV_QPT_RC,
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = {.max_send_wr = 8, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
		.port_num = p->id->port_num,
		.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
	struct ibv_qp *qp = ibv_create_qp(p->id->pd, &init);

	peer_must(qp != NULL, "ibv_create_qp");
	peer_must(
		ibv_modify_qp(qp, &attr,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
		"INIT");
	return qp;
}

static void
bring_up(struct peer *p, struct ibv_qp *qp, uint32_t number, uint32_t psn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = number,
		.rq_psn = psn,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12};

	path_of(p, &attr.ah_attr);
	peer_must(ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				  IBV_QP_MIN_RNR_TIMER) == 0,
		"RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
		.sq_psn = OWN_PSN,
		.timeout = TIMEOUT_CODE,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1};
	peer_must(ibv_modify_qp(qp, &attr,
			  IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
				  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) == 0,
		"RTS");
}

static void
transfer(struct peer *p, struct ibv_qp *qp, enum ibv_wr_opcode opcode, void *buf,
	const struct message *to)
{
	struct ibv_sge sge = {(uintptr_t)buf, BYTES, p->mr->lkey};
	struct ibv_send_wr wr = {.opcode = opcode,
		.send_flags = IBV_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.rdma = {to->address, ntohl(to->token)}};
	struct ibv_send_wr *bad;

	peer_must(ibv_post_send(qp, &wr, &bad) == 0, "ibv_post_send");
	peer_expect(p, IBV_WC_SUCCESS, "transfer by hand");
}

/* Each side tells its memory and, in bytes and reserved, number and PSN; then both use it. */
void
peer_by_numbers(struct peer *p)
{
	const struct message theirs = p->area.in;
	struct ibv_qp *qp = make_qp(p);

	bring_up(p, qp, theirs.bytes, theirs.reserved);
	peer_receive(p);
	peer_tell(p, &(struct message){"N", htonl(p->mr->rkey), qp->qp_num, OWN_PSN,
			     (uintptr_t)p->area.target});
	peer_expect(p, IBV_WC_SUCCESS, "receive of \"ready\"");
	for (uint32_t i = 0; i < BYTES; i++)
		peer_check(p->area.target[i] == 0x5a, "its write has not arrived");
	memset(p->area.source, 0xa5, BYTES);
	transfer(p, qp, IBV_WR_RDMA_WRITE, p->area.source, &theirs);
	memset(p->area.source, 0, BYTES);
	transfer(p, qp, IBV_WR_RDMA_READ, p->area.source, &theirs);
	for (uint32_t i = 0; i < BYTES; i++)
		peer_check(p->area.source[i] == 0xa5, "the read brought something else");
	peer_receive(p);
	peer_tell(p, &(struct message){.what = "N"});
	peer_expect(p, IBV_WC_SUCCESS, "receive of the end");
	peer_must(ibv_destroy_qp(qp) == 0, "ibv_destroy_qp"); /* it shall be missed */
	peer_receive(p);
	peer_tell(p, &(struct message){.what = "N"});
	peer_expect(p, IBV_WC_SUCCESS, "receive of the end of all");
}
