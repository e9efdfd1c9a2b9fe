/* SPDX-License-Identifier: BSD-3-Clause */
/* Work completions of entries, events of events, requests of requests. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>

#include "ndverbs/async.h"
#include "ndverbs/cq.h"
#include "ndverbs/request.h"

static struct ibv_wc
wc_of(struct ndsh_cqe e)
{
	struct nd_entry entry = {.e = e, .qp_number = 0x123456};
	struct ibv_wc wc;

	ndv_wc_of(&entry, &wc);
	return wc;
}

/* The number of each outcome, and that no other field of a failure says something. */
Test(ndverbs_wc, every_status)
{
	const uint8_t daemon[] = {0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 19, 21};
	const enum ibv_wc_status verbs[] = {IBV_WC_SUCCESS, IBV_WC_LOC_LEN_ERR,
		IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR, IBV_WC_MW_BIND_ERR,
		IBV_WC_BAD_RESP_ERR, IBV_WC_LOC_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR,
		IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_OP_ERR, IBV_WC_RETRY_EXC_ERR,
		IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_REM_ABORT_ERR, IBV_WC_FATAL_ERR,
		IBV_WC_GENERAL_ERR};

	for (size_t i = 0; i < sizeof(daemon); i++) {
		struct ibv_wc wc = wc_of((struct ndsh_cqe){
			.context = ~7ull, .status = daemon[i], .op = NDSH_OP_WRITE, .syndrome = 5});

		cr_expect(eq(i32, wc.status, verbs[i]));
		cr_expect(eq(u64, wc.wr_id, ~7ull));
		cr_expect(eq(u32, wc.qp_num, 0x123456));
		cr_expect(eq(u32, wc.vendor_err, i == 0 ? 0 : 5));
	}
}

Test(ndverbs_wc, every_operation)
{
	const struct {
		uint8_t op;
		enum ibv_wc_opcode verbs;
	} ops[] = {
		{NDSH_OP_SEND, IBV_WC_SEND},
		{NDSH_OP_SEND_IMM, IBV_WC_SEND},
		{NDSH_OP_SEND_INV, IBV_WC_SEND},
		{NDSH_OP_WRITE, IBV_WC_RDMA_WRITE},
		{NDSH_OP_WRITE_IMM, IBV_WC_RDMA_WRITE},
		{NDSH_OP_READ, IBV_WC_RDMA_READ},
		{NDSH_OP_CMP_SWAP, IBV_WC_COMP_SWAP},
		{NDSH_OP_FETCH_ADD, IBV_WC_FETCH_ADD},
		{NDSH_OP_BIND, IBV_WC_BIND_MW},
		{NDSH_OP_INVALIDATE, IBV_WC_LOCAL_INV},
		{NDSH_OP_RECV, IBV_WC_RECV},
	};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		cr_expect(eq(i32, wc_of((struct ndsh_cqe){.op = ops[i].op}).opcode, ops[i].verbs));
}

Test(ndverbs_wc, what_a_receive_brings)
{
	struct ibv_wc wc = wc_of((struct ndsh_cqe){
		.op = NDSH_OP_RECV, .bytes = 99, .flags = NDSH_CQEF_IMM, .data = 0x11223344});

	cr_expect(eq(u32, wc.wc_flags, IBV_WC_WITH_IMM));
	cr_expect(eq(u32, wc.imm_data, 0x11223344));
	cr_expect(eq(u32, wc.byte_len, 99));
	wc = wc_of((struct ndsh_cqe){
		.op = NDSH_OP_RECV, .flags = NDSH_CQEF_IMM | NDSH_CQEF_WRITE, .data = 1});
	cr_expect(eq(i32, wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM));
	wc = wc_of((struct ndsh_cqe){.op = NDSH_OP_RECV, .flags = NDSH_CQEF_INV, .data = 0x55});
	cr_expect(eq(u32, wc.wc_flags, IBV_WC_WITH_INV));
	cr_expect(eq(u32, wc.invalidated_rkey, 0x55));
	wc = wc_of((struct ndsh_cqe){
		.op = NDSH_OP_RECV, .flags = NDSH_CQEF_GRH, .syndrome = 0xabcdef});
	cr_expect(eq(u32, wc.wc_flags, IBV_WC_GRH));
	cr_expect(eq(u32, wc.src_qp, 0xabcdef));
}

