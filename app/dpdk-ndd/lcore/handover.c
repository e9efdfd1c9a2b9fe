/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "lcore/handover.h"
#include "roce/roce.h"

static struct rte_ring *
ring_new(const char *what, uint32_t from, uint32_t to, unsigned elem, unsigned count, int numa_node)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "%s_%u_%u", what, from, to);
	return rte_ring_create_elem(name, elem, count, numa_node, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

bool
ndd_handover_init(
	struct ndd_handover *h, uint32_t shards, const int numa_node[], const uint64_t secret[2])
{
	const unsigned ptr = sizeof(void *);
	bool ok = true;

	memset(h, 0, sizeof(*h));
	h->shards = shards;
	for (uint32_t to = 0; to < shards; to++) {
		for (uint32_t from = 0; from < shards; from++) {
			if (from == to)
				continue;
			h->rx[from][to] =
				ring_new("rx", from, to, ptr, NDD_FRAME_RING, numa_node[to]);
			ok = ok && h->rx[from][to] != NULL;
		}
		ok = ndd_up_init(&h->up[to], to, numa_node[to], secret) && ok;
		h->event[to] = ring_new(
			"event", to, 0, sizeof(struct ndd_event), NDD_EVENT_RING, numa_node[to]);
		ok = ok && h->event[to] != NULL;
		if (to == NDD_IO_OWNER)
			continue;
		h->tx[to] = ring_new("tx", to, 0, ptr, NDD_FRAME_RING, numa_node[NDD_IO_OWNER]);
		ok = ok && h->tx[to] != NULL;
	}
	h->control_tx = ring_new("down", 0, 0, ptr, NDD_CONTROL_RING, numa_node[NDD_IO_OWNER]);
	ok = ok && h->control_tx != NULL;
	if (!ok)
		ndd_handover_fini(h);
	return ok;
}

static void
frame_ring_free(struct rte_ring *r)
{
	void *m;

	if (r == NULL)
		return;
	while (rte_ring_sc_dequeue(r, &m) == 0)
		rte_pktmbuf_free(m);
	rte_ring_free(r);
}

void
ndd_handover_fini(struct ndd_handover *h)
{
	for (uint32_t i = 0; i < h->shards; i++) {
		for (uint32_t to = 0; to < h->shards; to++)
			frame_ring_free(h->rx[i][to]);
		frame_ring_free(h->tx[i]);
		ndd_up_fini(&h->up[i]);
		rte_ring_free(h->event[i]);
	}
	frame_ring_free(h->control_tx);
	memset(h, 0, sizeof(*h));
}

/*
 * A frame whose QPN names no shard stays where it arrived: the engine counts it as unknown. What is
 * not RoCEv2 (ARP, ND, ICMP) and QP 1 (CM) is the control thread's; broken RoCEv2 is dropped.
 */
uint32_t
ndd_route(uint32_t shards, enum roce_wire_err err, const struct roce_pkt *pkt, uint32_t place)
{
	if (err == ROCE_WIRE_NOT_ROCE)
		return NDD_ROUTE_CONTROL;
	if (err != ROCE_WIRE_OK)
		return NDD_ROUTE_DROP;
	/* One test for both: numbers of queue pairs are neither. */
	if (unlikely(((pkt->qpn + 1) & ROCE_QPN_MASK) <= ROCE_QPN_GSI + 1)) {
		if (pkt->qpn == ROCE_QPN_GSI)
			return NDD_ROUTE_CONTROL;
		if (pkt->qpn == ROCE_QPN_MULTICAST)
			return NDD_ROUTE_GROUP;
	}
	return roce_place_shard(place) < shards ? roce_place_shard(place) : NDD_IO_OWNER;
}
