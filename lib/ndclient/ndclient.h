/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndclient: NetworkDirect-style RDMA through the dpdk-ndd daemon.
 *
 * Objects, calls and statuses follow NetworkDirect v2; names are C's. Calls that
 * take a struct nd_overlapped are asynchronous: they return ND_PENDING and the
 * outcome arrives in that structure (nd_overlapped_wait(), nd_overlapped_status()),
 * or they return an error and nothing follows. All other calls are synchronous.
 * Calls that post or poll (nd_qp_send() .. nd_cq_get_results()) make no system
 * call but the doorbell's wake-up of a daemon that sleeps.
 *
 * Threads: all calls are thread-safe, with two limits. Posting to one queue of one queue pair is
 * for one thread at a time (send, write and read post to one queue, receive to the other). An
 * object must not be closed while another thread uses it. The library runs one thread per adapter,
 * asleep unless something completes; all signals are blocked in it.
 *
 * When the daemon dies or ends the session, calls return ND_DEVICE_REMOVED, pending
 * requests complete with it, and nothing hangs. Objects still have to be closed;
 * nd_adapter_close() does it for all. A child of fork() must not use the parent's
 * adapter.
 *
 * With NDD_VERIFY=1 in the environment, or nd_open_options.verify, the library tells on stderr what
 * the application does that it must not, with the number of the rule: a struct nd_overlapped that
 * is used again too early (which fails in any case), two threads that post to one queue at a time,
 * objects closed while a call on them runs.
 *
 * Closing. Objects may be closed in any order; a close never fails, and NULL does nothing. What
 * others rest on lives on, out of reach, until they are closed: a domain under its regions, windows
 * and queues, a completion queue or shared receive queue under its queue pairs. A close says so by
 * ND_PENDING instead of ND_SUCCESS, and nd_close() can tell the end.
 *
 * Pointers to objects must be valid. Any call that talks to the daemon may return
 * ND_DEVICE_REMOVED, and any that creates something ND_NO_MEMORY or ND_INSUFFICIENT_RESOURCES,
 * without it being said there.
 * The k of an ND_INVALID_PARAMETER_k counts the parameters of ND's own method.
 */
#ifndef NDCLIENT_H
#define NDCLIENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ND_VERSION_MAJOR 0
#define ND_VERSION_MINOR 1

/* ---- status; asynchronous requests, completion ports ----------------------------------- */

#include "ndclient_status.h"

#include "ndclient_request.h"

/* ---- adapter ------------------------------------------------------------------------- */

struct nd_adapter;
struct nd_pd;
struct nd_cq;
struct nd_mr;
struct nd_mw;
struct nd_fr;
struct nd_srq;
struct nd_qp;
struct nd_connector;
struct nd_listener;
struct nd_endpoint;

struct nd_adapter_info {		 /* the fields of ND2_ADAPTER_INFO, and a few of our own */
	uint64_t adapter_id;		 /* ndclient_adapter.h */
	uint64_t max_registration_bytes; /* of one region */
	uint64_t max_window_bytes;	 /* of one window, which lies in a region */
	uint64_t max_transfer_bytes;	 /* of one request */
	uint32_t max_initiator_sge, max_receive_sge, max_read_sge;
	uint32_t max_inline_bytes;
	uint32_t inline_request_threshold; /* inline pays below this many bytes */
	uint32_t large_request_threshold;  /* read and write pay above this many bytes */
	uint32_t max_inbound_reads, max_outbound_reads;
	uint32_t max_receive_depth, max_initiator_depth, max_cq_depth; /* as far as memory goes */
	uint32_t max_srq_depth;		  /* 0: no shared receive queues */
	uint32_t max_fast_register_pages; /* of one registration; 0: none are possible */
	uint32_t max_caller_data;	  /* private data of Connect */
	uint32_t max_callee_data;	  /* of Accept and Reject */
	uint32_t path_mtu;		  /* bytes of payload per packet */
	uint32_t shard, numa_node;	  /* where this adapter instance lives */
	uint32_t flags;			  /* ND_ADAPTER_FLAG_* */
	/* PCI's, of the NIC behind the adapter; both 0: it is no PCI device, but one of software,
	 * or the daemon is too old to say. */
	uint16_t vendor_id, device_id;
	char daemon_version[32];
};
#define ND_ADAPTER_FLAG_IN_ORDER_DMA	      0x00000001u
#define ND_ADAPTER_FLAG_CQ_MODERATION	      0x00000004u /* nd_cq_moderate(): always */
#define ND_ADAPTER_FLAG_READ_LOCAL_INVALIDATE 0x00000010u
#define ND_ADAPTER_FLAG_CQ_RESIZE	      0x00000100u /* nd_cq_resize(): unless too old */
#define ND_ADAPTER_FLAG_LOOPBACK	      0x00010000u

