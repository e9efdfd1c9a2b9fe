/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ABI, part 3: messages on the control socket (AF_UNIX, SOCK_SEQPACKET).
 *
 * One datagram is one message: a header and the body that its type has, of
 * exactly the size in ndsh_msg_table[]. The client sends requests, the daemon
 * answers each once with the same type | NDSH_REPLY and the same cookie, and
 * sends events (cookie 0). A reply has its full size also when its status is a
 * failure; then only h counts and no file descriptor comes with it. File
 * descriptors travel from daemon to client only.
 *
 * Connections. A connection has an id from the reply to BIND or CONNECT, or from
 * EV_CONN_REQUEST; the id is good until the client's CONN_DESTROY, whatever
 * becomes of the connection. CONN_DESTROY at any time ends it in the way that fits
 * (reject, disconnect); no event for the id follows its reply.
 *   active:  [BIND -> reply(id) ->] CONNECT -> reply(id) -> EV_CONN_REPLY -> COMPLETE_CONNECT ->
 *            reply: established
 *   passive: EV_CONN_REQUEST -> ACCEPT -> reply -> EV_CONN_ESTABLISHED
 * EV_CONN_REPLY and EV_CONN_ESTABLISHED come once, with the outcome in h.status; after a
 * failure the connection is over and EV_CONN_DISCONNECTED does not come; one that has a BIND may
 * CONNECT again.
 * EV_CONN_DISCONNECTED comes at most once, and only for an established connection (or one whose
 * EV_CONN_REPLY said success): when the peer's DREQ came (NDSH_OK), when the queue pair died
 * (NDSH_ERR_ABORTED), or when the client's own DISCONNECT is done (NDSH_OK, or NDSH_UNANSWERED
 * if the peer never answered), whichever is first. DISCONNECT after that event is answered, and
 * lets the daemon answer the peer (R-DISC-03), but makes no second event.
 */
#ifndef NDSH_MSG_H
#define NDSH_MSG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ndsh_abi.h"
#include "ndsh_status.h"

#define NDSH_MAGIC	    0x3144444eu /* "NDD1" */
#define NDSH_MSG_BYTES	    1024u	/* no message is longer */
#define NDSH_REPLY	    0x8000u
#define NDSH_SOCKET_DEFAULT "/run/dpdk-ndd/dpdk-ndd.sock"

#define NDSH_CALLER_DATA_MAX 56u  /* private data of Connect (REQ) */
#define NDSH_CALLEE_DATA_MAX 196u /* of Accept (REP); Reject carries 148 */
#define NDSH_REJECT_DATA_MAX 148u

