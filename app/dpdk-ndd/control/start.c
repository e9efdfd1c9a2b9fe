/* SPDX-License-Identifier: BSD-3-Clause */
/* Everything that is made once and lives as long as the daemon: pool, ports, shards, net, CM. */
#include <errno.h>
#include <inttypes.h>
#include <linux/filter.h>
#include <string.h>
#include <sys/random.h>

#include <rte_mbuf.h>

#include "control/daemon.h"
#include "control/reload.h"
#include "control/start.h"
#include "ethdev/ethdev.h"
#include "hostnet/kernel_port.h"
#include "hostnet/network.h"
#include "hostnet/path.h"
#include "hostnet/udp_steer.h"
#include "platform/clock.h"
#include "platform/eal.h"
#include "platform/log.h"
#include "platform/memif.h"
#include "platform/numamem.h"
#include "platform/vdev.h"
#include "udp/udp.h"

/* A frame of path MTU 4096 in one piece, and no driver needs a second buffer for one. */
#define MBUF_ROOM	  8192u
#define MBUF_CACHE	  256u
#define MBUFS_PER_PORT	  3072u /* descriptors of both directions, and bursts under way */
#define MBUFS_PER_QUEUE	  640u	/* of a UDP port, of other shards: what its sockets hold */
#define MBUFS_PER_SHARD	  3072u /* rings between shards, lanes to the control thread */
#define WINDOW_OF_SOCKETS 256u	/* of packets, of a queue pair: 4 runs at a path MTU of 1024 */
#define CM_FIRST_RETRY	  (200 * NDD_MS)

static bool
random_fill(void *out, size_t bytes)
{
	if (getrandom(out, bytes, 0) == (ssize_t)bytes)
		return true;
	ndd_error("no randomness: %s", strerror(errno));
	return false;
}

static uint32_t
ports_of_sockets(const struct config *cfg)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < cfg->ports; i++)
		n += cfg->port[i].udp;
	return n;
}

static bool
start_pool(struct ndd *d)
{
	const struct config *cfg = d->cfg;
	uint32_t n = cfg->ports * MBUFS_PER_PORT + cfg->lcores * MBUFS_PER_SHARD +
		     ports_of_sockets(cfg) * (cfg->lcores - 1) * MBUFS_PER_QUEUE;
	int node = ndd_numa_of_cpu(ndd_lcore_cpu(NDD_LCORE_OF_SHARD(0)));

	static_assert(MBUF_ROOM >= ROCE_FRAME_MAX, "one frame, one mbuf");
	d->plane.pool = rte_pktmbuf_pool_create(
		"frames", n, MBUF_CACHE, 0, MBUF_ROOM + RTE_PKTMBUF_HEADROOM, node);
	if (d->plane.pool == NULL)
		ndd_error("no memory for %u frame buffers (%u MiB): raise eal.memory_mb", n,
			n * (MBUF_ROOM >> 10) >> 10);
	return d->plane.pool != NULL;
}

static const char *
open_ethdev(struct ndd *d, uint32_t i, char *buf, size_t bytes)
{
	const struct config_port *c = &d->cfg->port[i];
	const struct ethdev_cfg pc = {
		.device = c->device,
		.mtu = c->shared ? ndd_kernel_port_mtu(d, i) : c->mtu,
		.shared = c->shared,
		.has_mac = c->has_mac,
		.mac = {c->mac[0], c->mac[1], c->mac[2], c->mac[3], c->mac[4], c->mac[5]},
		.pool = d->plane.pool,
	};
	struct port *p = &d->plane.port[i];
	const char *why = ethdev_open(p, &pc, buf, bytes);

	if (why == NULL && ethdev_of(p)->mtu_refused)
		ndd_info("port %s: the driver does not take MTU %u; frames that large work if the "
			 "device behind it carries them",
			p->device, p->mtu);
	return why;
}

static const char *
open_memif(struct ndd *d, uint32_t i, char *buf, size_t bytes)
{
	const struct config_port *c = &d->cfg->port[i];
	struct memif_cfg mc;
	const char *why = ndd_memif_read(ndd_vdev_of(d->cfg, c->device), &mc, buf, bytes);

	mc.mtu = c->mtu;
	mc.pool = d->plane.pool;
	if (c->has_mac) {
		mc.has_mac = true;
		memcpy(mc.mac, c->mac, sizeof(mc.mac));
	}
	return why != NULL ? why : memif_open(&d->plane.port[i], c->device, &mc, buf, bytes);
}