/* Options of nd_adapter_open() and the queries before it; NULL stands for all zero. */
struct nd_open_options {
	/* NULL: environment NDD_SOCKET, else dpdk-ndd.sock in XDG_RUNTIME_DIR if that is there,
	 * else the default path */
	const char *socket_path;
	uint32_t placement; /* 0: any; k: shard k-1 of the daemon, a hint */
	uint32_t verify;    /* not 0: report breaches of contract, for the whole process */
	uint32_t profile;   /* ND_PROFILE_* */
};
/*
 * Where ND's pages and its own test programs contradict each other: what those programs want, or
 * the letter of the pages. The latter: ND_REMOTE_ERROR for a fault of access at the peer and for a
 * message that is longer than the peer's receive, ND_BUFFER_OVERFLOW for that receive; the peer's
 * disconnect is told and cancels nothing before this side disconnects; Accept ends with
 * ND_CONNECTION_ABORTED if the active side gives up.
 */
#define ND_PROFILE_TEST 0u
#define ND_PROFILE_DOC	1u
/*
 * The local addresses that the daemon serves, with port 0. *count: in, room in list (list may be
 * NULL with 0); out, how many there are. ND_BUFFER_OVERFLOW: more than room, the first ones were
 * stored. ND_DEVICE_NOT_READY: no daemon at the socket, or it does not answer.
 */
nd_status nd_query_addresses(
	const struct nd_open_options *opt, struct sockaddr_storage *list, uint32_t *count);
/*
 * The local address that remote is reached from, as prefixes and routes have it (an old daemon is
 * guessed for by leading bits), port 0; a link-local one is of its scope's port, as listed.
 * ND_NETWORK_UNREACHABLE: no route leads there; ND_INVALID_ADDRESS: neither IPv4 nor IPv6.
 */
nd_status nd_resolve_address(const struct nd_open_options *opt, const struct sockaddr *remote,
	socklen_t remote_bytes, struct sockaddr_storage *local);
/*
 * Open an adapter instance by one of its local addresses (the port in it does not count). It lives
 * on one shard of the daemon, and objects of different instances can't be used together.
 * ND_INVALID_ADDRESS: not an address of the daemon; ND_DEVICE_NOT_READY: no daemon there (or not
 * permitted); ND_NOT_SUPPORTED: daemon and library don't fit (nd_last_error() says how);
 * ND_INVALID_PARAMETER_3: unknown profile; ND_INSUFFICIENT_RESOURCES: too many sessions;
 * ND_ACCESS_VIOLATION: the daemon's configuration refuses this process.
 */
nd_status nd_adapter_open(const struct sockaddr *local, socklen_t local_bytes,
	const struct nd_open_options *opt, struct nd_adapter **adapter);
/* Close it and all that was made from it, in any state; pending requests complete with ND_CANCELED,
 * connections end, memory of nd_alloc() is gone; callbacks that run are waited for. ND_SUCCESS,
 * also for NULL, which does nothing. ND_INVALID_DEVICE_STATE: called in a callback, of whatever
 * adapter; nothing happened (R-LIFE-10). */
nd_status nd_adapter_close(struct nd_adapter *a);
/* Limits and place of the adapter. ND_DEVICE_REMOVED: *info is filled all the same. */
nd_status nd_adapter_query(struct nd_adapter *a, struct nd_adapter_info *info);

