/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and routes, as clients may ask for them before they open an adapter. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <string.h>

#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"

union reply {
	struct ndsh_msg_hdr h;
	struct ndsh_address_list_reply list;
	struct ndsh_route route;
	struct ndsh_adapter_reply adapter;
	uint8_t bytes[NDSH_MSG_BYTES];
};

static void
expect_address(const struct ndsh_addr *addr, const char *text)
{
	const struct net_ip ip = net_rig_ip(text);

	cr_expect_arr_eq(addr->ip, ip.b, 16, "%s", text);
}

static enum ndsh_status
ask_route(struct ndd_rig *r, int client, const char *to, uint32_t scope, union reply *reply)
{
	const struct net_ip ip = net_rig_ip(to);
	struct ndsh_route m = {.h.type = NDSH_MSG_ROUTE, .addr.scope_id = scope};

	memcpy(m.addr.ip, ip.b, 16);
	return ndd_rig_ask(r, client, &m, reply);
}

/* Link-local ones come last, and have a scope: the port, from 1 on. */
Test(addresses, all_are_listed)
{
	const struct ndsh_address_list list = {.h.type = NDSH_MSG_ADDRESS_LIST};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	cr_assert(eq(i32, ndd_rig_ask(r, client, &list, &reply), NDSH_OK));
	cr_assert(eq(u32, reply.list.count, 3));
	expect_address(&reply.list.addr[0], "10.77.0.1");
	expect_address(&reply.list.addr[1], "fd77::1");
	cr_expect(eq(u32, reply.list.addr[1].scope_id, 0));
	expect_address(&reply.list.addr[2], "fe80::ff:fe00:7701");
	cr_expect(eq(u32, reply.list.addr[2].scope_id, 1));
}

Test(addresses, pages_continue_where_the_last_one_ended)
{
	struct ndsh_address_page page = {.h.type = NDSH_MSG_ADDRESS_PAGE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);
	char text[16];
	const char *why;

	for (int i = 2; i <= 60; i++) {
		struct net_ip ip;

		snprintf(text, sizeof(text), "10.77.0.%d", i);
		ip = net_rig_ip(text);
		cr_assert(net_address_add(r->d.net, 0, &ip, 24, &why), "%s", why);
	}
	cr_assert(eq(i32, ndd_rig_ask(r, client, &page, &reply), NDSH_OK));
	cr_expect(eq(u32, reply.list.count, NDSH_ADDRESS_LIST_MAX), "there may be more");
	page.first = NDSH_ADDRESS_LIST_MAX;
	cr_assert(eq(i32, ndd_rig_ask(r, client, &page, &reply), NDSH_OK));
	cr_expect(eq(u32, reply.list.count, 62 - NDSH_ADDRESS_LIST_MAX));
	page.first = UINT32_MAX;
	cr_assert(eq(i32, ndd_rig_ask(r, client, &page, &reply), NDSH_OK));
	cr_expect(eq(u32, reply.list.count, 0));
}

Test(addresses, a_route_names_the_address_to_open)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	cr_assert(eq(i32, ask_route(r, client, "10.77.0.9", 0, &reply), NDSH_OK));
	expect_address(&reply.route.addr, "10.77.0.1");
	cr_assert(eq(i32, ask_route(r, client, "fd77::9", 0, &reply), NDSH_OK));
	expect_address(&reply.route.addr, "fd77::1");
	cr_assert(eq(i32, ask_route(r, client, "fe80::9", 1, &reply), NDSH_OK));
	expect_address(&reply.route.addr, "fe80::ff:fe00:7701");
	cr_expect(eq(u32, reply.route.addr.scope_id, 1));
	cr_expect(eq(i32, ask_route(r, client, "fe80::9", 9, &reply), NDSH_ERR_NETWORK_UNREACHABLE),
		"there is no such port");
	cr_expect(eq(
		i32, ask_route(r, client, "192.0.2.1", 0, &reply), NDSH_ERR_NETWORK_UNREACHABLE));
}

/* ---- adapters ------------------------------------------------------------------------------ */

static enum ndsh_status
ask_adapter(struct ndd_rig *r, int client, uint64_t id, const char *text, union reply *reply)
{
	struct ndsh_adapter m = {.h.type = NDSH_MSG_ADAPTER, .adapter_id = id};
	const struct net_ip ip = net_rig_ip(text);

	memcpy(m.addr.ip, ip.b, 16);
	m.addr.port = 7000;
	return ndd_rig_ask(r, client, &m, reply);
}