enum ndsh_msg_type {
	NDSH_MSG_HELLO = 1,
	NDSH_MSG_ADDRESS_LIST,
	NDSH_MSG_OPEN, /* adapter by address; once per socket */
	NDSH_MSG_SEGMENT_CREATE,
	NDSH_MSG_SEGMENT_MAPPED,
	NDSH_MSG_SEGMENT_DESTROY,
	NDSH_MSG_PD_CREATE,
	NDSH_MSG_PD_DESTROY,
	NDSH_MSG_CQ_CREATE,
	NDSH_MSG_CQ_DESTROY,
	NDSH_MSG_ADMIN_CREATE, /* once per session; from minor version 3 on */
	NDSH_MSG_QP_CREATE,
	NDSH_MSG_QP_DESTROY,
	NDSH_MSG_QP_FLUSH, /* error state: everything outstanding completes FLUSH_ERR */
	NDSH_MSG_LISTENER_CREATE,
	NDSH_MSG_LISTENER_DESTROY,
	NDSH_MSG_CONNECT,
	NDSH_MSG_COMPLETE_CONNECT,
	NDSH_MSG_ACCEPT,
	NDSH_MSG_REJECT,
	NDSH_MSG_DISCONNECT,
	NDSH_MSG_CONN_DESTROY,
	NDSH_MSG_MW_CREATE, /* from minor version 1 on */
	NDSH_MSG_MW_DESTROY,
	NDSH_MSG_BIND,	     /* from minor version 1 on */
	NDSH_MSG_SRQ_CREATE, /* from minor version 2 on */
	NDSH_MSG_SRQ_ARM,
	NDSH_MSG_SRQ_DESTROY,
	NDSH_MSG_CQ_RESIZE, /* from minor version 4 on */
	NDSH_MSG_CQ_AFFINITY,
	NDSH_MSG_LISTENER_PAUSE, /* from minor version 3 on */
	NDSH_MSG_ENDPOINT_CREATE,
	NDSH_MSG_ENDPOINT_DESTROY,
	NDSH_MSG_FR_CREATE, /* from minor version 5 on */
	NDSH_MSG_FR_DESTROY,
	NDSH_MSG_PD_TOKEN,     /* reply: ndsh_id_msg, id is the privileged token */
	NDSH_MSG_MOVER_CREATE, /* from minor version 6 on */
	NDSH_MSG_QP_MODIFY,    /* from minor version 7 on */
	NDSH_MSG_QP_QUERY,
	NDSH_MSG_EVENTS,       /* id 1: EV_ASYNC is wanted from now on; 0: no more */
	NDSH_MSG_UD_QP_CREATE, /* from minor version 7 on: ndsh_msg_ud.h */
	NDSH_MSG_UD_QP_MODIFY,
	NDSH_MSG_AH_CREATE,
	NDSH_MSG_AH_DESTROY,
	NDSH_MSG_UD_LISTENER_CREATE, /* as LISTENER_CREATE */
	NDSH_MSG_UD_ANSWER,
	NDSH_MSG_ROUTE, /* from minor version 8 on */
	NDSH_MSG_ADDRESS_PAGE,
	NDSH_MSG_TYPE_COUNT,
	/* events */
	NDSH_EV_CONN_REQUEST = 0x4001, /* a listener got a REQ */
	NDSH_EV_CONN_REPLY,	       /* Connect: peer accepted (complete it), or failed */
	NDSH_EV_CONN_ESTABLISHED,      /* Accept: the peer's RTU or first request came, or failed */
	NDSH_EV_CONN_DISCONNECTED,     /* peer's DREQ, our own Disconnect done, or the QP died */
	NDSH_EV_SESSION_END,	       /* the daemon ends the session: reason says why */
	NDSH_EV_SRQ_LIMIT,	       /* fewer receives than SRQ_ARM's limit are left */
	NDSH_EV_QP_MODIFIED,	       /* what QP_MODIFY began is done, or failed: h.status */
	NDSH_EV_ASYNC,		       /* something happened to an object */
	NDSH_EV_AH,		       /* AH_CREATE has its outcome */
	NDSH_EV_UD_QUESTION,	       /* somebody looks up a datagram service */
};

struct ndsh_msg_hdr {
	uint16_t type;
	uint16_t reserved;
	int32_t status; /* replies and events: enum ndsh_status; requests: 0 */
	uint64_t cookie;
};
static_assert(sizeof(struct ndsh_msg_hdr) == 16, "ABI");

struct ndsh_addr { /* IPv4 as ::ffff:a.b.c.d; port in host order */
	uint8_t ip[16];
	uint16_t port;
	uint16_t reserved;
	uint32_t scope_id;
};
static_assert(sizeof(struct ndsh_addr) == 24, "ABI");

