/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_alarm.h>
#include <rte_cycles.h>
#include <rte_ether.h>

#include "port/port.h"

#define PORT_RX_DESC   1024u
#define PORT_TX_DESC   1024u
#define PORT_CHANGE_MS 3000

static const char *
port_say(char *buf, size_t bytes, const char *fmt, ...)
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
	uint16_t now = 0;

	p->mtu = mtu;
	if (p->shared)
		return;
	if (info->max_mtu != 0 && mtu > info->max_mtu)
		p->mtu_refused = true;
	else if (rte_eth_dev_get_mtu(p->id, &now) != 0 || now != mtu)
		p->mtu_refused = rte_eth_dev_set_mtu(p->id, (uint16_t)mtu) != 0;
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
set_mac(struct port *p, const struct port_cfg *cfg, const struct rte_eth_dev_info *info, char *why,
	size_t bytes)
{
	struct rte_ether_addr addr;
	int rc;

	if (cfg->has_mac && shares_its_mac(info)) {
		memcpy(p->mac, cfg->mac, 6);
		return NULL;
	}
	if (cfg->has_mac) {
		memcpy(addr.addr_bytes, cfg->mac, 6);
		rc = rte_eth_dev_default_mac_addr_set(p->id, &addr);
		/* Without the driver's help promiscuous mode still receives for this address. */
		if (rc != 0 && rc != -ENOTSUP)
			return port_say(why, bytes, "MAC address refused: %s", strerror(-rc));
		memcpy(p->mac, cfg->mac, 6);
		return NULL;
	}
	rc = rte_eth_macaddr_get(p->id, &addr);
	if (rc != 0)
		return port_say(why, bytes, "MAC address unknown: %s", strerror(-rc));
	memcpy(p->mac, addr.addr_bytes, 6);
	if (shares_its_mac(info)) {
		p->mac[0] |= 2; /* locally administered */
		p->mac[5] ^= 1;
	}
	return NULL;
}

static const char *
set_queues(struct port *p, const struct port_cfg *cfg, const struct rte_eth_dev_info *info,
	char *why, size_t bytes)
{
	struct rte_eth_rxconf rx = info->default_rxconf;
	struct rte_eth_txconf tx = info->default_txconf;
	unsigned socket = p->numa_node < 0 ? 0 : (unsigned)p->numa_node;
	int rc;

	rx.offloads = 0;
	tx.offloads = 0;
	for (uint16_t q = 0; q < p->queues; q++) {
		rc = rte_eth_rx_queue_setup(p->id, q, ring_size(PORT_RX_DESC, &info->rx_desc_lim),
			socket, &rx, p->chunks != NULL ? p->chunks : cfg->pool);
		if (rc != 0)
			return port_say(why, bytes, "RX queue %u: %s", q, strerror(-rc));
		rc = rte_eth_tx_queue_setup(
			p->id, q, ring_size(PORT_TX_DESC, &info->tx_desc_lim), socket, &tx);
		if (rc != 0)
			return port_say(why, bytes, "TX queue %u: %s", q, strerror(-rc));
	}
	return NULL;
}

/* All queues of an AF_XDP device, and frames that fit it. */
static const char *
prepare_xdp(struct port *p, const struct port_cfg *cfg, const struct rte_eth_dev_info *info,
	char *why, size_t bytes)
{
	unsigned socket = p->numa_node < 0 ? 0 : (unsigned)p->numa_node;

	if (cfg->mtu > PORT_XDP_MTU_MAX)
		return port_say(why, bytes, "MTU %u: AF_XDP carries %u at most", cfg->mtu,
			PORT_XDP_MTU_MAX);
	p->queues = info->max_rx_queues;
	p->chunks = port_xdp_chunks(cfg->device, p->queues, socket);
	if (p->chunks == NULL)
		return port_say(why, bytes,
			"no memory for the frames of %u queues: raise eal.memory_mb, or give the "
			"interface fewer (ethtool -L)",
			p->queues);
	return NULL;
}

