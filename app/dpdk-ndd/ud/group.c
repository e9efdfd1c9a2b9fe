/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queue pairs come to multicast groups and leave them. A group is of the link that the session's
 * address is on; the host is in it as long as it has members. How many there may be is bounded for
 * each client, so that none takes the room of others: a port's groups, and the copies that a lcore
 * makes of one packet.
 */
#include <stdlib.h>
#include <string.h>

#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/membership.h"
#include "platform/log.h"
#include "session/session.h"
#include "ud/group.h"

static struct ndd_group *
group_find(struct ndd *d, const struct roce_group_key *key)
{
	struct ndd_group *g;

	TAILQ_FOREACH (g, &d->groups, next)
		if (memcmp(&g->key, key, sizeof(*key)) == 0)
			break;
	return g;
}

static bool
group_is_of(const struct ndd_group *g, const struct ndd_principal *p)
{
	const struct ndd_member *m;

	LIST_FOREACH (m, &g->members, of_group)
		if (m->session->account.principal == p)
			return true;
	return false;
}

/* May it make one more there? Its share of groups is of all ports together, and must not be all
 * that one of them has; a limit or a reserve that it has is its operator's word. */
static bool
port_has_room(const struct ndd *d, uint32_t port, const struct ndd_principal *p)
{
	const struct base_share *share = &p->share[0][CONFIG_SHARE_groups];
	const struct ndd_group *g;
	uint32_t all = 0, own = 0;

	TAILQ_FOREACH (g, &d->groups, next) {
		all += g->key.port == port;
		own += g->key.port == port && group_is_of(g, p);
	}
	if (share->limit != BASE_SHARE_FAIR || own < share->reserve)
		return all < d->cfg->port_groups;
	return base_share_has_room(own, d->cfg->port_groups, all, BASE_FAIR_FACTOR);
}

/* All groups of a queue pair are of one link. */
static struct ndd_member *
member_find(const struct ndd_qp *qp, const uint8_t group[16])
{
	struct ndd_member *m;

	LIST_FOREACH (m, &qp->groups, of_qp)
		if (memcmp(m->group->key.gid.raw, group, 16) == 0)
			break;
	return m;
}

static struct ndd_group *
group_make(struct ndd *d, const struct roce_group_key *key, const struct ndd_principal *p)
{
	struct net_ip ip = ndd_ip(key->gid.raw);
	struct ndd_group *g;

	if (!port_has_room(d, key->port, p))
		return NULL;
	g = calloc(1, sizeof(*g));
	if (g == NULL)
		return NULL;
	g->key = *key;
	if (!ndd_membership_begin(d, key->port, key->vlan, &ip, &g->fd)) {
		free(g);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&d->groups, g, next);
	return g;
}

static void
group_free_if_empty(struct ndd *d, struct ndd_group *g)
{
	struct net_ip ip = ndd_ip(g->key.gid.raw);

	if (!LIST_EMPTY(&g->members))
		return;
	TAILQ_REMOVE(&d->groups, g, next);
	ndd_membership_end(d, g->key.port, g->key.vlan, &ip, g->fd);
	free(g);
}

/* The session's shard, and the I/O owner, which hands over to it. */
static bool
tables_renew(struct ndd_session *s)
{
	struct ndd *d = s->daemon;
	struct ndd_shard *owner = d->plane.shard[NDD_IO_OWNER];
	bool ok = ndd_group_table_renew(d, s->shard);

	return (s->shard == owner || ndd_group_table_renew(d, owner)) && ok;
}

static void
member_forget(struct ndd_session *s, struct ndd_member *m)
{
	LIST_REMOVE(m, of_group);
	LIST_REMOVE(m, of_qp);
	s->attachments--;
	ndd_account_give(&s->account, CONFIG_SHARE_groups, 1);
	free(m);
}

/* The tables still have it. */
static void
member_remove(struct ndd_session *s, struct ndd_member *m)
{
	struct ndd_group *g = m->group;

	member_forget(s, m);
	group_free_if_empty(s->daemon, g);
}

static void
tables_renew_for_fewer(struct ndd_session *s)
{
	if (!tables_renew(s))
		ndd_error("no memory for multicast groups");
}

