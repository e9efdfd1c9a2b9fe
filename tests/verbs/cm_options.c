/* SPDX-License-Identifier: BSD-3-Clause */
/* How long a queue pair waits for acknowledgements is the program's to say, of its own end. */
#include <errno.h>

#include "cm_rig.h"
#include "cm_scenarios.h"

static uint8_t
timeout_of(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr a;

	WANT(ibv_query_qp(id->qp, &a, IBV_QP_TIMEOUT | IBV_QP_STATE, &init) == 0);
	WANT(a.qp_state == IBV_QPS_RTS);
	return a.timeout;
}

static void
set_timeout(struct rdma_cm_id *id, uint8_t code)
{
	WANT(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &code, sizeof(code)) ==
		0);
}

/* Each end of a connection, before it connects or accepts; NULL: it says nothing. */
static void
connect_with(struct cm_rig *r, const uint8_t *here, const uint8_t *there)
{
	struct rdma_conn_param p = {.retry_count = 7, .rnr_retry_count = 7};

	cm_rig_resolve(r);
	if (here != NULL)
		set_timeout(r->here, *here);
	WANT(rdma_connect(r->here, &p) == 0);
	cm_rig_asked(r);
	if (there != NULL)
		set_timeout(r->there, *there);
	cm_rig_make_qp(r->there);
	WANT(rdma_accept(r->there, &p) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_ESTABLISHED) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_ESTABLISHED) == 0);
}

static int
refusal(struct rdma_cm_id *id, int name, size_t bytes)
{
	uint16_t value = 5;

	return rdma_set_option(id, RDMA_OPTION_ID, name, &value, bytes) == -1 ? errno : 0;
}

static void
refuse_options(struct cm_rig *r)
{
	struct rdma_cm_id *id = cm_rig_id(r), *datagrams;

	WANT(refusal(id, RDMA_OPTION_ID_ACK_TIMEOUT, sizeof(uint16_t)) == EINVAL);
	WANT(refusal(id, RDMA_OPTION_ID_ACK_TIMEOUT + 77, sizeof(uint8_t)) == ENOSYS);
	WANT(rdma_create_id(r->channel, &datagrams, r, RDMA_PS_UDP) == 0);
	WANT(refusal(datagrams, RDMA_OPTION_ID_ACK_TIMEOUT, sizeof(uint8_t)) == EINVAL);
	WANT(rdma_destroy_id(datagrams) == 0);
	WANT(rdma_destroy_id(id) == 0);
}

void
run_ack_timeout(void)
{
	const uint8_t short_one = 9, long_one = 21, none = 0;
	uint8_t usual[2];
	struct cm_rig r;

	cm_rig_open(&r);
	connect_with(&r, NULL, NULL);
	usual[0] = timeout_of(r.here);
	usual[1] = timeout_of(r.there);
	WANT(usual[0] != short_one && usual[1] != long_one && usual[0] != 0);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	connect_with(&r, &short_one, &long_one);
	WANT(timeout_of(r.here) == short_one && timeout_of(r.there) == long_one);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	connect_with(&r, &none, NULL); /* which is a timeout, too: it never comes */
	WANT(timeout_of(r.here) == 0 && timeout_of(r.there) == usual[1]);
	cm_rig_disconnect(&r);
	cm_rig_forget(&r);
	refuse_options(&r);
	cm_rig_close(&r);
}
