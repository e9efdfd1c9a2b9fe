/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's device of librdmacm, /dev/infiniband/rdma_cm, on the daemon: files, identifiers,
 * events, and the sessions that speak for them. Its commands are those of the
 * kernel's interface for it (ABI 4).
 *
 * Locks. cm_lock guards all that is here. Events come in the control thread of a session, which
 * holds nd_adapter.lock: so cm_lock is taken inside that one, and no call to the daemon is made
 * with it. Commands on one identifier follow each other by cm_id.command, which events don't take.
 */
#ifndef NDV_CM_H
#define NDV_CM_H

#include <netinet/in.h>
#include <pthread.h>
#include <rdma/rdma_user_cm.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/conn/numbers.h"
#include "ndverbs/device.h"

/* Of all queue pairs in RDMA_PS_UDP. */
#define CM_Q_KEY 0x01234567u

/* The queue pair that datagrams to a group name: all of its members. */
#define CM_GROUP_QP 0xffffffu

struct cm_id;
struct cm_join;

/* The numbers of librdmacm's events. */
enum cm_event_type {
	CM_EV_ADDR_RESOLVED = 0,
	CM_EV_ADDR_ERROR = 1,
	CM_EV_ROUTE_RESOLVED = 2,
	CM_EV_CONNECT_REQUEST = 4,
	CM_EV_CONNECT_RESPONSE = 5,
	CM_EV_UNREACHABLE = 7,
	CM_EV_REJECTED = 8,
	CM_EV_ESTABLISHED = 9,
	CM_EV_DISCONNECTED = 10,
	CM_EV_DEVICE_REMOVAL = 11,
	CM_EV_MULTICAST_JOIN = 12,
	CM_EV_TIMEWAIT_EXIT = 15,
};

enum cm_state {
	CM_IDLE,
	CM_BOUND,
	CM_LISTENING,
	CM_ADDRESS, /* the peer's is resolved, and it has one of its own */
	CM_ROUTE,
	CM_CONNECTING,
	CM_REPLIED, /* the peer has accepted, the program is to bring its queue pair up */
	CM_REQUESTED,
	CM_ACCEPTED,
	CM_ESTABLISHED,
	CM_OVER,
};

struct cm_event {
	TAILQ_ENTRY(cm_event) next;
	struct cm_id *id; /* that counts it: of a request the listener */
	struct cm_id *request;
	struct cm_join *join; /* that counts it as well, or NULL */
	struct rdma_ucm_event_resp resp;
};

struct cm_file {
	int fd;	       /* a semaphore that counts the events */
	pid_t pid;     /* that opened it: a child has no part in it */
	uint32_t refs; /* the program, and calls under way */
	TAILQ_HEAD(, cm_event) events;
	LIST_HEAD(, cm_id) ids;
};

/* A session with the daemon for connections from and to one device, as long as the daemon is
 * there. */
struct cm_session {
	struct nd_cm base;
	struct nd_adapter *adapter;
	struct ndv_device *device;
	bool gone;
	LIST_HEAD(, cm_port) ports;
	LIST_HEAD(, cm_id) ids;		       /* with connections */
	TAILQ_HEAD(cm_resting, cm_id) resting; /* in time-wait: cm_timewait.c */
	LIST_ENTRY(cm_session) next;
};

/* A port of one device, that an identifier has. */
struct cm_port {
	struct cm_id *id;
	struct cm_session *session;
	uint32_t listener;
	LIST_ENTRY(cm_port) in_session;
	LIST_ENTRY(cm_port) in_id;
};

struct cm_id {
	pthread_mutex_t command;
	struct cm_file *file;
	uint32_t handle, refs;
	bool destroyed;
	bool datagrams;	     /* of RDMA_PS_UDP: it is connected when it has an answer */
	uint64_t uid;	     /* librdmacm's; 0 before a request is accepted */
	uint32_t reported;   /* events that the program has taken */
	enum cm_state state; /* atomic: events change it, too */
	bool any, v4_only;   /* bound to all addresses, IPv4's alone */
	bool family_only;    /* RDMA_OPTION_ID_AFONLY: IPv6's wildcard is not IPv4's, too */
	uint8_t tos;
	bool has_ack_timeout; /* RDMA_OPTION_ID_ACK_TIMEOUT: its queue pair's */
	uint8_t ack_timeout;
	uint32_t backlog;
	struct ndsh_addr local, remote; /* all zero: none yet */
	struct ndv_device *device;	/* NULL: none yet, or all */
	LIST_HEAD(, cm_port) ports;
	LIST_HEAD(, cm_join) joins; /* by cm_lock */
	struct cm_session *session; /* of the connection, or NULL */
	uint32_t conn;
	uint32_t psn; /* the first that is accepted */
	bool has_peer;
	struct ndsh_ev_cm peer;	 /* what the request or the reply has said */
	uint64_t rests_until_ns; /* in time-wait; 0: it is not */
	TAILQ_ENTRY(cm_id) in_resting;
	LIST_ENTRY(cm_id) in_file;
	LIST_ENTRY(cm_id) in_session;
};

