/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One Ethernet port of DPDK: any ethdev, PCI or virtual. Brought up with one queue pair, no
 * offloads (the engine makes ICRC and lengths), whole frames in one mbuf. Only AF_XDP has more
 * queues: what the kernel's driver spreads over the queues of the interface is collected again
 * here.
 */
#ifndef NDD_PORT_H
#define NDD_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>

#define PORT_NAME_BYTES 64u

struct port_cfg {
	const char *device; /* PCI address or vdev name */
	uint32_t mtu;	    /* IP MTU wanted */
	bool has_mac;
	uint8_t mac[6];
	bool reconnects; /* a memif client: the driver connects when started, and only then */
	bool shared;	 /* AF_XDP: the interface stays the kernel's, nothing of it is changed */
	struct rte_mempool *pool;
};

struct port_ids { /* PCI's; 0: it is no PCI device */
	uint16_t vendor, device;
};

struct port {
	uint16_t id;		    /* ethdev's number */
	uint32_t if_index;	    /* of the kernel's interface that it is; 0: of none */
	uint16_t queues, rx_first;  /* RX queues, and the one that is polled first */
	struct rte_mempool *chunks; /* AF_XDP: what its sockets' memory is made of */
	int numa_node;
	struct port_ids ids;
	uint32_t mtu;
	uint8_t mac[6];
	char device[PORT_NAME_BYTES];
	uint32_t bursts; /* odd: an lcore is in one; see port_grace.c */
	bool reconnects, started;
	bool moving;   /* bursts move frames: it is started, and its memory is there */
	bool lost;     /* memory of its peer's was missing; until it is restarted */
	bool changing; /* being restarted or closed */
	bool shared;   /* with the kernel */
	bool link_up;  /* as port_link_changed() saw it last */
	uint64_t links_up, links_down;	   /* how often it changed */
	uint64_t memory_lost, losses_told; /* how often memory was missing, and the log said so */
	bool mtu_refused; /* the driver would not take the MTU: it carries what its buffers carry */
};

/* NULL, or what failed, in words (static or in why_buf). The port is started. */
const char *port_open(struct port *p, const struct port_cfg *cfg, char *why_buf, size_t why_bytes);
void port_close(struct port *p);
/* Stop and start the device, to connect again, in the background; bursts move nothing meanwhile. */
void port_restart(struct port *p);

/* ---- port_ids.c ---- */

void port_ids_find(const struct rte_eth_dev_info *info, struct port_ids *ids);
/* Of what DPDK's bus says of a device. False: it is no PCI device, ids are as they were. */
bool port_ids_of_bus(const char *bus_info, struct port_ids *ids);

/* ---- port_link.c ---- */

/* True if the link went up or down since the last call: p->link_up. */
bool port_link_changed(struct port *p);

/* ---- port_xdp.c ---- */

/* The largest IP packet that AF_XDP carries in a page, behind a VLAN tag. */
#define PORT_XDP_MTU_MAX 3502u

bool port_is_xdp(const struct rte_eth_dev_info *info);
/* Frames for that many queues; NULL: no memory. */
struct rte_mempool *port_xdp_chunks(const char *device, uint16_t queues, unsigned socket);

/* ---- port_share.c ---- */

/* The BPF object that lets the kernel keep all of an interface but RoCEv2. */
const void *port_share_program(size_t *bytes);

/* ---- port_grace.c ---- */

/* Bursts on p are waited for by port_grace_wait(), or no longer. */
void port_grace_watch(struct port *p, bool on);
/* Return when every burst has ended that had begun before. */
void port_grace_wait(void);
/* On the lcore of the ports: the port that it is in a burst on, or NULL. */
struct port *port_grace_in_burst(void);

/* ---- port_memory.c ---- */

/* From the handler of SIGBUS: true if addr is in a peer's memory. There is memory again, and the
 * port whose burst it was moves nothing more. */
bool port_memory_restore(uintptr_t addr);
/* Has the driver still mapped what was missing in bursts of p? */
bool port_memory_is_mapped(const struct port *p);
/* How often a peer's memory was not taken since the last call. */
uint32_t port_memory_refusals(void);
/* The driver is about to unmap what begins there. */
void port_memory_unmapped(void *base);

/* The bursts: for the one lcore that owns the port. */
static inline void
port_burst_edge(struct port *p)
{
	__atomic_store_n(&p->bursts, p->bursts + 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* By turns each queue is the first: a busy one does not keep the others waiting. */
static inline uint16_t
port_rx_queues(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	uint16_t q = p->rx_first, got = 0;

	for (uint16_t i = 0; i < p->queues && got < n; i++) {
		got += rte_eth_rx_burst(p->id, q, m + got, n - got);
		q = q + 1 == p->queues ? 0 : q + 1;
	}
	p->rx_first = p->rx_first + 1 == p->queues ? 0 : p->rx_first + 1;
	return got;
}

static inline uint16_t
port_rx_burst(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	uint16_t got = 0;

	port_burst_edge(p);
	if (__atomic_load_n(&p->moving, __ATOMIC_RELAXED))
		got = likely(p->queues == 1) ? rte_eth_rx_burst(p->id, 0, m, n)
					     : port_rx_queues(p, m, n);
	port_burst_edge(p);
	return got;
}

static inline uint16_t
port_tx_burst(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	uint16_t sent = 0;

	port_burst_edge(p);
	if (__atomic_load_n(&p->moving, __ATOMIC_RELAXED))
		sent = rte_eth_tx_burst(p->id, 0, m, n);
	port_burst_edge(p);
	return sent;
}

#endif
