/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs that a client has the daemon create. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "object/qp.h"
#include "rigs/ndd_rig.h"

#define QPS	 8u /* of LONE_QPS */
#define QP_BYTES 16384u

static uint32_t
make(struct ndd_rig *r, int client, const void *msg)
{
	union {
		struct ndsh_id_msg id;
		uint8_t bytes[NDSH_MSG_BYTES];
	} reply;

	cr_assert(eq(i32, ndd_rig_ask(r, client, msg, &reply), NDSH_OK));
	return reply.id.id;
}

/* Nothing tells a stranger what one of them will accept: neither a constant nor the one before.
 * checks W-PSN-04[1] */
Test(ndd_qp, W_PSN_04_each_has_a_first_psn_of_its_own)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndsh_qp_create m = {.h.type = NDSH_MSG_QP_CREATE,
		.offset = 2 * 65536,
		.sq_depth = 4,
		.rq_depth = 4,
		.sq_sge = 1,
		.rq_sge = 1};
	struct ndsh_cq_create cq = {.h.type = NDSH_MSG_CQ_CREATE, .depth = 64, .offset = 65536};
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	uint32_t psn[QPS];

	(void)ndd_rig_segment(r, client, 2u << 20, &m.segment);
	cq.segment = m.segment;
	m.pd = make(r, client, &(struct ndsh_id_msg){.h.type = NDSH_MSG_PD_CREATE});
	m.send_cq = m.recv_cq = make(r, client, &cq);
	for (unsigned i = 0; i < QPS; i++, m.offset += QP_BYTES) {
		const struct ndd_qp *qp = ndd_slots_get(&s->qps, make(r, client, &m));

		cr_assert_not_null(qp);
		psn[i] = qp->psn;
		cr_expect(psn[i] <= ROCE_PSN_MASK);
		for (unsigned k = 0; k < i; k++) {
			cr_expect_neq(psn[k], psn[i]);
			if (k > 0)
				cr_expect_neq(psn[i] - psn[i - 1], psn[k] - psn[k - 1]);
		}
	}
}