extern pthread_mutex_t cm_lock;

static inline enum cm_state
cm_state(const struct cm_id *id)
{
	return __atomic_load_n(&id->state, __ATOMIC_RELAXED);
}

static inline void
cm_set_state(struct cm_id *id, enum cm_state state)
{
	__atomic_store_n(&id->state, state, __ATOMIC_RELAXED);
}

/* ---- cm_file.c: called by the preloaded library; these are all that it knows -------------- */

/* As open(), write() and close() of the device. */
int ndv_cm_open(int flags);
long ndv_cm_write(int fd, const void *buf, size_t bytes);
int ndv_cm_close(int fd);
bool ndv_cm_owns(int fd);

/* The file of a descriptor, held; NULL: none. */
struct cm_file *cm_file_get(int fd);
void cm_file_put(struct cm_file *f);

/* ---- cm_id.c ------------------------------------------------------------------------------ */

/* A new one, in the file; cm_lock held. NULL: no memory, or no number. */
struct cm_id *cm_id_new(struct cm_file *f);
/* Nothing but cm_id_new() has happened to it; cm_lock held since then. */
void cm_id_undo(struct cm_id *id);
/* The one of this file, for one command; NULL: there is none such. */
struct cm_id *cm_id_begin(struct cm_file *f, uint32_t handle);
void cm_id_end(struct cm_id *id);
/* It is no more, and neither are its events. Returns how many of these the program has. */
uint32_t cm_id_destroy(struct cm_id *id);
/* Its port and connection are the daemon's to forget; it is in no session any more. */
void cm_id_release(struct cm_id *id);

/* ---- cm_event.c: cm_lock held ------------------------------------------------------------- */

/* Queue an event; ev may be NULL. status as the kernel has it. */
void cm_event_raise(
	struct cm_id *id, enum cm_event_type type, int status, const struct ndsh_ev_cm *ev);
/* The request of a peer, for the listener. False: no memory. */
bool cm_event_request(struct cm_id *listener, struct cm_id *request, const struct ndsh_ev_cm *ev);
/* It is in the group, with what datagrams to it need. False: no memory. */
bool cm_event_joined(
	struct cm_id *id, struct cm_join *join, uint64_t uid, const struct ndsh_addr *group);
/* Those of an identifier vanish, or of a join of it alone (NULL: all), or move with it to another
 * file. */
void cm_events_drop(struct cm_id *id, const struct cm_join *join);
void cm_id_move(struct cm_id *id, struct cm_file *to);

/* ---- cm_session.c ------------------------------------------------------------------------- */

/* The session of the device, opened now if there is none. 0, or an errno. */
int cm_session_get(struct ndv_device *device, struct cm_session **out);
/* What the daemon tells of connections. */
void cm_session_event(struct nd_cm *cm, const struct ndsh_ev_cm *ev);
/* The connection with the number in id->conn is id's from now on; cm_lock held. */
void cm_session_enter(struct cm_session *s, struct cm_id *id, uint32_t conn);

/* ---- cm_timewait.c: cm_lock held ---------------------------------------------------------- */

/* Its connection is over, by an event. The code is that of the peer's acknowledgements' timeout. */
void cm_timewait_begin(struct cm_id *id, uint8_t code);
/* The identifier leaves its session. */
void cm_timewait_forget(struct cm_id *id);
/* nd_cm.on_time; takes cm_lock. */
void cm_timewait_over(struct nd_cm *cm);

/* ---- commands: 0, or an errno -------------------------------------------------------------- */

/* cm_bind.c */
int cm_bind(struct cm_id *id, const struct ndsh_addr *at);
int cm_listen(struct cm_id *id, int backlog);
int cm_resolve(struct cm_id *id, const struct ndsh_addr *from, const struct ndsh_addr *to);
/* cm_connect.c */
int cm_connect(struct cm_id *id, const struct rdma_ucm_conn_param *p);
int cm_accept(struct cm_id *id, const struct rdma_ucm_conn_param *p, uint64_t uid);
int cm_reject(struct cm_id *id, const struct rdma_ucm_reject *m);
int cm_disconnect(struct cm_id *id);
/* cm_multicast.c. uid: librdmacm's; *handle: by which the join is left. */
int cm_join(struct cm_id *id, const struct ndsh_addr *group, uint64_t uid, uint32_t *handle);
/* *reported: how many of its events the program has. */
int cm_leave(struct cm_file *f, uint32_t handle, uint32_t *reported);
/* The program has taken an event of it; cm_lock held. */
void cm_join_reported(struct cm_join *j);
/* Those of an identifier that ends; cm_lock held. */
void cm_joins_end(struct cm_id *id);
/* cm_query.c */
void cm_query_route(const struct cm_id *id, struct rdma_ucm_query_route_resp *r);
int cm_init_qp_attr(const struct cm_id *id, uint32_t state, struct ib_uverbs_qp_attr *a);
/* cm_command.c */
long cm_command(struct cm_file *f, const void *buf, size_t bytes);

#endif
