/* SPDX-License-Identifier: BSD-3-Clause */
/* Results: what an entry says, and what becomes of the transport's outcomes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ndclient/face/result.h"

static nd_status
tested(uint8_t wc, uint8_t op)
{
	return nd_status_of_wc(ND_PROFILE_TEST, wc, op);
}

/* doc/semantics.md, with the choices that ND's own tests demand. */
Test(ndclient_result, R_CR_transport_outcomes)
{
	const struct {
		uint8_t wc;
		nd_status nd;
	} rows[] = {
		{NDSH_WC_SUCCESS, ND_SUCCESS},
		{NDSH_WC_LOC_LEN_ERR, ND_DATA_OVERRUN},
		{NDSH_WC_LOC_QP_OP_ERR, ND_INTERNAL_ERROR},
		{NDSH_WC_LOC_PROT_ERR, ND_ACCESS_VIOLATION},
		{NDSH_WC_FLUSH_ERR, ND_CANCELED},
		{NDSH_WC_BAD_RESP_ERR, ND_REMOTE_ERROR},
		{NDSH_WC_LOC_ACCESS_ERR, ND_ACCESS_VIOLATION},
		{NDSH_WC_REM_INV_REQ_ERR, ND_DATA_ERROR},
		{NDSH_WC_REM_ACCESS_ERR, ND_ACCESS_VIOLATION},
		{NDSH_WC_REM_OP_ERR, ND_REMOTE_ERROR},
		{NDSH_WC_RETRY_EXC_ERR, ND_IO_TIMEOUT},
		{NDSH_WC_RNR_RETRY_EXC_ERR, ND_IO_TIMEOUT},
		{NDSH_WC_REM_ABORT_ERR, ND_CONNECTION_ABORTED},
		{NDSH_WC_FATAL_ERR, ND_INTERNAL_ERROR},
		{NDSH_WC_GENERAL_ERR, ND_INTERNAL_ERROR},
		{255, ND_INTERNAL_ERROR},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(eq(i32, tested(rows[i].wc, NDSH_OP_SEND), rows[i].nd), "%u", rows[i].wc);
}

/* checks R-INV-04[1], R-INV-09[2,4], R-MW-03[3] */
Test(ndclient_result, R_INV_04_outcomes_that_depend_on_the_operation)
{
	cr_expect(eq(
		i32, tested(NDSH_WC_LOC_QP_OP_ERR, NDSH_OP_INVALIDATE), ND_INVALID_DEVICE_REQUEST));
	cr_expect(eq(i32, tested(NDSH_WC_LOC_QP_OP_ERR, NDSH_OP_READ),
		ND_INVALID_DEVICE_REQUEST)); /* R-RW-04 */
	cr_expect(
		eq(i32, tested(NDSH_WC_REM_INV_REQ_ERR, NDSH_OP_RECV), ND_INVALID_DEVICE_REQUEST));
	cr_expect(eq(i32, tested(NDSH_WC_REM_INV_REQ_ERR, NDSH_OP_SEND_INV), ND_DATA_ERROR));
	cr_expect(eq(i32, tested(NDSH_WC_REM_ACCESS_ERR, NDSH_OP_SEND_INV), ND_REMOTE_ERROR));
	cr_expect(eq(i32, tested(NDSH_WC_BIND_ERR, NDSH_OP_BIND), ND_ACCESS_VIOLATION));
	cr_expect(eq(i32, tested(NDSH_WC_BIND_ERR, NDSH_OP_INVALIDATE), ND_INVALID_DEVICE_REQUEST));
}

/*
 * checks R-RW-02[2], R-SR-03[4,5]: where the pages say something else than the test programs,
 * and only there, profiles differ.
 */
Test(ndclient_result, both_profiles)
{
	static const struct {
		uint8_t wc, op;
		nd_status test, doc;
	} rows[] = {
		{NDSH_WC_REM_ACCESS_ERR, NDSH_OP_WRITE, ND_ACCESS_VIOLATION, ND_REMOTE_ERROR},
		{NDSH_WC_REM_ACCESS_ERR, NDSH_OP_READ, ND_ACCESS_VIOLATION, ND_REMOTE_ERROR},
		{NDSH_WC_REM_INV_REQ_ERR, NDSH_OP_SEND, ND_DATA_ERROR, ND_REMOTE_ERROR},
		{NDSH_WC_LOC_LEN_ERR, NDSH_OP_RECV, ND_DATA_OVERRUN, ND_BUFFER_OVERFLOW},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect(eq(i32, nd_status_of_wc(ND_PROFILE_TEST, rows[i].wc, rows[i].op),
			rows[i].test));
		cr_expect(eq(
			i32, nd_status_of_wc(ND_PROFILE_DOC, rows[i].wc, rows[i].op), rows[i].doc));
	}
	for (unsigned wc = 0; wc < 256; wc++) {
		if (wc == NDSH_WC_REM_ACCESS_ERR || wc == NDSH_WC_REM_INV_REQ_ERR)
			continue;
		for (unsigned op = 0; op < 32; op++)
			if (wc != NDSH_WC_LOC_LEN_ERR || op != NDSH_OP_RECV)
				cr_expect(eq(i32,
					nd_status_of_wc(ND_PROFILE_TEST, (uint8_t)wc, (uint8_t)op),
					nd_status_of_wc(ND_PROFILE_DOC, (uint8_t)wc, (uint8_t)op)));
	}
	cr_expect(eq(i32, nd_status_of_wc(ND_PROFILE_DOC, NDSH_WC_REM_INV_REQ_ERR, NDSH_OP_RECV),
		ND_INVALID_DEVICE_REQUEST));
}

/* checks R-CR-05 */
Test(ndclient_result, results_say_what_the_entry_said)
{
	const struct ndsh_cqe good = {.context = 77, .bytes = 5, .op = NDSH_OP_RECV, .syndrome = 9};
	const struct ndsh_cqe bad = {
		.op = NDSH_OP_READ, .status = NDSH_WC_REM_ACCESS_ERR, .syndrome = 0x62};
	struct nd_result r;

	nd_result_of(ND_PROFILE_TEST, &good, (void *)&good, &r);
	cr_expect(eq(i32, r.status, ND_SUCCESS));
	cr_expect(eq(u32, r.bytes_transferred, 5));
	cr_expect(eq(ptr, r.qp_context, (void *)&good));
	cr_expect(eq(ptr, r.request_context, (void *)77));
	cr_expect(eq(int, r.request_type, ND_REQUEST_RECEIVE));
	cr_expect(zero(u32, r.detail));
	nd_result_of(ND_PROFILE_TEST, &bad, NULL, &r);
	cr_expect(eq(i32, r.status, ND_ACCESS_VIOLATION));
	cr_expect(eq(int, r.request_type, ND_REQUEST_READ));
	cr_expect(strstr(nd_detail_name(r.detail), "remote access") != NULL);
}

/* checks R-CR-05: the three forms say the same, as far as they go. */
Test(ndclient_result, each_form_says_the_same_of_each_operation)
{
	static const struct {
		uint8_t op;
		enum nd_request_type type;
	} ops[] = {
		{NDSH_OP_SEND, ND_REQUEST_SEND},
		{NDSH_OP_SEND_INV, ND_REQUEST_SEND},
		{NDSH_OP_SEND_IMM, ND_REQUEST_SEND},
		{NDSH_OP_WRITE, ND_REQUEST_WRITE},
		{NDSH_OP_WRITE_IMM, ND_REQUEST_WRITE},
		{NDSH_OP_READ, ND_REQUEST_READ},
		{NDSH_OP_CMP_SWAP, ND_REQUEST_ATOMIC},
		{NDSH_OP_FETCH_ADD, ND_REQUEST_ATOMIC},
		{NDSH_OP_BIND, ND_REQUEST_BIND},
		{NDSH_OP_INVALIDATE, ND_REQUEST_INVALIDATE},
		{NDSH_OP_FAST_REGISTER, ND_REQUEST_FAST_REGISTER},
		{NDSH_OP_RECV, ND_REQUEST_RECEIVE},
	};
	static const uint8_t statuses[] = {
		NDSH_WC_SUCCESS, NDSH_WC_FLUSH_ERR, NDSH_WC_REM_ACCESS_ERR, NDSH_WC_LOC_LEN_ERR};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		for (size_t k = 0; k < sizeof(statuses); k++) {
			const struct ndsh_cqe e = {.context = 77,
				.bytes = 5,
				.op = ops[i].op,
				.status = statuses[k],
				.syndrome = 9};
			const nd_status st = nd_status_of_wc(ND_PROFILE_DOC, e.status, e.op);
			const uint32_t detail = k == 0 ? 0 : statuses[k] | 9 << 8;
			struct nd_result_brief brief;
			struct nd_result_ex ex;
			struct nd_result r;

			nd_result_brief_of(ND_PROFILE_DOC, &e, &brief, &brief);
			nd_result_of(ND_PROFILE_DOC, &e, &brief, &r);
			nd_result_ex_of(ND_PROFILE_DOC, &e, &brief, &ex);
			cr_expect(eq(int, r.request_type, ops[i].type), "op %u", e.op);
			cr_expect(eq(u32, r.detail, detail));
			cr_expect(eq(i32, brief.status, st));
			cr_expect(eq(u32, brief.bytes_transferred, 5));
			cr_expect(eq(ptr, brief.qp_context, &brief));
			cr_expect(eq(ptr, brief.request_context, (void *)77));
			/* The longer ones begin with the shorter. */
			cr_expect(zero(int, memcmp(&brief, &r, sizeof(brief))));
			cr_expect(zero(int, memcmp(&r, &ex, sizeof(r))));
			cr_expect(zero(u32, ex.invalidated_token));
			cr_expect(zero(u32, ex.immediate));
		}
	}
}