static int
greet(struct ndd_rig *r, struct ndd_session **s)
{
	int client = ndd_rig_connect(r, s);
	struct ndsh_hello hello;
	union reply reply;

	ndsh_hello_fill(&hello);
	cr_assert(eq(i32, ndd_rig_ask(r, client, &hello, &reply), NDSH_OK));
	return client;
}

/* checks R-ADP-01[1-3], R-ADP-02[1]: before and after an adapter is opened, each address leads to
 * one id, that of its port, and the id back to an address of that port. */
Test(adapters, R_ADP_01_addresses_and_ids)
{
	static const struct {
		const char *text;
		uint64_t id;
	} rows[] = {{NDD_RIG_IP, 1}, {"fd77::1", 1}, {"fe80::ff:fe00:7701", 1}, {"10.78.0.1", 2}};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client[2];

	ndd_rig_second_port(r, "10.78.0.1");
	r->d.plane.port[1].ids = (struct port_ids){0x15b3, 0x1017};
	client[0] = greet(r, &s);
	client[1] = ndd_rig_open(r, &s);
	for (int open = 0; open < 2; open++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
			cr_assert(eq(i32, ask_adapter(r, client[open], 0, rows[i].text, &reply),
				NDSH_OK));
			cr_expect(eq(u64, reply.adapter.adapter_id, rows[i].id));
			expect_address(&reply.adapter.addr, rows[i].text);
			cr_expect(eq(u16, reply.adapter.addr.port, 0));
			cr_expect(eq(u64, reply.adapter.max_window_bytes, r->cfg.max_memory_bytes));
			cr_expect(eq(u16, reply.adapter.vendor_id, i == 3 ? 0x15b3 : 0));
			cr_expect(eq(u16, reply.adapter.device_id, i == 3 ? 0x1017 : 0));
			cr_assert(eq(i32, ask_adapter(r, client[open], rows[i].id, "::", &reply),
				NDSH_OK));
			cr_expect(eq(u64, reply.adapter.adapter_id, rows[i].id));
			expect_address(&reply.adapter.addr, i == 3 ? "10.78.0.1" : NDD_RIG_IP);
		}
		cr_expect(eq(i32, ask_adapter(r, client[open], 0, "10.77.0.2", &reply),
			NDSH_ERR_ADDRESS_NOT_LOCAL));
		cr_expect(eq(i32, ask_adapter(r, client[open], 3, NDD_RIG_IP, &reply),
			NDSH_ERR_INVALID_ID));
		cr_expect(eq(i32, ask_adapter(r, client[open], UINT64_MAX, NDD_RIG_IP, &reply),
			NDSH_ERR_INVALID_ID));
	}
}

Test(adapters, one_without_an_address_cannot_be_named)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = greet(r, &s);

	r->d.plane.ports = 2;
	cr_expect(eq(i32, ask_adapter(r, client, 2, "::", &reply), NDSH_ERR_ADDRESS_NOT_LOCAL));
}

/* checks R-ADP-03[1] */
Test(adapters, R_ADP_03_its_own_addresses_are_listed_apart)
{
	struct ndsh_address_page page = {.h.type = NDSH_MSG_ADDRESS_PAGE, .own = 1};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client;

	ndd_rig_second_port(r, "10.78.0.1");
	client = greet(r, &s);
	cr_expect(eq(i32, ndd_rig_ask(r, client, &page, &reply), NDSH_ERR_INVALID_STATE),
		"it has opened none");
	client = ndd_rig_open(r, &s);
	cr_assert(eq(i32, ndd_rig_ask(r, client, &page, &reply), NDSH_OK));
	cr_assert(eq(u32, reply.list.count, 3));
	expect_address(&reply.list.addr[0], NDD_RIG_IP);
	expect_address(&reply.list.addr[1], "fd77::1");
	expect_address(&reply.list.addr[2], "fe80::ff:fe00:7701");
	page.first = 2;
	cr_assert(eq(i32, ndd_rig_ask(r, client, &page, &reply), NDSH_OK));
	cr_expect(eq(u32, reply.list.count, 1));
	client = ndd_rig_open_at(r, "10.78.0.1", &s);
	page.first = 0;
	cr_assert(eq(i32, ndd_rig_ask(r, client, &page, &reply), NDSH_OK));
	cr_assert(eq(u32, reply.list.count, 2));
	expect_address(&reply.list.addr[0], "10.78.0.1");
	expect_address(&reply.list.addr[1], "fe80::ff:fe00:7801");
	cr_expect(eq(u32, reply.list.addr[1].scope_id, 2));
}
