/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session: one client's control socket and all that was made through it. Whatever ends it
 * (socket, process, broken contract, SIGTERM), everything is taken down in the same way.
 */
#ifndef NDD_SESSION_H
#define NDD_SESSION_H

#include <sys/queue.h>
#include <sys/types.h>

#include "control/watch.h"
#include "session/slots.h"
#include "shm/ndsh_msg.h"

struct config;
struct ndd;
struct ndd_mover;
struct ndd_shard;
struct ndd_shard_session;

/* A message that the socket had no room for. */
struct ndd_outgoing {
	STAILQ_ENTRY(ndd_outgoing) next;
	int fd; /* to pass, or -1 */
	uint16_t bytes;
	uint8_t msg[];
};
STAILQ_HEAD(ndd_outgoing_list, ndd_outgoing);

struct ndd_session {
	struct ndd_watch watch;	    /* the socket */
	struct ndd_watch pid_watch; /* pidfd, or fd -1 */
	struct ndd *daemon;
	TAILQ_ENTRY(ndd_session) next;
	uint64_t serial;
	pid_t pid;
	uid_t uid;
	enum ndsh_session_state state;
	bool ended, attached, admin_open;
	bool no_flush;	   /* NDSH_OPEN_NO_FLUSH */
	bool wants_events; /* NDSH_MSG_EVENTS */
	bool refused;	   /* one too many: its HELLO is answered with the reason */
	struct ndd_outgoing_list outgoing;
	uint32_t outgoing_count;
	uint64_t outgoing_since_ns;
	/* since OPEN */
	struct ndd_shard *shard;
	struct ndd_shard_session *lcore; /* what the shard sees of the session */
	uint8_t ip[16];			 /* address of the adapter */
	uint32_t port, path_mtu;
	uint64_t segment_bytes;
	uint32_t attachments;	 /* of its queue pairs to multicast groups */
	struct ndd_mover *mover; /* or NULL */
	/* The objects, a table for each class (session/classes.c). */
	struct ndd_slots segments, pds, cqs, mws, frmrs, srqs, qps, listeners, endpoints, conns,
		ahs, sidr_requests;
};

/* How many sessions there may be, with those that are only told that they are too many. */
uint32_t ndd_session_room(const struct config *cfg);
void ndd_session_accept(struct ndd *d, struct ndd_watch *listen_watch, uint32_t events);
/* After a while in which there was no room. */
void ndd_session_listen_again(struct ndd *d, uint64_t now_ns);
/* Free the sessions that have ended, and all their objects. No caller up the stack may hold one. */
void ndd_session_reap(struct ndd *d);

#endif
