/* SPDX-License-Identifier: BSD-3-Clause */
/* Do values that are right by themselves fit each other? */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/config_table.h"

static void at(struct config_errors *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void
at(struct config_errors *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(e->path, sizeof(e->path), fmt, ap);
	va_end(ap);
}

static bool
is_v4(const uint8_t ip[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(ip, mapped, sizeof(mapped)) == 0;
}

static const char *
ip_text(const uint8_t ip[16], char buf[INET6_ADDRSTRLEN])
{
	const char *s = is_v4(ip) ? inet_ntop(AF_INET, ip + 12, buf, INET6_ADDRSTRLEN)
				  : inet_ntop(AF_INET6, ip, buf, INET6_ADDRSTRLEN);
	return s != NULL ? s : "?";
}

/* Prefix length in the 128 bits that are stored. */
static unsigned
prefix_bits(const struct config_address *a)
{
	return is_v4(a->ip) ? a->prefix_len + 96u : a->prefix_len;
}

static bool
in_prefix(const struct config_address *a, const uint8_t ip[16])
{
	unsigned bits = prefix_bits(a), whole = bits / 8, rest = bits % 8;

	if (memcmp(a->ip, ip, whole) != 0)
		return false;
	return rest == 0 || ((a->ip[whole] ^ ip[whole]) >> (8 - rest)) == 0;
}

/* All bits behind the prefix are the same as bit: network address or broadcast. */
static bool
host_part_is(const struct config_address *a, bool bit)
{
	for (unsigned i = prefix_bits(a); i < 128; i++)
		if ((a->ip[i / 8] >> (7 - i % 8) & 1) != bit)
			return false;
	return true;
}

/* Why an address can't be a station's own; NULL: it can. */
static const char *
not_a_host(const struct config_address *a)
{
	const uint8_t *ip = a->ip, *v4 = a->ip + 12;

	if (is_v4(ip)) {
		if (v4[0] == 0 || v4[0] == 127)
			return "not the address of a host on a network";
		if (v4[0] >= 224)
			return "a multicast or reserved address";
		if (a->prefix_len < 31 && host_part_is(a, false))
			return "the network itself, not a host in it";
		if (a->prefix_len < 31 && host_part_is(a, true))
			return "the network's broadcast address";
		return NULL;
	}
	if (ip[0] == 0xff)
		return "a multicast address";
	if (ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80)
		return "a link-local address: the port has one by itself, made from its MAC";
	if (memcmp(ip, &in6addr_loopback, 16) == 0 || memcmp(ip, &in6addr_any, 16) == 0)
		return "not the address of a host on a network";
	if (a->prefix_len < 127 && host_part_is(a, false))
		return "the subnet-router anycast address, not a host";
	return NULL;
}

static void
check_addresses(struct config_errors *e, const struct config *c, unsigned p)
{
	const struct config_port *port = &c->port[p];
	char text[INET6_ADDRSTRLEN];

	for (unsigned i = 0; i < port->addresses; i++) {
		const uint8_t *ip = port->address[i].ip;
		const char *why = not_a_host(&port->address[i]);

		at(e, "ports[%u].addresses[%u]", p, i);
		if (why != NULL)
			config_error(e, "%s is %s", ip_text(ip, text), why);
		if (!is_v4(ip) && port->mtu < 1280)
			config_error(e, "IPv6 needs an MTU of 1280 or more; the port has %u",
				port->mtu);
		for (unsigned q = 0; q <= p; q++)
			for (unsigned j = 0; j < (q < p ? c->port[q].addresses : i); j++)
				if (memcmp(c->port[q].address[j].ip, ip, 16) == 0)
					config_error(e, "%s is also ports[%u].addresses[%u]",
						ip_text(ip, text), q, j);
	}
}

static void
check_gateway(struct config_errors *e, const struct config_port *port, const uint8_t gateway[16])
{
	char text[INET6_ADDRSTRLEN];
	bool connected = !is_v4(gateway) && gateway[0] == 0xfe && (gateway[1] & 0xc0) == 0x80;

	for (unsigned i = 0; i < port->addresses; i++) {
		if (memcmp(port->address[i].ip, gateway, 16) == 0) {
			config_error(e, "%s is the port's own address", ip_text(gateway, text));
			return;
		}
		connected |= in_prefix(&port->address[i], gateway);
	}
	if (!connected)
		config_error(e, "%s is in none of the port's prefixes", ip_text(gateway, text));
}

/* Devices are given with their arguments behind a comma. */
static bool
names_device(const char *spec, const char *device)
{
	size_t n = strcspn(spec, ",");

	return strlen(device) == n && memcmp(spec, device, n) == 0;
}

static void
check_device(struct config_errors *e, const struct config *c, unsigned p)
{
	const char *device = c->port[p].device;
	bool known = false;

	at(e, "ports[%u].device", p);
	for (unsigned i = 0; i < c->vdevs; i++)
		known |= names_device(c->vdev[i], device);
	for (unsigned i = 0; i < c->pcis; i++)
		known |= names_device(c->pci[i], device);
	if (!known)
		config_error(e, "\"%s\" is named neither in eal.vdevs nor in eal.pci", device);
	for (unsigned q = 0; q < p; q++)
		if (strcmp(c->port[q].device, device) == 0)
			config_error(e, "\"%s\" is also the device of ports[%u]", device, q);
}

static void
check_devices_once(struct config_errors *e, const struct config *c)
{
	for (unsigned i = 0; i < c->vdevs; i++) {
		at(e, "eal.vdevs[%u]", i);
		for (unsigned j = 0; j < i; j++)
			if (strcspn(c->vdev[i], ",") == strcspn(c->vdev[j], ",") &&
				strncmp(c->vdev[i], c->vdev[j], strcspn(c->vdev[i], ",")) == 0)
				config_error(e, "the same device as eal.vdevs[%u]", j);
	}
	for (unsigned i = 0; i < c->pcis; i++) {
		at(e, "eal.pci[%u]", i);
		for (unsigned j = 0; j < i; j++)
			if (strncmp(c->pci[i], c->pci[j], strcspn(c->pci[i], ",")) == 0)
				config_error(e, "the same device as eal.pci[%u]", j);
	}
}

static void
check_lcores(struct config_errors *e, const struct config *c)
{
	for (unsigned i = 0; i < c->lcores; i++) {
		at(e, "lcores[%u]", i);
		for (unsigned j = 0; j < i; j++)
			if (c->lcore[i] == c->lcore[j])
				config_error(e, "CPU %u is also lcores[%u]", c->lcore[i], j);
	}
}

/* What one session is promised must exist in a shard. */
static void
check_limits(struct config_errors *e, const struct config *c)
{
	at(e, "limits.qps");
	if (c->max_qps > c->shard_qps)
		config_error(e, "%u is more than limits.shard_qps, %u", c->max_qps, c->shard_qps);
	at(e, "limits.mrs");
	if (c->max_mrs > c->shard_mrs)
		config_error(e, "%u is more than limits.shard_mrs, %u", c->max_mrs, c->shard_mrs);
	at(e, "limits.shard_wqes");
	if (c->shard_wqes < c->shard_qps)
		config_error(e, "%u is less than one request for each of limits.shard_qps, %u",
			c->shard_wqes, c->shard_qps);
}

/* Frame buffers of a port's queues, or of the rings and bursts of a shard. */
#define FRAMES_MB 32u

static void
check_memory(struct config_errors *e, const struct config *c)
{
	uint32_t least = (c->ports + c->lcores) * FRAMES_MB;

	at(e, "eal.memory_mb");
	if (c->memory_mb < least)
		config_error(e, "%u is too little: %u ports and %u lcores take %u for frames",
			c->memory_mb, c->ports, c->lcores, least);
}

void
config_check(struct config_errors *e, const struct config *c)
{
	check_devices_once(e, c);
	check_lcores(e, c);
	check_limits(e, c);
	check_memory(e, c);
	for (unsigned p = 0; p < c->ports; p++) {
		check_device(e, c, p);
		check_addresses(e, c, p);
		at(e, "ports[%u].gateway", p);
		if (c->port[p].has_gateway4)
			check_gateway(e, &c->port[p], c->port[p].gateway4);
		at(e, "ports[%u].gateway6", p);
		if (c->port[p].has_gateway6)
			check_gateway(e, &c->port[p], c->port[p].gateway6);
	}
}