/* nd_cq_get_results(), which has no room for more, calls them receives. */
Test(ndclient_result, results_tell_of_immediates)
{
	struct ndsh_cqe e = {.op = NDSH_OP_RECV, .flags = NDSH_CQEF_IMM, .data = 0x11223344};
	struct nd_result_ex ex;
	struct nd_result r;

	nd_result_ex_of(ND_PROFILE_TEST, &e, NULL, &ex);
	cr_expect(eq(int, ex.request_type, ND_REQUEST_RECEIVE_WITH_IMMEDIATE));
	cr_expect(eq(u32, ex.immediate, 0x11223344));
	cr_expect(eq(u32, ex.invalidated_token, 0));
	e.flags |= NDSH_CQEF_WRITE;
	nd_result_ex_of(ND_PROFILE_TEST, &e, NULL, &ex);
	cr_expect(eq(int, ex.request_type, ND_REQUEST_WRITTEN_WITH_IMMEDIATE));
	nd_result_of(ND_PROFILE_TEST, &e, NULL, &r);
	cr_expect(eq(int, r.request_type, ND_REQUEST_RECEIVE));
	e.flags = 0;
	nd_result_ex_of(ND_PROFILE_TEST, &e, NULL, &ex);
	cr_expect(eq(int, ex.request_type, ND_REQUEST_RECEIVE));
	cr_expect(eq(u32, ex.immediate, 0));
	e.op = NDSH_OP_SEND_IMM;
	nd_result_ex_of(ND_PROFILE_TEST, &e, NULL, &ex);
	cr_expect(eq(int, ex.request_type, ND_REQUEST_SEND));
	e.op = NDSH_OP_WRITE_IMM;
	nd_result_ex_of(ND_PROFILE_TEST, &e, NULL, &ex);
	cr_expect(eq(int, ex.request_type, ND_REQUEST_WRITE));
}
