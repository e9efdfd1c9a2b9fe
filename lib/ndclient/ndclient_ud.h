/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams: queue pairs without a connection, which send single packets to any queue pair they
 * know the number and Q_Key of, and receive from any. Nothing is acknowledged: a datagram may be
 * lost, doubled or overtaken. NetworkDirect has none of this; the peers are those of verbs' UD and
 * of rdma_cm's UDP port space. A part of ndclient.h; from the daemon's minor version 7 on, with an
 * older one the calls that make objects return ND_NOT_SUPPORTED.
 *
 * Calls may be made in any thread, in callbacks too. Posts are as nd_qp_send(): one thread at a
 * time for each queue (R-POST-11).
 */
#ifndef NDCLIENT_UD_H
#define NDCLIENT_UD_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

struct nd_ah;
struct nd_ud_listener;

/* In front of each datagram received: the network's header, IPv6, or 20 zero bytes and IPv4.
 * Receives need room for it, and bytes_transferred counts it. */
#define ND_UD_HEADER_BYTES 40u
#define ND_UD_Q_KEY	   0x01234567u /* what rdma_cm's programs use */
#define ND_UD_GROUP_QP	   0xffffffu   /* number of all queue pairs in a multicast group */
#define ND_UD_LOOKUP_DATA  180u	       /* private data of a lookup */
#define ND_UD_ANSWER_DATA  136u	       /* and of its answer */

/* ---- queue pairs --------------------------------------------------------------------- */

/*
 * Make a queue pair of datagrams; it sends and receives at once. options: as for nd_qp_create().
 * q_key: what others must send with to reach it; others' datagrams are dropped, and so are those
 * that find no receive, or one too small, which then stays for the next. ND_ACCESS_VIOLATION: a key
 * with its top bit set is not for applications. nd_qp_receive(), nd_qp_flush(), nd_qp_number() and
 * nd_qp_close() are for it, too, and nd_qp_modify() to RESET: what is posted vanishes, and it sends
 * and receives anew, with the Q_Key it has, also after nd_qp_flush(). Connectors and all other
 * posts, states and attributes refuse it (ND_INVALID_DEVICE_REQUEST).
 * ND_INVALID_ADDRESS: the adapter's address was taken away from the daemon.
 */
nd_status nd_ud_qp_create(
	struct nd_pd *pd, const struct nd_qp_options *options, uint32_t q_key, struct nd_qp **qp);
/*
 * Give it another Q_Key. And start its send side again: a datagram that can't be sent (an address
 * handle that was closed or lost its way, memory that is not registered) fails with its result, and
 * stops the sending: what is posted behind it comes back ND_CANCELED, until this call returns.
 * Receiving goes on meanwhile. ND_ACCESS_VIOLATION as above; ND_INVALID_DEVICE_REQUEST: it is no
 * queue pair of datagrams; ND_INVALID_DEVICE_STATE: it is at its end.
 */
nd_status nd_ud_qp_modify(struct nd_qp *qp, uint32_t q_key);

/*
 * Send a datagram to the queue pair number remote_qp where ah leads, with the Q_Key that it wants;
 * a key with the top bit set stands for qp's own. If ah leads to a multicast group, remote_qp is
 * ND_UD_GROUP_QP, and each queue pair in the group that has this Q_Key gets the datagram. The
 * result says that it has left, nothing else. flags: ND_OP_FLAG_SILENT_SUCCESS,
 * _SEND_AND_SOLICIT_EVENT, _INLINE, _DEFER. As nd_qp_send() does, but: ND_BUFFER_OVERFLOW: longer
 * than nd_adapter_info.path_mtu; ND_ADDRESS_NOT_ASSOCIATED: the handle leads nowhere yet;
 * ND_INVALID_PARAMETER_4: a handle of another adapter; _5: no such queue pair number (2 to
 * 0xfffffe; to a group ND_UD_GROUP_QP, and no other); _7 (_8 with immediate): flags;
 * ND_INVALID_DEVICE_REQUEST: qp is not for datagrams. A path that is narrower than the adapter's
 * fails in the result (ND_DATA_OVERRUN).
 */
nd_status nd_ud_send(struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n,
	const struct nd_ah *ah, uint32_t remote_qp, uint32_t q_key, uint32_t flags);