/* ---- session ---- */
struct ndsh_hello { /* request */
	struct ndsh_msg_hdr h;
	uint32_t magic;
	uint16_t abi_major, abi_minor;
	uint64_t features; /* bits that the sender knows; the answer holds those of both */
	uint16_t swr_bytes, rwr_bytes, cqe_bytes, sge_bytes, qp_page_bytes, cq_page_bytes,
		session_page_bytes, reserved;
};
struct ndsh_hello_reply { /* NDSH_ERR_NOT_SUPPORTED: reason says which value and what to do */
	struct ndsh_msg_hdr h;
	uint16_t abi_major, abi_minor;
	uint32_t daemon_pid;
	uint64_t features;
	char version[32];
	char reason[160];
};
struct ndsh_address_list {
	struct ndsh_msg_hdr h;
};
struct ndsh_address_page { /* the addresses from the first-th on */
	struct ndsh_msg_hdr h;
	uint32_t first, reserved;
};
#define NDSH_ADDRESS_LIST_MAX 32u
struct ndsh_address_list_reply { /* to ADDRESS_LIST, the first ones; to ADDRESS_PAGE: if it is full
				  * there may be more */
	struct ndsh_msg_hdr h;
	uint32_t count, reserved;
	struct ndsh_addr addr[NDSH_ADDRESS_LIST_MAX];
};
struct ndsh_route { /* request: a destination; reply: the address of ours that it is reached from */
	struct ndsh_msg_hdr h;
	struct ndsh_addr addr; /* port: 0 */
};
#define NDSH_PLACE_ANY	   0xffffffffu
#define NDSH_OPEN_NO_FLUSH 0x1u /* the peer's disconnect is told, and cancels nothing */
struct ndsh_open {
	struct ndsh_msg_hdr h;
	struct ndsh_addr addr; /* a local address of the daemon; port ignored */
	uint32_t placement;    /* shard wanted, or NDSH_PLACE_ANY */
	uint32_t flags;	       /* NDSH_OPEN_*; 0 before minor version 3 */
};
/* fd: wake fd, one end of a stream socketpair: the client send()s 1 byte (MSG_NOSIGNAL: a pipe
 * whose daemon has died would raise SIGPIPE in the application). */
struct ndsh_open_reply {
	struct ndsh_msg_hdr h;
	uint64_t adapter_id;
	uint64_t max_mr_bytes, max_transfer_bytes;
	uint32_t shard, numa_node;
	uint32_t max_sge, max_inline, max_depth, max_cq_depth, max_read_limit, max_qps, max_cqs,
		max_mrs;
	uint32_t path_mtu;	/* bytes */
	uint32_t max_srq_depth; /* 0: no shared receive queues */
};

/* ---- memory: daemon creates and seals SHRINK|GROW (CREATE, fd in the reply); client maps and
 * touches, then MAPPED; daemon maps, seals FUTURE_WRITE|SEAL, populates; only then is it live.
 * Segment 0 is the first created; its first bytes are the session page. ---- */
struct ndsh_segment_create {
	struct ndsh_msg_hdr h;
	uint64_t bytes; /* multiple of NDSH_PAGE_BYTES; before minor 7 of NDSH_SEGMENT_UNIT */
};
struct ndsh_segment_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t segment, reserved;
	uint64_t bytes;
};
struct ndsh_segment_mapped {
	struct ndsh_msg_hdr h;
	uint32_t segment, reserved;
	/* Where the client has it mapped, or will, before it names an address there: those in SGEs
	 * are relative to this. */
	uint64_t client_va;
};
/* Requests that name one object (MAPPED's reply: the segment), PD_CREATE (id 0, the reply has the
 * new one), and replies without a body of their own (id: the object made, or the request's). */
struct ndsh_id_msg {
	struct ndsh_msg_hdr h;
	uint32_t id, reserved;
};

/* ---- objects ---- */
/* Reply: ndsh_id_msg, fd: read end of a pipe; one byte per fired arm, EOF: the daemon is gone. */
struct ndsh_cq_create {
	struct ndsh_msg_hdr h;
	uint32_t segment, depth;
	uint64_t offset;
};
/*
 * Another ring: in it lie the entries from page->moved on (ndsh_resize.c). entries, 1..depth: how
 * many the client wants room for; NDSH_ERR_OVERFLOW: more lie there, nothing happened. Reply:
 * ndsh_id_msg.
 */
