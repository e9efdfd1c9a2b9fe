/* SPDX-License-Identifier: BSD-3-Clause */
#include "object/peer.h"

#include <stdio.h>

#include "base/list.h"
#include "base/siphash.h"
#include "control/daemon.h"
#include "object/qp.h"
#include "session/session.h"

static struct ndd_peer_bucket *
bucket_of(struct ndd_peers *t, const struct roce_gid *gid, uint32_t qpn)
{
	uint64_t hash = ndsh_siphash(t->secret, ndsh_siphash_address(t->secret, gid->raw), qpn);

	return &t->bucket[hash % NDD_PEER_BUCKETS];
}

void
ndd_peer_give(struct ndd_qp *qp)
{
	if (qp->peer.session != NULL)
		LIST_REMOVE(&qp->peer, entry);
	qp->peer.session = NULL;
}

void
ndd_peer_take(struct ndd_session *s, struct ndd_qp *qp, const struct roce_gid *gid, uint32_t qpn,
	bool by_hand)
{
	ndd_peer_give(qp);
	qp->peer = (struct ndd_peer){.session = s, .gid = *gid, .qpn = qpn, .by_hand = by_hand};
	LIST_INSERT_HEAD(bucket_of(&s->daemon->peers, gid, qpn), &qp->peer, entry);
}

static struct ndd_qp *
qp_of(const struct ndd_peer *p)
{
	return base_container(p, struct ndd_qp, peer);
}

static bool
is_it(const struct ndd_peer *p, const struct roce_gid *gid, uint32_t qpn)
{
	return p->qpn == qpn && roce_gid_equal(&p->gid, gid);
}

static bool
is_anothers(const struct ndd_peer *p, const struct ndd_session *s, const struct roce_gid *gid,
	uint32_t qpn)
{
	return p->session != s && is_it(p, gid, qpn);
}

bool
ndd_peer_is_taken(const struct ndd_session *s, const struct roce_gid *gid, uint32_t qpn)
{
	const struct ndd_peer *p;

	LIST_FOREACH (p, bucket_of(&s->daemon->peers, gid, qpn), entry)
		if (is_anothers(p, s, gid, qpn))
			return true;
	return false;
}

bool
ndd_peer_is_crowded(const struct ndd_session *s, const struct ndd_qp *qp,
	const struct roce_gid *gid, uint32_t qpn)
{
	const struct ndd_peer *p;
	unsigned n = 0;

	LIST_FOREACH (p, bucket_of(&s->daemon->peers, gid, qpn), entry)
		n += p->session == s && p != &qp->peer && p->by_hand && is_it(p, gid, qpn);
	return n >= NDD_PEER_MOST;
}

void
ndd_peer_evict(struct ndd_session *s, const struct roce_gid *gid, uint32_t qpn)
{
	struct ndd_peer *p, *next;
	char why[80];

	snprintf(why, sizeof(why), "session %lu has a connection to the peer's 0x%06x", s->serial,
		qpn);
	for (p = LIST_FIRST(bucket_of(&s->daemon->peers, gid, qpn)); p != NULL; p = next) {
		next = LIST_NEXT(p, entry); /* one that is in error leaves the list */
		if (p->by_hand && is_anothers(p, s, gid, qpn))
			ndd_qp_take_away(p->session, qp_of(p), why);
	}
}
