/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which queue pair of ours has which queue pair of a peer. A client that names a peer's queue pair
 * to which another client of this daemon is connected could speak for that client: to the peer both
 * are this host, and only the PSN would have to be guessed. So the first client has it; and what
 * the CM has agreed with the peer itself comes before what was given by hand.
 */
#ifndef NDD_PEER_H
#define NDD_PEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "wire/gid.h"

struct ndd_qp;
struct ndd_session;

#define NDD_PEER_BUCKETS 4096u
#define NDD_PEER_MOST	 16u /* of a session may have the same one by hand */

/* Part of the queue pair of ours. Zeroed: it has none. */
struct ndd_peer {
	LIST_ENTRY(ndd_peer) entry;
	struct ndd_session *session; /* of it; NULL: it has none */
	struct roce_gid gid;
	uint32_t qpn;
	bool by_hand; /* by its client, not by the CM */
};
LIST_HEAD(ndd_peer_bucket, ndd_peer);

struct ndd_peers {
	struct ndd_peer_bucket bucket[NDD_PEER_BUCKETS];
	uint64_t secret[2]; /* a client can't choose its bucket */
};

/* The queue pair has this one of the peer from now on, instead of another, until it is given back:
 * by its end, RESET or an error. */
void ndd_peer_take(struct ndd_session *s, struct ndd_qp *qp, const struct roce_gid *gid,
	uint32_t qpn, bool by_hand);
/* Does nothing if it has none. */
void ndd_peer_give(struct ndd_qp *qp);
/* Does a queue pair of another session have this one? */
bool ndd_peer_is_taken(const struct ndd_session *s, const struct roce_gid *gid, uint32_t qpn);
/* Do NDD_PEER_MOST other queue pairs of this session have it by hand already? A connection that
 * evicts them makes a call of the lcore for each, in the time of its own client. */
bool ndd_peer_is_crowded(const struct ndd_session *s, const struct ndd_qp *qp,
	const struct roce_gid *gid, uint32_t qpn);
/* A connection of session s is about to have it: queue pairs of other sessions that were brought up
 * towards it by hand go to error. */
void ndd_peer_evict(struct ndd_session *s, const struct roce_gid *gid, uint32_t qpn);

#endif
