/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/conn_bench.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/listener.h"
#include "ndclient/session/overlapped.h"

const struct sockaddr_in conn_bench_somewhere = {
	.sin_family = AF_INET, .sin_port = 0x1111, .sin_addr.s_addr = 0x0100000a};

struct nd_adapter *
conn_bench_new(void)
{
	struct nd_adapter *a = nd_adapter_new();

	a->info.max_inbound_reads = a->info.max_outbound_reads = 16;
	a->info.max_callee_data = 148;
	return a;
}

struct nd_connector *
conn_bench_connector(struct nd_adapter *a, enum nd_conn_state state)
{
	struct nd_connector *c;

	cr_assert(eq(i32, nd_connector_create(a, &c), ND_SUCCESS));
	c->state = state;
	return c;
}

struct nd_qp *
conn_bench_qp(struct nd_adapter *a)
{
	struct nd_qp *qp = aligned_alloc(64, sizeof(*qp));

	memset(qp, 0, sizeof(*qp));
	qp->adapter = a;
	TAILQ_INSERT_TAIL(&a->closed_qps, qp, closed_link); /* has those of the test */
	return qp;
}

void
conn_bench_drop(struct nd_adapter *a)
{
	struct nd_connector *c;
	struct nd_listener *l;
	struct nd_qp *qp;

	while ((c = TAILQ_FIRST(&a->connectors)) != NULL) {
		TAILQ_REMOVE(&a->connectors, c, link);
		free(c);
	}
	while ((l = TAILQ_FIRST(&a->listeners)) != NULL) {
		(void)nd_listener_class.stop(&l->obj);
		nd_listener_class.destroy(&l->obj);
	}
	while ((qp = TAILQ_FIRST(&a->closed_qps)) != NULL) {
		TAILQ_REMOVE(&a->closed_qps, qp, closed_link);
		free(qp);
	}
	nd_adapter_free(a);
}

struct ndsh_ev_conn
conn_bench_event(uint16_t type, nd_status st, uint32_t id)
{
	return (struct ndsh_ev_conn){.h = {.type = type, .status = st},
		.conn = id,
		.priv_bytes = 196,
		.inbound_reads = 3,
		.outbound_reads = 4,
		.reject_reason = st == ND_CONNECTION_REFUSED ? 28 : 0,
		.priv = "hello"};
}

struct nd_connector *
conn_bench_under_way(struct nd_adapter *a, struct nd_qp *qp, enum nd_conn_state state, uint32_t id,
	struct nd_overlapped *ov)
{
	struct nd_connector *c = conn_bench_connector(a, state);

	nd_conn_set_id(c, id);
	cr_assert(eq(i32, nd_overlapped_begin(a, ov, __func__), ND_SUCCESS));
	c->op = ov;
	c->qp = qp;
	qp->connector = c;
	return c;
}
