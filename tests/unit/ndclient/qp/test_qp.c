/* SPDX-License-Identifier: BSD-3-Clause */
/* Creating queue pairs, over a daemon in this process. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
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

TestSuite(ndclient_qp, .init = setup, .fini = teardown, .timeout = 60);

static struct nd_pd *pd;
static struct nd_cq *cq;

static struct nd_qp_options
good(void)
{
	return (struct nd_qp_options){.receive_cq = cq,
		.initiator_cq = cq,
		.receive_depth = 8,
		.initiator_depth = 8,
		.max_receive_sge = 1,
		.max_initiator_sge = 1};
}

static void
make_both(void)
{
	cr_assert(eq(i32, nd_pd_create(adapter, &pd), ND_SUCCESS));
	cr_assert(eq(i32, nd_cq_create(adapter, 16, &cq), ND_SUCCESS));
}

/* The numbers are those of ND's CreateQueuePair. */
Test(ndclient_qp, each_wrong_argument_has_its_number)
{
	struct nd_qp_options o;
	struct nd_qp *qp;

	make_both();
#define EXPECT(field, value, status)                                                               \
	do {                                                                                       \
		o = good();                                                                        \
		o.field = value;                                                                   \
		cr_expect(eq(i32, nd_qp_create(pd, &o, &qp), status), #field);                     \
		cr_expect(eq(ptr, qp, NULL));                                                      \
	} while (0)
	EXPECT(receive_cq, NULL, ND_INVALID_PARAMETER_2);
	EXPECT(initiator_cq, NULL, ND_INVALID_PARAMETER_3);
	EXPECT(receive_depth, 0, ND_INVALID_PARAMETER_5);
	EXPECT(receive_depth, 65, ND_INVALID_PARAMETER_5);
	EXPECT(initiator_depth, 0, ND_INVALID_PARAMETER_6);
	EXPECT(initiator_depth, 65, ND_INVALID_PARAMETER_6);
	EXPECT(max_receive_sge, 5, ND_INVALID_PARAMETER_7);
	EXPECT(max_initiator_sge, 5, ND_INVALID_PARAMETER_8);
	EXPECT(inline_bytes, 65, ND_INVALID_PARAMETER_9);
	o = good();
	cr_expect(eq(i32, nd_qp_create(NULL, &o, &qp), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_qp_create(pd, NULL, &qp), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_qp_create(pd, &o, NULL), ND_INVALID_PARAMETER));
}

Test(ndclient_qp, what_is_granted)
{
	struct nd_qp_options o;
	struct nd_qp *qp;

	make_both();
	o = good();
	o.initiator_depth = 9;
	cr_assert(eq(i32, nd_qp_create(pd, &o, &qp), ND_SUCCESS));
	cr_expect(eq(u32, qp->sq.depth, 16), "rings are powers of two");
	cr_expect(eq(u32, qp->rq.depth, 8));
	cr_expect(eq(u32, qp->sq_sge, 2), "programs count on two");
	cr_expect(eq(u32, qp->rq_sge, 2));
	cr_expect(eq(u32, qp->state, ND_QP_UNCONNECTED));
	cr_expect(eq(ptr, adapter->qps->by_handle[qp->handle], qp));
	cr_expect(eq(i32, nd_qp_close(qp), ND_SUCCESS));
}