/* The same, with four bytes that stand in the receiver's result as they are in memory. */
nd_status nd_ud_send_with_immediate(struct nd_qp *qp, void *context, const struct nd_sge *sge,
	uint32_t n, const struct nd_ah *ah, uint32_t remote_qp, uint32_t q_key, uint32_t immediate,
	uint32_t flags);

/* Results, with the sender of each received datagram: nd_ud_get_results() (ndclient_cq.h). */

/*
 * The address that a received datagram came from, by the header in front of it, port 0: where to
 * answer (nd_ah_resolve()). Sizes as for nd_connector_local_address() (R-CONN-19).
 * ND_INVALID_PARAMETER: no such header.
 */
nd_status nd_ud_source(const void *header, struct sockaddr *addr, socklen_t *bytes);
/* In the same way the address that it was sent to, port 0: the adapter's own, or a multicast
 * group's. */
nd_status nd_ud_destination(const void *header, struct sockaddr *addr, socklen_t *bytes);

/* ---- multicast groups ---------------------------------------------------------------- */

#define ND_UD_NOT_OWN 1u /* the queue pair does not get what it sends itself */

/*
 * From the return of this call on the queue pair also gets what is sent to the group: on the port
 * (and VLAN) of the adapter's address, from any address, with the queue pair's Q_Key, to
 * ND_UD_GROUP_QP. What queue pairs of this host send to the group, this one included, reaches it as
 * well (but see flags), whatever adapter and process they are of. Datagrams to the group and to the
 * queue pair itself come by the same receives; nd_ud_destination() tells them apart. It ends with
 * nd_ud_qp_detach() or the queue pair (W-MC-07, W-MC-09).
 *
 * group: an IPv4 or IPv6 multicast address, of the family of the adapter's address (the port does
 * not count); bytes: its size. flags: 0 or ND_UD_NOT_OWN. The daemon tells the network's switches
 * and routers by IGMP or MLD, and what was sent before they have heard of it may be missed. From
 * the daemon's minor version 11 on. It waits for the daemon, for no peer. ND_SUCCESS, or
 * ND_INVALID_ADDRESS: not a multicast address, of another family, one that does not leave the host
 * (ff01::/16), or the adapter's address was taken away; ND_ADDRESS_ALREADY_EXISTS: it is in that
 * group; ND_INSUFFICIENT_RESOURCES: one of the daemon's limits (limits.groups for each client,
 * limits.port_groups; 8 queue pairs of a client and 32 of an lcore in one group), or out of memory;
 * ND_INVALID_PARAMETER_4: flags; ND_INVALID_DEVICE_REQUEST: not a queue pair of datagrams;
 * ND_INVALID_DEVICE_STATE: it is at its end; ND_NOT_SUPPORTED: an older daemon, or a port of device
 * udp with addresses in its configuration; ND_DEVICE_REMOVED: the daemon has gone.
 */
nd_status nd_ud_qp_attach(
	struct nd_qp *qp, const struct sockaddr *group, socklen_t bytes, uint32_t flags);
/* The queue pair leaves the group: a datagram that arrives after the return does not reach it.
 * ND_SUCCESS; ND_INVALID_DEVICE_STATE: it is not in it, or no longer, since the adapter's address
 * was taken away; the rest as above. */
nd_status nd_ud_qp_detach(struct nd_qp *qp, const struct sockaddr *group, socklen_t bytes);

/* ---- address handles ----------------------------------------------------------------- */

/* Where datagrams go: any number of queue pairs of the adapter may use one. It leads nowhere before
 * one of the next two calls has completed with success, and from then on there; when the next hop
 * changes, it follows. When the daemon's new configuration has no way there any more, or not the
 * adapter's address, datagrams that are posted already fail, it leads nowhere again, and may be
 * tried again. */
nd_status nd_ah_create(struct nd_adapter *a, struct nd_ah **ah);
/*
 * Make it lead to an address (the port does not count), a host's or a multicast group's. Pends
 * (R-OV-04), then: ND_SUCCESS;
 * ND_HOST_UNREACHABLE, ND_NETWORK_UNREACHABLE, and it may be tried again. At once:
 * ND_INVALID_ADDRESS, ND_BAD_NETWORK_NAME (the wildcard), ND_ADDRESS_ALREADY_ASSOCIATED (it leads
 * somewhere, or is about to), ND_INSUFFICIENT_RESOURCES.
 */
