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

#define PER_CALL 256u /* of each list of the daemon's */

/* ---- lists --------------------------------------------------------------------------------- */

/* Those whose sweep is the oldest come first. */
void
ndd_conn_enlist(struct ndd_conn *c)
{
	struct ndd *d = c->session->daemon;

	c->swept = d->conn_sweep;
	TAILQ_INSERT_TAIL(&d->conns, c, next);
}

static void
conn_unlist(struct ndd_conn *c)
{
	if (c->waits != NULL)
		TAILQ_REMOVE(c->waits, c, next_waiting);
	c->waits = NULL;
}

void
ndd_conn_wait(struct ndd_conn *c, struct ndd_conn_list *list, uint64_t deadline_ns)
{
	conn_unlist(c);
	c->deadline_ns = deadline_ns;
	c->waits = list;
	TAILQ_INSERT_TAIL(list, c, next_waiting);
	ndd_hops_until(&c->session->daemon->conn_hops, deadline_ns);
}

void
ndd_conn_wait_no_more(struct ndd_conn *c)
{
	conn_unlist(c);
	c->deadline_ns = UINT64_MAX;
}

void
ndd_conn_is_not_due(struct ndd_conn *c)
{
	if (c->due != NULL)
		TAILQ_REMOVE(c->due, c, next_due);
	c->due = NULL;
}

static void
conn_be_due(struct ndd_conn *c, struct ndd_conn_list *list)
{
	if (c->due == list)
		return;
	ndd_conn_is_not_due(c);
	c->due = list;
	TAILQ_INSERT_TAIL(list, c, next_due);
}

/* Before what follows next hops that may not have changed at all. */
static void
conn_goes_first(struct ndd_conn *c)
{
	conn_be_due(c, &c->session->account.principal->due);
}

void
ndd_conn_is_due(struct ndd_conn *c)
{
	conn_goes_first(c);
	ndd_hops_until(&c->session->daemon->conn_hops, 0);
}

/* ---- one connection ------------------------------------------------------------------------ */

static bool
conn_resolves(const struct ndd_conn *c)
{
	return c->state == NDD_CONN_RESOLVING || c->state == NDD_CONN_ACCEPTING;
}

static void
conn_step(struct ndd_conn *c, uint64_t now_ns)
{
	enum ndsh_status status =
		ndd_next_hop_by(ndd_conn_resolve(c, now_ns), now_ns, c->deadline_ns);

	if (status == NDSH_PENDING)
		return;
	ndd_conn_wait_no_more(c);
	if (status != NDSH_OK)
		ndd_conn_fail(c, status, NULL);
	else if (c->state == NDD_CONN_RESOLVING)
		(c->datagrams ? ndd_service_query : ndd_conn_send_request)(c, now_ns);
	else
		ndd_conn_send_reply(c, now_ns);
}

static void
conn_go_on(struct ndd_conn *c, uint64_t now_ns)
{
	if (conn_resolves(c))
		conn_step(c, now_ns);
	else if (c->state == NDD_CONN_FLUSHING && now_ns >= c->deadline_ns)
		ndd_conn_leave(c, now_ns);
	else if (c->state == NDD_CONN_ESTABLISHED)
		ndd_conn_refresh(c, now_ns);
}

/* ---- all of them --------------------------------------------------------------------------- */

/* Next hops have changed: all follow theirs, some per call. False: no more of them. */
static bool
conns_sweep(struct ndd *d)
{
	for (unsigned i = 0; i < PER_CALL; i++) {
		struct ndd_conn *c = TAILQ_FIRST(&d->conns);

		if (c == NULL || c->swept == d->conn_sweep)
			return false;
		TAILQ_REMOVE(&d->conns, c, next);
		ndd_conn_enlist(c);
		if (conn_resolves(c))
			conn_goes_first(c);
		else if (c->state == NDD_CONN_ESTABLISHED && c->due == NULL)
			conn_be_due(c, &c->session->account.principal->moved);
	}
	return true;
}

/* Those whose time has come are due. */
static void
conns_expire(struct ndd_conn_list *list, uint64_t now_ns)
{
	struct ndd_conn *c;

	for (unsigned i = 0; i < PER_CALL; i++) {
		c = TAILQ_FIRST(list);
		if (c == NULL || c->deadline_ns > now_ns)
			break;
		conn_unlist(c);
		conn_goes_first(c);
	}
}

static void
wake_for_first(struct ndd *d, const struct ndd_conn_list *list)
{
	const struct ndd_conn *c = TAILQ_FIRST(list);

	if (c != NULL)
		ndd_hops_until(&d->conn_hops, c->deadline_ns);
}

static void
conn_take_turn(struct ndd_principal *p, struct ndd_conn *c, uint64_t now_ns)
{
	uint64_t began_ns = ndd_now_ns();

	ndd_conn_is_not_due(c);
	if (c->session->ended) /* it is being taken down */
		return;
	conn_go_on(c, now_ns);
	(void)ndd_principal_charge(p, began_ns);
}

/* A host that moves on the network makes all connections follow it: what is due otherwise comes
 * before that. False: none of the principal's connections is due any more. */
static bool
principal_go_on(struct ndd_principal *p, uint64_t now_ns)
{
	while (!TAILQ_EMPTY(&p->due) && ndd_principal_has_time(p))
		conn_take_turn(p, TAILQ_FIRST(&p->due), now_ns);
	while (!TAILQ_EMPTY(&p->moved) && ndd_principal_has_time(p))
		conn_take_turn(p, TAILQ_FIRST(&p->moved), now_ns);
	return !TAILQ_EMPTY(&p->due) || !TAILQ_EMPTY(&p->moved);
}

void
ndd_conn_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_principal *p;
	bool moved, more;

	if (!ndd_hops_begin(&d->conn_hops, d->net, now_ns, &moved))
		return;
	d->conn_sweep += moved;
	more = conns_sweep(d);
	conns_expire(&d->resolving, now_ns);
	conns_expire(&d->flushing, now_ns);
	TAILQ_FOREACH (p, &d->accounts.principals, next)
		more = principal_go_on(p, now_ns) || more;
	if (more)
		ndd_hops_until(&d->conn_hops, 0);
	wake_for_first(d, &d->resolving);
	wake_for_first(d, &d->flushing);
}
