/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/tick.h"

#include "conn/active.h"
#include "conn/bring_up.h"
#include "conn/conn.h"
#include "conn/leave.h"
#include "conn/passive.h"
#include "conn/services.h"
#include "control/daemon.h"
#include "platform/clock.h"
#include "session/session.h"

void
ndd_conn_wait(struct ndd_conn *c)
{
	if (c->waits)
		return;
	c->waits = true;
	TAILQ_INSERT_TAIL(&c->session->daemon->waiting, c, next_waiting);
}

void
ndd_conn_wait_no_more(struct ndd_conn *c)
{
	if (!c->waits)
		return;
	c->waits = false;
	TAILQ_REMOVE(&c->session->daemon->waiting, c, next_waiting);
}

static void
conn_step(struct ndd_conn *c, uint64_t now_ns)
{
	enum ndsh_status status;

	if (c->state == NDD_CONN_FLUSHING) {
		if (now_ns >= c->deadline_ns)
			ndd_conn_leave(c, now_ns);
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
		(c->datagrams ? ndd_service_query : ndd_conn_send_request)(c, now_ns);
	else
		ndd_conn_send_reply(c, now_ns);
}

/* False: its principal has no time left in this turn, and it stays due. */
static bool
conn_take_turn(struct ndd_conn *c, uint64_t now_ns)
{
	struct ndd_principal *p = c->session->account.principal;
	uint64_t began_ns = ndd_now_ns();

	if (!ndd_principal_has_time(p))
		return false;
	c->due = false;
	if (c->deadline_ns != UINT64_MAX)
		conn_step(c, now_ns);
	else if (c->state == NDD_CONN_ESTABLISHED)
		ndd_conn_refresh(c, now_ns);
	(void)ndd_principal_charge(p, began_ns);
	return true;
}

/* All follow their next hops. */
static void
all_are_due(struct ndd *d)
{
	struct ndd_conn *c;

	TAILQ_FOREACH (c, &d->conns, next) {
		c->due = true;
		ndd_conn_wait(c);
	}
}

static bool
conn_has_to_wait(const struct ndd_conn *c)
{
	return c->due || c->fresh || c->deadline_ns != UINT64_MAX;
}

/* Most connections are established and wait for nothing: a client that connects again and again
 * does not have all of them looked at each time. */
void
ndd_conn_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_conn *c, *next;
	bool moved;

	if (!ndd_hops_begin(&d->conn_hops, d->net, now_ns, &moved))
		return;
	if (moved)
		all_are_due(d);
	for (c = TAILQ_FIRST(&d->waiting); c != NULL; c = next) {
		next = TAILQ_NEXT(c, next_waiting);
		if (c->session->ended) /* it is being taken down */
			continue;
		c->due |= c->fresh || now_ns >= c->deadline_ns;
		if (c->due && !conn_take_turn(c, now_ns))
			ndd_hops_until(&d->conn_hops, 0);
		ndd_hops_until(&d->conn_hops, c->deadline_ns);
		if (!conn_has_to_wait(c))
			ndd_conn_wait_no_more(c);
	}
}
