/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Address handles: where a session's datagrams may go. The daemon judges and follows the route, the
 * next hop and the source address; the lcore has a table of headers made from them for each
 * session, by the session's own numbers, which no other session can name.
 */
#include <stdlib.h>
#include <string.h>

#include "conn/endpoint.h"
#include "control/daemon.h"
#include "hostnet/address.h"
#include "lcore/call.h"
#include "platform/clock.h"
#include "session/class.h"
#include "session/send.h"
#include "session/session.h"
#include "ud/ah.h"

#define AHS_PER_QP 4u /* of a session, for each of its limits.qps */

#define ROOM_FIRST 16u

static_assert(ROCE_AH_INDEX_BITS == NDD_SLOT_INDEX_BITS, "a handle is the engine's token");

/* ---- the lcore's table ----------------------------------------------------------------------- */

/* Only the control thread writes it, in calls of the lcore; so it may read and copy it here. */
struct table_change {
	struct roce_ah_table *table;
	struct roce_ah *bigger; /* or NULL */
	uint32_t room;
	struct roce_ah entry; /* to be there */
};

static uint32_t
index_of(uint32_t token)
{
	return token & ((1u << ROCE_AH_INDEX_BITS) - 1);
}

static void
on_shard_ah_change(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	struct table_change *c = arg;

	(void)shard;
	(void)now_ns;
	if (c->bigger != NULL) {
		c->table->slot = c->bigger;
		c->table->count = c->room;
	}
	c->table->slot[index_of(c->entry.token)] = c->entry;
}

/* Room for an entry; false: no memory. */
static bool
table_grow(struct table_change *c)
{
	uint32_t need = index_of(c->entry.token) + 1;

	if (need <= c->table->count)
		return true;
	c->room = c->table->count != 0 ? c->table->count : ROOM_FIRST;
	while (c->room < need)
		c->room *= 2;
	c->bigger = calloc(c->room, sizeof(*c->bigger));
	if (c->bigger == NULL)
		return false;
	if (c->table->count != 0)
		memcpy(c->bigger, c->table->slot, c->table->count * sizeof(*c->bigger));
	return true;
}

static bool
table_change(struct ndd_session *s, struct table_change *c)
{
	struct roce_ah *before = s->lcore->ahs.slot;

	c->table = &s->lcore->ahs;
	if (!table_grow(c))
		return false;
	ndd_shard_call(s->shard, on_shard_ah_change, c);
	if (c->bigger != NULL)
		free(before);
	return true;
}

static void
ah_fill_entry(const struct ndd_ah *ah, struct roce_ah *entry)
{
	const struct ndd *d = ah->session->daemon;
	struct roce_path path = {
		.sgid = ah->local.gid, .dgid = ah->remote.gid, .ttl = ROCE_HOP_LIMIT};
	const struct net_ip there_ip = ndd_ip(ah->remote.gid.raw);
	const uint16_t vlan = net_local_vlan(d->net, &there_ip);
	uint32_t there;

	/* Datagrams of one handle stay in order on one 5-tuple. */
	memcpy(&there, ah->remote.gid.raw + 12, sizeof(there));
	path.udp_sport = roce_flow_sport(0, ah->id + 1, there);
	ndd_path_hop(&path, &ah->hop);
	/* To a local address no wire needs a tag, but the receiver knows its address by it
	 * (W-PKT-02). */
	if (vlan != 0) {
		path.tagged = true;
		path.vlan_tci = vlan;
	}
	roce_ah_set(
		entry, ah->id, &path, ah->hop.port, ndd_path_mtu(d->plane.port[ah->hop.port].mtu));
}

bool
ndd_ah_enter(struct ndd_ah *ah)
{
	struct table_change c = {0};

	ah_fill_entry(ah, &c.entry);
	return table_change(ah->session, &c);
}