/*
 * Close an object of any type below, as its own call does: its pending requests complete with
 * ND_CANCELED, callbacks that run are waited for, and none follows (R-LIFE-09). ND_SUCCESS: it is
 * gone. ND_PENDING: others rest on it, and it goes with the last of them (R-LIFE-08), or it is
 * being closed in its own callback; no call on it is legal any more. Memory of the application that
 * it used, but for a region others may still use, is free in both cases.
 *
 * With ov always ND_PENDING: ov completes with ND_SUCCESS when the object is gone, behind all its
 * requests, and behind the ends of what rested on it. An error is of ov alone, and nothing was
 * closed: ND_INVALID_PARAMETER, it is still under way; ND_NO_MEMORY, for its port.
 */
nd_status nd_close(void *object, struct nd_overlapped *ov);

#include "ndclient_adapter.h"

/* ---- arena, protection domains, regions, windows --------------------------------------- */

#include "ndclient_memory.h"
#include "ndclient_adopt.h"

/* ---- completion queues, notifications ------------------------------------------------- */

#include "ndclient_cq.h"

/* ---- queue pair ---------------------------------------------------------------------- */

struct nd_sge {
	void *buffer;
	uint32_t bytes;
	uint32_t token; /* local; ignored with ND_OP_FLAG_INLINE */
};
#define ND_OP_FLAG_SILENT_SUCCESS	  0x00000001u /* no result on success (R-ORD-03) */
#define ND_OP_FLAG_READ_FENCE		  0x00000002u /* wait for earlier reads (R-ORD-05) */
#define ND_OP_FLAG_SEND_AND_SOLICIT_EVENT 0x00000004u
#define ND_OP_FLAG_ALLOW_READ		  0x00000008u /* bind: the peer may read */
#define ND_OP_FLAG_ALLOW_WRITE		  0x00000010u /* bind: the peer may write */
#define ND_OP_FLAG_INLINE		  0x00000020u /* buffers are free when the post returns */
/* What ND has not. NDK's values would mean other things (nd_flags_of_ndk()): they are refused. */
#define ND_OP_FLAG_ALLOW_LOCAL_WRITE 0x00010000u /* fast register */
/* More will follow: a hint that any initiator request takes, and none needs (R-POST-12). */
#define ND_OP_FLAG_DEFER 0x00020000u
/* Read: on success the registration that the first SGE's token is of is invalidated (R-RW-06). */
#define ND_OP_FLAG_READ_LOCAL_INVALIDATE 0x00040000u

struct nd_qp_options {
	struct nd_cq *receive_cq, *initiator_cq; /* may be one */
	void *context;				 /* nd_result.qp_context */
	uint32_t receive_depth, initiator_depth; /* requests outstanding at a time, from 1 */
	uint32_t max_receive_sge, max_initiator_sge;
	uint32_t inline_bytes; /* longest inline request */
	struct nd_srq *srq;    /* NULL, or receives come from there; receive_* count for nothing */
};
/*
 * Create a queue pair; more may be granted than asked for. ND_INVALID_PARAMETER_k: receive_cq 2,
 * initiator_cq 3, srq 4 (of another domain), receive_depth 5, initiator_depth 6, max_receive_sge 7,
 * max_initiator_sge 8, inline_bytes 9. ND_INSUFFICIENT_RESOURCES: no memory, or no more of them.
 */
nd_status nd_qp_create(struct nd_pd *pd, const struct nd_qp_options *opt, struct nd_qp **qp);
/* ND_SUCCESS. A connection of it ends; what was outstanding completes with ND_CANCELED, as long as
 * the completion queue lives (R-DISC-12). */
nd_status nd_qp_close(struct nd_qp *qp);
/* Everything outstanding completes with ND_CANCELED, perhaps after this returned; the queue pair
 * can't be used any more, a connection still has to be disconnected (R-FL-..). */
nd_status nd_qp_flush(struct nd_qp *qp);
/* Number of the queue pair on the wire, for people. */
uint32_t nd_qp_number(const struct nd_qp *qp);