const char *
port_open(struct port *p, const struct port_cfg *cfg, char *why, size_t bytes)
{
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf = {0};
	const char *err = NULL;
	int rc;

	memset(p, 0, sizeof(*p));
	p->queues = 1;
	p->shared = cfg->shared;
	snprintf(p->device, sizeof(p->device), "%s", cfg->device);
	rc = rte_eth_dev_get_port_by_name(cfg->device, &p->id);
	if (rc != 0)
		return port_say(why, bytes, "no such DPDK device; is it in eal.vdev or eal.pci?");
	rc = rte_eth_dev_info_get(p->id, &info);
	if (rc != 0)
		return port_say(why, bytes, "device information: %s", strerror(-rc));
	p->if_index = info.if_index;
	p->numa_node = rte_eth_dev_socket_id(p->id);
	port_ids_find(&info, &p->ids);
	if (port_is_xdp(&info))
		err = prepare_xdp(p, cfg, &info, why, bytes);
	if (err != NULL)
		return err;
	rc = rte_eth_dev_configure(p->id, p->queues, p->queues, &conf);
	if (rc != 0)
		return port_say(why, bytes, "configure: %s", strerror(-rc));
	set_mtu(p, cfg->mtu, &info);
	err = set_queues(p, cfg, &info, why, bytes);
	if (err == NULL)
		err = set_mac(p, cfg, &info, why, bytes);
	if (err != NULL)
		return err;
	port_grace_watch(p, true);
	rc = rte_eth_dev_start(p->id);
	p->reconnects = cfg->reconnects;
	p->moving = p->started = rc == 0;
	if (rc != 0 && !p->reconnects)
		return port_say(why, bytes, "start: %s", strerror(-rc));
	if (p->shared)
		return NULL;
	/* Neighbour discovery needs multicast; a MAC of our own choice needs promiscuous mode.
	 * Ports that know neither receive everything anyway. */
	(void)rte_eth_allmulticast_enable(p->id);
	(void)rte_eth_promiscuous_enable(p->id);
	return NULL;
}

/*
 * Stop, start and close run on EAL's interrupt thread: there the memif driver serves its control
 * socket, and one thread does not race with itself.
 */
static void
close_now(void *arg)
{
	struct port *p = arg;

	if (p->started)
		(void)rte_eth_dev_stop(p->id);
	p->moving = p->started = false;
	(void)rte_eth_dev_close(p->id);
	rte_mempool_free(p->chunks);
	p->chunks = NULL;
	__atomic_store_n(&p->changing, false, __ATOMIC_RELEASE);
}

/* Of memory that was lost nothing may be left: memif unmaps it when it is stopped, vhost-user when
 * the peer has gone. */
static void
restart_now(void *arg)
{
	struct port *p = arg;

	if (p->started) {
		__atomic_store_n(&p->moving, false, __ATOMIC_SEQ_CST);
		port_grace_wait();
		(void)rte_eth_dev_stop(p->id);
		p->started = false;
	}
	if (!port_memory_is_mapped(p)) {
		__atomic_store_n(&p->lost, false, __ATOMIC_RELAXED);
		p->started = rte_eth_dev_start(p->id) == 0;
		__atomic_store_n(&p->moving, p->started, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&p->changing, false, __ATOMIC_RELEASE);
}

static bool
is_changing(const struct port *p)
{
	return __atomic_load_n(&p->changing, __ATOMIC_ACQUIRE);
}

static void
wait_changed(const struct port *p)
{
	for (int ms = 0; is_changing(p) && ms < PORT_CHANGE_MS; ms++)
		rte_delay_us_sleep(1000);
}

void
port_close(struct port *p)
{
	wait_changed(p);
	p->changing = true;
	if (rte_eal_alarm_set(1, close_now, p) != 0)
		close_now(p);
	wait_changed(p);
	port_grace_watch(p, false);
}

void
port_restart(struct port *p)
{
	if (is_changing(p))
		return;
	p->changing = true;
	if (rte_eal_alarm_set(1, restart_now, p) != 0)
		p->changing = false;
}
