/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames from a shard to the control thread, which serves far fewer than an lcore receives: floods
 * end here. They go in lanes, by what they are and by a hash of where they come from, and the
 * control thread takes one from each in turn. So a flood of one kind is nothing to frames of
 * another, and one of a single source only to those that share its lane; a source can't choose the
 * lane that it shares.
 */
#ifndef NDD_UPWARD_H
#define NDD_UPWARD_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

struct rte_mbuf;
struct rte_ring;
struct roce_pkt;

enum ndd_up_kind {
	NDD_UP_MADS,
	NDD_UP_NEIGHBOURS, /* ARP, neighbour discovery */
	NDD_UP_ECHOES,
	NDD_UP_OTHERS,
	NDD_UP_KINDS,
};
#define NDD_UP_SOURCES 8u
#define NDD_UP_LANES   (NDD_UP_KINDS * NDD_UP_SOURCES)

struct ndd_up {
	struct rte_ring *lane[NDD_UP_LANES]; /* one producer, one consumer; by kind, then source */
	uint64_t secret[2];
	/* The control thread's. */
	_Alignas(RTE_CACHE_LINE_SIZE) uint32_t next; /* lane to look at */
};

/* False: no memory; what is there is to be freed all the same. */
bool ndd_up_init(struct ndd_up *up, uint32_t shard, int numa_node, const uint64_t secret[2]);
void ndd_up_fini(struct ndd_up *up);
/* The lane of a frame. mad: the packet that it was parsed to; NULL: it is no RoCEv2. */
uint32_t ndd_up_lane(
	const struct ndd_up *up, const uint8_t *frame, uint32_t bytes, const struct roce_pkt *mad);
/* False: the lane is full. */
bool ndd_up_put(struct ndd_up *up, uint32_t lane, struct rte_mbuf *m);
/* NULL: all lanes are empty. */
struct rte_mbuf *ndd_up_get(struct ndd_up *up);
bool ndd_up_empty(const struct ndd_up *up);

#endif
