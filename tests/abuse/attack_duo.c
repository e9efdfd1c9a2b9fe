/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/socket.h>

#include "attack.h"

bool
duo_open(struct duo *d, const struct target *t, uint32_t bytes, uint32_t cq_depth)
{
	raw_begin_with(&d->r, t->socket, bytes);
	raw_begin_with(&d->peer, t->peer_socket, bytes);
	d->key = raw_region(&d->r);
	d->peer_key = raw_region(&d->peer);
	return raw_cq(&d->r, cq_depth, &d->cq) == NDSH_OK &&
	       raw_cq(&d->peer, cq_depth, &d->peer_cq) == NDSH_OK;
}

static bool
queue_pairs(struct duo *d, struct raw_qp *qp, struct raw_qp *peer_qp, uint32_t depth)
{
	return raw_qp(&d->r, &d->cq, depth, qp) == NDSH_OK &&
	       raw_qp(&d->peer, &d->peer_cq, depth, peer_qp) == NDSH_OK;
}

bool
duo_join(struct duo *d, uint32_t depth)
{
	return queue_pairs(d, &d->qp, &d->peer_qp, depth) &&
	       raw_join(&d->r, &d->qp, &d->peer, &d->peer_qp) == NDSH_OK;
}

bool
duo_by_hand(struct duo *d, struct raw_qp *qp, struct raw_qp *peer_qp, uint32_t depth, uint32_t psn)
{
	return queue_pairs(d, qp, peer_qp, depth) &&
	       raw_by_hand(&d->r, qp, &d->peer.addr, peer_qp->qpn, psn) == NDSH_OK &&
	       raw_by_hand(&d->peer, peer_qp, &d->r.addr, qp->qpn, psn) == NDSH_OK;
}

bool
duo_unreliable(struct duo *d, uint32_t depth, uint32_t psn)
{
	return raw_uc_qp(&d->r, &d->cq, depth, &d->qp) == NDSH_OK &&
	       raw_uc_qp(&d->peer, &d->peer_cq, depth, &d->peer_qp) == NDSH_OK &&
	       raw_uc_by_hand(&d->r, &d->qp, &d->peer.addr, d->peer_qp.qpn, psn) == NDSH_OK &&
	       raw_uc_by_hand(&d->peer, &d->peer_qp, &d->r.addr, d->qp.qpn, psn) == NDSH_OK;
}

bool
duo_begin(struct duo *d, const struct target *t, uint32_t depth)
{
	return duo_open(d, t, RAW_SEGMENT_BYTES, depth * 2) && duo_join(d, depth);
}

void
duo_end(struct duo *d)
{
	raw_end(&d->r);
	raw_end(&d->peer);
}

bool
duo_over(const struct duo *d)
{
	char event[NDSH_MSG_BYTES];

	return ndsh_load32(&d->qp.page->dead) != 0 ||
	       recv(d->r.fd, event, sizeof(event), MSG_DONTWAIT) == 0;
}

static struct ndsh_swr
request_of(const struct raw *own, uint32_t key, const struct raw *other, uint32_t other_key,
	enum ndsh_op op, uint32_t bytes)
{
	return (struct ndsh_swr){
		.raddr = (uintptr_t)other->base + other->bytes / 2,
		.rkey = other_key,
		.sge0 = {(uintptr_t)own->base + own->bytes / 2, bytes, key},
		.ctrl = NDSH_CTRL(op, 1, 0, 0),
	};
}

struct ndsh_swr
duo_request(const struct duo *d, enum ndsh_op op, uint32_t bytes)
{
	return request_of(&d->r, d->key, &d->peer, d->peer_key, op, bytes);
}

struct ndsh_swr
duo_peer_request(const struct duo *d, enum ndsh_op op, uint32_t bytes)
{
	return request_of(&d->peer, d->peer_key, &d->r, d->key, op, bytes);
}
