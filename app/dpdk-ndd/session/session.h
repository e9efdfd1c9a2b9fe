/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A session: one client's control socket and all that was made through it. Whatever ends it
 * (socket, process, broken contract, SIGTERM) takes everything down by the same way.
 */
#ifndef NDD_SESSION_H
#define NDD_SESSION_H

#include <sys/types.h>

#include "control/daemon.h"
#include "shm/ndsh_msg.h"
#include "session/slots.h"

#define NDD_LISTENERS_MAX 4096u /* of the whole daemon */

struct ndd_segment {
	uint32_t id;
	uint32_t users; /* queue pairs and CQs that lie in it; regions the lcore counts */
	int fd;
	bool live;
	uint8_t *host; /* mapping of the daemon, once live */
	uint64_t client_va, bytes;
	uintptr_t lost_low, lost_high; /* pages that its queue that failed lost */
};

struct ndd_pd {
	uint32_t id, engine;
	uint32_t users;
	struct roce_mr *arena_key; /* its privileged token, or NULL */
};

struct ndd_cq {
	struct ndd_owner owner; /* what the engine hands back */
	struct roce_cq *engine;
	struct ndd_segment *segment;	  /* of its page, and of its first ring */
	struct ndd_segment *ring_segment; /* of its ring, once it was resized */
	uint32_t users;
	bool lost; /* a page of its ring is */
};

struct ndd_mw {
	uint32_t id;
	struct roce_mr *engine;
	struct ndd_pd *pd;
};

struct ndd_fr {
	uint32_t id;
	struct roce_mr *engine;
	void *mem; /* the engine's */
	struct ndd_segment *segment;
	struct ndd_pd *pd;
};

struct ndd_mover {
	struct ndd_owner owner;
	struct roce_mover *engine;
	void *state; /* of the engine's */
	struct ndd_segment *segment;
};

struct ndd_srq {
	struct ndd_owner owner;
	struct roce_srq *engine;
	struct ndd_segment *segment;
	struct ndd_pd *pd;
	uint32_t users;
};

struct ndd_qp {
	struct ndd_owner owner;
	struct roce_qp *engine;
	struct ndd_segment *segment;
	struct ndd_pd *pd;
	struct ndd_cq *send_cq, *recv_cq;
	struct ndd_srq *srq;	  /* or NULL */
	struct ndd_conn *conn;	  /* that uses it */
	uint32_t qpn, psn;	  /* psn: the first that we accept */
	bool failed;		  /* in error state; no new connection */
	bool connected;		  /* a connection has brought it up */
	bool by_hand;		  /* its client has, beyond INIT or back to RESET */
	struct ndd_qp_path *path; /* by_hand, or NULL */
	bool datagrams;		  /* no connection at all */
	uint32_t q_key;		  /* of datagrams */
};

struct ndd_listener {
	uint32_t id;
	struct ndd_session *session;
	struct roce_cm_listener *cm;
	struct ndd_port port;
};

struct ndd_endpoint { /* an address and port that connections share */
	uint32_t id;
	struct ndd_port port;
};

/* Messages that the socket had no room for. */
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
	bool tells_events; /* NDSH_MSG_EVENTS */
	bool refused;	   /* one too many: its HELLO is answered with the reason */
	struct ndd_outgoing_list outgoing;
	uint32_t outgoing_count;
	uint64_t outgoing_since_ns;
	/* since OPEN */
	struct ndd_shard *shard;
	struct ndd_shard_session *lcore; /* what the shard sees of us */
	int wake_fd;			 /* daemon's end of the wake socket */
	uint8_t ip[16];			 /* address of the adapter */
	uint32_t port, path_mtu;
	uint64_t segment_bytes;
	struct ndd_mover *mover; /* or NULL */
	struct ndd_slots segments, pds, cqs, mws, frs, srqs, qps, listeners, endpoints, conns, ahs,
		questions;
};

/* ---- session.c ---- */

void ndd_session_accept(struct ndd *d, struct ndd_watch *listen_watch, uint32_t events);
/* End it: the client is told why (NULL: it is gone already), everything is taken down. The
 * structure lives until ndd_session_reap(). */
__attribute__((format(printf, 2, 3))) void ndd_session_end(
	struct ndd_session *s, const char *why, ...);
void ndd_session_reap(struct ndd *d);
struct ndd_session *ndd_session_find(struct ndd *d, uint64_t serial);

/* ---- session_send.c ---- */

/* Send a message, with a copy of fd (or -1). Never blocks: what does not fit waits. */
void ndd_session_send(struct ndd_session *s, const void *msg, size_t bytes, int fd);
void ndd_session_flush(struct ndd_session *s);
void ndd_session_drop_outgoing(struct ndd_session *s);
/* Sessions whose clients don't read end here. */
void ndd_session_check_stalled(struct ndd *d, uint64_t now_ns);

/* ---- session_msg.c ---- */

/* A reply under construction: zeroed, header set; handlers fill the body. */
struct ndd_reply {
	union {
		struct ndsh_msg_hdr h;
		struct ndsh_hello_reply hello;
		struct ndsh_address_list_reply address_list;
		struct ndsh_route route;
		struct ndsh_open_reply open;
		struct ndsh_segment_create_reply segment;
		struct ndsh_id_msg id;
		struct ndsh_cq_affinity_reply cq_affinity;
		struct ndsh_mw_create_reply mw;
		struct ndsh_fr_create_reply fr;
		struct ndsh_qp_create_reply qp;
		struct ndsh_qp_modify_reply qp_modify;
		struct ndsh_qp_query_reply qp_query;
		struct ndsh_listener_create_reply listener;
		struct ndsh_bind_reply bind;
		uint8_t bytes[NDSH_MSG_BYTES];
	};
	int fd;	     /* goes with the reply and is closed afterwards; -1: none */
	int keep_fd; /* goes with the reply and stays open; -1: none */
};
/* Largest path MTU that an IP MTU carries, with the 96 bytes that Linux (6.1, 6.12) reserves for
 * connections: it refuses a request that asks for more than its own (W-RXE-05). */
