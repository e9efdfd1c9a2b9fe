/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/follow.h"

#include "base/list.h"
#include "conn/active.h"
#include "conn/bring_up.h"
#include "conn/conn.h"
#include "conn/leave.h"
#include "conn/passive.h"
#include "conn/services.h"
#include "hostnet/address.h"
#include "hostnet/next_hop.h"
#include "platform/log.h"
#include "session/session.h"
#include "wire/path.h"

static struct ndd_conn *
conn_of(const struct ndd_follower *f)
{
	return base_container(f, struct ndd_conn, follower);
}

static bool
conn_resolves(const struct ndd_conn *c)
{
	return c->state == NDD_CONN_RESOLVING || c->state == NDD_CONN_ACCEPTING;
}

static enum ndd_follow
conn_moved(const struct ndd_follower *f)
{
	const struct ndd_conn *c = conn_of(f);

	if (conn_resolves(c))
		return NDD_FOLLOW_FIRST;
	return c->state == NDD_CONN_ESTABLISHED ? NDD_FOLLOW_BEHIND : NDD_FOLLOW_NOT;
}

static void
conn_step(struct ndd_conn *c, uint64_t now_ns)
{
	enum ndsh_status status =
		ndd_next_hop_by(ndd_conn_resolve(c, now_ns), now_ns, c->follower.deadline_ns);

	if (status == NDSH_PENDING)
		return;
	ndd_follower_wait_no_more(&c->follower);
	if (status != NDSH_OK)
		ndd_conn_fail(c, status, NULL);
	else if (c->state == NDD_CONN_RESOLVING)
		(c->datagrams ? ndd_service_query : ndd_conn_send_request)(c, now_ns);
	else
		ndd_conn_send_reply(c, now_ns);
}

static void
conn_go_on(struct ndd_follower *f, uint64_t now_ns)
{
	struct ndd_conn *c = conn_of(f);

	if (conn_resolves(c))
		conn_step(c, now_ns);
	else if (c->state == NDD_CONN_FLUSHING && now_ns >= f->deadline_ns)
		ndd_conn_leave(c, now_ns);
	else if (c->state == NDD_CONN_ESTABLISHED)
		ndd_conn_refresh(c, now_ns);
}

static bool
conn_addresses(const struct ndd_follower *f, struct roce_path *path)
{
	const struct ndd_conn *c = conn_of(f);

	path->sgid = c->local.gid;
	if (c->state == NDD_CONN_ESTABLISHED)
		path->dgid = c->remote.gid;
	return c->state != NDD_CONN_OVER;
}

static void
conn_end(struct ndd_follower *f, const char *why)
{
	struct ndd_conn *c = conn_of(f);
	char from[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN];

	ndd_notice("session %lu: connection of %s to %s ends: %s", c->session->serial,
		ndd_ip_text(c->local.gid.raw, from), ndd_ip_text(c->remote.gid.raw, to), why);
	ndd_conn_fail(c,
		c->state == NDD_CONN_RESOLVING ? NDSH_ERR_NETWORK_UNREACHABLE : NDSH_ERR_ABORTED,
		NULL);
}

static const struct ndd_follower_kind conn_follower = {
	.moved = conn_moved,
	.go_on = conn_go_on,
	.addresses = conn_addresses,
	.end = conn_end,
};

void
ndd_conn_follow(struct ndd_conn *c)
{
	ndd_follower_add(&c->follower, &conn_follower, c->session);
}
