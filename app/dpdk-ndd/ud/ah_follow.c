/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles as followers of their next hops (hostnet/follower.h), and services looked up. */
#include <string.h>

#include "base/list.h"
#include "cm/sidr.h"
#include "conn/conn.h"
#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/next_hop.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "session/class.h"
#include "session/leave.h"
#include "session/session.h"
#include "ud/ah.h"

static enum ndsh_status
ah_resolve(struct ndd_ah *ah, uint64_t now_ns, struct net_nexthop *hop)
{
	return ndd_datagram_hop(ah->session->daemon->net, now_ns,
		ndd_session_hop_owner(ah->session), &ah->local.gid, &ah->remote.gid, hop);
}

static void
ah_on_response(struct ndd *d, const struct roce_cm_event *ev)
{
	struct ndd_ah *ah = ev->owner;

	(void)d;
	if (ev->timed_out)
		ndd_ah_conclude(ah, ndd_conn_unanswered(ev), NULL);
	else
		ndd_ah_conclude(ah, ev->reason == 0 ? NDSH_OK : NDSH_ERR_REFUSED, ev);
}

static void
ah_query_service(struct ndd_ah *ah, uint64_t now_ns)
{
	struct ndd *d = ah->session->daemon;
	enum ndsh_status status = ndd_port_take(&d->ud_ports, &ah->session->account, &ah->port,
		NDD_PORT_CONNECTOR, ah->session->port, &ah->local);

	if (status != NDSH_OK) {
		ndd_ah_conclude(ah, status, NULL);
		return;
	}
	ah->local = ah->port.addr;
	ah->sidr.on_end = ah_on_response;
	ah->state = NDD_AH_QUERYING;
	ah->cm = roce_cm_sidr_query(d->cm, now_ns,
		&(struct roce_cm_sidr_query){.local = ah->local,
			.remote = ah->remote,
			.port = ah->hop.port,
			.user = ah->session->account.principal->number,
			.hop_limit = ROCE_HOP_LIMIT,
			.priv = ah->priv,
			.priv_bytes = ah->priv_bytes,
			.owner = ah});
	if (ah->cm == NULL)
		ndd_ah_conclude(ah, NDSH_ERR_NO_RESOURCES, NULL);
}

static void
ah_step(struct ndd_ah *ah, uint64_t now_ns)
{
	enum ndsh_status status =
		ndd_next_hop_by(ah_resolve(ah, now_ns, &ah->hop), now_ns, ah->follower.deadline_ns);

	if (status == NDSH_PENDING)
		return;
	ndd_follower_wait_no_more(&ah->follower);
	if (status == NDSH_OK && ah->wants_service)
		ah_query_service(ah, now_ns);
	else
		ndd_ah_conclude(ah, status, NULL);
}

/* W-GID-03: a neighbour that is being probed again keeps its old address meanwhile. */
static void
ah_refresh(struct ndd_ah *ah, uint64_t now_ns)
{
	struct net_nexthop hop = {0};

	if (ah_resolve(ah, now_ns, &hop) != NDSH_OK || memcmp(&hop, &ah->hop, sizeof(hop)) == 0)
		return;
	ah->hop = hop;
	(void)ndd_ah_enter(ah); /* it has its room */
}

/* ---- the follower ---------------------------------------------------------------------------- */

static struct ndd_ah *
ah_of(const struct ndd_follower *f)
{
	return base_container(f, struct ndd_ah, follower);
}

static enum ndd_follow
ah_moved(const struct ndd_follower *f)
{
	const struct ndd_ah *ah = ah_of(f);

	if (ah->state == NDD_AH_RESOLVING)
		return NDD_FOLLOW_FIRST;
	return ah->state == NDD_AH_READY ? NDD_FOLLOW_BEHIND : NDD_FOLLOW_NOT;
}

static void
ah_go_on(struct ndd_follower *f, uint64_t now_ns)
{
	struct ndd_ah *ah = ah_of(f);

	if (ah->state == NDD_AH_RESOLVING)
		ah_step(ah, now_ns);
	else if (ah->state == NDD_AH_READY)
		ah_refresh(ah, now_ns);
}

static bool
ah_addresses(const struct ndd_follower *f, struct roce_path *path)
{
	const struct ndd_ah *ah = ah_of(f);

	path->sgid = ah->local.gid;
	path->dgid = ah->remote.gid;
	return ah->state != NDD_AH_OVER;
}

static void
ah_end(struct ndd_follower *f, const char *why)
{
	struct ndd_ah *ah = ah_of(f);
	char to[INET6_ADDRSTRLEN];

	ndd_info("session %lu: address handle to %s ends: %s", ah->session->serial,
		ndd_ip_text(ah->remote.gid.raw, to), why);
	(void)ndd_object_leave(&ndd_ah_class, ah->session, ah);
	ndd_ah_conclude(ah, NDSH_ERR_NETWORK_UNREACHABLE, NULL);
}

static const struct ndd_follower_kind ah_follower = {
	.moved = ah_moved,
	.go_on = ah_go_on,
	.addresses = ah_addresses,
	.end = ah_end,
};

void
ndd_ah_follow(struct ndd_ah *ah)
{
	ndd_follower_add(&ah->follower, &ah_follower, ah->session);
	ndd_follower_wait(&ah->follower, NDD_WAIT_HOP, ndd_now_ns());
	ndd_follower_is_due(&ah->follower);
}
