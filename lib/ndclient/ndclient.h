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
 * Threads: different objects may be used from different threads at once. Posting
 * to one queue of one queue pair is for one thread at a time; nd_cq_get_results()
 * and nd_cq_notify() may be called by several threads at once. An object must not
 * be closed while another thread uses it.
 *
 * When the daemon dies or ends the session, calls return ND_DEVICE_REMOVED, pending
 * requests complete with it, and nothing hangs. A child of fork() must not use the
 * parent's adapter.
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

/* ---- status --------------------------------------------------------------------------------------- */

/* NTSTATUS values: negative is failure; ND_PENDING and ND_TIMEOUT are success class. */
typedef int32_t nd_status;
#define ND_SUCCESS		  ((nd_status)0x00000000)
#define ND_TIMEOUT		  ((nd_status)0x00000102)
#define ND_PENDING		  ((nd_status)0x00000103)
#define ND_BUFFER_OVERFLOW	  ((nd_status)0x80000005)
#define ND_DEVICE_BUSY		  ((nd_status)0x80000011)
#define ND_NO_MORE_ENTRIES	  ((nd_status)0x8000001A)
#define ND_UNSUCCESSFUL		  ((nd_status)0xC0000001)
#define ND_ACCESS_VIOLATION	  ((nd_status)0xC0000005)
#define ND_INVALID_HANDLE	  ((nd_status)0xC0000008)
#define ND_INVALID_PARAMETER	  ((nd_status)0xC000000D)
#define ND_INVALID_DEVICE_REQUEST ((nd_status)0xC0000010)
#define ND_NO_MEMORY		  ((nd_status)0xC0000017)
#define ND_INVALID_PARAMETER_MIX  ((nd_status)0xC0000030)
#define ND_DATA_OVERRUN		  ((nd_status)0xC000003C)
#define ND_DATA_ERROR		  ((nd_status)0xC000003E)
#define ND_SHARING_VIOLATION	  ((nd_status)0xC0000043)
#define ND_INSUFFICIENT_RESOURCES ((nd_status)0xC000009A)
#define ND_DEVICE_NOT_READY	  ((nd_status)0xC00000A3)
#define ND_IO_TIMEOUT		  ((nd_status)0xC00000B5)
#define ND_NOT_SUPPORTED	  ((nd_status)0xC00000BB)
#define ND_BAD_NETWORK_NAME	  ((nd_status)0xC00000CC)
#define ND_INTERNAL_ERROR	  ((nd_status)0xC00000E5)
#define ND_INVALID_PARAMETER_1	  ((nd_status)0xC00000EF)
#define ND_INVALID_PARAMETER_2	  ((nd_status)0xC00000F0)
#define ND_INVALID_PARAMETER_3	  ((nd_status)0xC00000F1)
#define ND_INVALID_PARAMETER_4	  ((nd_status)0xC00000F2)
#define ND_INVALID_PARAMETER_5	  ((nd_status)0xC00000F3)
#define ND_INVALID_PARAMETER_6	  ((nd_status)0xC00000F4)
#define ND_INVALID_PARAMETER_7	  ((nd_status)0xC00000F5)
#define ND_INVALID_PARAMETER_8	  ((nd_status)0xC00000F6)
#define ND_INVALID_PARAMETER_9	  ((nd_status)0xC00000F7)
#define ND_INVALID_PARAMETER_10	  ((nd_status)0xC00000F8)
#define ND_CANCELED		  ((nd_status)0xC0000120)
#define ND_REMOTE_ERROR		  ((nd_status)0xC000013D)
#define ND_INVALID_ADDRESS	  ((nd_status)0xC0000141)
#define ND_INVALID_DEVICE_STATE	  ((nd_status)0xC0000184)
#define ND_INVALID_BUFFER_SIZE	  ((nd_status)0xC0000206)
#define ND_TOO_MANY_ADDRESSES	  ((nd_status)0xC0000209)
#define ND_ADDRESS_ALREADY_EXISTS ((nd_status)0xC000020A)
#define ND_CONNECTION_DISCONNECTED ((nd_status)0xC000020C)
#define ND_CONNECTION_REFUSED	  ((nd_status)0xC0000236)
#define ND_ADDRESS_ALREADY_ASSOCIATED ((nd_status)0xC0000238)
#define ND_ADDRESS_NOT_ASSOCIATED ((nd_status)0xC0000239)
#define ND_CONNECTION_INVALID	  ((nd_status)0xC000023A)
#define ND_CONNECTION_ACTIVE	  ((nd_status)0xC000023B)
#define ND_NETWORK_UNREACHABLE	  ((nd_status)0xC000023C)
#define ND_HOST_UNREACHABLE	  ((nd_status)0xC000023D)
#define ND_CONNECTION_ABORTED	  ((nd_status)0xC0000241)
#define ND_DEVICE_REMOVED	  ((nd_status)0xC00002B6)