/*
 * Posts. ND_SUCCESS: queued, the outcome comes through the queue pair's CQ, with context. Else
 * nothing was queued and nothing follows: ND_CONNECTION_INVALID   not connected, or disconnected
 * (not for receive: R-POST-02) ND_NO_MORE_ENTRIES      as many requests are outstanding as the
 * queue holds ND_DATA_OVERRUN         more SGEs than the queue pair takes (not with INLINE:
 * R-POST-09) ND_BUFFER_OVERFLOW      more than max_transfer_bytes, or inline more than inline_bytes
 *   ND_INVALID_PARAMETER_4  flags of send (legal: SILENT, FENCE, SOLICIT, INLINE)
 *   ND_INVALID_PARAMETER_6  flags of write (SILENT, FENCE, INLINE) and read (SILENT, FENCE,
 *                           READ_LOCAL_INVALIDATE)
 * DEFER is legal with all of them but receive.
 * A wrong token or range shows in the result, not here (R-POST-08). n may be 0 (R-POST-06). The SGE
 * array is not used after the return. One thread at a time per queue.
 */
nd_status nd_qp_send(
	struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n, uint32_t flags);
/* May be posted at any time, also before the connection is made (R-SR-01).
 * ND_INVALID_DEVICE_REQUEST: the queue pair has a shared receive queue (R-SRQ-07). */
nd_status nd_qp_receive(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n);
/* remote_address is a number, remote_token the bytes that the peer told (nd_mr_remote_token()
 * there). Read takes max_read_sge SGEs at most (R-RW-07), each in a region with the local-write
 * right (R-RW-05). */
nd_status nd_qp_write(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t flags);
nd_status nd_qp_read(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t flags);

/*
 * Bind the window to [buf, buf+bytes) of the region, for the peer of this connection, with any of
 * ALLOW_READ and ALLOW_WRITE. The region needs local write for ALLOW_WRITE, but no remote right; it
 * can't be deregistered as long as the window is bound. Takes effect before any later request of
 * the queue pair (R-ORD-08): post the bind, then the send that tells the peer. ND_SUCCESS and
 * refusals as of the posts above, and
 *   ND_INVALID_DEVICE_STATE  the window is bound (R-MW-01)
 *   ND_ACCESS_VIOLATION      not inside the region, or ALLOW_WRITE without local write there
 *   ND_INVALID_PARAMETER_2   mr is NULL, or of another protection domain than qp; _3: mw
 *   ND_INVALID_PARAMETER_6   flags (legal: SILENT, FENCE, ALLOW_READ, ALLOW_WRITE)
 */
nd_status nd_qp_bind(struct nd_qp *qp, void *context, struct nd_mr *mr, struct nd_mw *mw,
	const void *buf, size_t bytes, uint32_t flags);
/*
 * Take back what the bind gave: afterwards the token opens nothing (R-INV-02), and the window may
 * be bound anew. Of a window that is not bound to this queue pair, also because the peer was
 * faster, the result is ND_INVALID_DEVICE_REQUEST, and the connection ends as with every failed
 * request (R-INV-04). ND_INVALID_PARAMETER_2: mw; ND_INVALID_PARAMETER_3: flags (legal: SILENT,
 * FENCE).
 */
nd_status nd_qp_invalidate(struct nd_qp *qp, void *context, struct nd_mw *mw, uint32_t flags);
/* nd_qp_send(), and when the peer can take the receive, its window with this token is invalidated
 * (R-INV-08). A token that is not of a window bound to the peer's end of this connection ends the
 * connection. Our extension: ND 2 has no such call. */
nd_status nd_qp_send_and_invalidate(struct nd_qp *qp, void *context, const struct nd_sge *sge,
	uint32_t n, uint32_t remote_token, uint32_t flags);
/*
 * nd_qp_send() and nd_qp_write(), and four bytes that come to the peer as they stand, in the result
 * of the receive that the message takes (nd_cq_get_results_ex()). So this write needs a receive
 * there, but leaves its buffer alone, and waits for one as a send does (R-SR-06). Write takes
 * SOLICIT, too. ND_INVALID_PARAMETER_5: flags of send, _7: of write; ND_NOT_SUPPORTED: the daemon
 * is older than this. Our extension: ND 2 has no such calls.
 */
nd_status nd_qp_send_with_immediate(struct nd_qp *qp, void *context, const struct nd_sge *sge,
	uint32_t n, uint32_t immediate, uint32_t flags);
nd_status nd_qp_write_with_immediate(struct nd_qp *qp, void *context, const struct nd_sge *sge,
	uint32_t n, uint64_t remote_address, uint32_t remote_token, uint32_t immediate,
	uint32_t flags);

