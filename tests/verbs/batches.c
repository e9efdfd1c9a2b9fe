/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting by calls that fill requests step by step. */
#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "rig.h"
#include "scenarios.h"

#define OPERATIONS                                                                                 \
	(IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |    \
		IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ |                          \
		IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |          \
		IBV_QP_EX_WITH_SEND_WITH_INV)

static struct ibv_qp_init_attr_ex
init_of(const struct rig *r, enum ibv_qp_type type, uint64_t operations)
{
	return (struct ibv_qp_init_attr_ex){
		.send_cq = r->cq,
		.recv_cq = r->cq,
		.cap = {RIG_DEPTH, RIG_DEPTH, 4, 4, 64},
		.qp_type = type,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = r->pd,
		.send_ops_flags = operations,
	};
}

/* qp[0] has the calls. */
static struct ibv_qp_ex *
rig_with_calls(struct rig *r, uint64_t operations)
{
	struct ibv_qp_init_attr_ex init;

	rig_open(r, false);
	WANT(ibv_qp_to_qp_ex(r->qp[0]) == NULL);
	WANT(ibv_destroy_qp(r->qp[0]) == 0);
	init = init_of(r, IBV_QPT_RC, operations);
	r->qp[0] = ibv_create_qp_ex(r->context, &init);
	WANT(r->qp[0] != NULL && init.cap.max_inline_data >= 64);
	WANT(ibv_qp_to_qp_ex(r->qp[0]) != NULL);
	return ibv_qp_to_qp_ex(r->qp[0]);
}

static uint64_t
remote(const struct rig *r, size_t offset)
{
	return (uintptr_t)r->memory[1] + offset;
}

static void
set_piece(struct rig *r, struct ibv_qp_ex *ex, size_t offset, uint32_t bytes)
{
	ibv_wr_set_sge(ex, r->mr[0]->lkey, (uintptr_t)r->memory[0] + offset, bytes);
}

static void
begin_one(struct ibv_qp_ex *ex, uint64_t id)
{
	ex->wr_id = id;
	ex->wr_flags = IBV_SEND_SIGNALED;
}

static void
write_piece(struct rig *r, struct ibv_qp_ex *ex, uint64_t id)
{
	begin_one(ex, id);
	ibv_wr_rdma_write(ex, r->mr[1]->rkey, remote(r, 0));
	set_piece(r, ex, 0, 8);
}

/* One of each; inline data may be gone when the call returns. */
static void
post_all(struct rig *r, struct ibv_qp_ex *ex)
{
	const uint32_t rkey = r->mr[1]->rkey;
	struct ibv_sge list[2] = {rig_sge(r, 0, 100, 50), rig_sge(r, 0, 0, 50)};
	char a[8] = "inline ", b[8] = "pieces";
	struct ibv_data_buf pieces[2] = {{a, 7}, {b, 7}};

	ibv_wr_start(ex);
	write_piece(r, ex, 1);
	begin_one(ex, 2);
	ibv_wr_rdma_write_imm(ex, rkey, remote(r, 1000), htonl(0x1234));
	ibv_wr_set_inline_data_list(ex, 2, pieces);
	memset(a, 'x', sizeof(a));
	begin_one(ex, 3);
	ibv_wr_send(ex);
	ibv_wr_set_sge_list(ex, 2, list);
	begin_one(ex, 4);
	ibv_wr_send_imm(ex, htonl(0x5678));
	ibv_wr_set_inline_data(ex, b, sizeof(b));
	memset(b, 'x', sizeof(b));
	begin_one(ex, 5);
	ibv_wr_rdma_read(ex, rkey, remote(r, 2000));
	set_piece(r, ex, 2000, 300);
	begin_one(ex, 6);
	ibv_wr_atomic_fetch_add(ex, rkey, remote(r, 3000), 7);
	set_piece(r, ex, 3000, 8);
	begin_one(ex, 7);
	ibv_wr_atomic_cmp_swp(ex, rkey, remote(r, 3000), 1007, 5);
	set_piece(r, ex, 3008, 8);
	begin_one(ex, 8);
	ex->wr_flags = 0; /* no completion of it */
	ibv_wr_rdma_write(ex, rkey, remote(r, 4000));
	begin_one(ex, 9);
	ibv_wr_send(ex); /* of no bytes */
	WANT(ibv_wr_complete(ex) == 0);
}