struct ndsh_cq_resize {
	struct ndsh_msg_hdr h;
	uint32_t cq, segment;
	uint64_t offset; /* of ndsh_cq_ring_bytes(depth) */
	uint32_t depth, entries;
};
struct ndsh_cq_affinity_reply { /* to CQ_AFFINITY, an ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint64_t mask; /* of CPUs 64 * group + bit */
	uint32_t group, reserved;
};
/* The admin ring: a block of ndsh_admin_bytes(depth); it is answered in cq, which is for that alone
 * from now on. Reply: ndsh_id_msg. */
struct ndsh_admin_create {
	struct ndsh_msg_hdr h;
	uint32_t segment, depth;
	uint64_t offset;
	uint32_t cq, reserved;
};
struct ndsh_mover_create { /* block of ndsh_mover_bytes(); reply: ndsh_id_msg, fd as for a CQ */
	struct ndsh_msg_hdr h;
	uint32_t segment, reserved;
	uint64_t offset;
};
struct ndsh_mw_create {
	struct ndsh_msg_hdr h;
	uint32_t pd, reserved;
};
struct ndsh_mw_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t mw, slot;
	uint64_t secret; /* with slot: what ndsh_window_token() wants */
};
struct ndsh_fr_create { /* block: NDSH_FR_LISTS lists of max_pages addresses */
	struct ndsh_msg_hdr h;
	uint32_t pd, segment;
	uint64_t offset;
	uint32_t max_pages, remote;
};
struct ndsh_fr_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t fr, slot;
	uint64_t secret; /* with slot: what ndsh_window_token() wants */
};
struct ndsh_srq_create { /* block of ndsh_srq_bytes(); reply: ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint32_t pd, segment;
	uint64_t offset;
	uint32_t depth, sge;
};
struct ndsh_srq_arm { /* one EV_SRQ_LIMIT when fewer are left than limit, now or later; 0: none */
	struct ndsh_msg_hdr h;
	uint32_t srq, limit;
};
struct ndsh_ev_srq { /* body of EV_SRQ_LIMIT */
	struct ndsh_msg_hdr h;
	uint32_t srq, reserved;
};
struct ndsh_qp_create {
	struct ndsh_msg_hdr h;
	uint32_t pd, recv_cq, send_cq;
	uint32_t handle; /* client's own number, echoed in completions */
	uint32_t segment;
	uint32_t has_srq; /* 1: receives come from srq, and its own receive ring is not used */
	uint64_t offset;
	uint32_t sq_depth, rq_depth, sq_sge, rq_sge, inline_bytes;
	uint32_t srq;
};
struct ndsh_qp_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t qp;  /* session-local number: doorbell bit */
	uint32_t qpn; /* on the wire */
};
enum ndsh_qp_state { /* IBTA's, of RC */
	NDSH_QPS_RESET,
	NDSH_QPS_INIT,
	NDSH_QPS_RTR,
	NDSH_QPS_RTS,
	NDSH_QPS_SQD,
	NDSH_QPS_ERR,
};
enum { /* ndsh_qp_attr.mask */
	NDSH_QPA_ACCESS = 1u << 0,
	NDSH_QPA_PATH = 1u << 1, /* ip, flow_label, traffic_class, hop_limit */
	NDSH_QPA_MTU = 1u << 2,
	NDSH_QPA_DEST_QPN = 1u << 3,
	NDSH_QPA_RQ_PSN = 1u << 4,
	NDSH_QPA_MAX_DEST_RD = 1u << 5,
	NDSH_QPA_MIN_RNR = 1u << 6,
	NDSH_QPA_TIMEOUT = 1u << 7,
	NDSH_QPA_RETRY = 1u << 8,
	NDSH_QPA_RNR_RETRY = 1u << 9,
	NDSH_QPA_SQ_PSN = 1u << 10,
	NDSH_QPA_MAX_RD = 1u << 11,
	NDSH_QPA_KEEPALIVE = 1u << 12,
	NDSH_QPA_ALL = (1u << 13) - 1,
};
struct ndsh_qp_attr {
	uint32_t mask;	 /* which of the others count */
	uint32_t access; /* NDSH_ACCESS_REMOTE_* */
	uint8_t ip[16];	 /* of the peer */
	uint32_t flow_label;
	uint8_t traffic_class; /* DSCP << 2 | enum ndsh_ecn; told: with ECT(0), or not */
	uint8_t hop_limit;
	uint8_t max_dest_rd, max_rd;
	uint8_t min_rnr_code, timeout_code, retry, rnr_retry;
	uint32_t mtu_bytes;
	uint32_t dest_qpn, rq_psn, sq_psn;
	uint32_t keepalive_ms;
};
/*
 * One at a time for each queue pair. Reply: NDSH_OK, it is done; NDSH_PENDING, the next hop is
 * being asked for, and EV_QP_MODIFIED follows; else nothing changed, and why says what was wrong.
 */
