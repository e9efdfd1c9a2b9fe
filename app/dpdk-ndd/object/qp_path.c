/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops of queue pairs that were brought up by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "control/daemon.h"
#include "hostnet/follower.h"
#include "hostnet/next_hop.h"
#include "object/peer.h"
#include "object/qp.h"
#include "object/qp_path.h"
#include "platform/clock.h"
#include "session/send.h"
#include "session/session.h"

struct ndd_qp_path {
	struct ndd_follower follower; /* waits, as long as a step waits for its next hop */
	struct ndd_qp *qp;
	struct net_nexthop hop;
	struct roce_path path; /* in use, if live */
	bool live;
	struct ndd_qp_step step; /* that waits for its next hop */
};

static const struct ndd_follower_kind path_follower;

static struct ndd_qp_path *
path_of(const struct ndd_follower *f)
{
	return base_container(f, struct ndd_qp_path, follower);
}

static bool
path_waits(const struct ndd_qp_path *p)
{
	return p->follower.deadline_ns != UINT64_MAX;
}

bool
ndd_qp_path_is_pending(const struct ndd_qp *qp)
{
	return qp->path != NULL && path_waits(qp->path);
}

void
ndd_qp_path_free(struct ndd_qp *qp)
{
	if (qp->path == NULL)
		return;
	ndd_follower_remove(&qp->path->follower);
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
path_for(struct ndd_session *s, struct ndd_qp *qp)
{
	struct ndd_qp_path *p = qp->path;

	if (p != NULL)
		return p;
	p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->qp = qp;
	qp->path = p;
	ndd_follower_add(&p->follower, &path_follower, s);
	return p;
}

/* ---- the next hop -------------------------------------------------------------------------- */

static enum ndsh_status
path_take_hop(struct ndd_qp_path *p, const struct net_nexthop *hop, char *why, size_t room)
{
	struct roce_qp_attr *attr = &p->step.attr;
	struct ndd_session *s = p->follower.session;
	uint32_t peer_qpn = p->qp->peer.qpn;
	enum ndsh_status status;

	if (p->step.mask & ROCE_QPA_DEST_QPN)
		peer_qpn = attr->dest_qpn;
	if (ndd_peer_is_taken(s, &attr->path.dgid, peer_qpn)) {
		snprintf(why, room, "another client's queue pair has the peer's 0x%06x", peer_qpn);
		return NDSH_ERR_ADDRESS_IN_USE;
	}
	if (ndd_peer_is_crowded(s, p->qp, &attr->path.dgid, peer_qpn)) {
		snprintf(why, room, "%u queue pairs have the peer's 0x%06x", NDD_PEER_MOST,
			peer_qpn);
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
	p->live = true;
	ndd_peer_take(s, p->qp, &p->path.dgid, peer_qpn, true);
	return NDSH_OK;
}

/* Of a path that is in use, or of one that a step asks for. */
static enum ndsh_status
path_next_hop(const struct ndd_qp_path *p, const struct roce_path *path, uint64_t now_ns,
	struct net_nexthop *hop)
{
	return ndd_next_hop(p->follower.session->daemon->net, now_ns,
		ndd_session_hop_owner(p->follower.session), &path->sgid, &path->dgid, hop);
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
	struct ndd_qp_path *p = path_for(s, qp);
	uint64_t now_ns = ndd_now_ns();
	enum ndsh_status status;

	if (p == NULL)
		return NDSH_ERR_NO_RESOURCES;
	p->step = *step;
	status = path_try(p, now_ns, why, room);
	if (status == NDSH_PENDING) {
		ndd_follower_wait(&p->follower, NDD_WAIT_HOP, now_ns);
	} else if (!p->live) {
		ndd_qp_path_free(qp);
	}
	return status;
}

/* ---- the follower --------------------------------------------------------------------------- */

/* W-GID-03, as for connections. */
static void
path_follow(struct ndd_qp_path *p, uint64_t now_ns)
{
	struct net_nexthop hop;

	if (path_next_hop(p, &p->path, now_ns, &hop) != NDSH_OK)
		return;
	ndd_qp_set_hop(p->follower.session, p->qp, &p->hop, &hop);
}

static void
path_step_on(struct ndd_qp_path *p, uint64_t now_ns)
{
	struct ndsh_ev_qp m = {.h.type = NDSH_EV_QP_MODIFIED, .qp = p->qp->owner.handle};
	struct ndd_session *s = p->follower.session;
	struct ndd_qp *qp = p->qp;
	char why[160];
	enum ndsh_status status = ndd_next_hop_by(
		path_try(p, now_ns, why, sizeof(why)), now_ns, p->follower.deadline_ns);

	if (status == NDSH_PENDING)
		return;
	ndd_follower_wait_no_more(&p->follower);
	if (!p->live)
		ndd_qp_path_free(qp);
	else if (status != NDSH_OK)
		path_follow(p, now_ns); /* the one in use may have moved meanwhile */
	m.h.status = status;
	ndd_session_send(s, &m, sizeof(m), -1);
}

static enum ndd_follow
path_moved(const struct ndd_follower *f)
{
	const struct ndd_qp_path *p = path_of(f);

	if (path_waits(p))
		return NDD_FOLLOW_FIRST;
	return p->live ? NDD_FOLLOW_BEHIND : NDD_FOLLOW_NOT;
}

static void
path_go_on(struct ndd_follower *f, uint64_t now_ns)
{
	struct ndd_qp_path *p = path_of(f);

	if (path_waits(p))
		path_step_on(p, now_ns); /* p may be gone */
	else if (p->live)
		path_follow(p, now_ns);
}

static bool
path_addresses(const struct ndd_follower *f, struct roce_path *path)
{
	const struct ndd_qp_path *p = path_of(f);

	*path = p->path;
	return p->live && !p->qp->failed;
}

static void
path_end(struct ndd_follower *f, const char *why)
{
	ndd_qp_take_away(f->session, path_of(f)->qp, why);
}

static const struct ndd_follower_kind path_follower = {
	.moved = path_moved,
	.go_on = path_go_on,
	.addresses = path_addresses,
	.end = path_end,
};