static const struct {
	enum ibv_wc_opcode sent;
	struct { /* if it took a receive */
		uint32_t bytes;
		int imm;
	} received;
} wanted[] = {
	[1] = {IBV_WC_RDMA_WRITE, {0, 0}},
	[2] = {IBV_WC_RDMA_WRITE, {14, 0x1234}},
	[3] = {IBV_WC_SEND, {100, 0}},
	[4] = {IBV_WC_SEND, {8, 0x5678}},
	[5] = {IBV_WC_RDMA_READ, {0, 0}},
	[6] = {IBV_WC_FETCH_ADD, {0, 0}},
	[7] = {IBV_WC_COMP_SWAP, {0, 0}},
	[9] = {IBV_WC_SEND, {0, 0}},
};

/* Receives are 102, 103, 104, 109, in the order of what takes them. */
static void
want_all(struct rig *r)
{
	uint64_t sent = 0, received = 101;

	while (sent < 9 || received < 109) {
		struct ibv_wc wc = rig_wait(r);

		WANT(wc.status == IBV_WC_SUCCESS);
		if (wc.wr_id > 100) {
			WANT(wc.wr_id > received);
			received = wc.wr_id;
			WANT(wc.byte_len == wanted[wc.wr_id - 100].received.bytes);
			WANT(!(wc.wc_flags & IBV_WC_WITH_IMM) ||
				ntohl(wc.imm_data) ==
					(uint32_t)wanted[wc.wr_id - 100].received.imm);
		} else {
			WANT(wc.wr_id == sent + (sent == 7 ? 2 : 1));
			sent = wc.wr_id;
			WANT(wc.opcode == wanted[sent].sent);
		}
	}
}

void
run_batches(void)
{
	uint64_t *there, *here;
	struct ibv_qp_ex *ex;
	struct rig r;

	ex = rig_with_calls(&r, OPERATIONS);
	rig_connect(&r);
	there = (uint64_t *)(void *)(r.memory[1] + 3000);
	here = (uint64_t *)(void *)(r.memory[0] + 3000);
	memset(r.memory[0], 1, 50);
	memset(r.memory[0] + 100, 2, 50);
	memset(r.memory[1] + 2000, 3, 300);
	*there = 1000;
	rig_receive(&r, 1, 0, 0, 102); /* the write with immediate puts nothing there */
	rig_receive(&r, 1, 5000, 100, 103);
	rig_receive(&r, 1, 6000, 100, 104);
	rig_receive(&r, 1, 7000, 100, 109);
	post_all(&r, ex);
	want_all(&r);
	WANT(r.memory[1][7] == 1 && memcmp(r.memory[1] + 1000, "inline pieces", 14) == 0);
	WANT(r.memory[1][5000] == 2 && r.memory[1][5049] == 2 && r.memory[1][5050] == 1);
	WANT(memcmp(r.memory[1] + 6000, "pieces", 7) == 0);
	WANT(memcmp(r.memory[0] + 2000, r.memory[1] + 2000, 300) == 0);
	WANT(here[0] == 1000 && here[1] == 1007 && *there == 5);
	rig_close(&r);
}

/* ---- what is not posted ------------------------------------------------------------------- */

enum fault {
	NOT_ASKED_FOR,
	NO_OPERATION,
	TOO_MANY_PIECES,
	FAR_TOO_MANY_PIECES,
	TOO_MUCH_INLINE,
	INLINE_READ,
	ATOMIC_OF_NOTHING,
	ATOMIC_UNALIGNED,
	FULL,
	ABORTED,
	FAULTS
};

