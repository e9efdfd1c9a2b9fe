/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session: one client's control socket and all that was made through it. Whatever ends it
 * (socket, process, broken contract, SIGTERM), everything is taken down in the same way.
 */
#ifndef NDD_SESSION_H
#define NDD_SESSION_H

#include <sys/queue.h>
#include <sys/types.h>

#include "account/account.h"
#include "hostnet/next_hop.h"
#include "session/slots.h"
#include "shm/ndsh_msg.h"

struct config;
struct ndd;
struct ndd_line;
struct ndd_mover;
struct ndd_shard;
struct ndd_seat;
struct ndd_shard_session;
struct ndd_worker;

struct ndd_session {
	struct ndd *daemon;
	TAILQ_ENTRY(ndd_session) next, calling;
	struct ndd_line *line; /* the seat's */
	uint64_t serial;
	pid_t pid;
	struct ndd_seat *seat;
	struct ndd_account account; /* of its principal, which pays for all of this */
	enum ndsh_session_state state;
	bool ended, attached, admin_open;
	bool joined;		   /* its principal's party on its shard */
	bool no_flush;		   /* NDSH_OPEN_NO_FLUSH */
	bool wants_events;	   /* NDSH_MSG_EVENTS */
	uint16_t minor;		   /* of the client's ABI */
	uint64_t since_ns;	   /* it is there */
	bool calls;		   /* it is among the daemon's calling (incoming.h) */
	uint64_t delayed_until_ns; /* no request is served before; 0: one may be (rate.h) */
	bool full;		   /* a message waits for its client, which has taken none */
	uint64_t full_since_ns;
	uint32_t full_sent; /* as many had been sent by then */
	/* since OPEN */
	struct ndd_shard *shard;
	struct ndd_shard_session *lcore; /* what the shard sees of the session */
	uint8_t ip[16];			 /* address of the adapter */
	uint32_t port, path_mtu;
	uint64_t segment_bytes;
	uint32_t attachments;	   /* of its queue pairs to multicast groups */
	struct ndd_mover *mover;   /* or NULL */
	struct ndd_worker *worker; /* since its first segment */
	struct {		   /* how far it has been taken down: session/classes.c */
		uint32_t class, object, part;
	} ending;
	/* The objects, a table for each class (session/classes.c). */
	struct ndd_slots segments, pds, cqs, mws, frmrs, srqs, qps, listeners, endpoints, conns,
		ahs, sidr_requests;
};

/* On whose behalf neighbours are asked for (hostnet/next_hop.h). */
static inline uint32_t
ndd_session_hop_owner(const struct ndd_session *s)
{
	return ndd_hop_owner(s->account.principal->number);
}

/* Of a client that has arrived (arrival.h). False: its process has ended, or there is no memory;
 * nothing has changed. */
bool ndd_session_begin(struct ndd *d, struct ndd_seat *seat);
/* Free the sessions that have ended, and all their objects, as far as their principals' time goes.
 * No caller up the stack may hold one. */
void ndd_session_reap(struct ndd *d);

#endif
