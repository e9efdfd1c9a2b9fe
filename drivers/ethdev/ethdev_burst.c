/* SPDX-License-Identifier: BSD-3-Clause */
/* The bursts: for the one lcore that owns the port. */
#include "ethdev/ethdev.h"

/* By turns each queue is the first: a busy one does not keep the others waiting. */
static uint16_t
rx_queues(struct ethdev *e, struct rte_mbuf **m, uint16_t n)
{
	uint16_t q = e->rx_first, got = 0;

	for (uint16_t i = 0; i < e->queues && got < n; i++) {
		got += rte_eth_rx_burst(e->id, q, m + got, n - got);
		q = q + 1 == e->queues ? 0 : q + 1;
	}
	e->rx_first = e->rx_first + 1 == e->queues ? 0 : e->rx_first + 1;
	return got;
}

uint16_t
ethdev_rx(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	struct ethdev *e = ethdev_of(p);
	uint16_t got = 0;

	port_grace_edge(&e->grace);
	if (__atomic_load_n(&e->moving, __ATOMIC_RELAXED))
		got = likely(e->queues == 1) ? rte_eth_rx_burst(e->id, 0, m, n)
					     : rx_queues(e, m, n);
	port_grace_edge(&e->grace);
	return got;
}

uint16_t
ethdev_tx(struct port *p, struct rte_mbuf **m, uint16_t n)
{
	struct ethdev *e = ethdev_of(p);
	uint16_t sent = 0;

	port_grace_edge(&e->grace);
	if (__atomic_load_n(&e->moving, __ATOMIC_RELAXED))
		sent = rte_eth_tx_burst(e->id, 0, m, n);
	port_grace_edge(&e->grace);
	return sent;
}
