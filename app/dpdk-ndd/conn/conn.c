/* SPDX-License-Identifier: BSD-3-Clause */
/* Life and end of a connection; see active.c and passive.c for its beginning. */
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "conn/follow.h"
#include "conn/leave.h"
#include "conn/notify.h"
#include "control/daemon.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "session/class.h"
#include "session/session.h"

struct ndd_conn *
ndd_conn_new(struct ndd_session *s, enum ndd_conn_state state)
{
	struct ndd_conn *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->id = ndd_slots_add(&s->conns, c);
	if (c->id == NDD_SLOT_NONE) {
		free(c);
		return NULL;
	}
	c->session = s;
	c->state = state;
	ndd_conn_follow(c);
	return c;
}

void
ndd_conn_resolve_later(struct ndd_conn *c)
{
	ndd_follower_wait(&c->follower, NDD_WAIT_HOP, ndd_now_ns());
	ndd_follower_is_due(&c->follower);
}

static void
conn_notify_end(struct ndd_conn *c, enum ndsh_status status)
{
	if (!c->end_notified)
		ndd_conn_notify(c, NDSH_EV_CONN_DISCONNECTED, status, NULL);
	c->end_notified = true;
}

/* A queue pair that never left INIT keeps its receives and may try again (R-CONN-03). One of a
 * session that ends is destroyed next: its client shall hear of the end, not of flushed requests.
 */
static void
conn_release_qp(struct ndd_conn *c)
{
	if (c->qp == NULL)
		return;
	if (c->brought_up && !c->qp->failed && !c->session->ended)
		ndd_qp_to_error(c->session, c->qp);
	c->qp->conn = NULL;
	c->qp = NULL;
}

void
ndd_conn_over(struct ndd_conn *c)
{
	if (c->cm != NULL)
		roce_cm_destroy(c->session->daemon->cm, ndd_now_ns(), c->cm);
	c->cm = NULL;
	conn_release_qp(c);
	ndd_conn_leave_no_more(c);
	c->state = NDD_CONN_OVER;
	ndd_follower_wait_no_more(&c->follower);
}

void
ndd_conn_fail(struct ndd_conn *c, enum ndsh_status status, const struct roce_cm_event *ev)
{
	switch (c->state) {
	case NDD_CONN_RESOLVING:
	case NDD_CONN_REQUESTED:
		ndd_conn_notify(c, NDSH_EV_CONN_REPLY, status, ev);
		break;
	case NDD_CONN_ACCEPTING:
	case NDD_CONN_ACCEPTED:
		ndd_conn_notify(c, NDSH_EV_CONN_ESTABLISHED, status, ev);
		break;
	case NDD_CONN_OFFERED:
		conn_notify_end(c, NDSH_ERR_ABORTED);
		break;
	case NDD_CONN_REPLIED:
	case NDD_CONN_ESTABLISHED:
	case NDD_CONN_LEAVING:
	case NDD_CONN_CLOSING:
		conn_notify_end(c, status);
		break;
	case NDD_CONN_BOUND:
	case NDD_CONN_FLUSHING:
	case NDD_CONN_OVER:
		break;
	}
	ndd_conn_over(c);
}

/* ---- its queue pair ------------------------------------------------------------------------ */

/* The queue pair is in error: its connection is of no more use, the peer shall know (R-DISC-11). */
static void
conn_qp_failed(struct ndd_conn *c)
{
	switch (c->state) {
	case NDD_CONN_ESTABLISHED:
	case NDD_CONN_REPLIED:
		conn_notify_end(c, NDSH_ERR_ABORTED);
		ndd_conn_leave_at_once(c);
		break;
	case NDD_CONN_LEAVING:
		ndd_conn_leave_at_once(c);
		break;
	case NDD_CONN_CLOSING:
	case NDD_CONN_FLUSHING:
	case NDD_CONN_OVER:
		break;
	default:
		ndd_conn_fail(c, NDSH_ERR_ABORTED, NULL);
	}
}

static void
conn_qp_gone(struct ndd_conn *c)
{
	conn_qp_failed(c);
	if (c->qp != NULL)
		c->qp->conn = NULL;
	c->qp = NULL;
}