struct ndsh_qp_modify {
	struct ndsh_msg_hdr h;
	uint32_t qp;
	uint32_t state; /* enum ndsh_qp_state; RTS from INIT: by way of RTR */
	struct ndsh_qp_attr attr;
};
struct ndsh_qp_modify_reply {
	struct ndsh_msg_hdr h;
	char why[160];
};
enum ndsh_async {
	NDSH_ASYNC_NONE,
	NDSH_ASYNC_COMM_EST, /* of queue pairs */
	NDSH_ASYNC_SQ_DRAINED,
	NDSH_ASYNC_LAST_WQE,
	NDSH_ASYNC_QP_REQUEST_ERROR,
	NDSH_ASYNC_QP_ACCESS_ERROR,
	NDSH_ASYNC_QP_ERROR,
	NDSH_ASYNC_QP_FATAL,
	NDSH_ASYNC_CQ_ERROR,  /* of a completion queue */
	NDSH_ASYNC_LINK_DOWN, /* of the adapter's port: id 0 */
	NDSH_ASYNC_LINK_UP,
	NDSH_ASYNC_ADDRESSES, /* of the adapter's port: ADDRESS_LIST has others; from minor 8 on */
};
struct ndsh_ev_async { /* body of EV_ASYNC */
	struct ndsh_msg_hdr h;
	uint32_t event; /* enum ndsh_async; a client passes over what it doesn't know */
	uint32_t id;
	uint32_t detail; /* enum ndsh_wc_status | the engine's reason << 8 */
	uint32_t reserved;
};
struct ndsh_ev_qp { /* body of EV_QP_MODIFIED */
	struct ndsh_msg_hdr h;
	uint32_t qp, reserved;
};
struct ndsh_qp_query_reply { /* to QP_QUERY, an ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint32_t state, draining;
	uint32_t qpn;
	uint32_t psn;		  /* nobody can guess: for who needs a first PSN to tell the peer */
	struct ndsh_qp_attr attr; /* mask 0 */
};

/* ---- connections ---- */
struct ndsh_listener_create { /* reply: ndsh_listener_create_reply */
	struct ndsh_msg_hdr h;
	struct ndsh_addr addr; /* all-zero ip: all of the port opened; port 0: choose one */
	uint32_t backlog, reserved;
};
struct ndsh_listener_create_reply {
	struct ndsh_msg_hdr h;
	uint32_t listener, reserved;
	struct ndsh_addr addr;
};
struct ndsh_listener_pause { /* reply: ndsh_id_msg */
	struct ndsh_msg_hdr h;
	uint32_t listener;
	uint32_t pause; /* 1: refuse what comes, as if nobody listened; 0: go on */
};
/* BIND: take a local port for a CONNECT to come; ENDPOINT_CREATE: for any number of them. Reply:
 * ndsh_bind_reply. The port is free when all that have it were destroyed. */
