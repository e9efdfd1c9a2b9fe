/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/net_rig.h"

struct net_ip
net_rig_ip(const char *text)
{
	struct net_ip ip = {{[10] = 0xff, [11] = 0xff}};

	if (inet_pton(AF_INET, text, ip.b + 12) != 1)
		cr_assert_eq(inet_pton(AF_INET6, text, ip.b), 1, "%s", text);
	return ip;
}

struct roce_gid
net_rig_gid(const char *text)
{
	const struct net_ip ip = net_rig_ip(text);
	struct roce_gid gid;

	memcpy(gid.raw, ip.b, sizeof(gid.raw));
	return gid;
}

static void
send_announcements(struct net_rig *r)
{
	net_rig_run_until(r, r->now + 1 * S);
	while (net_tx(r->n, &r->tx))
		;
}

void
net_rig_init(struct net_rig *r, uint32_t neighbours)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x77, 1};
	const struct net_cfg cfg = {.max_neighbours = neighbours};
	size_t bytes = net_bytes(&cfg);
	void *mem = aligned_alloc(64, bytes);

	cr_assert_not_null(mem);
	memset(mem, 0, bytes);
	memset(r, 0, sizeof(*r));
	r->n = net_init(mem, &cfg);
	cr_assert_eq(net_rig_link(r, 0, 0, mac, 1500), 0);
	net_rig_address(r, 0, "10.77.0.1", 24);
	net_rig_address(r, 0, "fd77::1", 64);
	send_announcements(r);
}

int
net_rig_link(struct net_rig *r, uint32_t port, uint16_t vlan, const uint8_t mac[6], uint32_t mtu)
{
	struct net_link link = {
		.port = port, .vlan = vlan, .priority = NET_PRIORITY_OF_DSCP, .mtu = mtu};

	memcpy(link.mac, mac, 6);
	return net_link_add(r->n, &link);
}

void
net_rig_address(struct net_rig *r, uint32_t link, const char *text, uint8_t prefix_len)
{
	struct net_ip ip = net_rig_ip(text);
	const char *why;

	cr_assert(net_address_add(r->n, link, &ip, prefix_len, &why), "%s", why);
}

void
net_rig_add_vlan(struct net_rig *r)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0x77, 1};

	cr_assert_eq(net_rig_link(r, 0, 100, mac, 1500), 1);
	net_rig_address(r, 1, "10.78.0.1", 24);
	net_rig_address(r, 1, "fd78::1", 64);
	send_announcements(r);
}

bool
net_rig_gateway(struct net_rig *r, uint32_t link, const char *via, const char **why)
{
	struct net_ip gw = net_rig_ip(via),
		      to = net_rig_ip(strchr(via, ':') != NULL ? "::" : "0.0.0.0");

	return net_route_add(r->n, link, &to, 0, &gw, why);
}

void
net_rig_free(struct net_rig *r)
{
	free(r->n);
}

size_t
net_rig_bytes(const char *hex, uint8_t *out, size_t room)
{
	size_t n = 0;

	for (; *hex; hex++) {
		char two[3] = {hex[0], hex[1], 0};

		if (isspace((unsigned char)*hex))
			continue;
		cr_assert(n < room && isxdigit((unsigned char)hex[1]));
		out[n++] = (uint8_t)strtoul(two, NULL, 16);
		hex++;
	}
	return n;
}

void
net_rig_rx(struct net_rig *r, const char *hex)
{
	uint8_t bytes[2048], *exact;
	size_t n = net_rig_bytes(hex, bytes, sizeof(bytes));

	/* A block of its own size: reading beyond the frame is a fault that a sanitizer sees. */
	exact = malloc(n ? n : 1);
	memcpy(exact, bytes, n);
	net_rx(r->n, r->now, 0, exact, n);
	free(exact);
}

void
net_rig_expect_tx(struct net_rig *r, const char *hex)
{
	uint8_t want[2048] = {0};
	size_t n = net_rig_bytes(hex, want, sizeof(want));
	/* The least of Ethernet, and still so when a switch takes the tag away. */
	size_t least = want[12] == 0x81 && want[13] == 0 ? 64 : 60;

	cr_assert(net_tx(r->n, &r->tx), "no frame, but expected %s", hex);
	cr_assert_eq(r->tx.port, 0);
	cr_assert_eq(r->tx.len, n < least ? least : n);
	for (size_t i = 0; i < r->tx.len; i++)
		cr_assert_eq(r->tx.frame[i], want[i], "byte %zu: %02x instead of %02x", i,
			r->tx.frame[i], want[i]);
}

void
net_rig_expect_silence(struct net_rig *r)
{
	cr_assert_not(net_tx(r->n, &r->tx), "a frame of type %02x%02x that nobody asked for",
		r->tx.frame[12], r->tx.frame[13]);
}

void
net_rig_run_until(struct net_rig *r, uint64_t now)
{
	while (net_next_deadline(r->n) <= now) {
		if (net_next_deadline(r->n) > r->now)
			r->now = net_next_deadline(r->n);
		net_tick(r->n, r->now);
	}
	r->now = now;
}

enum net_resolve
net_rig_resolve(struct net_rig *r, const char *dst)
{
	struct net_ip ip = net_rig_ip(dst);

	return net_resolve(r->n, r->now, NET_OWNER_HOST, NULL, &ip, &r->hop);
}

void
net_rig_meet_peer(struct net_rig *r)
{
	cr_assert_eq(net_rig_resolve(r, "10.77.0.2"), NET_PENDING);
	net_rig_expect_tx(r, ARP_ASK_PEER);
	net_rig_rx(r, ARP_PEER_ANSWERS);
	cr_assert_eq(net_rig_resolve(r, "10.77.0.2"), NET_RESOLVED);
}

void
net_rig_expect_mac(struct net_rig *r, const uint8_t mac[6])
{
	cr_assert_eq(net_rig_resolve(r, "10.77.0.2"), NET_RESOLVED);
	cr_assert_arr_eq(r->hop.dmac, mac, 6);
}
