/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection's handshake between a client of the daemon (rigs/ndd_rig.h) and a peer that the test
 * plays. */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include "cm/cm.h"
#include "cm/codec.h"
#include "conn/conn.h"
#include "rigs/ndd_rig.h"

#define PEER_IP	  "10.77.0.2"
#define SERVICE	  7174u
#define PEER_PORT 40000u
#define PEER_QPN  0x5678u
#define PEER_PSN  0xfedcbau

/* A client with a queue pair. */
struct handshake {
	struct ndd_rig *r;
	struct ndd_session *s;
	int client;
	uint32_t qp_id;
	struct ndd_qp *qp;
};

union handshake_told {
	struct ndsh_id_msg id;
	struct ndsh_ev_conn conn;
	uint8_t bytes[NDSH_MSG_BYTES];
};

struct handshake handshake_at(struct ndd_rig *r, bool has_srq);
struct handshake handshake_new(bool has_srq);
/* What the client asks for is made; the answer's id. */
uint32_t handshake_ask(struct handshake *b, const void *msg);
/* The next MAD that the peer gets; *tx: how. */
struct cm_mad handshake_mad(struct handshake *b, struct roce_cm_tx *tx);
/* One that the peer sends, and the event that it makes. */
struct roce_cm_event handshake_hear(struct handshake *b, const struct cm_mad *m);
/* The client connects; the next hop is this one. */
struct ndd_conn *handshake_connect(struct handshake *b, uint8_t tos, const struct net_nexthop *hop);
/* The REP of the peer to our REQ, whose event the connection has had. */
void handshake_reply(struct handshake *b, struct ndd_conn *c, bool srq);

#endif