/* ---- fast-register regions, tokens, NDK's flags; atomics; states and numbers ----------- */

#include "ndclient_atomic.h"
#include "ndclient_congestion.h"
#include "ndclient_event.h"
#include "ndclient_fast.h"
#include "ndclient_buffers.h"
#include "ndclient_modify.h"
#include "ndclient_ud.h"

/* ---- shared receive queue ------------------------------------------------------------ */

#include "ndclient_srq.h"

/* ---- connections --------------------------------------------------------------------- */

/*
 * Active:  connect -> (ov) -> [read_limits, private_data] -> complete_connect or reject -> send ...
 * Passive: listen, get_request -> (ov) -> [read_limits, private_data] -> accept or reject -> (ov)
 * ... End:     disconnect on both sides; notify_disconnect tells of the peer's. A call in the wrong
 * state: ND_CONNECTION_ACTIVE (connect, accept), ND_CONNECTION_INVALID (complete, reject,
 * disconnect, notify before a connection), ND_INVALID_DEVICE_STATE, and ND_CONNECTION_ABORTED if
 * the attempt has failed meanwhile.
 */
nd_status nd_connector_create(struct nd_adapter *a, struct nd_connector **c);
/*
 * Take a local address (the adapter's, or the wildcard for it) and port, for all attempts to
 * connect; port 0: an ephemeral one, nd_connector_local_address() tells which. Optional: connect
 * takes an ephemeral one if there was no bind. The port is free again when the connector is closed.
 * ND_ADDRESS_ALREADY_ASSOCIATED: bound already; ND_SHARING_VIOLATION: the port is a listener's or
 * another connector's; ND_ADDRESS_ALREADY_EXISTS: accepted connections still have it;
 * ND_TOO_MANY_ADDRESSES: no ephemeral one is left; ND_INVALID_ADDRESS: not of this host.
 */
nd_status nd_connector_bind(struct nd_connector *c, const struct sockaddr *addr, socklen_t bytes);
/*
 * A local address and port for any number of connectors, each to another peer (R-LSN-07). Address,
 * port and errors as of nd_connector_bind(). ND_NOT_SUPPORTED: the daemon is too old.
 */
nd_status nd_endpoint_create(struct nd_adapter *a, const struct sockaddr *addr, socklen_t bytes,
	struct nd_endpoint **endpoint);
/* Sizes as in nd_connector_local_address(). */
nd_status nd_endpoint_local_address(
	const struct nd_endpoint *e, struct sockaddr *addr, socklen_t *bytes);
/* Instead of nd_connector_bind(): connect from there. It then refuses a peer to which another
 * connector of the endpoint is connected or connecting: ND_ADDRESS_ALREADY_EXISTS.
 * ND_ADDRESS_ALREADY_ASSOCIATED: bound already; ND_INVALID_PARAMETER: of another adapter. */
nd_status nd_connector_bind_shared(struct nd_connector *c, struct nd_endpoint *e);
/* ND_PENDING: connectors have it, and keep it until the last of them is closed (R-LSN-08). */
nd_status nd_endpoint_close(struct nd_endpoint *e);
#define ND_DSCP_MAX 63u
/*
 * The differentiated services code point (0..ND_DSCP_MAX; 0 without this call) of all packets of
 * the connections that c will make, in both directions and from the request on: the passive side
 * takes that of the request (W-CM-73), so there is no such call for it. On a VLAN without a
 * priority of its own it chooses the 802.1p priority, too. ND_INVALID_PARAMETER: above ND_DSCP_MAX;
 * ND_CONNECTION_ACTIVE: connect was called and has not failed, or a listener filled c. Any thread.
 */
nd_status nd_connector_set_dscp(struct nd_connector *c, uint32_t dscp);
/*
 * Connect the queue pair, which must be of the same adapter and unused. inbound_reads,
 * outbound_reads: how many reads the peer may, and this side wants to have outstanding; lowered to
 * what adapter and peer grant (R-CONN-09). ov's outcome: ND_SUCCESS, the peer accepted (go on with
 * nd_connector_complete_connect()); ND_CONNECTION_REFUSED (nd_connector_reject_reason(); 0: its
 * host takes no RoCEv2),
 * ND_NETWORK_UNREACHABLE (no route), ND_HOST_UNREACHABLE (no neighbour), ND_IO_TIMEOUT (no answer):
 * after these four the connector may try again; ND_CANCELED.
 * Inline: ND_INVALID_BUFFER_SIZE (private data over max_caller_data), ND_BAD_NETWORK_NAME
 * (wildcard), ND_INVALID_ADDRESS, ND_TOO_MANY_ADDRESSES (local port), and the states.
 */
