/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rings between threads: frames that arrived at one shard and belong to another, frames to
 * send, frames and events for the control thread. Every ring has one producer and one consumer.
 *
 * Ports are owned by shard 0, and the others receive and send through it: the only way for memif,
 * af_packet and TAP with fewer queues than lcores. A port with a queue for each shard, to which
 * packets are steered (the kernel's UDP sockets), fits the same rings: they carry what was steered
 * wrong, and what is for groups.
 */
#ifndef NDD_HANDOVER_H
#define NDD_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>

#include "config/config.h"
#include "lcore/upward.h"
#include "wire/packet.h"

#define NDD_SHARDS_MAX	 CONFIG_LCORES_MAX
#define NDD_IO_OWNER	 0u    /* the shard that owns the ports, and the first queue of each */
#define NDD_FRAME_RING	 1024u /* frames between two shards: a burst of several windows */
#define NDD_CONTROL_RING 512u  /* frames of the control thread */
#define NDD_EVENT_RING	 1024u

/* An engine event in terms that stay valid when the object is gone. */
struct ndd_event {
	uint64_t session; /* serial */
	uint64_t object;  /* serial of the queue pair or CQ */
	uint32_t handle;
	uint8_t type; /* enum roce_event_type */
	uint8_t reason, syndrome, reserved;
};

struct ndd_handover {
	uint32_t shards;
	struct rte_ring *rx[NDD_SHARDS_MAX][NDD_SHARDS_MAX]; /* [from][to], from != to */
	struct rte_ring *tx[NDD_SHARDS_MAX];	/* frames of shard i for the I/O owner */
	struct rte_ring *control_tx;		/* of the control thread, for the I/O owner */
	struct ndd_up up[NDD_SHARDS_MAX];	/* shard i to the control thread */
	struct rte_ring *event[NDD_SHARDS_MAX]; /* struct ndd_event, to the control thread */
};

/* False: no memory. numa_node of shard i is where its readers' rings lie; secret: for the lanes of
 * sources. */
bool ndd_handover_init(
	struct ndd_handover *h, uint32_t shards, const int numa_node[], const uint64_t secret[2]);
/* Free the rings and the frames still in them. */
void ndd_handover_fini(struct ndd_handover *h);

/* Which thread handles a received frame. */
#define NDD_ROUTE_CONTROL 0xffffffffu
#define NDD_ROUTE_DROP	  0xfffffffeu
#define NDD_ROUTE_GROUP	  0xfffffffdu /* multicast: to each shard that has members */
/* err and pkt as roce_wire_parse() gave them, place of its QPN; else the shard's number. */
uint32_t ndd_route(
	uint32_t shards, enum roce_wire_err err, const struct roce_pkt *pkt, uint32_t place);

/* Put an event, false: the ring is full. */
static inline bool
ndd_event_put(struct rte_ring *r, const struct ndd_event *ev)
{
	return rte_ring_sp_enqueue_elem(r, (void *)(uintptr_t)ev, sizeof(*ev)) == 0;
}

static inline bool
ndd_event_get(struct rte_ring *r, struct ndd_event *ev)
{
	return rte_ring_sc_dequeue_elem(r, ev, sizeof(*ev)) == 0;
}

#endif
