/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port over memif: shared-memory rings between two processes of one machine. Its peer can be
 * another daemon, or a program over DPDK, libmemif or VPP.
 *
 * The peer writes into the same memory at any moment, and is believed nothing that it writes: each
 * index and each descriptor is read once and held against what the link has, frames are copied
 * before anything looks into them, and where each side stands is in memory of this process. A peer
 * that breaks the rules, or takes away memory, ends its link and nothing else. A thread of the
 * port's own connects, and does everything with the files that the peer sends: none of it can hold
 * up an lcore or the control thread.
 */
#ifndef NDD_MEMIF_H
#define NDD_MEMIF_H

#include <stddef.h>

#include "memif/memif_proto.h"
#include "port/port.h"

#define MEMIF_PORTS_MAX	  8u
#define MEMIF_THREAD_NAME "memif"
/* Of one link's memory, which is the client's: pages that it has not touched are charged to the
 * process that does. */
#define MEMIF_BYTES_MAX (UINT64_C(1) << 30)

struct rte_mempool;

struct memif_cfg {
	bool server; /* listens; the other end has the memory */
	uint32_t id; /* both ends have the same */
	bool is_abstract;
	char socket[108];		 /* its path, or its abstract name */
	char secret[MEMIF_SECRET_BYTES]; /* "": none */
	uint32_t buffer_bytes;		 /* of each buffer; the client's to say, as is the next */
	uint8_t log2_ring;		 /* 2^n buffers in each direction */
	bool has_mac;			 /* else it is a random one */
	uint8_t mac[6];
	uint32_t mtu; /* of IP packets, as paths are to have it */
	struct rte_mempool *pool;
};

/* NULL, or what failed, in words (static or in why). The link is made in the background. */
const char *memif_open(struct port *p, const char *device, const struct memif_cfg *cfg, char *why,
	size_t why_bytes);

/* From the handler of SIGBUS: true if addr is in memory of a link. There is memory again, and the
 * link ends. */
bool memif_memory_restore(uintptr_t addr);

#endif