/* Behind a good request, in front of another good one. */
static void
post_fault(struct rig *r, struct ibv_qp_ex *ex, enum fault fault)
{
	static char much[65536];
	struct ibv_sge sge[32];

	for (int i = 0; i < 32; i++)
		sge[i] = rig_sge(r, 0, 0, 1);
	begin_one(ex, 50);
	switch (fault) {
	case NOT_ASKED_FOR:
		ibv_wr_rdma_write_imm(ex, r->mr[1]->rkey, remote(r, 0), 0);
		break;
	case NO_OPERATION:
		WANT(ibv_wr_complete(ex) == 0); /* the good one alone */
		rig_wait_for(r, 1, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
		ibv_wr_start(ex);
		set_piece(r, ex, 0, 8);
		break;
	case TOO_MANY_PIECES:
	case FAR_TOO_MANY_PIECES:
		ibv_wr_rdma_write(ex, r->mr[1]->rkey, remote(r, 0));
		ibv_wr_set_sge_list(ex, fault == TOO_MANY_PIECES ? 16 : 32, sge);
		break;
	case TOO_MUCH_INLINE:
		ibv_wr_rdma_write(ex, r->mr[1]->rkey, remote(r, 0));
		ibv_wr_set_inline_data(ex, much, sizeof(much));
		break;
	case INLINE_READ:
		ibv_wr_rdma_read(ex, r->mr[1]->rkey, remote(r, 0));
		ibv_wr_set_inline_data(ex, much, 8);
		break;
	case ATOMIC_OF_NOTHING:
		ibv_wr_atomic_fetch_add(ex, r->mr[1]->rkey, remote(r, 0), 1);
		break;
	case ATOMIC_UNALIGNED:
		ibv_wr_atomic_fetch_add(ex, r->mr[1]->rkey, remote(r, 4), 1);
		set_piece(r, ex, 0, 8);
		break;
	case FULL:
		for (int i = 0; i < RIG_DEPTH; i++)
			write_piece(r, ex, 50);
		break;
	default:
		break;
	}
}

/* The queue pair does not notice: no completion, no slot that is gone, and it goes on. */
static void
fault_posts_nothing(struct rig *r, struct ibv_qp_ex *ex, enum fault fault)
{
	memset(r->memory[1], 0, 8);
	ibv_wr_start(ex);
	write_piece(r, ex, 1);
	post_fault(r, ex, fault);
	if (fault != FULL)
		write_piece(r, ex, 2);
	if (fault == ABORTED)
		ibv_wr_abort(ex);
	else
		WANT(ibv_wr_complete(ex) == (fault == FULL ? ENOMEM : EINVAL));
	WANT(fault == NO_OPERATION || r->memory[1][0] == 0);
	ibv_wr_start(ex);
	for (uint64_t id = 0; id < RIG_DEPTH; id++)
		write_piece(r, ex, 100 + id);
	WANT(ibv_wr_complete(ex) == 0);
	for (uint64_t id = 0; id < RIG_DEPTH; id++)
		rig_wait_for(r, 100 + id, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	WANT(r->memory[1][0] == 7);
}

static void
create_with(const struct rig *r, struct ibv_qp_init_attr_ex init, int error)
{
	errno = 0;
	WANT(ibv_create_qp_ex(r->context, &init) == NULL && errno == error);
}

static void
what_is_refused(const struct rig *r)
{
	struct ibv_qp_init_attr_ex init = init_of(r, IBV_QPT_RC, IBV_QP_EX_WITH_SEND);

	create_with(r, init_of(r, IBV_QPT_RC, IBV_QP_EX_WITH_TSO), EOPNOTSUPP);
	create_with(r, init_of(r, IBV_QPT_UD, IBV_QP_EX_WITH_RDMA_WRITE), EOPNOTSUPP);
	create_with(r, init_of(r, IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_SEND), EOPNOTSUPP);
	init.comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	create_with(r, init, EINVAL);
	init.comp_mask |= IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	init.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	create_with(r, init, EOPNOTSUPP);
	init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	create_with(r, init, EOPNOTSUPP);
}

void
run_batches_fail(void)
{
	struct ibv_qp_ex *ex;
	struct rig r;

	ex = rig_with_calls(&r, OPERATIONS & ~IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM);
	what_is_refused(&r);
	ibv_wr_start(ex);
	write_piece(&r, ex, 1);
	WANT(ibv_wr_complete(ex) == EINVAL); /* in RESET */
	rig_connect(&r);
	memset(r.memory[0], 7, 8);
	for (enum fault fault = 0; fault < FAULTS; fault++)
		fault_posts_nothing(&r, ex, fault);
	rig_close(&r);
}

/* ---- two threads -------------------------------------------------------------------------- */

static void *
post_third(void *arg)
{
	struct rig *r = arg;
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(r->qp[0]);

	ibv_wr_start(ex);
	write_piece(r, ex, 3);
	WANT(ibv_wr_complete(ex) == 0);
	return NULL;
}

/* A batch of another thread waits for the end of this one. */
void
run_batches_wait(void)
{
	struct ibv_qp_ex *ex;
	pthread_t other;
	struct rig r;

	ex = rig_with_calls(&r, OPERATIONS);
	rig_connect(&r);
	ibv_wr_start(ex);
	write_piece(&r, ex, 1);
	WANT(pthread_create(&other, NULL, post_third, &r) == 0);
	usleep(100000);
	write_piece(&r, ex, 2);
	WANT(ibv_wr_complete(ex) == 0);
	pthread_join(other, NULL);
	for (uint64_t id = 1; id <= 3; id++)
		rig_wait_for(&r, id, IBV_WC_SUCCESS, IBV_WC_RDMA_WRITE);
	rig_close(&r);
}