struct ndsh_bind {
	struct ndsh_msg_hdr h;
	struct ndsh_addr addr; /* port 0: choose an ephemeral one */
};
struct ndsh_bind_reply {
	struct ndsh_msg_hdr h;
	uint32_t id; /* of the connection, or the endpoint */
	uint32_t reserved;
	struct ndsh_addr addr;
};
/* Where a traffic class has its ECN bits: congestion control of what the daemon sends for the
 * client. From minor version 8 on; before, 0. */
enum ndsh_ecn { NDSH_ECN_PORT, NDSH_ECN_OFF, NDSH_ECN_ON };
enum ndsh_local { NDSH_LOCAL_OWN, NDSH_LOCAL_BOUND, NDSH_LOCAL_SHARED };
struct ndsh_connect { /* reply: ndsh_id_msg with the connection's id; then EV_CONN_REPLY */
	struct ndsh_msg_hdr h;
	uint32_t qp;
	uint32_t priv_bytes;
	struct ndsh_addr local, remote;	       /* local: for LOCAL_OWN; port 0: choose one */
	uint8_t inbound_reads, outbound_reads; /* responder resources, initiator depth */
	uint8_t tos;			       /* DSCP << 2 | enum ndsh_ecn */
	uint8_t local_kind;		       /* enum ndsh_local */
	uint32_t local_id; /* BOUND: of the reply to BIND; SHARED: to ENDPOINT_CREATE */
	uint8_t priv[NDSH_CALLER_DATA_MAX];
};
struct ndsh_accept { /* reply: ndsh_id_msg; then EV_CONN_ESTABLISHED */
	struct ndsh_msg_hdr h;
	uint32_t conn, qp;
	uint32_t priv_bytes;
	uint8_t inbound_reads, outbound_reads;
	uint8_t ecn; /* enum ndsh_ecn */
	uint8_t reserved;
	uint8_t priv[NDSH_CALLEE_DATA_MAX];
};
struct ndsh_reject {
	struct ndsh_msg_hdr h;
	uint32_t conn, priv_bytes;
	uint8_t priv[NDSH_REJECT_DATA_MAX];
	uint32_t reserved;
};
struct ndsh_ev_conn {	       /* body of every EV_CONN_*; unused fields 0 */
	struct ndsh_msg_hdr h; /* status: the outcome */
	uint32_t conn, listener;
	struct ndsh_addr local, remote;
	uint32_t reject_reason; /* CM's code if the peer rejected, else 0 */
	uint32_t priv_bytes;	/* of the whole transport field: zero padded (R-CONN-08) */
	uint8_t inbound_reads, outbound_reads; /* seen from this side */
	uint8_t reserved[6];
	uint8_t priv[224];
};
struct ndsh_ev_session_end {
	struct ndsh_msg_hdr h;
	char reason[160];
};

/* ---- datagrams ---- */
#include "ndsh_msg_ud.h"

/* ---- the one table: exact size of each request, and what it needs before it ---- */
enum ndsh_session_state { NDSH_ST_NEW, NDSH_ST_HELLO, NDSH_ST_OPEN, NDSH_ST_COUNT };
struct ndsh_msg_desc {
	const char *name;
	uint16_t bytes;	      /* exact size of the request, header included; 0: no such message */
	uint16_t reply_bytes; /* exact size of its reply */
	uint8_t states;	      /* bit per enum ndsh_session_state in which it is legal */
};
extern const struct ndsh_msg_desc ndsh_msg_table[NDSH_MSG_TYPE_COUNT];
/* What is wrong with a received request, in words, or NULL. */
const char *ndsh_msg_check(const void *buf, size_t bytes, enum ndsh_session_state state);
/* The same for a reply or event that a client received. */
const char *ndsh_msg_check_reply(const void *buf, size_t bytes);
/* Fill everything of a HELLO request but the cookie; features 0. */
void ndsh_hello_fill(struct ndsh_hello *m);
/* Daemon: may a client with this HELLO be served? Else what does not fit, in words. */
const char *ndsh_hello_check(const struct ndsh_hello *m);

#endif
