/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include "ethdev/ethdev.h"

#define RX_DESC 1024u
#define TX_DESC 1024u

static const char *
device_say(char *buf, size_t bytes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, bytes, fmt, ap);
	va_end(ap);
	return buf;
}

/* Drivers without a default in their dev_info give 0: any power of two will do for them. */
static uint16_t
ring_size(uint16_t wanted, const struct rte_eth_desc_lim *lim)
{
	uint16_t n = wanted;

	if (lim->nb_max != 0 && n > lim->nb_max)
		n = lim->nb_max;
	if (n < lim->nb_min)
		n = lim->nb_min;
	return n;
}

/*
 * af_packet and TAP of DPDK 22.11 refuse an MTU above 1500 though their frames may be larger; a
 * refusal is remembered and reported, not fatal. What the port drops, RC's retries will show.
 */
static void
set_mtu(struct port *p, uint32_t mtu, const struct rte_eth_dev_info *info)
{
	struct ethdev *e = ethdev_of(p);
	uint16_t now = 0;

	p->mtu = mtu;
	if (e->shared)
		return;
	if (info->max_mtu != 0 && mtu > info->max_mtu)
		e->mtu_refused = true;
	else if (rte_eth_dev_get_mtu(e->id, &now) != 0 || now != mtu)
		e->mtu_refused = rte_eth_dev_set_mtu(e->id, (uint16_t)mtu) != 0;
}

/*
 * A TAP device gives its MAC to the kernel's interface as well: the kernel, or a bridge, would take
 * our frames for its own. As TAP receives everything, we are simply another station behind it.
 */
static bool
shares_its_mac(const struct rte_eth_dev_info *info)
{
	return strcmp(info->driver_name, "net_tap") == 0;
}

static const char *
set_mac(struct port *p, const struct ethdev_cfg *cfg, const struct rte_eth_dev_info *info,
	char *why, size_t bytes)
{
	struct ethdev *e = ethdev_of(p);
	struct rte_ether_addr addr;
	int rc;

	if (cfg->has_mac && shares_its_mac(info)) {
		memcpy(p->mac, cfg->mac, 6);
		return NULL;
	}
	if (cfg->has_mac) {
		memcpy(addr.addr_bytes, cfg->mac, 6);
		rc = rte_eth_dev_default_mac_addr_set(e->id, &addr);
		/* Without the driver's help promiscuous mode still receives for this address. */
		if (rc != 0 && rc != -ENOTSUP)
			return device_say(why, bytes, "MAC address refused: %s", strerror(-rc));
		memcpy(p->mac, cfg->mac, 6);
		return NULL;
	}
	rc = rte_eth_macaddr_get(e->id, &addr);
	if (rc != 0)
		return device_say(why, bytes, "MAC address unknown: %s", strerror(-rc));
	memcpy(p->mac, addr.addr_bytes, 6);
	if (shares_its_mac(info)) {
		p->mac[0] |= 2; /* locally administered */
		p->mac[5] ^= 1;
	}
	return NULL;
}

static const char *
set_queues(struct port *p, const struct ethdev_cfg *cfg, const struct rte_eth_dev_info *info,
	char *why, size_t bytes)
{
	struct ethdev *e = ethdev_of(p);
	struct rte_eth_rxconf rx = info->default_rxconf;
	struct rte_eth_txconf tx = info->default_txconf;
	unsigned socket = p->numa_node < 0 ? 0 : (unsigned)p->numa_node;
	int rc;

	rx.offloads = 0;
	tx.offloads = 0;
	for (uint16_t q = 0; q < e->queues; q++) {
		rc = rte_eth_rx_queue_setup(e->id, q, ring_size(RX_DESC, &info->rx_desc_lim),
			socket, &rx, e->chunks != NULL ? e->chunks : cfg->pool);
		if (rc != 0)
			return device_say(why, bytes, "RX queue %u: %s", q, strerror(-rc));
		rc = rte_eth_tx_queue_setup(
			e->id, q, ring_size(TX_DESC, &info->tx_desc_lim), socket, &tx);
		if (rc != 0)
			return device_say(why, bytes, "TX queue %u: %s", q, strerror(-rc));
	}
	return NULL;
}