/* A queue pair that ends by its own request has no event: its completion says it. */
Test(ndverbs_events, each_has_its_name_but_one)
{
	const int verbs[] = {-1, IBV_EVENT_COMM_EST, IBV_EVENT_SQ_DRAINED, IBV_EVENT_QP_REQ_ERR,
		IBV_EVENT_QP_ACCESS_ERR, -1, IBV_EVENT_QP_FATAL, IBV_EVENT_QP_LAST_WQE_REACHED,
		IBV_EVENT_CQ_ERR, IBV_EVENT_SRQ_LIMIT_REACHED, IBV_EVENT_PORT_ERR,
		IBV_EVENT_PORT_ACTIVE, IBV_EVENT_GID_CHANGE, IBV_EVENT_DEVICE_FATAL, -1};

	for (int i = 0; i < (int)(sizeof(verbs) / sizeof(verbs[0])); i++) {
		enum ibv_event_type type;

		cr_assert(eq(i32, ndv_event_type((enum nd_event_type)i, &type), verbs[i] >= 0));
		if (verbs[i] >= 0)
			cr_expect(eq(i32, type, verbs[i]));
	}
}

/* ---- requests ------------------------------------------------------------------------ */

static const struct ndv_qp connected = {.base.qp_type = IBV_QPT_RC};
static const struct ndv_qp signalling = {.base.qp_type = IBV_QPT_RC, .signal_all = true};

static uint32_t
how_of(const struct ndv_qp *qp, enum ibv_wr_opcode op, unsigned int flags)
{
	struct ibv_send_wr wr = {.opcode = op, .send_flags = flags};
	struct ndv_request r;

	cr_assert(eq(i32, ndv_request_of(qp, &wr, &r), 0));
	return r.how;
}

Test(ndverbs_requests, flags_of_each)
{
	const unsigned int all = IBV_SEND_FENCE | IBV_SEND_SOLICITED | IBV_SEND_INLINE;
	const uint32_t silent = NDSH_WRF_SILENT, fence = NDSH_WRF_FENCE, solicit = NDSH_WRF_SOLICIT,
		       in_line = NDSH_WRF_INLINE;

	cr_expect(eq(u32, how_of(&connected, IBV_WR_SEND, 0), silent));
	cr_expect(eq(u32, how_of(&connected, IBV_WR_SEND, IBV_SEND_SIGNALED), 0));
	cr_expect(eq(u32, how_of(&signalling, IBV_WR_SEND, 0), 0));
	cr_expect(eq(u32, how_of(&signalling, IBV_WR_SEND, all), fence | solicit | in_line));
	cr_expect(eq(u32, how_of(&signalling, IBV_WR_RDMA_WRITE, all), fence | in_line));
	cr_expect(eq(u32, how_of(&signalling, IBV_WR_RDMA_WRITE_WITH_IMM, all),
		fence | solicit | in_line));
	cr_expect(eq(u32, how_of(&signalling, IBV_WR_RDMA_READ, all), fence));
}

Test(ndverbs_requests, operands)
{
	uint64_t result;
	struct ibv_sge sge = {.addr = (uintptr_t)&result, .length = 8};
	struct ibv_send_wr wr = {.wr_id = 3,
		.opcode = IBV_WR_ATOMIC_CMP_AND_SWP,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.atomic = {.remote_addr = 64, .compare_add = 5, .swap = 6, .rkey = 7}};
	struct ndv_request r;

	cr_assert(eq(i32, ndv_request_of(&connected, &wr, &r), 0));
	cr_expect(eq(u64, r.wr.raddr, 64));
	cr_expect(eq(u32, r.wr.rkey, 7));
	cr_expect(eq(u64, r.wr.arg[0], 6), "swap");
	cr_expect(eq(u64, r.wr.arg[1], 5), "compare");
	cr_expect(eq(u64, r.wr.context, 3));
	wr.wr.atomic.remote_addr = 65;
	cr_expect(eq(i32, ndv_request_of(&connected, &wr, &r), EINVAL));
	wr = (struct ibv_send_wr){.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.sg_list = &sge,
		.num_sge = 1,
		.wr.atomic = {.remote_addr = 64, .compare_add = 5}};
	cr_assert(eq(i32, ndv_request_of(&connected, &wr, &r), 0));
	cr_expect(eq(u64, r.wr.arg[0], 5));
	wr = (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.imm_data = 9,
		.wr.rdma = {.remote_addr = 1, .rkey = 2}};
	cr_assert(eq(i32, ndv_request_of(&connected, &wr, &r), 0));
	cr_expect(eq(u64, r.wr.raddr, 1));
	cr_expect(eq(u32, r.wr.rkey, 2));
	cr_expect(eq(u32, r.wr.imm, 9));
}

static struct ibv_mw window = {.rkey = 0x12345678, .type = IBV_MW_TYPE_2};
static struct ibv_mr region = {.lkey = 0xabcdef01};

