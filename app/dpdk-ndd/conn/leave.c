/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/leave.h"

#include "conn/conn.h"
#include "conn/follow.h"
#include "control/daemon.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "session/session.h"

/* An lcore that has caught up says so, but not to each of several that wait. */
#define LOOK_NS	 NDD_MS
#define PER_CALL 64u /* of each principal's */

void
ndd_conn_leave_no_more(struct ndd_conn *c)
{
	if (c->state != NDD_CONN_LEAVING)
		return;
	TAILQ_REMOVE(&c->session->account.principal->leaving_conns, c, next_leaving);
	ndd_conn_follow(c);
}

void
ndd_conn_leave_at_once(struct ndd_conn *c)
{
	if (c->peer_left) {
		ndd_conn_fail(c, NDSH_OK, NULL);
		return;
	}
	ndd_conn_leave_no_more(c);
	c->state = NDD_CONN_CLOSING;
	roce_cm_disconnect(c->session->daemon->cm, ndd_now_ns(), c->cm);
}

static void
conn_leave_now(struct ndd_conn *c)
{
	if (c->qp != NULL && !c->qp->failed && (c->brought_up || c->peer_left))
		ndd_qp_to_error(c->session, c->qp);
	ndd_conn_leave_at_once(c);
}

void
ndd_conn_leave(struct ndd_conn *c, uint64_t now_ns)
{
	struct ndd *d = c->session->daemon;

	if (!c->brought_up) {
		conn_leave_now(c);
		return;
	}
	c->state = NDD_CONN_LEAVING;
	ndd_follower_remove(&c->follower);
	TAILQ_INSERT_TAIL(&c->session->account.principal->leaving_conns, c, next_leaving);
	ndd_moment_begin(&c->left, c->session->shard);
	d->leave_look_ns = now_ns + LOOK_NS;
}

static void
conn_look(struct ndd_conn *c)
{
	if (!c->session->ended && ndd_moment_is_past(&c->left, c->session->shard))
		conn_leave_now(c);
}

/* Each that is looked at goes to the end, so that all have their turn. */
static void
principal_look(struct ndd_principal *p)
{
	struct ndd_conn *c, *last = TAILQ_LAST(&p->leaving_conns, ndd_conn_list);
	bool more = last != NULL;

	for (unsigned i = 0; i < PER_CALL && more && ndd_principal_has_time(p); i++) {
		uint64_t began_ns = ndd_now_ns();

		c = TAILQ_FIRST(&p->leaving_conns);
		more = c != last;
		TAILQ_REMOVE(&p->leaving_conns, c, next_leaving);
		TAILQ_INSERT_TAIL(&p->leaving_conns, c, next_leaving);
		conn_look(c);
		(void)ndd_principal_charge(p, began_ns);
	}
}

void
ndd_conn_leave_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_principal *p;
	bool any = false;

	if (d->leave_look_ns == UINT64_MAX)
		return;
	TAILQ_FOREACH (p, &d->accounts.principals, next) {
		principal_look(p);
		any = any || !TAILQ_EMPTY(&p->leaving_conns);
	}
	d->leave_look_ns = any ? now_ns + LOOK_NS : UINT64_MAX;
}
