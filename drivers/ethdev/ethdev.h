/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports of DPDK: any ethdev, PCI or virtual. Brought up with one queue pair, no offloads (the
 * engine makes ICRC and lengths), whole frames in one mbuf. Only AF_XDP has more queues: what the
 * kernel's driver spreads over the queues of the interface is collected again here.
 */
#ifndef NDD_ETHDEV_H
#define NDD_ETHDEV_H

#include <rte_ethdev.h>

#include "port/grace.h"
#include "port/port.h"

struct ethdev_cfg {
	const char *device; /* PCI address or vdev name */
	uint32_t mtu;	    /* IP MTU wanted */
	bool has_mac;
	uint8_t mac[6];
	bool shared; /* AF_XDP: the interface stays the kernel's, nothing of it is changed */
	struct rte_mempool *pool;
};

struct ethdev {
	uint16_t id;		    /* ethdev's number */
	uint32_t if_index;	    /* of the kernel's interface that it is; 0: of none */
	uint16_t queues, rx_first;  /* RX queues, and the one that is polled first */
	struct rte_mempool *chunks; /* AF_XDP: what its sockets' memory is made of */
	struct port_grace grace;
	bool started;
	bool moving;   /* bursts move frames: it is started, and its memory is there */
	bool lost;     /* memory of its peer's was missing; until it is restarted */
	bool changing; /* being restarted or closed */
	bool shared;   /* with the kernel */
	uint64_t memory_lost, losses_told; /* how often memory was missing, and tend() said so */
	bool mtu_refused; /* the driver would not take the MTU: it carries what its buffers carry */
};

/* NULL, or what failed, in words (static or in why_buf). The port is started. */
const char *ethdev_open(
	struct port *p, const struct ethdev_cfg *cfg, char *why_buf, size_t why_bytes);

static inline struct ethdev *
ethdev_of(const struct port *p)
{
	return (struct ethdev *)p->kind;
}

/* ---- ethdev_burst.c ---- */

uint16_t ethdev_rx(struct port *p, struct rte_mbuf **m, uint16_t n);
uint16_t ethdev_tx(struct port *p, struct rte_mbuf **m, uint16_t n);

/* ---- ethdev_ids.c ---- */

void ethdev_ids_find(const struct rte_eth_dev_info *info, struct port_ids *ids);
/* Of what DPDK's bus says of a device. False: it is no PCI device, ids are as they were. */
bool ethdev_ids_of_bus(const char *bus_info, struct port_ids *ids);

/* ---- ethdev_link.c ---- */

bool ethdev_link_is_up(struct port *p);

/* ---- ethdev_change.c ---- */

const char *ethdev_tend(struct port *p);
void ethdev_close(struct port *p);

/* ---- ethdev_xdp.c ---- */

/* The largest IP packet that AF_XDP carries in a page, behind a VLAN tag. */
#define ETHDEV_XDP_MTU_MAX 3502u

bool ethdev_is_xdp(const struct rte_eth_dev_info *info);
/* Frames for that many queues; NULL: no memory. */
struct rte_mempool *ethdev_xdp_chunks(const char *device, uint16_t queues, unsigned socket);

/* ---- ethdev_share.c ---- */

/* The BPF object that lets the kernel keep all of an interface but RoCEv2. */
const void *ethdev_share_program(size_t *bytes);

/* ---- ethdev_grace.c ---- */

/* Bursts on e are waited for by ethdev_grace_wait(), or no longer. */
void ethdev_grace_watch(struct ethdev *e, bool on);
/* Return when every burst has ended that had begun before. */
void ethdev_grace_wait(void);
/* On the lcore of the ports: the device that it is in a burst on, or NULL. */
struct ethdev *ethdev_grace_in_burst(void);

/* ---- ethdev_memory.c ---- */

/* From the handler of SIGBUS: true if addr is in a peer's memory. There is memory again, and the
 * port whose burst it was moves nothing more. */
bool ethdev_memory_restore(uintptr_t addr);
/* Has the driver still mapped what was missing in bursts of e? */
bool ethdev_memory_is_mapped(const struct ethdev *e);
/* The driver is about to unmap what begins there. */
void ethdev_memory_unmapped(void *base);

#endif
