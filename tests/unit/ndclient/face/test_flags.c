/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags and rights of ND, as the ABI has them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/face/flags.h"
#include "ndclient/mem/region.h"

#define LOCAL_WRITE  NDSH_ACCESS_LOCAL_WRITE
#define REMOTE_READ  NDSH_ACCESS_REMOTE_READ
#define REMOTE_WRITE NDSH_ACCESS_REMOTE_WRITE

/* checks R-MR-03[1]: a right to write remotely is one to write locally too. */
Test(ndclient_flags, R_MR_03_rights_of_a_region)
{
	cr_expect(eq(u32, nd_region_access(0), 0));
	cr_expect(eq(u32, nd_region_access(ND_MR_FLAG_ALLOW_LOCAL_WRITE), LOCAL_WRITE));
	cr_expect(eq(u32, nd_region_access(ND_MR_FLAG_ALLOW_REMOTE_READ), REMOTE_READ));
	cr_expect(eq(
		u32, nd_region_access(ND_MR_FLAG_ALLOW_REMOTE_WRITE), REMOTE_WRITE | LOCAL_WRITE));
	cr_expect(eq(u32, nd_region_access(ND_MR_FLAG_ALLOW_REMOTE_ATOMIC),
		NDSH_ACCESS_REMOTE_ATOMIC | LOCAL_WRITE));
	cr_expect(eq(u32, nd_region_access(ND_MR_FLAG_ALLOW_WINDOWS), NDSH_ACCESS_WINDOW_BIND));
}

Test(ndclient_flags, a_sink_of_reads_has_no_right_of_its_own)
{
	cr_expect(eq(u32, nd_region_access(ND_MR_FLAG_RDMA_READ_SINK), 0));
	cr_expect(
		eq(u32, nd_region_access(ND_MR_FLAG_RDMA_READ_SINK | ND_MR_FLAG_ALLOW_REMOTE_READ),
			REMOTE_READ));
}

Test(ndclient_flags, rights_of_fast_registrations_and_windows)
{
	cr_expect(eq(u32, nd_frmr_access(ND_OP_FLAG_ALLOW_READ), REMOTE_READ));
	cr_expect(eq(u32, nd_frmr_access(ND_OP_FLAG_ALLOW_WRITE), REMOTE_WRITE | LOCAL_WRITE));
	cr_expect(eq(u32, nd_frmr_access(ND_OP_FLAG_ALLOW_LOCAL_WRITE), LOCAL_WRITE));
	cr_expect(eq(u64, nd_window_access(ND_OP_FLAG_ALLOW_READ), REMOTE_READ));
	cr_expect(eq(u64, nd_window_access(ND_OP_FLAG_ALLOW_WRITE), REMOTE_WRITE));
	cr_expect(eq(u64, nd_window_access(ND_OP_FLAG_SILENT_SUCCESS), 0), "no right");
}

/* DEFER has no bit in the ABI: each request is handed over at once. */
Test(ndclient_flags, flags_of_requests)
{
	static const struct {
		uint32_t nd, abi;
	} rows[] = {
		{ND_OP_FLAG_SILENT_SUCCESS, NDSH_WRF_SILENT},
		{ND_OP_FLAG_READ_FENCE, NDSH_WRF_FENCE},
		{ND_OP_FLAG_SEND_AND_SOLICIT_EVENT, NDSH_WRF_SOLICIT},
		{ND_OP_FLAG_INLINE, NDSH_WRF_INLINE},
		{ND_OP_FLAG_READ_LOCAL_INVALIDATE, NDSH_WRF_LOCAL_INV},
		{ND_OP_FLAG_DEFER, 0},
	};
	uint32_t nd = 0, abi = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect(eq(u32, nd_request_flags(rows[i].nd), rows[i].abi));
		nd |= rows[i].nd;
		abi |= rows[i].abi;
	}
	cr_expect(eq(u32, nd_request_flags(nd), abi));
}

Test(ndclient_flags, R_CQ_36_only_the_three_types_can_be_armed_for)
{
	enum ndsh_arm arm;

	cr_expect(nd_arm_of(ND_CQ_NOTIFY_ERRORS, &arm) && arm == NDSH_ARM_ERRORS);
	cr_expect(nd_arm_of(ND_CQ_NOTIFY_ANY, &arm) && arm == NDSH_ARM_ANY);
	cr_expect(nd_arm_of(ND_CQ_NOTIFY_SOLICITED, &arm) && arm == NDSH_ARM_SOLICITED);
	for (uint32_t type = 3; type < 64; type++)
		cr_expect(not(nd_arm_of(type, &arm)), "%u", type);
	cr_expect(not(nd_arm_of(UINT32_MAX, &arm)));
}
