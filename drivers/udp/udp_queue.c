/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues beside the first: an lcore each that receives and sends by sockets of its own. The kernel
 * keeps the sockets of an address in a group, whose program says which of them a datagram is for.
 * All queues live as long as the port, so that the kernel's order of a group's sockets, which is
 * that of their binding, is that of the queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "udp/udp_own.h"

static void
queue_release(struct port *q)
{
	struct udp_port *u = udp_of(q);

	if (u == NULL)
		return;
	udp_sockets_close(u);
	udp_rx_fini(u);
	free(u);
}

/* The table for ICRCs is constant, and the first queue's. */
static bool
queue_open(struct port *q, const struct port *first, const struct udp_cfg *cfg)
{
	const struct udp_port *f = udp_of(first);
	struct udp_port *u = calloc(1, sizeof(*u));

	if (u == NULL)
		return false;
	*q = *first;
	q->kind = u;
	u->pool = f->pool;
	u->ipid = f->ipid;
	u->segments = f->segments;
	memcpy(u->gateway, f->gateway, sizeof(u->gateway));
	udp_senders_none(u);
	return udp_rx_init(u) && udp_sockets_join(u, f, cfg);
}

void
udp_queues_close(struct udp_port *u)
{
	for (uint32_t i = 0; i < u->queues_beside; i++)
		queue_release(&u->beside[i]);
	free(u->beside);
	u->beside = NULL;
	u->queues_beside = 0;
}

static bool
queues_make(struct port *p, const struct udp_cfg *cfg)
{
	struct udp_port *u = udp_of(p);

	if (!udp_sockets_share(u, true))
		return false;
	u->beside = calloc(cfg->queues - 1, sizeof(*u->beside));
	if (u->beside == NULL)
		return false;
	while (u->queues_beside < cfg->queues - 1)
		if (!queue_open(&u->beside[u->queues_beside++], p, cfg))
			return false;
	return udp_sockets_steer(u, cfg);
}

void
udp_queues_open(struct port *p, const struct udp_cfg *cfg)
{
	struct udp_port *u = udp_of(p);

	if (cfg->queues <= 1 || queues_make(p, cfg))
		return;
	u->not_steered = errno;
	udp_queues_close(u);
	(void)udp_sockets_share(u, false);
}

struct port *
udp_queue(const struct port *p, uint32_t i)
{
	const struct udp_port *u = udp_of(p);

	return i == 0 || i > u->queues_beside ? NULL : &u->beside[i - 1];
}
