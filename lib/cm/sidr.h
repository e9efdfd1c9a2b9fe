/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SIDR, service ID resolution of datagram services (IBTA volume 1, chapter 12), in rdma_cm's UDP
 * port space: a client that wants to send datagrams to a service asks for the number and the Q_Key
 * of its queue pair. One query, one reply; a query whose reply is lost is repeated. A query that
 * waits for its reply, on either side, is a struct roce_cm_conn like a connection, found by other
 * ids.
 */
#ifndef ROCE_CM_SIDR_H
#define ROCE_CM_SIDR_H

#include "cm/cm.h"

#define ROCE_CM_SIDR_QUERY_PRIV 180u
#define ROCE_CM_SIDR_REPLY_PRIV 136u

enum roce_cm_sidr_status { /* those that we send; peers may have others */
	ROCE_CM_SIDR_SUCCESS = 0,
	ROCE_CM_SIDR_UNSUPPORTED = 1, /* no listener */
	ROCE_CM_SIDR_REJECT = 2,      /* the consumer's, or its backlog is full */
	ROCE_CM_SIDR_NO_QP = 3,	      /* no resources */
};

struct roce_cm_sidr_query {
	struct roce_cm_addr local, remote;
	uint32_t port;
	uint32_t user;		/* as struct roce_cm_connect has it */
	uint8_t tos, hop_limit; /* hop_limit 0: 64 */
	const void *priv;
	uint32_t priv_bytes; /* 0..ROCE_CM_SIDR_QUERY_PRIV */
	void *owner;
};
/*
 * Ask. One ROCE_CM_EV_SIDR_REPLY follows: the peer's (reason: its status; with 0 peer.qpn, q_key
 * and private data count), or timed_out, if none came. Retries are those of a REQ. NULL: no room,
 * or priv_bytes too large. roce_cm_destroy() at any time.
 */
struct roce_cm_conn *roce_cm_sidr_query(
	struct roce_cm *cm, uint64_t now_ns, const struct roce_cm_sidr_query *l);

/* As roce_cm_listen(), for SIDR requests: each is a ROCE_CM_EV_SIDR_REQUEST, to be answered by
 * roce_cm_sidr_reply(), or by roce_cm_destroy(), which rejects it. ROCE_CM_EV_SIDR_GONE: the peer
 * has not repeated its query for so long that no reply will help. */
struct roce_cm_listener *roce_cm_sidr_listen(struct roce_cm *cm, const struct roce_cm_addr *addr,
	uint32_t nic, uint32_t backlog, void *owner, const char **why);
struct roce_cm_sidr_reply {
	enum roce_cm_sidr_status status;
	uint32_t qpn, q_key; /* with SUCCESS */
	const void *priv;
	uint32_t priv_bytes; /* 0..ROCE_CM_SIDR_REPLY_PRIV */
};
/* The handle is the CM's again, which repeats the reply if the query is repeated. False, and
 * nothing done: it is no request that waits, or priv_bytes is too large. */
bool roce_cm_sidr_reply(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *conn,
	const struct roce_cm_sidr_reply *a);

#endif