static bool
group_has_room(const struct ndd_session *s, const struct ndd_group *g)
{
	uint32_t of_session = 0, of_shard = 0;
	const struct ndd_member *m;

	LIST_FOREACH (m, &g->members, of_group) {
		of_session += m->session == s;
		of_shard += m->session->shard == s->shard;
	}
	return of_session < NDD_GROUP_QPS_PER_SESSION && of_shard < ROCE_GROUP_MEMBERS_MAX;
}

static enum ndsh_status
member_add(struct ndd_session *s, struct ndd_qp *qp, struct ndd_group *g, bool not_own)
{
	struct ndd_member *m;

	if (s->attachments >= s->daemon->cfg->max_groups || !group_has_room(s, g) ||
		!ndd_account_take(&s->account, CONFIG_SHARE_groups, 1))
		return NDSH_ERR_NO_RESOURCES;
	m = calloc(1, sizeof(*m));
	if (m == NULL) {
		ndd_account_give(&s->account, CONFIG_SHARE_groups, 1);
		return NDSH_ERR_NO_RESOURCES;
	}
	*m = (struct ndd_member){.group = g, .session = s, .qp = qp, .not_own = not_own};
	LIST_INSERT_HEAD(&g->members, m, of_group);
	LIST_INSERT_HEAD(&qp->groups, m, of_qp);
	s->attachments++;
	if (tables_renew(s))
		return NDSH_OK;
	member_forget(s, m);
	(void)tables_renew(s);
	return NDSH_ERR_NO_RESOURCES;
}

/* ---- the client's requests ------------------------------------------------------------------- */

/* The group on the link of the session's address. */
static enum ndsh_status
key_of_request(struct ndd_session *s, const struct ndsh_ud_group *m, struct roce_group_key *key)
{
	const struct net_ip group = ndd_ip(m->group.ip), own = ndd_ip(s->ip);
	int port = net_local_port(s->daemon->net, &own);

	if ((m->flags & ~NDSH_UDG_NOT_OWN) != 0 || !net_ip_is_group(&group) ||
		net_ip_is_v4(&group) != net_ip_is_v4(&own))
		return NDSH_ERR_INVALID_PARAMETER;
	if (port < 0)
		return NDSH_ERR_ADDRESS_NOT_LOCAL;
	if (!ndd_membership_possible(s->daemon, (uint32_t)port))
		return NDSH_ERR_NOT_SUPPORTED;
	*key = (struct roce_group_key){
		.port = (uint16_t)port, .vlan = net_local_vlan(s->daemon->net, &own)};
	memcpy(key->gid.raw, m->group.ip, sizeof(key->gid.raw));
	return NDSH_OK;
}

enum ndsh_status
ndd_group_attach(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_ud_group *m = msg;
	struct ndd_qp *qp = ndd_qp_get(s, m->qp);
	struct roce_group_key key;
	enum ndsh_status status;
	struct ndd_group *g;

	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	if (!qp->datagrams)
		return NDSH_ERR_INVALID_REQUEST;
	status = key_of_request(s, m, &key);
	if (status != NDSH_OK)
		return status;
	if (qp->failed)
		return NDSH_ERR_INVALID_STATE;
	if (member_find(qp, m->group.ip) != NULL)
		return NDSH_ERR_ADDRESS_IN_USE;
	g = group_find(s->daemon, &key);
	if (g == NULL)
		g = group_make(s->daemon, &key, s->account.principal);
	if (g == NULL)
		return NDSH_ERR_NO_RESOURCES;
	status = member_add(s, qp, g, m->flags & NDSH_UDG_NOT_OWN);
	group_free_if_empty(s->daemon, g);
	r->id.id = m->qp;
	return status;
}

enum ndsh_status
ndd_group_detach(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_ud_group *m = msg;
	struct ndd_qp *qp = ndd_qp_get(s, m->qp);
	struct ndd_member *member;

	if (qp == NULL)
		return NDSH_ERR_INVALID_ID;
	if (!qp->datagrams)
		return NDSH_ERR_INVALID_REQUEST;
	member = member_find(qp, m->group.ip);
	if (member == NULL)
		return NDSH_ERR_INVALID_STATE;
	member_remove(s, member);
	tables_renew_for_fewer(s);
	r->id.id = m->qp;
	return NDSH_OK;
}

void
ndd_group_leave_all(struct ndd_session *s, struct ndd_qp *qp)
{
	struct ndd_member *m;

	if (LIST_EMPTY(&qp->groups))
		return;
	while ((m = LIST_FIRST(&qp->groups)) != NULL)
		member_remove(s, m);
	tables_renew_for_fewer(s);
}
