/* SPDX-License-Identifier: BSD-3-Clause */
#include "udp/udp.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "udp/udp_run.h"

#define LONE_BYTES 800u /* what the kernel keeps beside a packet that comes alone */

static void
port_release(struct udp_port *u)
{
	udp_queues_close(u);
	udp_sockets_close(u);
	udp_rx_fini(u);
	free(u->ipid);
	free(u);
}

static void
port_end(struct port *p)
{
	port_release(udp_of(p));
	p->kind = NULL;
}

/* As long as there are sockets; which interfaces are up is the kernel's to know. */
static bool
port_is_up(struct port *p)
{
	return udp_of(p)->sockets != 0;
}

/* Of all queues. Written by lcores, one word each: what is read was true at some moment. */
static struct udp_counters
counters_sum(const struct udp_port *u)
{
	struct udp_counters sum = u->count;

	for (uint32_t i = 0; i < u->queues_beside; i++) {
		const struct udp_counters *c = &udp_of(&u->beside[i])->count;

#define UDP_X(n) sum.n += c->n;
		UDP_COUNTERS(UDP_X)
#undef UDP_X
	}
	return sum;
}

/* NULL: no source is broken that has not been told. */
static const char *
tell_broken(struct udp_port *u)
{
	static char text[160];
	char from[INET_ADDRSTRLEN];

	if (memcmp(u->broken, u->broken_told, sizeof(u->broken)) == 0)
		return NULL;
	memcpy(u->broken_told, u->broken, sizeof(u->broken));
	(void)snprintf(text, sizeof(text),
		"packets of %s all have a wrong ICRC: does something in between translate "
		"addresses (NAT)? RoCEv2 does not pass that",
		inet_ntop(AF_INET, u->broken_told, from, sizeof(from)));
	return text;
}

static const char *
tell_not_steered(struct udp_port *u)
{
	static char text[160];
	int err = u->not_steered;

	if (err == 0)
		return NULL;
	u->not_steered = 0;
	(void)snprintf(text, sizeof(text),
		"the first lcore receives and sends for all: sockets for each are not to be had "
		"(%s)",
		strerror(err));
	return text;
}

static const char *
port_tend(struct port *p)
{
	struct udp_port *u = udp_of(p);
	const struct udp_counters sum = counters_sum(u);
	const char *news = tell_not_steered(u);

	if (news == NULL)
		news = tell_broken(u);
	for (uint32_t i = 0; i < u->queues_beside && news == NULL; i++)
		news = tell_broken(udp_of(&u->beside[i]));
	if (news != NULL)
		return news;
	if (sum.tx_too_large != u->large_told) {
		u->large_told = sum.tx_too_large;
		return "packets are larger than the network between here and a peer takes: lower "
		       "the port's mtu";
	}
	if (sum.rx_kernel_drops != u->drops_told) {
		u->drops_told = sum.rx_kernel_drops;
		return "the kernel had no room for packets that came: net.core.rmem_max allows "
		       "more";
	}
	return NULL;
}

static void
port_counters(const struct port *p, port_counter_fn *tell, void *arg)
{
	const struct udp_counters sum = counters_sum(udp_of(p));

#define UDP_X(n) tell(arg, #n, sum.n);
	UDP_COUNTERS(UDP_X)
#undef UDP_X
}

static uint32_t
port_fds(const struct port *p, int *fd, uint32_t n)
{
	const struct udp_port *u = udp_of(p);
	uint32_t i = 0;

	for (; i < u->sockets && i < n; i++)
		fd[i] = u->socket[i].fd;
	return i;
}

static const struct port_ops ops = {
	.rx = udp_rx,
	.tx = udp_tx,
	.whole = udp_runs_whole,
	.fds = port_fds,
	.is_up = port_is_up,
	.tend = port_tend,
	.counters = port_counters,
	.close = port_end,
};

/* Known to no switch, and of no other daemon: the node's GUID is made of it. */
static bool
macs_choose(struct port *p, struct udp_port *u)
{
	if (getrandom(p->mac, sizeof(p->mac), 0) != sizeof(p->mac))
		return false;
	p->mac[0] = (p->mac[0] & 0xfc) | 2;
	memcpy(u->gateway, p->mac, sizeof(u->gateway));
	u->gateway[5] ^= 1;
	return true;
}

static bool
tables_make(struct udp_port *u)
{
	u->ipid = aligned_alloc(64, (roce_ipid_bytes() + 63) / 64 * 64);
	if (u->ipid == NULL)
		return false;
	roce_ipid_init(u->ipid);
	return udp_rx_init(u);
}

const char *
udp_open(struct port *p, const struct udp_cfg *cfg, char *why, size_t why_bytes)
{
	struct udp_port *u = calloc(1, sizeof(*u));
	const char *err;

	if (u == NULL)
		return "no memory";
	*p = (struct port){.ops = &ops, .kind = u, .numa_node = -1, .mtu = cfg->mtu};
	(void)snprintf(p->device, sizeof(p->device), "udp");
	u->pool = cfg->pool;
	if (!macs_choose(p, u) || !tables_make(u))
		err = "no memory, or no randomness";
	else
		err = udp_sockets_open(u, cfg, why, why_bytes);
	if (err == NULL) {
		udp_queues_open(p, cfg);
		return NULL;
	}
	port_release(u);
	p->kind = NULL;
	return err;
}

/* What a packet is charged by the kernel: by itself twice its bytes, as memory comes in powers of
 * two; in a run hardly more than its bytes. Where there are runs, some packets come alone. */
static uint32_t
packet_charge(const struct udp_port *u, uint32_t payload_bytes)
{
	return u->segments ? payload_bytes + payload_bytes / 2 : 2 * payload_bytes + LONE_BYTES;
}

uint32_t
udp_room(const struct port *p, uint32_t payload_bytes)
{
	const struct udp_port *u = udp_of(p);
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < u->sockets; i++) {
		int bytes = 0;
		socklen_t length = sizeof(bytes);

		if (getsockopt(u->socket[i].fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length) == 0 &&
			(uint32_t)bytes < least)
			least = (uint32_t)bytes;
	}
	return least / packet_charge(u, payload_bytes);
}

void
udp_locals_set(struct port *p, const struct udp_local *local, uint32_t n)
{
	struct udp_port *u = udp_of(p);

	u->locals = n < UDP_LOCALS_MAX ? n : UDP_LOCALS_MAX;
	memcpy(u->local, local, u->locals * sizeof(*local));
}

const struct udp_local *
udp_locals(const struct port *p, uint32_t *n)
{
	*n = udp_of(p)->locals;
	return udp_of(p)->local;
}

uint32_t
udp_local_interface(const struct udp_port *u, const uint8_t ip[16])
{
	for (uint32_t i = 0; i < u->locals; i++)
		if (memcmp(u->local[i].ip, ip, 16) == 0)
			return u->local[i].interface;
	return 0;
}

uint32_t
udp_interface(const struct port *p, const uint8_t ip[16])
{
	return udp_local_interface(udp_of(p), ip);
}

void
udp_gateway(const struct port *p, uint8_t mac[6])
{
	memcpy(mac, udp_of(p)->gateway, 6);
}