/* "ND_IO_TIMEOUT" and the like; never NULL. */
const char *nd_status_name(nd_status status);

/* ---- asynchronous requests ------------------------------------------------------------------------ */

/* Zero it before its first use; it must stay in place, untouched, until the request completed. */
struct nd_overlapped {
	nd_status status;	 /* ND_PENDING while under way (R-OV-02) */
	uint32_t internal;
	void *internal_ptr[2];
};
/* Status now; never blocks. */
nd_status nd_overlapped_status(const struct nd_overlapped *ov);
/* Wait until it completed, at most timeout_ms (-1: for ever). Returns its status, or ND_TIMEOUT. */
nd_status nd_overlapped_wait(struct nd_overlapped *ov, int timeout_ms);

/* ---- adapter -------------------------------------------------------------------------------------- */

struct nd_adapter;
struct nd_pd;
struct nd_cq;
struct nd_mr;
struct nd_qp;
struct nd_connector;
struct nd_listener;

struct nd_adapter_info {
	uint64_t adapter_id;
	uint64_t max_registration_bytes, max_transfer_bytes;
	uint32_t max_initiator_sge, max_receive_sge, max_read_sge;
	uint32_t max_inline_bytes, inline_request_threshold, large_request_threshold;
	uint32_t max_inbound_reads, max_outbound_reads;
	uint32_t max_receive_depth, max_initiator_depth, max_cq_depth, max_srq_depth;
	uint32_t max_caller_data, max_callee_data; /* Connect; Accept and Reject */
	uint32_t path_mtu;			   /* bytes */
	uint32_t shard, numa_node;		   /* where this adapter instance lives */
	uint32_t flags;				   /* ND_ADAPTER_FLAG_* */
	char daemon_version[32];
};
#define ND_ADAPTER_FLAG_IN_ORDER_DMA	  0x00000001u
#define ND_ADAPTER_FLAG_LOOPBACK	  0x00010000u

/* Options of nd_adapter_open(); NULL stands for all zero. */
struct nd_open_options {
	const char *socket_path; /* NULL: environment NDD_SOCKET, else the default path */
	uint32_t placement;	 /* 0: any; k: shard k-1 of the daemon, a hint */
};
/*
 * Local addresses that the daemon serves. *count: in, room in list; out, how many there are.
 * ND_BUFFER_OVERFLOW: more than room. ND_DEVICE_NOT_READY: no daemon at the socket.
 */
nd_status nd_query_addresses(
	const struct nd_open_options *opt, struct sockaddr_storage *list, uint32_t *count);
/* The local address that reaches remote, as nd_query_addresses() lists them; by prefix, then the
 * first of the family. ND_NETWORK_UNREACHABLE: none of that family. */
nd_status nd_resolve_address(const struct nd_open_options *opt, const struct sockaddr *remote,
	socklen_t remote_bytes, struct sockaddr_storage *local);
/*
 * Open an adapter instance by one of its local addresses; it lives on one shard of the daemon.
 * ND_INVALID_ADDRESS: not an address of the daemon; ND_DEVICE_NOT_READY: no daemon there (or not
 * permitted); ND_NOT_SUPPORTED: daemon and library don't fit (nd_last_error() says how);
 * ND_INSUFFICIENT_RESOURCES: too many sessions.
 */
nd_status nd_adapter_open(const struct sockaddr *local, socklen_t local_bytes,
	const struct nd_open_options *opt, struct nd_adapter **adapter);
/* Close it and all that was made from it. */
void nd_adapter_close(struct nd_adapter *a);
nd_status nd_adapter_query(struct nd_adapter *a, struct nd_adapter_info *info);
/* Words about the last failure of a control call in this thread; "" if there are none. */
const char *nd_last_error(void);

/* ---- arena: memory that the daemon can reach without a copy --------------------------------------- */

/* bytes of zeroed, 64-byte aligned memory (2 MiB aligned from 2 MiB on), NULL if there is none left. Thread safe. */
void *nd_alloc(struct nd_adapter *a, size_t bytes);
void nd_free(struct nd_adapter *a, void *p);

/* ---- protection domain, memory region ---------------------------------------------------------------- */

nd_status nd_pd_create(struct nd_adapter *a, struct nd_pd **pd);
nd_status nd_pd_close(struct nd_pd *pd); /* ND_DEVICE_BUSY: still used */

