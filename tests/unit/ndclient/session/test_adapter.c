/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening adapters, over a daemon in this process. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <unistd.h>

#include "ndclient/session/adapter.h"
#include "rigs/daemon_rig.h"

static struct daemon_rig rig;
static struct nd_adapter *adapter;

static void
setup(void)
{
	daemon_rig_start(&rig);
	adapter = daemon_rig_open(&rig);
}

static void
teardown(void)
{
	(void)nd_adapter_close(adapter);
	daemon_rig_stop(&rig);
}

TestSuite(ndclient_adapter, .init = setup, .fini = teardown, .timeout = 60);

static nd_status
open_with(const struct sockaddr *local, socklen_t bytes, const struct nd_open_options *opt)
{
	struct nd_adapter *a = (void *)&a;
	nd_status st = nd_adapter_open(local, bytes, opt, &a);

	cr_expect(eq(ptr, a, NULL));
	return st;
}

Test(ndclient_adapter, bad_arguments)
{
	const struct sockaddr_in in = {.sin_family = AF_INET};
	const struct sockaddr_in other = {.sin_family = AF_UNIX};
	const struct nd_open_options unknown = {.profile = 2};
	const struct sockaddr *local = (const void *)&in;

	cr_expect(eq(i32, nd_adapter_open(local, sizeof(in), NULL, NULL), ND_INVALID_PARAMETER_4));
	cr_expect(eq(i32, open_with(local, sizeof(in), &unknown), ND_INVALID_PARAMETER_3));
	cr_expect(
		eq(i32, open_with((const void *)&other, sizeof(other), NULL), ND_INVALID_ADDRESS));
	cr_expect(eq(i32, open_with(local, sizeof(in) - 1, NULL), ND_INVALID_ADDRESS));
	cr_expect(eq(i32, nd_adapter_query(NULL, NULL), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_adapter_close(NULL), ND_SUCCESS));
}

/* As the rig grants it. */
Test(ndclient_adapter, the_daemons_limits_are_the_adapters)
{
	struct nd_adapter_info info;

	cr_assert(eq(i32, nd_adapter_query(adapter, &info), ND_SUCCESS));
	cr_expect(eq(u64, info.max_registration_bytes, 1 << 20));
	cr_expect(eq(u64, info.max_transfer_bytes, 1 << 20));
	cr_expect(eq(u32, info.max_initiator_sge, 4));
	cr_expect(eq(u32, info.max_inline_bytes, 64));
	cr_expect(eq(u32, info.inline_request_threshold, 64), "not above max_inline_bytes");
	cr_expect(eq(u32, info.max_cq_depth, 64));
	cr_expect(eq(u32, info.max_inbound_reads, 16));
	cr_expect(ne(u32, info.flags & ND_ADAPTER_FLAG_CQ_RESIZE, 0));
	cr_expect(eq(u64, info.max_window_bytes, 1 << 19));
	cr_expect(eq(u16, info.vendor_id, 0x15b3));
	cr_expect(eq(u16, info.device_id, 0x1017));
	cr_expect(eq(u32, adapter->max_qps, RIG_OBJECTS));
	cr_expect(eq(u32, adapter->max_cqs, RIG_OBJECTS));
	cr_expect(eq(u32, adapter->max_mrs, RIG_OBJECTS));
}

/* checks R-ADP-02[1-3]: the daemon says which address the id stands for */
Test(ndclient_adapter, R_ADP_02_opens_by_id)
{
	const struct nd_open_options opt = {.socket_path = rig.path},
				     unknown = {.socket_path = rig.path, .profile = 2};
	struct nd_adapter *a;

	(void)nd_adapter_close(adapter);
	adapter = NULL;
	cr_expect(eq(i32, nd_adapter_open_id(1, &opt, NULL), ND_INVALID_PARAMETER_3));
	cr_expect(eq(i32, nd_adapter_open_id(1, &unknown, &a), ND_INVALID_PARAMETER_3));
	cr_expect(eq(i32, nd_adapter_open_id(0, &opt, &a), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_adapter_open_id(3, &opt, &a), ND_INVALID_PARAMETER));
	cr_expect(eq(ptr, a, NULL));
	cr_assert(eq(i32, nd_adapter_open_id(2, &opt, &adapter), ND_SUCCESS));
	cr_expect(eq(u8, rig.opened.ip[15], 2));
	cr_expect(eq(u8, adapter->address.ip[15], 2), "what the wildcard stands for");
}

/* checks R-CQ-37[1,2], R-SRQ-09[1] */
Test(ndclient_adapter, R_CQ_37_affinity_is_a_wish)
{
	const uint16_t none = (uint16_t)((sysconf(_SC_NPROCESSORS_CONF) + 63) / 64);
	struct nd_srq *srq = (void *)&srq;
	struct nd_cq *cq = (void *)&cq;
	struct nd_pd *pd;

	cr_assert(eq(i32, nd_pd_create(adapter, &pd), ND_SUCCESS));
	for (uint64_t mask = 0; mask < 3; mask++) {
		cr_assert(eq(i32, nd_cq_create_near(adapter, 4, 0, mask * (1ull << 62), &cq),
			ND_SUCCESS));
		cr_assert(eq(i32, nd_srq_create_near(pd, 4, 1, 0, 0, mask, &srq), ND_SUCCESS));
		cr_expect(eq(i32, nd_srq_close(srq), ND_SUCCESS));
		cr_expect(eq(i32, nd_cq_close(cq), ND_SUCCESS));
	}
	for (uint32_t group = none; group <= UINT16_MAX; group += UINT16_MAX - none) {
		cr_expect(eq(i32, nd_cq_create_near(adapter, 4, (uint16_t)group, 1, &cq),
			ND_INVALID_PARAMETER_4));
		cr_expect(eq(ptr, cq, NULL));
		cr_expect(eq(i32, nd_srq_create_near(pd, 4, 1, 0, (uint16_t)group, 1, &srq),
			ND_INVALID_PARAMETER_6));
		cr_expect(eq(ptr, srq, NULL));
	}
}

Test(ndclient_adapter, the_daemon_goes)
{
	struct nd_adapter_info info;
	struct nd_pd *pd;

	daemon_rig_hang_up(&rig);
	while (nd_adapter_query(adapter, &info) == ND_SUCCESS)
		;
	cr_expect(eq(i32, nd_adapter_query(adapter, &info), ND_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_pd_create(adapter, &pd), ND_DEVICE_REMOVED));
}