nd_status nd_ah_resolve(
	struct nd_ah *ah, const struct sockaddr *remote, socklen_t bytes, struct nd_overlapped *ov);
/*
 * The same, and ask there for the datagram service at that port of rdma_cm's UDP port space, with
 * up to ND_UD_LOOKUP_DATA bytes of private data; nd_ah_service() has the answer. Also:
 * ND_BAD_NETWORK_NAME: a multicast group has no services;
 * ND_CONNECTION_REFUSED: no service listens there, or it refused (nd_ud_service.status says which);
 * ND_IO_TIMEOUT: no answer; ND_INVALID_BUFFER_SIZE: too much private data.
 */
nd_status nd_ah_look_up(struct nd_ah *ah, const struct sockaddr *remote, socklen_t bytes,
	const void *priv, uint32_t priv_bytes, struct nd_overlapped *ov);

struct nd_ud_service {
	uint32_t qp, q_key;	/* to send to */
	uint32_t status;	/* of the answer: 0; 1 no listener, 2 refused, 3 no resources... */
	uint32_t private_bytes; /* of the whole field: zero padded (R-CONN-08) */
	uint8_t private_data[ND_UD_ANSWER_DATA];
};
/* What nd_ah_look_up() was answered, also if refused. ND_ADDRESS_NOT_ASSOCIATED: nothing yet. */
nd_status nd_ah_service(struct nd_ah *ah, struct nd_ud_service *service);
/* End the pending request with ND_CANCELED; it may be tried again. ND_SUCCESS. */
nd_status nd_ah_cancel(struct nd_ah *ah);
/* Close it. Datagrams that are still posted with it fail. ND_SUCCESS. */
nd_status nd_ah_close(struct nd_ah *ah);

/* ---- services ------------------------------------------------------------------------ */

nd_status nd_ud_listener_create(struct nd_adapter *a, struct nd_ud_listener **l);
/* Be found by lookups at a local address and port; as nd_listener_listen(), which knows nothing of
 * these ports. backlog: most questions not yet answered, 0: 1,024; more are refused. */
nd_status nd_ud_listener_listen(
	struct nd_ud_listener *l, const struct sockaddr *addr, socklen_t bytes, uint32_t backlog);
/* Where it listens. ND_INVALID_DEVICE_STATE: it does not. */
nd_status nd_ud_listener_local_address(
	struct nd_ud_listener *l, struct sockaddr *addr, socklen_t *bytes);

struct nd_ud_question {
	struct sockaddr_storage peer; /* that asks */
	uint32_t peer_bytes;
	uint32_t id;
	uint32_t private_bytes; /* of the whole field: zero padded (R-CONN-08) */
	uint8_t private_data[ND_UD_LOOKUP_DATA];
};
/* Completes when a question comes; *question, which must stay in place meanwhile, is filled then.
 * Any number may be pending, and are served in order. ND_INVALID_DEVICE_STATE: it does not
 * listen. */
nd_status nd_ud_listener_get_question(
	struct nd_ud_listener *l, struct nd_ud_question *question, struct nd_overlapped *ov);
/*
 * Answer, once, with the number and Q_Key of a queue pair of datagrams, or with a refusal, and with
 * private data of up to ND_UD_ANSWER_DATA bytes; also when the listener is closed. If the answer is
 * lost and the question comes again, the daemon repeats the answer. ND_CONNECTION_ABORTED: answered
 * already, or the asking side has given up; ND_INVALID_DEVICE_REQUEST: qp is not for datagrams;
 * ND_INVALID_DEVICE_STATE: qp is at its end; ND_INVALID_BUFFER_SIZE.
 */
nd_status nd_ud_accept(struct nd_qp *qp, const struct nd_ud_question *question, const void *priv,
	uint32_t priv_bytes);
nd_status nd_ud_reject(struct nd_adapter *a, const struct nd_ud_question *question,
	const void *priv, uint32_t priv_bytes);
/* End all pending requests with ND_CANCELED, in order of issue; it goes on listening. */
nd_status nd_ud_listener_cancel(struct nd_ud_listener *l);
/* Close it; questions that were not taken are refused. ND_SUCCESS. */
nd_status nd_ud_listener_close(struct nd_ud_listener *l);

#ifdef __cplusplus
}
#endif
#endif