/* All queues of an AF_XDP device, and frames that fit it. */
static const char *
prepare_xdp(struct port *p, const struct ethdev_cfg *cfg, const struct rte_eth_dev_info *info,
	char *why, size_t bytes)
{
	struct ethdev *e = ethdev_of(p);
	unsigned socket = p->numa_node < 0 ? 0 : (unsigned)p->numa_node;

	if (cfg->mtu > ETHDEV_XDP_MTU_MAX)
		return device_say(why, bytes, "MTU %u: AF_XDP carries %u at most", cfg->mtu,
			ETHDEV_XDP_MTU_MAX);
	e->queues = info->max_rx_queues;
	e->chunks = ethdev_xdp_chunks(cfg->device, e->queues, socket);
	if (e->chunks == NULL)
		return device_say(why, bytes,
			"no memory for the frames of %u queues: raise eal.memory_mb, or give the "
			"interface fewer (ethtool -L)",
			e->queues);
	return NULL;
}

static void
counters_tell(const struct port *p, port_counter_fn *tell, void *arg)
{
	const struct ethdev *e = ethdev_of(p);
	struct rte_eth_stats st;

	tell(arg, "memory_lost", e->memory_lost);
	if (rte_eth_stats_get(e->id, &st) != 0)
		return;
	tell(arg, "rx_packets", st.ipackets);
	tell(arg, "rx_bytes", st.ibytes);
	tell(arg, "rx_missed", st.imissed);
	tell(arg, "rx_errors", st.ierrors);
	tell(arg, "rx_no_mbufs", st.rx_nombuf);
	tell(arg, "tx_packets", st.opackets);
	tell(arg, "tx_bytes", st.obytes);
	tell(arg, "tx_errors", st.oerrors);
}

static const struct port_ops ops = {
	.rx = ethdev_rx,
	.tx = ethdev_tx,
	.is_up = ethdev_link_is_up,
	.tend = ethdev_tend,
	.counters = counters_tell,
	.close = ethdev_close,
};

/* Queues, MTU and MAC address. */
static const char *
device_configure(struct port *p, const struct ethdev_cfg *cfg, const struct rte_eth_dev_info *info,
	char *why, size_t bytes)
{
	const struct rte_eth_conf conf = {0};
	struct ethdev *e = ethdev_of(p);
	const char *err = NULL;
	int rc;

	if (ethdev_is_xdp(info))
		err = prepare_xdp(p, cfg, info, why, bytes);
	if (err != NULL)
		return err;
	rc = rte_eth_dev_configure(e->id, e->queues, e->queues, &conf);
	if (rc != 0)
		return device_say(why, bytes, "configure: %s", strerror(-rc));
	set_mtu(p, cfg->mtu, info);
	err = set_queues(p, cfg, info, why, bytes);
	return err != NULL ? err : set_mac(p, cfg, info, why, bytes);
}

static const char *
device_start(struct ethdev *e, char *why, size_t bytes)
{
	int rc;

	ethdev_grace_watch(e, true);
	rc = rte_eth_dev_start(e->id);
	e->moving = e->started = rc == 0;
	if (rc != 0) {
		ethdev_grace_watch(e, false);
		return device_say(why, bytes, "start: %s", strerror(-rc));
	}
	if (e->shared)
		return NULL;
	/* Neighbour discovery needs multicast; a MAC of our own choice needs promiscuous mode.
	 * Ports that know neither receive everything anyway. */
	(void)rte_eth_allmulticast_enable(e->id);
	(void)rte_eth_promiscuous_enable(e->id);
	return NULL;
}

static const char *
device_open(struct port *p, const struct ethdev_cfg *cfg, char *why, size_t bytes)
{
	struct ethdev *e = ethdev_of(p);
	struct rte_eth_dev_info info;
	const char *err;
	int rc = rte_eth_dev_get_port_by_name(cfg->device, &e->id);

	if (rc != 0)
		return device_say(why, bytes, "no such DPDK device; is it in eal.vdev or eal.pci?");
	rc = rte_eth_dev_info_get(e->id, &info);
	if (rc != 0)
		return device_say(why, bytes, "device information: %s", strerror(-rc));
	e->if_index = info.if_index;
	p->numa_node = rte_eth_dev_socket_id(e->id);
	ethdev_ids_find(&info, &p->ids);
	err = device_configure(p, cfg, &info, why, bytes);
	return err != NULL ? err : device_start(e, why, bytes);
}

const char *
ethdev_open(struct port *p, const struct ethdev_cfg *cfg, char *why, size_t bytes)
{
	struct ethdev *e = calloc(1, sizeof(*e));
	const char *err;

	if (e == NULL)
		return "no memory";
	e->queues = 1;
	e->shared = cfg->shared;
	*p = (struct port){.ops = &ops, .kind = e};
	snprintf(p->device, sizeof(p->device), "%s", cfg->device);
	err = device_open(p, cfg, why, bytes);
	if (err != NULL)
		free(e);
	return err;
}