nd_status nd_connector_connect(struct nd_connector *c, struct nd_qp *qp,
	const struct sockaddr *dest, socklen_t dest_bytes, uint32_t inbound_reads,
	uint32_t outbound_reads, const void *priv, uint32_t priv_bytes, struct nd_overlapped *ov);
/* Tell the peer that this side is ready; when ov has completed, requests may be posted. */
nd_status nd_connector_complete_connect(struct nd_connector *c, struct nd_overlapped *ov);
/*
 * Accept a request that nd_listener_get_request() delivered here. Receives may be posted before;
 * other requests when ov has completed, or the peer's first message was taken (R-SR-09).
 * ND_SUCCESS: the peer completed its side (or its first message came); ND_CONNECTION_REFUSED: it
 * gave up; ND_CONNECTION_ABORTED: nothing was heard of it any more, or the queue pair died. Inline:
 * ND_INVALID_BUFFER_SIZE (private data over max_callee_data; the request is still there),
 * ND_CONNECTION_ABORTED: the peer has gone.
 */
nd_status nd_connector_accept(struct nd_connector *c, struct nd_qp *qp, uint32_t inbound_reads,
	uint32_t outbound_reads, const void *priv, uint32_t priv_bytes, struct nd_overlapped *ov);
/* Instead of accept, or of complete_connect. Up to 148 bytes of private data (max_callee_data). */
nd_status nd_connector_reject(struct nd_connector *c, const void *priv, uint32_t priv_bytes);
/* inbound: reads that the peer may have outstanding here; outbound: those of ours there. Either may
 * be NULL. From the peer's request or answer on; before: ND_CONNECTION_INVALID (R-CONN-11). */
nd_status nd_connector_read_limits(struct nd_connector *c, uint32_t *inbound, uint32_t *outbound);
/* The peer's private data, zero padded to the transport's field (R-CONN-08). *bytes: in, room in
 * buf; out, the field's size. ND_BUFFER_OVERFLOW: partial copy, also for the size query with NULL.
 */
nd_status nd_connector_private_data(struct nd_connector *c, void *buf, uint32_t *bytes);
/* *bytes: in, room; out, size. ND_BUFFER_OVERFLOW: addr is untouched. ND_CONNECTION_INVALID: not
 * bound (local), no peer yet (peer) (R-CONN-19). */
nd_status nd_connector_local_address(
	struct nd_connector *c, struct sockaddr *addr, socklen_t *bytes);
nd_status nd_connector_peer_address(
	struct nd_connector *c, struct sockaddr *addr, socklen_t *bytes);
/* CM's reject reason of a refused Connect (28: by the application, 8: no listener), else 0. */
uint32_t nd_connector_reject_reason(const struct nd_connector *c);
/*
 * Completes when the connection has ended: ND_SUCCESS, the peer disconnected or the connection
 * broke; ND_CONNECTION_DISCONNECTED, this side did (R-DISC-06). At once if it has ended already.
 * ND_CONNECTION_INVALID: there was none. Any number may be pending.
 */
nd_status nd_connector_notify_disconnect(struct nd_connector *c, struct nd_overlapped *ov);
/*
 * End the connection: outstanding requests complete with ND_CANCELED, the queue pair and the
 * connector can't be used again. ov completes when the peer has agreed (ND_SUCCESS) or did not
 * answer (ND_TIMEOUT), and no memory of the queue pair's requests is touched any more (R-DISC-02).
 * ND_CONNECTION_INVALID: not connected; ND_INVALID_DEVICE_STATE: under way already.
 */
nd_status nd_connector_disconnect(struct nd_connector *c, struct nd_overlapped *ov);
/*
 * All pending requests of the connector complete with ND_CANCELED. A Connect or Accept under way is
 * given up and the connector is of no more use (R-CONN-20), also between Connect's completion and
 * nd_connector_complete_connect() (R-CONN-12); a Disconnect goes on, untold. ND_SUCCESS.
 */