static const char *
open_udp(struct ndd *d, uint32_t i, char *buf, size_t bytes)
{
	const struct config_link *c = &d->cfg->port[i].untagged;
	struct sock_filter steer[NDD_UDP_STEER_MAX];
	struct udp_cfg pc = {.addresses = c->addresses,
		.mtu = ndd_kernel_port_mtu(d, i),
		.require_checksum = d->cfg->port[i].require_udp_checksum,
		.pool = d->plane.pool,
		.queues = d->cfg->lcores,
		.steer = steer,
		.steer_length = ndd_udp_steer(steer, &d->plane.qpn_key, d->cfg->lcores)};

	if (pc.mtu == 0)
		return "the MTU of its interfaces can't be read";
	if (pc.mtu < NDD_IP_MTU_MIN) {
		(void)snprintf(buf, bytes, "the MTU of its interfaces is %u, RoCEv2 needs %u",
			pc.mtu, NDD_IP_MTU_MIN);
		return buf;
	}
	static_assert(UDP_ADDRESSES_MAX == CONFIG_ADDRESSES_MAX, "those of a port");
	for (uint32_t k = 0; k < c->addresses; k++)
		memcpy(pc.address[k].raw, c->address[k].ip, sizeof(pc.address[k].raw));
	d->plane.checks_icrc |= 1u << i;
	return udp_open(&d->plane.port[i], &pc, buf, bytes);
}

static const char *
open_port(struct ndd *d, uint32_t i, char *buf, size_t bytes)
{
	const struct config_port *c = &d->cfg->port[i];

	if (c->udp)
		return open_udp(d, i, buf, bytes);
	if (ndd_memif_is(c->device))
		return open_memif(d, i, buf, bytes);
	return open_ethdev(d, i, buf, bytes);
}

static bool
start_port(struct ndd *d, uint32_t i)
{
	const struct config_port *c = &d->cfg->port[i];
	const struct port *p = &d->plane.port[i];
	char buf[160];
	const char *why = open_port(d, i, buf, sizeof(buf));

	if (why != NULL) {
		ndd_error("ports[%u] %s: %s", i, c->device, why);
		return false;
	}
	d->plane.ports = i + 1;
	ndd_info("port %s: MAC %02x:%02x:%02x:%02x:%02x:%02x, MTU %u, path MTU %u", p->device,
		p->mac[0], p->mac[1], p->mac[2], p->mac[3], p->mac[4], p->mac[5], p->mtu,
		ndd_path_mtu(p->mtu));
	return true;
}

/* The ports behind which peers keep to their UDP source ports, as roce_shard_cfg has them. */
static uint32_t
ports_with_steady_peers(const struct config *cfg)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < cfg->ports; i++)
		mask |= (uint32_t)cfg->port[i].check_source_port << i;
	return mask;
}

/* Packets in flight as the kernel's receive buffers hold them: this end's, as the peers' are not
 * known here. 0: the configuration says the window, or no port has such buffers. */
static uint32_t
window_of_sockets(const struct ndd *d)
{
	const struct config *cfg = d->cfg;
	uint32_t least = 0;

	for (uint32_t i = 0; i < cfg->ports && !cfg->has_window; i++) {
		const struct port *p = &d->plane.port[i];
		uint32_t room = cfg->port[i].udp ? udp_room(p, ndd_path_mtu(p->mtu)) : 0;

		if (room != 0 && (least == 0 || room < least))
			least = room;
	}
	if (least != 0 && least < cfg->window)
		ndd_info("%u packets in flight, of all queue pairs: receive buffers are small "
			 "(net.core.rmem_max; 4194304 is large enough)",
			least);
	return least / cfg->lcores;
}

/* Runs of segments, each of a system call at both ends, want several of them under way. Where there
 * are other ports, their queues are what the default is made for. */
static uint32_t
window_of_queue_pairs(const struct config *cfg)
{
	bool sockets_alone = !cfg->has_window;

	for (uint32_t i = 0; i < cfg->ports; i++)
		sockets_alone = sockets_alone && cfg->port[i].udp;
	return sockets_alone ? WINDOW_OF_SOCKETS : cfg->window;
}

/* What is there for it beside the I/O owner's. */
static void
take_queues(const struct ndd *d, struct ndd_shard *s)
{
	for (uint32_t i = 0; i < d->cfg->ports; i++)
		if (d->cfg->port[i].udp && s->id != NDD_IO_OWNER)
			s->queue[i] = udp_queue(&d->plane.port[i], s->id);
}

