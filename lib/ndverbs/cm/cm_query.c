/* SPDX-License-Identifier: BSD-3-Clause */
/* What an identifier has become: addresses, the path, and attributes for its queue pair. */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "ndclient/session/address.h"
#include "ndclient/session/adapter.h"
#include "ndverbs/address.h"
#include "ndverbs/cm/cm.h"
#include "ndverbs/query.h"

#define PKEY	  0xffff
#define HOP_LIMIT 64
#define RATE	  5  /* 10 Gb/s, as a path record says it: of no consequence here */
#define LIFETIME  17 /* 4.096 us * 2^17 */
/* How long a peer waits when there is no receive: the code of 640 us. The kernel gives 0, which is
 * the longest of all. */
#define RNR_TIMER 12

static void
fill_address(struct sockaddr_in6 *to, const struct ndsh_addr *from)
{
	static const struct ndsh_addr none;
	struct sockaddr_storage address;

	if (memcmp(from, &none, sizeof(none)) == 0)
		return;
	(void)nd_address_to(&address, from);
	memcpy(to, &address, sizeof(*to));
}

static void
fill_path(struct ib_user_path_rec *p, const struct cm_id *id)
{
	memcpy(p->sgid, id->local.ip, sizeof(p->sgid));
	memcpy(p->dgid, id->remote.ip, sizeof(p->dgid));
	p->pkey = htobe16(PKEY);
	p->hop_limit = HOP_LIMIT;
	p->traffic_class = id->tos;
	p->reversible = 1;
	p->numb_path = 1;
	p->mtu_selector = p->rate_selector = p->packet_life_time_selector = 2; /* exactly */
	p->rate = RATE;
	p->packet_life_time = LIFETIME;
	if (id->session != NULL)
		p->mtu = ndv_mtu_of_bytes(id->session->adapter->info.path_mtu);
	else if (!LIST_EMPTY(&id->ports))
		p->mtu = ndv_mtu_of_bytes(LIST_FIRST(&id->ports)->session->adapter->info.path_mtu);
}

void
cm_query_route(const struct cm_id *id, struct rdma_ucm_query_route_resp *r)
{
	fill_address(&r->src_addr, &id->local);
	fill_address(&r->dst_addr, &id->remote);
	if (id->device == NULL)
		return;
	r->node_guid = ndv_guid_of(&id->device->address);
	r->port_num = 1;
	fill_path(&r->ib_route[0], id);
	r->num_paths = cm_state(id) >= CM_ROUTE;
}

/* ---- attributes of the queue pair --------------------------------------------------------- */

static void
attributes_of_init(const struct cm_id *id, struct ib_uverbs_qp_attr *a)
{
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	a->port_num = 1;
	a->qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
	if (id->has_peer && id->peer.peer.inbound_reads != 0)
		a->qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
}

static void
attributes_of_rtr(const struct cm_id *id, struct ib_uverbs_qp_attr *a)
{
	const struct ndsh_ev_cm *peer = &id->peer;

	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	a->ah_attr.is_global = 1;
	a->ah_attr.port_num = 1;
	memcpy(a->ah_attr.grh.dgid, id->remote.ip, sizeof(a->ah_attr.grh.dgid));
	a->ah_attr.grh.flow_label = peer->flow_label;
	a->ah_attr.grh.hop_limit = peer->hop_limit;
	a->ah_attr.grh.traffic_class = peer->tos;
	a->path_mtu = ndv_mtu_of_bytes(peer->mtu_bytes);
	a->dest_qp_num = peer->peer.qpn;
	a->rq_psn = id->psn;
	a->max_dest_rd_atomic = peer->peer.inbound_reads;
	a->min_rnr_timer = RNR_TIMER;
}

static void
attributes_of_rts(const struct cm_id *id, struct ib_uverbs_qp_attr *a)
{
	const struct ndsh_ev_cm *peer = &id->peer;

	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
	a->sq_psn = peer->peer.psn;
	a->timeout = id->has_ack_timeout ? id->ack_timeout : peer->ack_timeout;
	a->retry_cnt = peer->peer.retries;
	a->rnr_retry = peer->peer.rnr_retries;
	a->max_rd_atomic = peer->peer.outbound_reads;
}

/* For any step, as the kernel has it: those that follow INIT need nothing of it. */
static void
attributes_of_datagrams(struct ib_uverbs_qp_attr *a)
{
	a->qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
	a->port_num = 1;
	a->qkey = CM_Q_KEY;
}

/* For a step to that state. */
int
cm_init_qp_attr(const struct cm_id *id, uint32_t state, struct ib_uverbs_qp_attr *a)
{
	if (id->device == NULL)
		return EINVAL;
	a->qp_state = state;
	if (id->datagrams) {
		attributes_of_datagrams(a);
		return 0;
	}
	switch (state) {
	case IBV_QPS_INIT:
		attributes_of_init(id, a);
		return 0;
	case IBV_QPS_RTR:
	case IBV_QPS_RTS:
		if (!id->has_peer)
			return EINVAL;
		(state == IBV_QPS_RTR ? attributes_of_rtr : attributes_of_rts)(id, a);
		return 0;
	default:
		return EINVAL;
	}
}