static bool
ah_leave(struct ndd_shard *shard, struct ndd_session *s, void *object)
{
	const struct ndd_ah *ah = object;

	(void)shard;
	if (ah->state == NDD_AH_READY)
		s->lcore->ahs.slot[index_of(ah->id)].live = false;
	return true;
}

/* ---- life ------------------------------------------------------------------------------------ */

void
ndd_ah_conclude(struct ndd_ah *ah, enum ndsh_status status, const struct roce_cm_event *ev)
{
	struct ndsh_ev_ah m = {.h = {.type = NDSH_EV_AH}, .ah = ah->id};

	if (ah->cm != NULL)
		roce_cm_destroy(ah->session->daemon->cm, ndd_now_ns(), ah->cm);
	ah->cm = NULL;
	ndd_port_give(&ah->port);
	ndd_follower_wait_no_more(&ah->follower);
	if (status == NDSH_OK && !ndd_ah_enter(ah))
		status = NDSH_ERR_NO_RESOURCES;
	ah->state = status == NDSH_OK ? NDD_AH_READY : NDD_AH_OVER;
	if (status == NDSH_OK)
		m.mtu_bytes = ndd_path_mtu(ah->session->daemon->plane.port[ah->hop.port].mtu);
	m.h.status = status;
	if (ev != NULL) {
		m.sidr_status = ev->reason;
		m.qpn = ev->peer.qpn;
		m.q_key = ev->q_key;
		m.priv_bytes = ev->priv_bytes;
		memcpy(m.priv, ev->priv, sizeof(m.priv));
	}
	ndd_session_send(ah->session, &m, sizeof(m), -1);
}

static enum ndsh_status
ah_create(struct ndd_session *s, const void *msg, struct ndd_reply *r)
{
	const struct ndsh_ah_create *m = msg;
	struct roce_gid remote;
	struct ndd_ah *ah;

	if (m->priv_bytes > NDSH_LOOKUP_DATA_MAX)
		return NDSH_ERR_PRIVATE_DATA_SIZE;
	memcpy(remote.raw, m->remote.ip, 16);
	/* No service is looked up at a group: each member would answer. */
	if (!ndd_is_destination(&m->remote) || (m->look_up != 0 && roce_gid_is_group(&remote)))
		return NDSH_ERR_BAD_DESTINATION;
	ah = calloc(1, sizeof(*ah));
	if (ah == NULL)
		return NDSH_ERR_NO_RESOURCES;
	ah->id = ndd_slots_add(&s->ahs, ah);
	if (ah->id == NDD_SLOT_NONE) {
		free(ah);
		return NDSH_ERR_NO_RESOURCES;
	}
	ah->session = s;
	ah->wants_service = m->look_up != 0;
	memcpy(ah->local.gid.raw, s->ip, 16); /* a client's datagrams come from its address */
	ah->remote.gid = remote;
	ah->remote.port = m->remote.port;
	ah->priv_bytes = m->priv_bytes;
	memcpy(ah->priv, m->priv, m->priv_bytes);
	/* ndd_followers_tick() goes on: the reply leaves before the event. */
	ndd_ah_follow(ah);
	r->id.id = ah->id;
	return NDSH_OK;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void
ah_free(struct ndd_session *s, void *object)
{
	struct ndd_ah *ah = object;

	if (ah->cm != NULL)
		roce_cm_destroy(s->daemon->cm, ndd_now_ns(), ah->cm);
	ndd_port_give(&ah->port);
	ndd_follower_remove(&ah->follower);
	ndd_slots_remove(&s->ahs, ah->id);
	free(ah);
}

static uint32_t
ahs_most(const struct config *cfg)
{
	return AHS_PER_QP * cfg->max_qps;
}

const struct ndd_class ndd_ah_class = {
	.name = "address handles",
	.table = offsetof(struct ndd_session, ahs),
	.share = CONFIG_SHARE_handles,
	.most = ahs_most,
	.create = ah_create,
	.small = true,
	.leave = ah_leave,
	.free = ah_free,
};
