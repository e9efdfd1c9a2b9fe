/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer of a connection manager, which sends any message at any time. A message begins as an
 * answer that fits: with the ids, numbers and addresses of what the CM has sent last; then the
 * input changes bytes of it by their place.
 */
#ifndef FUZZ_CM_PEER_H
#define FUZZ_CM_PEER_H

#include "cm/cm.h"
#include "cm/codec.h"
#include "fuzz.h"

#define CM_PEER_SERVICE 7174u /* what it asks for */
#define CM_PEER_ATTRS	16u

struct cm_peer {
	struct roce_gid me, me6;	   /* the CM's addresses: IPv4, IPv6 */
	struct cm_mad sent[CM_PEER_ATTRS]; /* by the CM, last */
};

/* The CM's address of the family of the peer's. */
const struct roce_gid *cm_peer_to(const struct cm_peer *p, const struct roce_gid *from);
/* Take all that the CM has to send. */
void cm_peer_hears(struct cm_peer *p, struct roce_cm *cm);
/* The CM gets a MAD of the peer at from. */
void cm_peer_speaks(struct cm_peer *p, struct fuzz_in *in, struct roce_cm *cm, uint64_t now_ns,
	const struct roce_gid *from, uint32_t port);

#endif