#define ND_MR_FLAG_ALLOW_LOCAL_WRITE  0x00000001u
#define ND_MR_FLAG_ALLOW_REMOTE_READ  0x00000002u
#define ND_MR_FLAG_ALLOW_REMOTE_WRITE 0x00000005u
#define ND_MR_FLAG_RDMA_READ_SINK     0x00000008u
/*
 * Register arena memory [buf, buf+bytes). ND_INVALID_PARAMETER: NULL or unknown flags;
 * ND_INVALID_BUFFER_SIZE: 0 bytes; ND_NOT_SUPPORTED: memory that is not of nd_alloc() (this version
 * moves arena memory only); ND_INSUFFICIENT_RESOURCES.
 */
nd_status nd_mr_register(struct nd_pd *pd, void *buf, size_t bytes, uint32_t flags, struct nd_mr **mr);
nd_status nd_mr_deregister(struct nd_mr *mr);
uint32_t nd_mr_local_token(const struct nd_mr *mr);
uint32_t nd_mr_remote_token(const struct nd_mr *mr); /* host order here */

/* ---- completion queue ----------------------------------------------------------------------------------- */

enum nd_request_type {
	ND_REQUEST_RECEIVE = 0,
	ND_REQUEST_SEND = 1,
	ND_REQUEST_BIND = 2,
	ND_REQUEST_INVALIDATE = 3,
	ND_REQUEST_READ = 4,
	ND_REQUEST_WRITE = 5,
};
struct nd_result { /* the layout of ND2_RESULT */
	nd_status status;
	uint32_t bytes_transferred;
	void *qp_context;
	void *request_context;
	enum nd_request_type request_type;
	uint32_t detail; /* transport's word on a failure, for people: nd_detail_name() */
};
const char *nd_detail_name(uint32_t detail);

#define ND_CQ_NOTIFY_ERRORS    0u
#define ND_CQ_NOTIFY_ANY       1u
#define ND_CQ_NOTIFY_SOLICITED 2u

nd_status nd_cq_create(struct nd_adapter *a, uint32_t depth, struct nd_cq **cq);
/* Pending notifications complete with ND_CANCELED. ND_DEVICE_BUSY: queue pairs use it. */
nd_status nd_cq_close(struct nd_cq *cq);
/*
 * Take up to n results; never blocks. Returns their number; when none is left and the queue can make
 * no more: ND_DEVICE_REMOVED, ND_BUFFER_OVERFLOW (overrun) or ND_INTERNAL_ERROR, all negative.
 */
int32_t nd_cq_get_results(struct nd_cq *cq, struct nd_result *results, uint32_t n);
/* Ask for one notification (R-CQ-..): ov completes at the next event of that type, or at once if an
 * untaken result is newer than the last notification. */
nd_status nd_cq_notify(struct nd_cq *cq, uint32_t type, struct nd_overlapped *ov);
nd_status nd_cq_cancel(struct nd_cq *cq); /* pending notifications complete with ND_CANCELED */
/*
 * For event loops: nd_cq_arm() arms like nd_cq_notify() but reports by making nd_cq_fd() readable;
 * returns ND_SUCCESS if armed or ND_PENDING... see doc; call nd_cq_ack() once after poll() said so.
 */
int nd_cq_fd(struct nd_cq *cq);
nd_status nd_cq_arm(struct nd_cq *cq, uint32_t type);
void nd_cq_ack(struct nd_cq *cq);

/* ---- queue pair ------------------------------------------------------------------------------------------- */

struct nd_sge {
	void *buffer;
	uint32_t bytes;
	uint32_t token; /* local */
};
#define ND_OP_FLAG_SILENT_SUCCESS	  0x00000001u
#define ND_OP_FLAG_READ_FENCE		  0x00000002u
#define ND_OP_FLAG_SEND_AND_SOLICIT_EVENT 0x00000004u
#define ND_OP_FLAG_INLINE		  0x00000020u

struct nd_qp_options {
	struct nd_cq *receive_cq, *initiator_cq;
	void *context; /* nd_result.qp_context */
	uint32_t receive_depth, initiator_depth;
	uint32_t max_receive_sge, max_initiator_sge;
	uint32_t inline_bytes;
};
/* ND_INVALID_PARAMETER_k as CreateQueuePair's; ND_INSUFFICIENT_RESOURCES. */
nd_status nd_qp_create(struct nd_pd *pd, const struct nd_qp_options *opt, struct nd_qp **qp);
nd_status nd_qp_close(struct nd_qp *qp);
/* Everything outstanding completes with ND_CANCELED; ends the connection's use. */
nd_status nd_qp_flush(struct nd_qp *qp);
uint32_t nd_qp_number(const struct nd_qp *qp); /* QPN, for people */

