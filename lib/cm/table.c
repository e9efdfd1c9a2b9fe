/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/siphash.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "cm/table.h"

/* Keyed, so that peers can't choose ids that all meet in one bucket, whatever they have seen. */
static uint64_t
hash_id(const struct roce_cm *cm, enum cm_table t, uint32_t id)
{
	return ndsh_siphash(cm->cfg.secret, t, id);
}

static uint64_t
hash_peer(const struct roce_cm *cm, enum cm_table t, uint64_t guid, const struct roce_gid *gid,
	uint32_t id)
{
	uint64_t host = ndsh_siphash_address(cm->cfg.secret, gid->raw);

	host = ndsh_siphash(cm->cfg.secret, host, guid);
	return ndsh_siphash(cm->cfg.secret, host, (uint64_t)t << 32 | id);
}

static uint64_t
hash_conn(const struct roce_cm *cm, enum cm_table t, const struct roce_cm_conn *c)
{
	switch (t) {
	case CM_BY_LOCAL_ID:
		return hash_id(cm, t, c->local_id);
	case CM_BY_LOCAL_QPN:
		return hash_id(cm, t, c->qp.qpn);
	case CM_BY_SIDR_ID:
		return c->active ? hash_id(cm, t, c->local_id)
				 : hash_peer(cm, t, c->tid, &c->remote.gid, c->remote_id);
	case CM_BY_REMOTE_ID:
		return hash_peer(cm, t, c->remote_guid, &c->remote.gid, c->remote_id);
	default:
		return hash_peer(cm, t, c->remote_guid, &c->remote.gid, c->peer.qpn);
	}
}

const struct cm_bucket *
cm_table_bucket(const struct roce_cm *cm, const struct roce_cm_conn *c, enum cm_table t)
{
	return &cm->buckets[t][hash_conn(cm, t, c) & cm->bucket_mask];
}

void
cm_table_link(struct roce_cm *cm, struct roce_cm_conn *c, enum cm_table t)
{
	const uint64_t h = hash_conn(cm, t, c);

	cm_table_unlink(c, t);
	LIST_INSERT_HEAD(&cm->buckets[t][h & cm->bucket_mask], c, link[t]);
}

void
cm_table_unlink(struct roce_cm_conn *c, enum cm_table t)
{
	if (c->link[t].le_prev == NULL)
		return;
	LIST_REMOVE(c, link[t]);
	c->link[t].le_prev = NULL;
}

struct roce_cm_conn *
cm_find_local_id(const struct roce_cm *cm, uint32_t local_id)
{
	const uint64_t h = hash_id(cm, CM_BY_LOCAL_ID, local_id);
	struct roce_cm_conn *c;

	LIST_FOREACH (c, &cm->buckets[CM_BY_LOCAL_ID][h & cm->bucket_mask], link[CM_BY_LOCAL_ID]) {
		if (c->local_id == local_id)
			return c;
	}
	return NULL;
}

/* c, if the message goes between its addresses, or NULL. */
static struct roce_cm_conn *
conn_if_between(struct roce_cm_conn *c, const struct cm_in *in)
{
	if (c == NULL || !roce_gid_equal(&c->remote.gid, &in->remote) ||
		!roce_gid_equal(&c->local.gid, &in->local))
		return NULL;
	return c;
}

struct roce_cm_conn *
cm_find_mine(const struct roce_cm *cm, const struct cm_in *in)
{
	return conn_if_between(cm_find_local_id(cm, in->mad.remote_id), in);
}

struct roce_cm_conn *
cm_find_both(const struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c = cm_find_mine(cm, in);

	return c != NULL && c->remote_id == in->mad.local_id && c->remote_id != 0 ? c : NULL;
}

struct roce_cm_conn *
cm_find_remote_id(
	const struct roce_cm *cm, uint64_t guid, const struct roce_gid *gid, uint32_t remote_id)
{
	const uint64_t h = hash_peer(cm, CM_BY_REMOTE_ID, guid, gid, remote_id);
	struct roce_cm_conn *c;

	LIST_FOREACH (
		c, &cm->buckets[CM_BY_REMOTE_ID][h & cm->bucket_mask], link[CM_BY_REMOTE_ID]) {
		if (c->remote_id == remote_id && c->remote_guid == guid &&
			roce_gid_equal(&c->remote.gid, gid))
			return c;
	}
	return NULL;
}

struct roce_cm_conn *
cm_find_remote_qpn(
	const struct roce_cm *cm, uint64_t guid, const struct roce_gid *gid, uint32_t qpn)
{
	const uint64_t h = hash_peer(cm, CM_BY_REMOTE_QPN, guid, gid, qpn);
	struct roce_cm_conn *c;

	LIST_FOREACH (
		c, &cm->buckets[CM_BY_REMOTE_QPN][h & cm->bucket_mask], link[CM_BY_REMOTE_QPN]) {
		if (c->peer.qpn == qpn && c->remote_guid == guid &&
			roce_gid_equal(&c->remote.gid, gid))
			return c;
	}
	return NULL;
}

struct roce_cm_conn *
cm_find_query_id(const struct roce_cm *cm, uint32_t local_id)
{
	const uint64_t h = hash_id(cm, CM_BY_SIDR_ID, local_id);
	struct roce_cm_conn *c;

	LIST_FOREACH (c, &cm->buckets[CM_BY_SIDR_ID][h & cm->bucket_mask], link[CM_BY_SIDR_ID]) {
		if (c->active && c->local_id == local_id)
			return c;
	}
	return NULL;
}

struct roce_cm_conn *
cm_find_sidr_query(const struct roce_cm *cm, const struct cm_in *in)
{
	return conn_if_between(cm_find_query_id(cm, in->mad.local_id), in);
}

struct roce_cm_conn *
cm_find_sidr_request(const struct roce_cm *cm, const struct cm_in *in)
{
	const uint64_t h = hash_peer(cm, CM_BY_SIDR_ID, in->mad.tid, &in->remote, in->mad.local_id);
	struct roce_cm_conn *c;

	LIST_FOREACH (c, &cm->buckets[CM_BY_SIDR_ID][h & cm->bucket_mask], link[CM_BY_SIDR_ID]) {
		if (!c->active && c->remote_id == in->mad.local_id && c->tid == in->mad.tid &&
			roce_gid_equal(&c->remote.gid, &in->remote) &&
			roce_gid_equal(&c->local.gid, &in->local))
			return c;
	}
	return NULL;
}

bool
roce_cm_qpn_resting(const struct roce_cm *cm, uint32_t qpn)
{
	const uint64_t h = hash_id(cm, CM_BY_LOCAL_QPN, qpn);
	const struct roce_cm_conn *c;

	LIST_FOREACH (
		c, &cm->buckets[CM_BY_LOCAL_QPN][h & cm->bucket_mask], link[CM_BY_LOCAL_QPN]) {
		if (c->qp.qpn == qpn)
			return true;
	}
	return false;
}
