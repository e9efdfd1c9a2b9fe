/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses: names, and what becomes of the transport's outcomes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <string.h>

#include "ndclient/face/result.h"
#include "ndclient/session/address.h"

Test(ndclient_status, names)
{
	cr_expect(eq(str, (char *)nd_status_name(ND_SUCCESS), "ND_SUCCESS"));
	cr_expect(eq(str, (char *)nd_status_name(ND_DEVICE_REMOVED), "ND_DEVICE_REMOVED"));
	cr_expect(eq(str, (char *)nd_status_name(ND_CONNECTION_ABORTED), "ND_CONNECTION_ABORTED"));
	cr_expect(eq(str, (char *)nd_status_name(12345), "unknown ND status"));
	cr_expect(lt(i32, ND_BUFFER_OVERFLOW, 0));
	cr_expect(gt(i32, ND_TIMEOUT, 0), "success class");
}

static nd_status
tested(uint8_t wc, uint8_t op)
{
	return nd_status_of_wc(ND_PROFILE_TEST, wc, op);
}

/* 2.2 of the semantics, with the choices that ND's own tests demand. */
Test(ndclient_status, R_CR_transport_outcomes)
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

/* checks R-MW-03, R-INV-09 */
Test(ndclient_status, R_INV_04_outcomes_that_depend_on_the_operation)
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

/* Where the pages say something else than the test programs, and only there, profiles differ. */
Test(ndclient_status, both_profiles)
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
Test(ndclient_status, results_say_what_the_entry_said)
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

Test(ndclient_address, both_families_there_and_back)
{
	const struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = 0x3412, .sin_addr.s_addr = 0x04030201};
	struct sockaddr_in6 in6 = {
		.sin6_family = AF_INET6, .sin6_port = 0x7856, .sin6_scope_id = 3};
	struct sockaddr_storage out;
	struct ndsh_addr a;
	socklen_t n;

	cr_assert(nd_address_from(&a, (const void *)&in, sizeof(in)));
	cr_expect(eq(u16, a.port, 0x1234));
	cr_assert(eq(u32, nd_address_to(&out, &a), sizeof(in)));
	cr_expect(zero(int, memcmp(&out, &in, sizeof(in))));
	in6.sin6_addr.s6_addr[0] = 0xfe;
	in6.sin6_addr.s6_addr[15] = 9;
	cr_assert(nd_address_from(&a, (const void *)&in6, sizeof(in6)));
	cr_assert(eq(u32, nd_address_to(&out, &a), sizeof(in6)));
	cr_expect(zero(int, memcmp(&out, &in6, sizeof(in6))));
	cr_expect(not(nd_address_from(&a, (const void *)&in6, sizeof(in6) - 1)));
	cr_expect(not(nd_address_from(&a, NULL, 0)));
	/* R-CONN-19: too small leaves the buffer alone and tells the size. */
	cr_assert(nd_address_from(&a, (const void *)&in, sizeof(in)));
	memset(&out, 0xaa, sizeof(out));
	n = sizeof(in) - 1;
	cr_expect(eq(i32, nd_address_give(&a, (void *)&out, &n), ND_BUFFER_OVERFLOW));
	cr_expect(eq(u32, n, sizeof(in)));
	cr_expect(eq(u8, *(uint8_t *)&out, 0xaa));
	n = sizeof(out);
	cr_expect(eq(i32, nd_address_give(&a, (void *)&out, &n), ND_SUCCESS));
	cr_expect(eq(u32, n, sizeof(in)));
}

Test(ndclient_address, common_bits)
{
	struct ndsh_addr a = {.ip = {[10] = 0xff, 0xff, 10, 0, 0, 1}}, b = a, six = {.ip = {0xfd}};

	cr_expect(eq(int, nd_address_common_bits(&a, &b), 128));
	b.ip[15] = 3;
	cr_expect(eq(int, nd_address_common_bits(&a, &b), 126));
	b.ip[12] = 11;
	cr_expect(eq(int, nd_address_common_bits(&a, &b), 103));
	cr_expect(eq(int, nd_address_common_bits(&a, &six), -1), "other family");
	cr_expect(not(nd_address_is_any(&a)));
	memset(a.ip + 12, 0, 4);
	cr_expect(nd_address_is_any(&a));
}
