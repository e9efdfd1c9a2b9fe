/* SPDX-License-Identifier: BSD-3-Clause */
/* Beginning and end of everything: memory, frames in and out, time. */
#include <string.h>

#include "net/net_dad.h"
#include "net/net_frame.h"
#include "net/net_group.h"
#include "net/net_neigh.h"
#include "net/net_proto.h"
#include "net/net_state.h"

#define NEIGHBOURS_MAX 65536u

static uint32_t
bucket_bits(const struct net_cfg *cfg)
{
	uint32_t bits = 4;

	while (1u << bits < cfg->max_neighbours)
		bits++;
	return bits;
}

static size_t
bytes_align64(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

size_t
net_bytes(const struct net_cfg *cfg)
{
	if (cfg->max_neighbours == 0 || cfg->max_neighbours > NEIGHBOURS_MAX)
		return 0;
	return bytes_align64(sizeof(struct net)) +
	       bytes_align64(cfg->max_neighbours * sizeof(struct net_neigh)) +
	       2 * bytes_align64(sizeof(uint32_t) << bucket_bits(cfg));
}

struct net *
net_init(void *mem, const struct net_cfg *cfg)
{
	struct net *n = mem;
	char *p = (char *)mem + bytes_align64(sizeof(*n));

	n->cfg = *cfg;
	n->deadline_ns = UINT64_MAX;
	n->random = cfg->seed;
	n->neigh = (void *)p;
	n->bucket = (void *)(p + bytes_align64(cfg->max_neighbours * sizeof(struct net_neigh)));
	n->bucket_bits = bucket_bits(cfg);
	n->hop_bucket =
		(void *)((char *)n->bucket + bytes_align64(sizeof(uint32_t) << n->bucket_bits));
	net_neigh_init(n);
	return n;
}

const struct net_counters *
net_counters(const struct net *n)
{
	return &n->counters;
}

uint64_t
net_generation(const struct net *n)
{
	return n->generation;
}

/* ---- frames out ---- */

static uint8_t *
frame_within(struct net *n, uint32_t room, uint32_t link, const uint8_t dmac[6], unsigned ethertype)
{
	struct net_bare *tx = &n->tx[n->tx_tail % NET_TX_QUEUE];

	if (n->tx_tail - n->tx_head >= room) {
		n->counters.tx_dropped++;
		return NULL;
	}
	tx->link = link;
	memcpy(tx->frame, dmac, 6);
	memcpy(tx->frame + 6, n->link[link].mac, 6);
	net_put_be16(tx->frame + 12, ethertype);
	return tx->frame;
}

uint8_t *
net_frame(struct net *n, uint32_t link, const uint8_t dmac[6], unsigned ethertype)
{
	return frame_within(n, NET_TX_QUEUE, link, dmac, ethertype);
}

uint8_t *
net_answer_frame(struct net *n, uint32_t link, const uint8_t dmac[6], unsigned ethertype)
{
	return frame_within(n, NET_TX_ANSWERS, link, dmac, ethertype);
}

void
net_frame_send(struct net *n, size_t bytes)
{
	struct net_bare *tx = &n->tx[n->tx_tail % NET_TX_QUEUE];

	if (bytes < ETH_FRAME_MIN) { /* what an earlier frame left in the slot stays here */
		memset(tx->frame + bytes, 0, ETH_FRAME_MIN - bytes);
		bytes = ETH_FRAME_MIN;
	}
	tx->len = (uint32_t)bytes;
	n->tx_tail++;
	n->counters.tx_frames++;
}

/* ---- frames in ---- */

/* Sent to this link, to all stations, or to a group that it may be in (the IP address decides). */
static bool
is_for_link(const struct net_link *l, const uint8_t dmac[6])
{
	return (dmac[0] & 1) != 0 || memcmp(dmac, l->mac, 6) == 0;
}

void
net_link_rx(struct net *n, uint64_t now_ns, uint32_t link, const uint8_t *frame, size_t bytes)
{
	if (!mac_is_unicast(frame + 6)) {
		n->counters.rx_malformed++;
		return;
	}
	if (!is_for_link(&n->link[link], frame) || memcmp(frame + 6, n->link[link].mac, 6) == 0) {
		n->counters.rx_dropped++; /* another station's, or our own come back */
		return;
	}
	if (n->link[link].shared) {
		n->counters.rx_dropped++; /* the kernel has it, too, and answers */
		return;
	}
	switch (net_get_be16(frame + 12)) {
	case ETHERTYPE_ARP:
		net_arp_rx(n, now_ns, link, frame, bytes);
		break;
	case ETHERTYPE_V4:
		net_ip4_rx(n, now_ns, link, frame, bytes);
		break;
	case ETHERTYPE_V6:
		net_ip6_rx(n, now_ns, link, frame, bytes);
		break;
	default:
		n->counters.rx_dropped++;
	}
}

/* ---- time ---- */

uint64_t
net_random(struct net *n, uint64_t least, uint64_t most)
{
	n->random = n->random * 6364136223846793005ull + 1442695040888963407ull;
	return least + (n->random >> 11) % (most - least + 1);
}

void
net_tick(struct net *n, uint64_t now_ns)
{
	if (now_ns < n->deadline_ns)
		return;
	n->deadline_ns = UINT64_MAX;
	for (uint32_t i = 0; i < n->addresses; i++)
		net_dad_tick(n, now_ns, &n->address[i]);
	net_neigh_tick(n, now_ns);
	net_group_tick(n, now_ns);
}

uint64_t
net_next_deadline(const struct net *n)
{
	return n->deadline_ns;
}