void
ndd_conn_take_qp(struct ndd_conn *c, struct ndd_qp *qp)
{
	static const struct ndd_qp_user connection = {
		.failed = conn_qp_failed, .gone = conn_qp_gone};

	c->qp = qp;
	qp->conn = c;
	qp->user = &connection;
}

/* ---- ends ---------------------------------------------------------------------------------- */

enum ndsh_status
ndd_conn_disconnect(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	struct ndd_conn *c = ndd_slots_get(&s->conns, ((const struct ndsh_id_msg *)msg)->id);

	(void)r;
	if (c == NULL)
		return NDSH_ERR_INVALID_ID;
	switch (c->state) {
	case NDD_CONN_REPLIED:
	case NDD_CONN_ESTABLISHED:
		ndd_conn_leave(c, ndd_now_ns());
		return NDSH_OK;
	case NDD_CONN_FLUSHING:
		ndd_conn_over(c);
		return NDSH_OK;
	case NDD_CONN_LEAVING:
	case NDD_CONN_CLOSING:
	case NDD_CONN_OVER:
		return c->end_notified ? NDSH_OK : NDSH_ERR_NOT_CONNECTED;
	default:
		return NDSH_ERR_NOT_CONNECTED;
	}
}

/* Refused by the peer's CM or consumer, or taken back by the active side. */
void
ndd_conn_on_rejected(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_conn *c = ev->owner;

	(void)d;
	ndd_conn_fail(c, c->state == NDD_CONN_REPLIED ? NDSH_ERR_ABORTED : NDSH_ERR_REFUSED, ev);
}

enum ndsh_status
ndd_conn_unanswered(const struct roce_cm_event *ev)
{
	static const enum ndsh_status why[] = {
		[ROCE_CM_UNANSWERED] = NDSH_ERR_TIMEOUT,
		[ROCE_CM_NO_SERVICE] = NDSH_ERR_REFUSED,
		[ROCE_CM_NO_WAY] = NDSH_ERR_HOST_UNREACHABLE,
	};

	return why[ev->undelivered];
}

void
ndd_conn_on_unreachable(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_conn *c = ev->owner;

	(void)d;
	ndd_conn_fail(
		c, c->state == NDD_CONN_ACCEPTED ? NDSH_ERR_ABORTED : ndd_conn_unanswered(ev), ev);
}

void
ndd_conn_on_disconnected(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_conn *c = ev->owner;

	(void)d;
	c->peer_left |= ev->by_peer;
	if (ev->by_peer && c->state == NDD_CONN_LEAVING)
		return;
	if (!ev->by_peer || (c->state != NDD_CONN_ESTABLISHED && c->state != NDD_CONN_REPLIED)) {
		ndd_conn_fail(c, ev->timed_out ? NDSH_UNANSWERED : NDSH_OK, NULL);
		return;
	}
	/* The event first, then the flush (R-DISC-08), or none before the client's own end. */
	conn_notify_end(c, NDSH_OK);
	if (c->by_numbers) { /* the flush is the client's */
		ndd_conn_over(c);
		return;
	}
	c->state = NDD_CONN_FLUSHING;
	/* The peer's acknowledgement on the data path may be behind its DREQ on the CM's
	 * (R-DISC-17). */
	if (!c->session->no_flush)
		ndd_follower_wait(&c->follower, NDD_WAIT_FLUSH, ndd_now_ns());
}

/* ---- class --------------------------------------------------------------------------------- */

void
ndd_conn_free(struct ndd_session *s, void *conn)
{
	struct ndd_conn *c = conn;

	ndd_conn_over(c);
	ndd_follower_remove(&c->follower);
	ndd_port_give(&c->port);
	ndd_slots_remove(&s->conns, c->id);
	free(c);
}

static uint32_t
conns_most(const struct config *cfg)
{
	return 2 * cfg->max_qps;
}

/* They are made by CONNECT, BIND and the peers' requests. */
const struct ndd_class ndd_conn_class = {
	.name = "connections",
	.table = offsetof(struct ndd_session, conns),
	.share = CONFIG_SHARE_connections,
	.most = conns_most,
	.free = ndd_conn_free,
};
