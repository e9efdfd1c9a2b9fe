/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating completion queues, over a daemon in this process. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/cq/cq.h"
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

TestSuite(ndclient_cq, .init = setup, .fini = teardown, .timeout = 60);

Test(ndclient_cq, rings_are_powers_of_two_with_some_slack)
{
	cr_expect(eq(u32, nd_cq_ring_depth(1, 1024), 16));
	cr_expect(eq(u32, nd_cq_ring_depth(8, 1024), 16));
	cr_expect(eq(u32, nd_cq_ring_depth(9, 1024), 32));
	cr_expect(eq(u32, nd_cq_ring_depth(512, 1024), 1024));
	cr_expect(eq(u32, nd_cq_ring_depth(1024, 1024), 1024), "no more than the daemon takes");
}

Test(ndclient_cq, bad_arguments_make_none)
{
	uint32_t before = daemon_rig_live(&rig);
	struct nd_cq *cq;

	cr_expect(eq(i32, nd_cq_create(NULL, 8, &cq), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_cq_create(adapter, 8, NULL), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_cq_create(adapter, 0, &cq), ND_INVALID_PARAMETER_3));
	cr_expect(eq(i32, nd_cq_create(adapter, 65, &cq), ND_INVALID_PARAMETER_3));
	cr_expect(eq(ptr, cq, NULL));
	cr_expect(eq(u32, daemon_rig_live(&rig), before));
}

Test(ndclient_cq, made_and_closed)
{
	uint32_t before = daemon_rig_live(&rig);
	struct nd_cq *cq;

	cr_assert(eq(i32, nd_cq_create(adapter, 8, &cq), ND_SUCCESS));
	cr_expect(eq(u32, daemon_rig_live(&rig), before + 1));
	cr_expect(eq(u32, cq->depth, 8));
	cr_expect(eq(ptr, TAILQ_FIRST(&adapter->cqs), cq));
	cr_expect(eq(i32, nd_cq_close(cq), ND_SUCCESS));
	cr_expect(eq(u32, daemon_rig_live(&rig), before));
	cr_expect(eq(ptr, TAILQ_FIRST(&adapter->cqs), NULL));
}
