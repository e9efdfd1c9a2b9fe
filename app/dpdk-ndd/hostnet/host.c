/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control thread as a host on the ports: frames that shards sent up go to the IP stack or to
 * the CM; frames of these two go to the shard that owns the ports.
 */
#include "hostnet/host.h"

#include <string.h>

#include "control/daemon.h"
#include "hostnet/address.h"
#include "hostnet/next_hop.h"
#include "hostnet/path.h"
#include "platform/clock.h"
#include "wire/gsi.h"

#define RX_BUDGET 256u /* frames per shard and round, then the sockets' turn */
#define TX_BUDGET 256u

/* ---- in ---- */

static void
rx_mad(struct ndd *d, uint64_t now_ns, const uint8_t *frame, const struct roce_pkt *pkt)
{
	struct roce_gid from, to;
	struct net_ip src, dst;

	roce_pkt_src_gid(pkt, &from);
	roce_pkt_dst_gid(pkt, &to);
	src = ndd_ip(from.raw);
	dst = ndd_ip(to.raw);
	if (!net_takes(d->net, &src, &dst, pkt->vlan) || !roce_icrc_ok(pkt))
		return;
	net_confirm(d->net, now_ns, &src, frame + 6); /* the source MAC: it is alive there */
	/* A network may deliver at one port what is for the other's address. */
	roce_cm_rx(d->cm, now_ns, pkt, (uint32_t)net_local_port(d->net, &dst));
}

static void
rx_frame(struct ndd *d, uint64_t now_ns, struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct roce_pkt pkt;

	if (roce_wire_parse(frame, m->data_len, &pkt) == ROCE_WIRE_OK)
		rx_mad(d, now_ns, frame, &pkt);
	else
		net_rx(d->net, now_ns, m->port, frame, m->data_len);
	rte_pktmbuf_free(m);
}

bool
ndd_host_rx(struct ndd *d, uint64_t now_ns, uint32_t shard)
{
	struct ndd_up *up = &d->plane.rings.up[shard];
	struct rte_mbuf *m;
	uint32_t n;

	for (n = 0; n < RX_BUDGET && (m = ndd_up_get(up)) != NULL; n++)
		rx_frame(d, now_ns, m);
	return n == RX_BUDGET;
}

/* ---- out ---- */

static struct rte_mbuf *
new_frame(struct ndd *d, uint32_t port)
{
	struct rte_mbuf *m = NULL;

	if (!rte_ring_full(d->plane.rings.control_tx))
		m = rte_pktmbuf_alloc(d->plane.pool);
	if (m != NULL)
		m->port = (uint16_t)port;
	return m;
}

static void
send_frame(struct ndd *d, struct rte_mbuf *m, uint32_t bytes)
{
	m->data_len = (uint16_t)bytes;
	m->pkt_len = bytes;
	if (rte_ring_sp_enqueue(d->plane.rings.control_tx, m) != 0)
		rte_pktmbuf_free(m);
	ndd_wakeup_notify(&d->plane.shard[NDD_IO_OWNER]->wakeup);
}

/* False: the next hop is being resolved. */
static bool
send_mad(struct ndd *d, uint64_t now_ns, const struct roce_cm_tx *tx)
{
	struct roce_path path = {
		.sgid = tx->sgid, .dgid = tx->dgid, .tos = tx->tos, .ttl = tx->hop_limit};
	struct net_nexthop hop;
	struct rte_mbuf *m;
	enum ndsh_status status =
		ndd_next_hop(d->net, now_ns, NET_OWNER_HOST, &tx->sgid, &tx->dgid, &hop);

	if (status == NDSH_PENDING)
		return false;
	if (status != NDSH_OK)
		return true; /* dropped: the CM sends it again */
	ndd_path_hop(&path, &hop);
	m = new_frame(d, hop.port);
	if (m != NULL)
		send_frame(d, m,
			roce_gsi_build(rte_pktmbuf_mtod(m, uint8_t *), &path,
				d->mad_psn++ & ROCE_PSN_MASK, tx->mad));
	return true;
}

/* A neighbour answered: perhaps the next hop of one that waits. */
void
ndd_host_retry_mads(struct ndd *d, uint64_t now_ns)
{
	uint64_t generation = net_generation(d->net);

	if (generation == d->mads.generation)
		return;
	d->mads.generation = generation;
	for (uint32_t i = 0; i < NDD_MADS_WAITING && d->mads.waiting != 0; i++) {
		struct ndd_mad *w = &d->mads.mad[i];

		if (w->until_ns == 0)
			continue;
		if (!send_mad(d, now_ns, &w->tx) && now_ns < w->until_ns)
			continue;
		ndd_mads_free(&d->mads, w);
	}
}

static void
tx_net(struct ndd *d)
{
	struct net_tx tx;

	for (uint32_t n = 0; n < TX_BUDGET && net_tx(d->net, &tx); n++) {
		struct rte_mbuf *m = new_frame(d, tx.port);

		if (m == NULL)
			continue;
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), tx.frame, tx.len);
		send_frame(d, m, tx.len);
	}
}

void
ndd_host_tx(struct ndd *d, uint64_t now_ns)
{
	struct roce_cm_tx tx;

	for (uint32_t n = 0; n < TX_BUDGET && roce_cm_tx(d->cm, &tx); n++)
		if (!send_mad(d, now_ns, &tx))
			ndd_mads_keep(&d->mads, now_ns, &tx);
	tx_net(d);
}
