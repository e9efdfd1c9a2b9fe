/* SPDX-License-Identifier: BSD-3-Clause */
/* NDK's flags of requests, in ND's bits. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/ndclient.h"

/* checks R-POST-05[1]: the masks of NDK's calls, in its own numbers */
Test(ndclient_flags, each_request_has_its_own)
{
	static const struct {
		enum nd_request_type type;
		uint32_t legal;
	} rows[] = {{ND_REQUEST_RECEIVE, 0}, {ND_REQUEST_SEND, 0x247}, {ND_REQUEST_BIND, 0x23b},
		{ND_REQUEST_INVALIDATE, 0x203}, {ND_REQUEST_READ, 0x303}, {ND_REQUEST_WRITE, 0x243},
		{ND_REQUEST_RECEIVE_AND_INVALIDATE, 0}, {ND_REQUEST_FAST_REGISTER, 0x2bb}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (uint32_t bit = 0; bit < 32; bit++) {
			uint32_t f, ndk = 1u << bit;
			bool window_local = rows[i].type == ND_REQUEST_BIND && ndk == 0x10;
			bool ok = (rows[i].legal & ndk) != 0 && !window_local;

			cr_expect(eq(i32, nd_flags_of_ndk(rows[i].type, ndk, &f),
					  ok ? ND_SUCCESS : ND_INVALID_PARAMETER),
				"type %d, flag %x", rows[i].type, ndk);
			cr_expect(ok || f == 0);
		}
}

Test(ndclient_flags, values_are_translated)
{
	static const struct {
		enum nd_request_type type;
		uint32_t ndk, nd;
	} rows[] = {
		{ND_REQUEST_SEND, 0x247,
			ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE |
				ND_OP_FLAG_SEND_AND_SOLICIT_EVENT | ND_OP_FLAG_INLINE |
				ND_OP_FLAG_DEFER},
		{ND_REQUEST_WRITE, 0x40, ND_OP_FLAG_INLINE},
		{ND_REQUEST_READ, 0x100, ND_OP_FLAG_READ_LOCAL_INVALIDATE},
		{ND_REQUEST_BIND, 0x30, ND_OP_FLAG_ALLOW_WRITE},
		{ND_REQUEST_BIND, 0x08, ND_OP_FLAG_ALLOW_READ},
		{ND_REQUEST_FAST_REGISTER, 0x10, ND_OP_FLAG_ALLOW_LOCAL_WRITE},
		{ND_REQUEST_FAST_REGISTER, 0x30,
			ND_OP_FLAG_ALLOW_LOCAL_WRITE | ND_OP_FLAG_ALLOW_WRITE},
		{ND_REQUEST_FAST_REGISTER, 0x88, ND_OP_FLAG_ALLOW_READ},
		{ND_REQUEST_INVALIDATE, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t f = 1;

		cr_expect(eq(i32, nd_flags_of_ndk(rows[i].type, rows[i].ndk, &f), ND_SUCCESS));
		cr_expect(eq(u32, f, rows[i].nd), "row %zu", i);
	}
}