uint32_t ndd_path_mtu(uint32_t ip_mtu);
/* One received datagram. */
void ndd_session_message(struct ndd_session *s, const void *msg, size_t bytes);
/* Handlers of the messages, by their file. */
typedef enum ndsh_status ndd_handler(struct ndd_session *s, const void *msg, struct ndd_reply *r);

/* ---- addresses.c ---- */

ndd_handler ndd_address_list, ndd_address_page, ndd_address_route;

/* ---- segment.c ---- */

ndd_handler ndd_segment_create, ndd_segment_mapped, ndd_segment_destroy;
void ndd_segment_free(struct ndd_session *s, struct ndd_segment *seg);
/* Pointer to [offset, offset+bytes) of a live segment, 64-byte aligned; NULL: it isn't so. */
void *ndd_segment_block(struct ndd_session *s, uint32_t id, uint64_t offset, uint64_t bytes,
	struct ndd_segment **seg);

/* ---- lost.c ---- */

/* Look after clients whose memory lost pages since the last call. */
void ndd_lost_memory(struct ndd *d);

/* ---- mover.c ---- */

ndd_handler ndd_mover_create;
/* Does nothing if there is none; no region of it is left. */
void ndd_mover_free(struct ndd_session *s);

/* ---- admin.c, objects.c, cq_resize.c, window.c, fast.c, srq.c, qp.c ---- */

ndd_handler ndd_pd_create, ndd_pd_destroy, ndd_cq_create, ndd_cq_destroy;
ndd_handler ndd_admin_create;
ndd_handler ndd_cq_resize, ndd_cq_affinity;
ndd_handler ndd_mw_create, ndd_mw_destroy;
ndd_handler ndd_fr_create, ndd_fr_destroy, ndd_pd_token;
ndd_handler ndd_srq_create, ndd_srq_arm, ndd_srq_destroy;
ndd_handler ndd_qp_create, ndd_qp_destroy, ndd_qp_flush;
/* False, and nothing done: regions are of it. */
bool ndd_pd_free(struct ndd_session *s, struct ndd_pd *pd);
/* Deregister all that is left, and serve no more. */
void ndd_admin_end(struct ndd_session *s);
void ndd_cq_free(struct ndd_session *s, struct ndd_cq *cq);
void ndd_mw_free(struct ndd_session *s, struct ndd_mw *mw);
void ndd_fr_free(struct ndd_session *s, struct ndd_fr *fr);
/* On the shard: the domain's privileged token ends. */
void ndd_pd_close_arena(struct ndd_shard *shard, struct roce_admin *admin, struct ndd_pd *pd);
void ndd_srq_free(struct ndd_session *s, struct ndd_srq *srq);
/* Fewer receives than it was armed for. */
void ndd_srq_limit(struct ndd_session *s, const struct ndd_event *ev);
void ndd_qp_free(struct ndd_session *s, struct ndd_qp *qp);
/* To error: everything outstanding completes FLUSH_ERR. drained: after what has arrived already. */
void ndd_qp_to_error(struct ndd_session *s, struct ndd_qp *qp, bool drained);
/* To error by no doing of its client, who is told, nor of its peer. */
void ndd_qp_take_away(struct ndd_session *s, struct ndd_qp *qp, const char *why);

/* ---- async.c ---- */

ndd_handler ndd_async_on;
/* An event of the shard, for who wants to know. */
void ndd_async_qp(struct ndd_session *s, const struct ndd_qp *qp, const struct ndd_event *ev);
void ndd_async_cq(struct ndd_session *s, const struct ndd_event *ev);
void ndd_async_qp_taken(struct ndd_session *s, const struct ndd_qp *qp);

/* ---- qp_modify.c, qp_path.c ---- */

ndd_handler ndd_qp_modify, ndd_qp_query;
void ndd_qp_path_free(struct ndd_qp *qp);
void ndd_qp_path_tick(struct ndd *d, uint64_t now_ns);

/* A connection's queue pair is being destroyed; went to error. */
void ndd_conn_qp_gone(struct ndd_conn *c);
void ndd_conn_qp_failed(struct ndd_conn *c);

/* ---- listener.c, endpoint.c, conn.c, conn_passive.c ---- */

ndd_handler ndd_listener_create, ndd_listener_pause, ndd_listener_destroy;
ndd_handler ndd_endpoint_create, ndd_endpoint_destroy;
ndd_handler ndd_conn_bind, ndd_conn_connect, ndd_conn_complete, ndd_conn_accept, ndd_conn_reject,
	ndd_conn_disconnect, ndd_conn_destroy;
void ndd_listener_free(struct ndd_session *s, struct ndd_listener *l);
void ndd_endpoint_free(struct ndd_session *s, struct ndd_endpoint *e);
void ndd_conn_free(struct ndd_session *s, struct ndd_conn *c);

/* ---- ah.c, ud.c ---- */

struct ndd_ah;
struct ndd_question;
ndd_handler ndd_ah_create, ndd_ah_destroy;
ndd_handler ndd_ud_qp_create, ndd_ud_qp_modify, ndd_ud_listener_create, ndd_ud_answer;
void ndd_ah_free(struct ndd_session *s, struct ndd_ah *ah);
void ndd_question_free(struct ndd_session *s, struct ndd_question *q);

#endif
