/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port: frames go in and out by bursts, and there is a link or none. What is behind it is its
 * kind's to know. The lcore that owns the ports calls the bursts; the control thread everything
 * else.
 */
#ifndef NDD_PORT_H
#define NDD_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PORT_NAME_BYTES 64u
#define PORT_FDS_MAX	16u

struct port;
struct rte_mbuf;

/* Is told each counter that a port has, by its name. */
typedef void port_counter_fn(void *arg, const char *name, uint64_t value);

struct port_ops {
	/* Up to n frames that have come, each in one mbuf or in several; returns how many. */
	uint16_t (*rx)(struct port *p, struct rte_mbuf **m, uint16_t n);
	/* The first of n frames that the port takes; returns how many, which are the port's now. */
	uint16_t (*tx)(struct port *p, struct rte_mbuf **m, uint16_t n);
	/* How many of the n frames are better sent before others follow: the rest might leave
	 * together with these. NULL: all. */
	uint16_t (*whole)(const struct port *p, struct rte_mbuf *const *m, uint16_t n);
	/* The files, n at most, that are readable when frames have come; returns how many. NULL: of
	 * this port nothing but its bursts tells. */
	uint32_t (*fds)(const struct port *p, int *fd, uint32_t n);
	bool (*is_up)(struct port *p);
	/* A few times a second. Returns what people should know of, in words, or NULL. */
	const char *(*tend)(struct port *p);
	void (*counters)(const struct port *p, port_counter_fn *tell, void *arg);
	/* Waits until nothing of it is in use; bursts have ended before. */
	void (*close)(struct port *p);
};

struct port_ids { /* PCI's; 0: it is no PCI device */
	uint16_t vendor, device;
};

struct port {
	const struct port_ops *ops;
	void *kind; /* what its kind keeps of it */
	int numa_node;
	struct port_ids ids;
	uint32_t mtu; /* of IP packets */
	uint8_t mac[6];
	char device[PORT_NAME_BYTES];
	bool link_up;		       /* as port_link_changed() saw it last */
	uint64_t links_up, links_down; /* how often it changed */
};

static inline uint16_t
port_rx_burst(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	return p->ops->rx(p, m, n);
}

static inline uint16_t
port_tx_burst(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	return p->ops->tx(p, m, n);
}

static inline uint16_t
port_tx_whole(const struct port *p, struct rte_mbuf *const *m, uint16_t n)
{
	return p->ops->whole == NULL ? n : p->ops->whole(p, m, n);
}

/* True if the link went up or down since the last call: p->link_up. */
static inline bool
port_link_changed(struct port *p)
{
	bool up = p->ops->is_up(p), changed = up != p->link_up;

	p->link_up = up;
	return changed;
}

static inline void
port_close(struct port *p)
{
	p->ops->close(p);
}

#endif
