/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops of queue pairs that were brought up by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conn/conn.h"
#include "control/daemon.h"
#include "object/qp.h"
#include "object/qp_path.h"
#include "platform/clock.h"
#include "session/send.h"
#include "session/session.h"

struct ndd_qp_path {
	TAILQ_ENTRY(ndd_qp_path) next;
	struct ndd_session *session;
	struct ndd_qp *qp;
	struct net_nexthop hop;
	struct roce_path path; /* in use, if live */
	uint32_t peer_qpn;
	bool live;
	struct ndd_qp_step step; /* that waits for its next hop */
	uint64_t deadline_ns;	 /* of it; UINT64_MAX: none waits */
};

bool
ndd_qp_path_is_pending(const struct ndd_qp *qp)
{
	return qp->path != NULL && qp->path->deadline_ns != UINT64_MAX;
}

void
ndd_qp_path_free(struct ndd_qp *qp)
{
	if (qp->path == NULL)
		return;
	TAILQ_REMOVE(&qp->path->session->daemon->paths, qp->path, next);
	free(qp->path);
	qp->path = NULL;
}

void
ndd_qp_path_fill_attr(const struct ndd_qp *qp, struct ndsh_qp_attr *attr)
{
	const struct roce_path *path;

	if (qp->path == NULL || !qp->path->live)
		return;
	path = &qp->path->path;
	memcpy(attr->ip, path->dgid.raw, 16);
	attr->flow_label = path->flow_label;
	attr->traffic_class = path->tos;
	attr->hop_limit = path->ttl;
}

/* The path that was in use stays so if the step comes to nothing. */
static struct ndd_qp_path *
path_of(struct ndd_session *s, struct ndd_qp *qp)
{
	struct ndd_qp_path *p = qp->path;

	if (p != NULL)
		return p;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->session = s;
	p->qp = qp;
	p->deadline_ns = UINT64_MAX;
	qp->path = p;
	TAILQ_INSERT_TAIL(&s->daemon->paths, p, next);
	return p;
}

/* ---- which session has the peer's queue pair ----------------------------------------------- */

/*
 * A queue pair has one peer. A client that names a peer's queue pair to which another client of
 * this daemon is connected could speak for that client: to the peer both are this host, and only
 * the PSN would have to be guessed. So the first client has it; and what the CM has agreed with the
 * peer itself comes before what was given by hand.
 */
static bool
path_is_anothers(const struct ndd_qp_path *p, const struct ndd_session *s,
	const struct roce_gid *gid, uint32_t qpn)
{
	return p->session != s && p->live && !p->qp->failed && p->peer_qpn == qpn &&
	       roce_gid_equal(&p->path.dgid, gid);
}

static bool
peer_is_taken(const struct ndd_session *s, const struct roce_gid *gid, uint32_t qpn)
{
	const struct ndd_qp_path *p;
	const struct ndd_conn *c;

	TAILQ_FOREACH (p, &s->daemon->paths, next)
		if (path_is_anothers(p, s, gid, qpn))
			return true;
	TAILQ_FOREACH (c, &s->daemon->conns, next)
		if (c->session != s && c->brought_up && c->qp != NULL && c->peer.qpn == qpn &&
			roce_gid_equal(&c->remote.gid, gid))
			return true;
	return false;
}

void
ndd_qp_path_evict(struct ndd_session *s, const struct roce_gid *gid, uint32_t qpn)
{
	struct ndd_qp_path *p;
	char why[80];

	snprintf(why, sizeof(why), "session %lu has a connection to the peer's 0x%06x", s->serial,
		qpn);
	TAILQ_FOREACH (p, &s->daemon->paths, next)
		if (path_is_anothers(p, s, gid, qpn))
			ndd_qp_take_away(p->session, p->qp, why);
}

/* ---- the next hop -------------------------------------------------------------------------- */

static enum ndsh_status
path_take_hop(struct ndd_qp_path *p, const struct net_nexthop *hop, char *why, size_t room)
{
	struct roce_qp_attr *attr = &p->step.attr;
	struct ndd_session *s = p->session;
	uint32_t peer_qpn = p->peer_qpn;
	enum ndsh_status status;

	if (p->step.mask & ROCE_QPA_DEST_QPN)
		peer_qpn = attr->dest_qpn;
	if (peer_is_taken(s, &attr->path.dgid, peer_qpn)) {
		snprintf(why, room, "another client's queue pair has the peer's 0x%06x", peer_qpn);
		return NDSH_ERR_ADDRESS_IN_USE;
	}
	attr->path.tos = ndd_path_class(
		s->daemon, hop->port, (attr->path.tos & (uint8_t)~ROCE_TOS_ECN) | p->step.ecn);
	ndd_path_via(&attr->path, hop, p->qp->qpn, peer_qpn); /* W-QP-04 */
	attr->port = hop->port;
	attr->port_mtu_bytes = ndd_path_mtu(s->daemon->plane.port[hop->port].mtu);
	status = ndd_qp_step(s, p->qp, &p->step, why, room);
	if (status != NDSH_OK)
		return status;
	p->hop = *hop;
	p->path = attr->path;
	p->peer_qpn = peer_qpn;
	p->live = true;
	return NDSH_OK;
}

