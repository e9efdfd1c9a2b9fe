/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datagrams to groups. The I/O owner's table of groups is that of all shards: it hands a frame,
 * with a reference for each, to the shards that have members, whose tables name them. A frame is
 * only read, so that shards can share it.
 */
#include <string.h>

#include "lcore/shard.h"
#include "lcore/turn.h"

/* Other shards' references. A full ring drops, as it does for other frames. */
static void
hand_to_shards(struct ndd_shard *s, struct rte_mbuf *m, uint32_t shards, uint32_t *touched)
{
	for (uint32_t to = 0; to < s->plane->shards; to++) {
		if (to == s->id || (shards >> to & 1) == 0)
			continue;
		rte_mbuf_refcnt_update(m, 1);
		if (rte_ring_sp_enqueue(s->plane->rings.rx[s->id][to], m) == 0) {
			s->count.handed_over++;
			*touched |= 1u << to;
			continue;
		}
		s->count.handover_full++;
		rte_mbuf_refcnt_update(m, -1);
	}
}

static const struct roce_group *
group_find(const struct ndd_shard *s, const struct rte_mbuf *m, const struct roce_pkt *pkt)
{
	return s->groups != NULL ? roce_groups_find(s->groups, pkt, m->port) : NULL;
}

/* The frame reaches the members of all shards that s knows. */
static void
group_deliver(struct ndd_shard *s, uint64_t now_ns, const struct roce_group *g, struct rte_mbuf *m,
	const struct roce_pkt *pkt, uint32_t *touched)
{
	if (s->id == NDD_IO_OWNER)
		hand_to_shards(s, m, g->elsewhere, touched);
	if (g->members != 0)
		roce_shard_multicast(s->engine, now_ns, pkt, s->groups, g);
}

/*
 * To a group by its MAC address, or to this station by a switch that has made unicast of it; not
 * for another station, and not our own that a switch sends back (W-MC-08).
 */
static bool
is_from_the_link(const struct port *p, const uint8_t *frame)
{
	return ((frame[0] & 1) != 0 || memcmp(frame, p->mac, 6) == 0) &&
	       memcmp(frame + 6, p->mac, 6) != 0;
}

void
ndd_lcore_multicast(struct ndd_shard *s, uint64_t now_ns, struct rte_mbuf *m,
	const struct roce_pkt *pkt, uint32_t *touched)
{
	const struct roce_group *g = group_find(s, m, pkt);

	/* Frames come to the I/O owner by ports, and to the others from it: to a port's other
	 * queues no group is steered, and a frame that says so is of none. */
	if (s->id == NDD_IO_OWNER &&
		!is_from_the_link(&s->plane->port[m->port], rte_pktmbuf_mtod(m, const uint8_t *)))
		s->count.multicast_foreign++;
	else if (g == NULL)
		s->count.multicast_no_group++;
	else
		group_deliver(s, now_ns, g, m, pkt, touched);
}

/*
 * A client that sends to members here without end costs its own copies only: what is beyond the
 * turn's budget is lost, as datagrams may be, and delays no other client.
 */
void
ndd_lcore_loop(struct ndd_shard *s, struct rte_mbuf *m)
{
	if (s->looped_n == NDD_BURST) {
		s->count.multicast_full++;
		return;
	}
	rte_mbuf_refcnt_update(m, 1);
	s->looped[s->looped_n++] = m;
}

unsigned
ndd_lcore_looped(struct ndd_shard *s, uint64_t now_ns)
{
	const uint32_t n = s->looped_n;
	uint32_t touched = 0;
	struct roce_pkt pkt;

	s->looped_n = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *m = s->looped[i];
		const struct roce_group *g = NULL;

		/* The daemon's own frames to all stations (ARP, MLD...) are not meant. */
		if (roce_wire_parse(rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, &pkt) ==
				ROCE_WIRE_OK &&
			pkt.qpn == ROCE_QPN_MULTICAST)
			g = group_find(s, m, &pkt);
		if (g != NULL)
			group_deliver(s, now_ns, g, m, &pkt, &touched);
	}
	rte_pktmbuf_free_bulk(s->looped, n);
	if (touched != 0)
		ndd_lcore_wake(s, touched);
	return n;
}
