/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/tick.h"

#include "conn/active.h"
#include "conn/bring_up.h"
#include "conn/conn.h"
#include "conn/passive.h"
#include "control/daemon.h"
#include "object/qp.h"

static void
conn_step(struct ndd_conn *c, uint64_t now_ns)
{
	enum ndsh_status status;

	if (c->state == NDD_CONN_FLUSHING) {
		if (now_ns < c->deadline_ns)
			return;
		if (c->qp != NULL)
			ndd_qp_to_error(c->session, c->qp, true);
		ndd_conn_over(c);
		return;
	}
	if (c->state != NDD_CONN_RESOLVING && c->state != NDD_CONN_ACCEPTING)
		return;
	c->fresh = false;
	status = ndd_next_hop_by(ndd_conn_resolve(c, now_ns), now_ns, c->deadline_ns);
	if (status == NDSH_PENDING)
		return;
	c->deadline_ns = UINT64_MAX;
	if (status != NDSH_OK)
		ndd_conn_fail(c, status, NULL);
	else if (c->state == NDD_CONN_RESOLVING)
		ndd_conn_send_request(c, now_ns);
	else
		ndd_conn_send_reply(c, now_ns);
}

void
ndd_conn_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_conn *c;
	bool moved;

	if (!ndd_hops_begin(&d->conn_hops, d->net, now_ns, &moved))
		return;
	TAILQ_FOREACH (c, &d->conns, next) {
		if (c->deadline_ns != UINT64_MAX && (moved || c->fresh || now_ns >= c->deadline_ns))
			conn_step(c, now_ns);
		else if (moved && c->state == NDD_CONN_ESTABLISHED)
			ndd_conn_refresh(c, now_ns);
		ndd_hops_until(&d->conn_hops, c->deadline_ns);
	}
}