nd_status nd_connector_cancel(struct nd_connector *c);
/* In any state; ends the connection, or the attempt, if there is one. */
nd_status nd_connector_close(struct nd_connector *c);

nd_status nd_listener_create(struct nd_adapter *a, struct nd_listener **l);
/*
 * Take a local address and port, once (port 0: an ephemeral one; wildcard address: all of this
 * adapter's port). They are the listener's until it is closed; requests are refused until it
 * listens. ND_ADDRESS_ALREADY_ASSOCIATED: bound already; ND_SHARING_VIOLATION: the port is another
 * listener's, a connector's, or accepted connections still have it; ND_TOO_MANY_ADDRESSES: no
 * ephemeral one is left; ND_INVALID_ADDRESS: not of this host; ND_ACCESS_VIOLATION: not a port for
 * this client; ND_NOT_SUPPORTED: the daemon is too old.
 */
nd_status nd_listener_bind(struct nd_listener *l, const struct sockaddr *addr, socklen_t bytes);
/*
 * Listen, once: with addr NULL where nd_listener_bind() said, else as if it had been called with
 * addr before, and if it fails the listener is not bound.
 * backlog: most requests that are neither accepted nor rejected, also of those that
 * nd_listener_get_request() or the callback has handed out; more are refused (R-LSN-03); 0: no
 * limit of the client's, which leaves the daemon's, 1,024. ND_INVALID_DEVICE_STATE: listens
 * already, or addr is NULL and it is not bound; else errors as of nd_listener_bind().
 */
nd_status nd_listener_listen(
	struct nd_listener *l, const struct sockaddr *addr, socklen_t bytes, uint32_t backlog);
/* With the port that was chosen; sizes as in nd_connector_local_address(). ND_INVALID_DEVICE_STATE:
 * does not listen. */
nd_status nd_listener_local_address(struct nd_listener *l, struct sockaddr *addr, socklen_t *bytes);
/*
 * Completes when a request was put into the fresh connector c. Any number may be pending, each with
 * a connector of its own; requests go to them in order. ND_CONNECTION_ACTIVE: c is not fresh;
 * ND_INVALID_DEVICE_STATE: l does not listen.
 */
nd_status nd_listener_get_request(
	struct nd_listener *l, struct nd_connector *c, struct nd_overlapped *ov);
/* A connection was asked for: c is what nd_listener_get_request() would have filled, and is the
 * application's to close. */
typedef void (*nd_connect_callback)(void *context, struct nd_connector *c);
/*
 * One callback for each request instead of nd_listener_get_request(), for good; also for those that
 * wait already. They run as those of nd_cq_set_callback() do, in the same thread. Inside every call
 * is legal but nd_adapter_close(), which is refused; requests that come meanwhile wait.
 * ND_INVALID_PARAMETER_2: callback is NULL; ND_INVALID_DEVICE_STATE: it has one, or connectors
 * wait; ND_INSUFFICIENT_RESOURCES.
 */
nd_status nd_listener_set_callback(
	struct nd_listener *l, nd_connect_callback callback, void *context);
/* Refuse connection requests from now on, as if there were no listener; those that came before are
 * still given out. ND_INVALID_DEVICE_STATE: does not listen; ND_NOT_SUPPORTED: too old a daemon. */
nd_status nd_listener_pause(struct nd_listener *l);
/* Listen on. */
nd_status nd_listener_resume(struct nd_listener *l);
/* Pending nd_listener_get_request()s complete with ND_CANCELED, their connectors are fresh again; l
 * keeps listening. ND_SUCCESS. */
nd_status nd_listener_cancel(struct nd_listener *l);
/* Stop listening, at once: pending calls as in cancel, requests that were not taken are rejected;
 * connections that came through it live on. ND_PENDING: connectors that it filled are not closed
 * yet; with the last of them its port is free (R-LSN-08). Or the listener's callback calls, and it
 * goes when that returns. */
nd_status nd_listener_close(struct nd_listener *l);

#ifdef __cplusplus
}
#endif
#endif