/* Of a path that is in use, or of one that a step asks for. */
static enum ndsh_status
path_next_hop(const struct ndd_qp_path *p, const struct roce_path *path, uint64_t now_ns,
	struct net_nexthop *hop)
{
	return ndd_next_hop(p->session->daemon->net, now_ns, ndd_session_hop_owner(p->session),
		&path->sgid, &path->dgid, hop);
}

/* NDSH_PENDING: not known yet. */
static enum ndsh_status
path_try(struct ndd_qp_path *p, uint64_t now_ns, char *why, size_t room)
{
	struct net_nexthop hop;
	enum ndsh_status status = path_next_hop(p, &p->step.attr.path, now_ns, &hop);

	if (status == NDSH_OK)
		return path_take_hop(p, &hop, why, room);
	if (status != NDSH_PENDING)
		snprintf(why, room,
			status == NDSH_ERR_NETWORK_UNREACHABLE ? "no route to the peer"
							       : "no neighbour answers");
	return status;
}

enum ndsh_status
ndd_qp_path_take(struct ndd_session *s, struct ndd_qp *qp, const struct ndd_qp_step *step,
	char *why, size_t room)
{
	struct ndd_qp_path *p = path_of(s, qp);
	uint64_t now_ns = ndd_now_ns();
	enum ndsh_status status;

	if (p == NULL)
		return NDSH_ERR_NO_RESOURCES;
	p->step = *step;
	status = path_try(p, now_ns, why, room);
	if (status == NDSH_PENDING) {
		p->deadline_ns = now_ns + NDD_RESOLVE_NS;
		ndd_hops_until(&s->daemon->path_hops, p->deadline_ns);
	} else if (!p->live) {
		ndd_qp_path_free(qp);
	}
	return status;
}

void
ndd_qp_path_end(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why)
{
	struct ndd_qp_path *p;

	TAILQ_FOREACH (p, &d->paths, next)
		if (p->live && !p->qp->failed && lost(d, &p->path, arg))
			ndd_qp_take_away(p->session, p->qp, why);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void
path_step_on(struct ndd_qp_path *p, uint64_t now_ns)
{
	struct ndsh_ev_qp m = {.h.type = NDSH_EV_QP_MODIFIED, .qp = p->qp->owner.handle};
	struct ndd_session *s = p->session;
	struct ndd_qp *qp = p->qp;
	char why[160];
	enum ndsh_status status =
		ndd_next_hop_by(path_try(p, now_ns, why, sizeof(why)), now_ns, p->deadline_ns);

	if (status == NDSH_PENDING) {
		ndd_hops_until(&s->daemon->path_hops, p->deadline_ns);
		return;
	}
	p->deadline_ns = UINT64_MAX;
	if (!p->live)
		ndd_qp_path_free(qp);
	m.h.status = status;
	ndd_session_send(s, &m, sizeof(m), -1);
}

/* W-GID-03, as for connections. */
static void
path_follow(struct ndd_qp_path *p, uint64_t now_ns)
{
	struct net_nexthop hop;

	if (!p->live || path_next_hop(p, &p->path, now_ns, &hop) != NDSH_OK)
		return;
	ndd_qp_set_hop(p->session, p->qp, &p->hop, &hop);
}

void
ndd_qp_path_tick(struct ndd *d, uint64_t now_ns)
{
	struct ndd_qp_path *p, *next;
	bool moved;

	if (!ndd_hops_begin(&d->path_hops, d->net, now_ns, &moved))
		return;
	for (p = TAILQ_FIRST(&d->paths); p != NULL; p = next) {
		next = TAILQ_NEXT(p, next);
		if (p->session->ended) /* it is being taken down */
			continue;
		if (p->deadline_ns != UINT64_MAX)
			path_step_on(p, now_ns); /* p may be gone */
		else if (moved)
			path_follow(p, now_ns);
	}
}