/*
 * Posts. ND_SUCCESS: queued, the outcome comes through the CQ. Else nothing was queued:
 * ND_CONNECTION_INVALID (not connected; not for receive), ND_NO_MORE_ENTRIES (queue full),
 * ND_DATA_OVERRUN (too many SGEs), ND_BUFFER_OVERFLOW (too many bytes), ND_INVALID_PARAMETER_k
 * (flags), ND_DEVICE_REMOVED. One thread at a time per queue.
 */
nd_status nd_qp_send(
	struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n, uint32_t flags);
nd_status nd_qp_receive(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n);
nd_status nd_qp_write(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t flags);
nd_status nd_qp_read(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	uint64_t remote_address, uint32_t remote_token, uint32_t flags);

/* ---- connections --------------------------------------------------------------------------------------------- */

nd_status nd_connector_create(struct nd_adapter *a, struct nd_connector **c);
/* Local port (network order inside addr; 0: chosen). Optional before nd_connector_connect(). */
nd_status nd_connector_bind(struct nd_connector *c, const struct sockaddr *addr, socklen_t bytes);
/*
 * Connect. Completes when the peer accepted (then nd_connector_complete_connect()) or not:
 * ND_CONNECTION_REFUSED, ND_NETWORK_UNREACHABLE (no route), ND_HOST_UNREACHABLE (no neighbour),
 * ND_IO_TIMEOUT (no answer to CM). Read limits are lowered to what the adapter and the peer grant.
 * Inline: ND_INVALID_BUFFER_SIZE (private data over max_caller_data), ND_CONNECTION_ACTIVE.
 */
nd_status nd_connector_connect(struct nd_connector *c, struct nd_qp *qp, const struct sockaddr *dest,
	socklen_t dest_bytes, uint32_t inbound_reads, uint32_t outbound_reads, const void *priv,
	uint32_t priv_bytes, struct nd_overlapped *ov);
nd_status nd_connector_complete_connect(struct nd_connector *c, struct nd_overlapped *ov);
/* Accept a request that nd_listener_get_request() delivered here; completes when established. */
nd_status nd_connector_accept(struct nd_connector *c, struct nd_qp *qp, uint32_t inbound_reads,
	uint32_t outbound_reads, const void *priv, uint32_t priv_bytes, struct nd_overlapped *ov);
nd_status nd_connector_reject(struct nd_connector *c, const void *priv, uint32_t priv_bytes);
nd_status nd_connector_read_limits(struct nd_connector *c, uint32_t *inbound, uint32_t *outbound);
/* The peer's private data, zero padded to the transport's field. *bytes: in room, out size;
 * ND_BUFFER_OVERFLOW: partial copy. */
nd_status nd_connector_private_data(struct nd_connector *c, void *buf, uint32_t *bytes);
nd_status nd_connector_local_address(struct nd_connector *c, struct sockaddr *addr, socklen_t *bytes);
nd_status nd_connector_peer_address(struct nd_connector *c, struct sockaddr *addr, socklen_t *bytes);
/* CM's reject reason of a refused Connect (28: by the application, 8: nobody listens), else 0. */
uint32_t nd_connector_reject_reason(const struct nd_connector *c);
/* Completes when the connection has ended, whoever ended it. */
nd_status nd_connector_notify_disconnect(struct nd_connector *c, struct nd_overlapped *ov);
nd_status nd_connector_disconnect(struct nd_connector *c, struct nd_overlapped *ov);
nd_status nd_connector_cancel(struct nd_connector *c);
/* Also ends the connection if there is one. */
void nd_connector_close(struct nd_connector *c);

nd_status nd_listener_create(struct nd_adapter *a, struct nd_listener **l);
/* Bind and listen at addr (port 0: chosen; wildcard address: all of this port). backlog 0: no limit.
 * ND_SHARING_VIOLATION: port in use. */
nd_status nd_listener_listen(
	struct nd_listener *l, const struct sockaddr *addr, socklen_t bytes, uint32_t backlog);
nd_status nd_listener_local_address(struct nd_listener *l, struct sockaddr *addr, socklen_t *bytes);
/* Completes when a request was put into the idle connector c. */
nd_status nd_listener_get_request(
	struct nd_listener *l, struct nd_connector *c, struct nd_overlapped *ov);
nd_status nd_listener_cancel(struct nd_listener *l);
void nd_listener_close(struct nd_listener *l); /* pending requests complete with ND_CANCELED */

#ifdef __cplusplus
}
#endif
#endif