static bool
start_shards(struct ndd *d)
{
	const struct config *cfg = d->cfg;
	const uint32_t shared_window = window_of_sockets(d);
	int node[NDD_SHARDS_MAX];

	for (uint32_t i = 0; i < cfg->lcores; i++) {
		struct roce_shard_cfg sc = {
			.shard_id = i,
			.max_qps = cfg->shard_qps,
			.max_cqs = (uint32_t)config_total(cfg, CONFIG_SHARE_completion_queues),
			.max_pds = cfg->shard_qps,
			.max_srqs = cfg->shard_qps,
			.max_mrs = cfg->shard_mrs,
			.max_wqes = cfg->shard_wqes,
			.secret = {d->plane.secret[0], d->plane.secret[1]},
			.rto_floor_ns = cfg->rto_floor_us * NDD_US,
			.window = window_of_queue_pairs(cfg),
			.shared_window = shared_window,
			.check_source_port = ports_with_steady_peers(cfg),
		};

		d->plane.shard[i] = ndd_shard_new(&d->plane, &sc, NDD_LCORE_OF_SHARD(i));
		if (d->plane.shard[i] == NULL) {
			ndd_error("shard %u (%zu MiB): %s; without memory, lower limits.shard_*", i,
				roce_shard_bytes(&sc) >> 20, strerror(errno));
			return false;
		}
		take_queues(d, d->plane.shard[i]);
		node[i] = d->plane.shard[i]->numa_node;
		d->plane.shards = i + 1;
	}
	if (!ndd_handover_init(&d->plane.rings, d->plane.shards, node, d->plane.secret)) {
		ndd_error("no memory for rings: raise eal.memory_mb");
		return false;
	}
	return true;
}

/* W-GID-04: the node's GUID from the first port's MAC. */
static uint64_t
node_guid(const uint8_t mac[6])
{
	const uint8_t b[8] = {mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
	uint64_t guid = 0;

	for (int i = 0; i < 8; i++)
		guid = guid << 8 | b[i];
	return guid;
}

static bool
ports_fill(struct ndd_ports *t)
{
	return random_fill(&t->next, sizeof(t->next)) &&
	       random_fill(t->secret, sizeof(t->secret)) &&
	       random_fill(t->payers.secret, sizeof(t->payers.secret));
}

static bool
start_cm(struct ndd *d)
{
	struct roce_cm_cfg cfg = {
		/* Each connection, and what rests of the one before it; one host may have seven
		 * sixteenths of the passive part. */
		.max_active = (uint32_t)config_total(d->cfg, CONFIG_SHARE_connections),
		.max_passive = 2 * (uint32_t)config_total(d->cfg, CONFIG_SHARE_connections),
		.max_listeners = CONFIG_LISTENERS,
		.ca_guid = node_guid(d->plane.port[0].mac),
		.req_first_retry_ns = CM_FIRST_RETRY,
		.max_retries = d->cfg->cm_retries,
		.source_rate = d->cfg->cm_source_rate,
		.source_burst = d->cfg->cm_source_burst,
	};
	void *mem;

	if (!random_fill(cfg.secret, sizeof(cfg.secret)) || !ports_fill(&d->ports) ||
		!ports_fill(&d->ud_ports) ||
		!random_fill(d->permit_secret, sizeof(d->permit_secret)) ||
		!random_fill(d->peers.secret, sizeof(d->peers.secret)))
		return false;
	d->cm_bytes = roce_cm_bytes(&cfg);
	mem = d->cm_bytes == 0 ? NULL : ndd_numa_alloc(d->cm_bytes, -1);
	d->cm = mem == NULL ? NULL : roce_cm_init(mem, &cfg);
	if (d->cm == NULL)
		ndd_error("no memory for the connection manager");
	return d->cm != NULL;
}

bool
ndd_start(struct ndd *d)
{
	struct ndd_plane *p = &d->plane;

	p->idle = d->cfg->idle;
	p->cycles = d->cfg->cycles;
	p->control_wakeup = &d->wakeup;
	if (!random_fill(p->secret, sizeof(p->secret)))
		return false;
	roce_qpn_key_init(&p->qpn_key, p->secret);
	if (!start_pool(d) || !ndd_kernel_ports_open(d, ndd_end_address))
		return false;
	for (uint32_t i = 0; i < d->cfg->ports; i++)
		if (!start_port(d, i))
			return false;
	if (!start_shards(d) || !ndd_network_start(d) || !start_cm(d))
		return false;
	for (uint32_t i = 0; i < p->shards; i++)
		if (!ndd_shard_watch_ports(p->shard[i])) {
			ndd_error("the ports' files can't be waited for: %s", strerror(errno));
			return false;
		}
	for (uint32_t i = 0; i < p->shards; i++)
		if (!ndd_shard_launch(p->shard[i])) {
			ndd_error("lcore of shard %u does not start", i);
			return false;
		}
	return true;
}

/* In any stage of the start. */
void
ndd_stop(struct ndd *d)
{
	struct ndd_plane *p = &d->plane;
	bool quiet;

	for (uint32_t i = 0; i < p->shards; i++)
		ndd_shard_stop(p->shard[i]);
	quiet = ndd_accounts_end_couriers(&d->accounts);
	ndd_handover_fini(&p->rings);
	for (uint32_t i = 0; quiet && i < p->shards; i++) /* else they wake its lcore for clients */
		ndd_shard_free(p->shard[i]);
	for (uint32_t i = 0; i < p->ports; i++)
		port_close(&p->port[i]);
	ndd_kernel_ports_close(d);
	ndd_numa_free(d->cm, d->cm_bytes);
	ndd_numa_free(d->net, d->net_bytes);
	rte_mempool_free(p->pool);
}
