/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One Ethernet port of DPDK: any ethdev, PCI or virtual. Brought up with one queue
 * pair, no offloads (the ICRC and every length are ours), whole frames in one mbuf.
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
	struct rte_mempool *pool;
};

struct port {
	uint16_t id; /* ethdev's number */
	int numa_node;
	uint32_t mtu;
	uint8_t mac[6];
	char device[PORT_NAME_BYTES];
	bool mtu_refused; /* the driver would not take the MTU: it carries what its buffers carry */
};

/* NULL, or what failed, in words (static or in why_buf). The port is started. */
const char *port_open(struct port *p, const struct port_cfg *cfg, char *why_buf, size_t why_bytes);
void port_close(struct port *p);
bool port_link_up(const struct port *p);

static inline uint16_t
port_rx_burst(const struct port *p, struct rte_mbuf **m, uint16_t n)
{
	return rte_eth_rx_burst(p->id, 0, m, n);
}

static inline uint16_t
port_tx_burst(const struct port *p, struct rte_mbuf **m, uint16_t n)
{
	return rte_eth_tx_burst(p->id, 0, m, n);
}

#endif