Test(ndverbs_requests, binds_and_invalidations)
{
	const unsigned int all =
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
	struct ibv_send_wr wr = {.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_FENCE | IBV_SEND_INLINE | IBV_SEND_SOLICITED,
		.bind_mw = {&window, 0x123456ff, {&region, 0x7000, 0x100000001, all}}};
	struct ndv_request r;

	cr_assert(eq(i32, ndv_request_of(&connected, &wr, &r), 0));
	cr_expect(eq(i32, r.op, NDSH_OP_BIND));
	cr_expect(eq(u32, r.how, NDSH_WRF_SILENT | NDSH_WRF_FENCE));
	cr_expect(eq(u64, r.wr.raddr, 0x7000));
	cr_expect(eq(u32, r.wr.rkey, 0x123456ff));
	cr_expect(eq(u64, r.wr.arg[0], 0x100000001));
	cr_expect(eq(u64, r.wr.arg[1],
		0xabcdef01ull << 32 | NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE |
			NDSH_ACCESS_REMOTE_ATOMIC));
	wr = (struct ibv_send_wr){.opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_INLINE | IBV_SEND_SIGNALED,
		.invalidate_rkey = 77};
	cr_assert(eq(i32, ndv_request_of(&connected, &wr, &r), 0));
	cr_expect(eq(i32, r.op, NDSH_OP_INVALIDATE));
	cr_expect(zero(u32, r.how));
	cr_expect(eq(u32, r.wr.rkey, 77));
}

static int
bind_of(struct ibv_mw *mw, uint32_t rkey, struct ibv_mr *mr, unsigned int access)
{
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_BIND_MW, .bind_mw = {mw, rkey, {mr, 0, 1, access}}};
	struct ndv_request r;

	return ndv_request_of(&connected, &wr, &r);
}

Test(ndverbs_requests, binds_that_are_refused)
{
	struct ibv_mw other = {.rkey = 0x12345678, .type = IBV_MW_TYPE_1};

	cr_expect(eq(i32, bind_of(&window, window.rkey, &region, 0), 0));
	cr_expect(eq(i32, bind_of(NULL, window.rkey, &region, 0), EINVAL));
	cr_expect(eq(i32, bind_of(&window, window.rkey, NULL, 0), EINVAL));
	cr_expect(eq(i32, bind_of(&other, other.rkey, &region, 0), EINVAL), "not by a post");
	for (unsigned bit = 0; bit < 32; bit++) {
		bool right = 1u << bit == IBV_ACCESS_LOCAL_WRITE ||
			     1u << bit == IBV_ACCESS_REMOTE_READ ||
			     1u << bit == IBV_ACCESS_REMOTE_WRITE ||
			     1u << bit == IBV_ACCESS_REMOTE_ATOMIC;

		cr_expect(eq(i32, bind_of(&window, window.rkey ^ 1u << bit, &region, 0),
				  bit < 8 ? 0 : EINVAL),
			"key's bit %u", bit);
		cr_expect(eq(i32, bind_of(&window, window.rkey, &region, 1u << bit),
				  right ? 0 : EINVAL),
			"right %u", bit);
	}
}

/* Of type 1 no bytes unbind the window, and of what region these are is not asked. */
Test(ndverbs_requests, binds_of_type_1)
{
	struct ibv_mw one = {.rkey = 0x12345678, .type = IBV_MW_TYPE_1};
	struct ibv_mw_bind_info info = {.mr = &region, .addr = 5, .length = 6};
	struct ndv_request r = {.op = NDSH_OP_BIND};

	cr_assert(eq(i32, ndv_request_bind(&r, IBV_MW_TYPE_1, &one, one.rkey ^ 1, &info), 0));
	cr_expect(eq(u64, r.wr.arg[0], 6));
	cr_expect(eq(u64, r.wr.arg[1], (uint64_t)region.lkey << 32));
	info.mr = NULL;
	cr_expect(eq(i32, ndv_request_bind(&r, IBV_MW_TYPE_1, &one, one.rkey ^ 1, &info), EINVAL));
	info.length = 0;
	cr_expect(eq(i32, ndv_request_bind(&r, IBV_MW_TYPE_1, &one, one.rkey ^ 1, &info), 0));
	cr_expect(zero(u64, r.wr.arg[1]));
	cr_expect(eq(i32, ndv_request_bind(&r, IBV_MW_TYPE_1, &window, window.rkey, &info), EINVAL),
		"of the other type");
}

Test(ndverbs_requests, what_is_refused)
{
	const enum ibv_wr_opcode ops[] = {IBV_WR_TSO, IBV_WR_DRIVER1, (enum ibv_wr_opcode)99};
	const struct ndv_qp datagrams = {.base.qp_type = IBV_QPT_UD};
	struct ibv_send_wr wr = {.opcode = IBV_WR_SEND};
	struct ndv_request r;

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		cr_expect(eq(i32,
			ndv_request_of(&connected, &(struct ibv_send_wr){.opcode = ops[i]}, &r),
			EOPNOTSUPP));
	cr_expect(eq(i32, ndv_request_of(&datagrams, &wr, &r), EINVAL), "no address handle");
}
