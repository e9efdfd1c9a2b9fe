/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client of connections and services by numbers: a session of a daemon (rigs/ndd_rig.h), one
 * queue pair with its permit, and the MADs of a peer.
 */
#ifndef NUMBERS_BENCH_H
#define NUMBERS_BENCH_H

#include "cm/codec.h"
#include "net/net.h"
#include "rigs/ndd_rig.h"

#define NUMBERS_PEER_IP "10.77.0.2"
#define NUMBERS_SERVICE 7174u
#define NUMBERS_Q_KEY	0x01234567u /* of its queue pair of datagrams */

union numbers_reply {
	struct ndsh_id_msg id;
	struct ndsh_bind_reply bind;
	struct ndsh_cm_permit_reply permit;
	struct ndsh_ev_cm cm;
	uint8_t bytes[NDSH_MSG_BYTES];
};

struct numbers_bench {
	struct ndd_rig *r;
	struct ndd_session *s;
	int client;
	struct ndd_qp *qp;
	struct ndsh_cm_permit permit; /* of qp */
};

extern const struct net_nexthop numbers_next_hop;

/* The queue pair is of datagrams, or for connections; numbers_bench_in(): the latter. The
 * caller frees nothing. */
struct numbers_bench numbers_bench_of(struct ndd_rig *r, bool datagrams);
struct numbers_bench numbers_bench_in(struct ndd_rig *r);
/* The status of a request's reply; the id in that of one that must succeed. */
enum ndsh_status numbers_ask(
	const struct numbers_bench *b, const void *msg, union numbers_reply *reply);
uint32_t numbers_made(const struct numbers_bench *b, const void *msg);
/* The port at the rig's address, in the port space of that message. */
uint32_t numbers_bound(const struct numbers_bench *b, enum ndsh_msg_type space, uint16_t port);
/* The next MAD that leaves. */
struct cm_mad numbers_mad(const struct numbers_bench *b);
/* A MAD from the peer, and the event that it makes. */
struct roce_cm_event numbers_hear(const struct numbers_bench *b, const struct cm_mad *m);
/* The client's next event, which is of that kind. */
struct ndsh_ev_cm numbers_told(const struct numbers_bench *b, uint32_t kind);

#endif
