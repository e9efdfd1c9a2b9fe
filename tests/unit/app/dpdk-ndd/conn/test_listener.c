/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners and endpoints of sessions, and the ports that they hold. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

#include "rigs/ndd_rig.h"
#include "rigs/net_rig.h"

union reply {
	struct ndsh_id_msg id;
	struct ndsh_listener_create_reply listener;
	struct ndsh_bind_reply bind;
	uint8_t bytes[NDSH_MSG_BYTES];
};

static struct ndsh_addr
address(const char *text, uint16_t port)
{
	const struct net_ip ip = net_rig_ip(text);
	struct ndsh_addr a = {.port = port};

	memcpy(a.ip, ip.b, 16);
	return a;
}

static enum ndsh_status
listen_at(struct ndd_rig *r, int client, uint16_t type, const char *text, uint16_t port,
	union reply *reply)
{
	const struct ndsh_listener_create m = {
		.h.type = type, .addr = address(text, port), .backlog = 4};

	return ndd_rig_ask(r, client, &m, reply);
}

/* checks R-CONN-15[3]: one listener for each port, in whichever session */
Test(listener, R_CONN_15_a_port_has_one_listener)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s, *t;
	union reply reply;
	int one = ndd_rig_open(r, &s), two = ndd_rig_open(r, &t);

	cr_expect(eq(i32, listen_at(r, one, NDSH_MSG_LISTENER_CREATE, NDD_RIG_IP, 7000, &reply),
		NDSH_OK));
	cr_expect(eq(u16, reply.listener.addr.port, 7000));
	cr_expect(eq(i32, listen_at(r, two, NDSH_MSG_LISTENER_CREATE, "0.0.0.0", 7000, &reply),
		NDSH_ERR_PORT_IN_USE));
	cr_expect(eq(i32, listen_at(r, two, NDSH_MSG_UD_LISTENER_CREATE, "0.0.0.0", 7000, &reply),
			  NDSH_OK),
		"datagram services have ports of their own");
	cr_expect(eq(u32, t->listeners.used, 1), "nothing is left of the one that was refused");
	close(one);
	ndd_rig_turn(r);
	cr_expect(eq(i32, listen_at(r, two, NDSH_MSG_LISTENER_CREATE, "0.0.0.0", 7000, &reply),
		NDSH_OK));
}

/* checks R-LSN-01[5], R-LSN-02[1,2]: of two adapters each has its wildcard; one that is there
 * already keeps the wildcard and each address of its own adapter, and none of the other's. */
Test(listener, R_LSN_01_adapters_have_wildcards_of_their_own)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s, *t;
	union reply reply;
	int one, two;

	ndd_rig_second_port(r, "10.78.0.1");
	one = ndd_rig_open(r, &s);
	two = ndd_rig_open_at(r, "10.78.0.1", &t);
	for (uint16_t type = NDSH_MSG_LISTENER_CREATE;; type = NDSH_MSG_UD_LISTENER_CREATE) {
		cr_expect(eq(i32, listen_at(r, one, type, "0.0.0.0", 7000, &reply), NDSH_OK));
		cr_expect(eq(i32, listen_at(r, two, type, "0.0.0.0", 7000, &reply), NDSH_OK));
		cr_expect(
			eq(i32, listen_at(r, one, type, "::", 7000, &reply), NDSH_ERR_PORT_IN_USE));
		cr_expect(eq(i32, listen_at(r, one, type, NDD_RIG_IP, 7000, &reply),
			NDSH_ERR_PORT_IN_USE));
		cr_expect(eq(i32, listen_at(r, one, type, "::", 7001, &reply), NDSH_OK));
		cr_expect(eq(i32, listen_at(r, two, type, "10.78.0.1", 7001, &reply), NDSH_OK));
		cr_expect(eq(i32, listen_at(r, two, type, "0.0.0.0", 7001, &reply),
			NDSH_ERR_PORT_IN_USE));
		if (type == NDSH_MSG_UD_LISTENER_CREATE)
			break;
	}
}

Test(listener, is_at_an_address_of_this_host)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	cr_expect(eq(i32, listen_at(r, client, NDSH_MSG_LISTENER_CREATE, "10.77.0.2", 7000, &reply),
		NDSH_ERR_ADDRESS_NOT_LOCAL));
	cr_expect(
		eq(i32, listen_at(r, client, NDSH_MSG_LISTENER_CREATE, "::", 0, &reply), NDSH_OK));
	cr_expect(ge(u16, reply.listener.addr.port, NDD_EPHEMERAL_FIRST), "one was chosen");
}

Test(listener, its_end_frees_the_port)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	for (int i = 0; i < 3; i++) {
		struct ndsh_id_msg destroy = {.h.type = NDSH_MSG_LISTENER_DESTROY};

		cr_assert(eq(i32,
			listen_at(r, client, NDSH_MSG_LISTENER_CREATE, NDD_RIG_IP, 7000, &reply),
			NDSH_OK));
		destroy.id = reply.listener.listener;
		cr_assert(eq(i32, ndd_rig_ask(r, client, &destroy, &reply), NDSH_OK));
	}
}

/* ---- bound first --------------------------------------------------------------------------- */

static enum ndsh_status
bind_at(struct ndd_rig *r, int client, uint16_t type, const char *text, uint16_t port,
	union reply *reply)
{
	const struct ndsh_bind m = {.h.type = type, .addr = address(text, port)};

	return ndd_rig_ask(r, client, &m, reply);
}

static enum ndsh_status
listen_on(struct ndd_rig *r, int client, uint32_t listener)
{
	const struct ndsh_listener_listen m = {
		.h.type = NDSH_MSG_LISTENER_LISTEN, .listener = listener, .backlog = 4};
	union reply reply;

	return ndd_rig_ask(r, client, &m, &reply);
}

static enum ndsh_status
pause_it(struct ndd_rig *r, int client, uint32_t listener)
{
	const struct ndsh_listener_pause m = {
		.h.type = NDSH_MSG_LISTENER_PAUSE, .listener = listener, .pause = 1};
	union reply reply;

	return ndd_rig_ask(r, client, &m, &reply);
}

static uint32_t
cm_listeners(struct ndd_rig *r)
{
	struct roce_cm_usage u;

	roce_cm_usage(r->d.cm, &u);
	return u.listeners;
}

/* checks R-LSN-01[1,6], R-LSN-02[1,2]: it has its port from the bind on, from all that ask for it
 * and in whichever way, and listens once. */
Test(bound, R_LSN_01_has_its_port_before_it_listens)
{
	static const uint16_t others[] = {
		NDSH_MSG_LISTENER_BIND, NDSH_MSG_BIND, NDSH_MSG_ENDPOINT_CREATE};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s, *t;
	union reply reply;
	int one = ndd_rig_open(r, &s), two = ndd_rig_open(r, &t);
	uint32_t listener;

	cr_assert(
		eq(i32, bind_at(r, one, NDSH_MSG_LISTENER_BIND, "0.0.0.0", 7000, &reply), NDSH_OK));
	listener = reply.bind.id;
	cr_expect(eq(u16, reply.bind.addr.port, 7000));
	for (int listening = 0; listening < 2; listening++) {
		for (int i = 0; i < 3; i++)
			cr_expect(eq(i32, bind_at(r, two, others[i], NDD_RIG_IP, 7000, &reply),
				NDSH_ERR_PORT_IN_USE));
		cr_expect(eq(i32,
			listen_at(r, two, NDSH_MSG_LISTENER_CREATE, NDD_RIG_IP, 7000, &reply),
			NDSH_ERR_PORT_IN_USE));
		cr_expect(eq(u32, t->listeners.used, 0));
		cr_expect(eq(u32, cm_listeners(r), (uint32_t)listening));
		cr_expect(eq(i32, pause_it(r, one, listener),
			listening ? NDSH_OK : NDSH_ERR_INVALID_STATE));
		cr_expect(eq(i32, listen_on(r, one, listener),
			listening ? NDSH_ERR_INVALID_STATE : NDSH_OK));
	}
	cr_expect(eq(i32, listen_on(r, two, listener), NDSH_ERR_INVALID_ID), "it is the other's");
}

/* It counts as a listener does, and gives all back however it ends. */
Test(bound, costs_what_a_listener_costs)
{
	struct ndsh_id_msg destroy = {.h.type = NDSH_MSG_LISTENER_DESTROY};
	struct ndd_rig *r = ndd_rig_new();
	const struct base_share *share;
	struct ndd_session *s, *t;
	union reply reply;
	int one = ndd_rig_open(r, &s), two = ndd_rig_open(r, &t);

	share = s->account.principal->share[0];
	for (uint32_t listening = 0; listening < 2; listening++) {
		cr_assert(eq(i32, bind_at(r, one, NDSH_MSG_LISTENER_BIND, NDD_RIG_IP, 7000, &reply),
			NDSH_OK));
		destroy.id = reply.bind.id;
		if (listening)
			cr_assert(eq(i32, listen_on(r, one, destroy.id), NDSH_OK));
		cr_expect(eq(u64, share[CONFIG_SHARE_listeners].used, 1));
		cr_expect(eq(u64, share[CONFIG_SHARE_ports].used, 1));
		cr_assert(eq(i32, ndd_rig_ask(r, one, &destroy, &reply), NDSH_OK));
		cr_expect(eq(u64, share[CONFIG_SHARE_listeners].used, 0));
		cr_expect(eq(u64, share[CONFIG_SHARE_ports].used, 0));
	}
	cr_assert(eq(
		i32, bind_at(r, one, NDSH_MSG_LISTENER_BIND, NDD_RIG_IP, 7000, &reply), NDSH_OK));
	close(one);
	ndd_rig_turn(r);
	cr_expect(
		eq(i32, bind_at(r, two, NDSH_MSG_LISTENER_BIND, NDD_RIG_IP, 7000, &reply), NDSH_OK),
		"the end of the session frees it");
}

/* checks R-LSN-01[2], R-CONN-15[2]: port 0 is an ephemeral one, of which there may be none left,
 * for a listener as for a connector */
Test(bound, R_CONN_15_no_ephemeral_port_is_left)
{
	static struct ndd_port taken[NDD_EPHEMERAL_COUNT];
	struct ndd_rig *r = ndd_rig_new();
	struct roce_cm_addr addr = {.port = 0};
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	for (uint32_t i = 0; i + 2 < NDD_EPHEMERAL_COUNT; i++)
		cr_assert(eq(i32,
			ndd_port_take(&r->d.ports, NULL, &taken[i], NDD_PORT_CONNECTOR, 0, &addr),
			NDSH_OK));
	for (int i = 0; i < 2; i++) {
		cr_assert(eq(i32, bind_at(r, client, NDSH_MSG_LISTENER_BIND, NDD_RIG_IP, 0, &reply),
			NDSH_OK));
		cr_expect(ge(u16, reply.bind.addr.port, NDD_EPHEMERAL_FIRST));
	}
	cr_expect(eq(i32, bind_at(r, client, NDSH_MSG_LISTENER_BIND, NDD_RIG_IP, 0, &reply),
		NDSH_ERR_NO_FREE_PORT));
	cr_expect(eq(i32, bind_at(r, client, NDSH_MSG_BIND, NDD_RIG_IP, 0, &reply),
		NDSH_ERR_NO_FREE_PORT));
	cr_expect(eq(u32, s->listeners.used, 2));
}

Test(bound, is_at_an_address_of_this_host)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	cr_expect(eq(i32, bind_at(r, client, NDSH_MSG_LISTENER_BIND, "10.77.0.2", 7000, &reply),
		NDSH_ERR_ADDRESS_NOT_LOCAL));
	cr_expect(eq(u32, s->listeners.used, 0));
	cr_expect(eq(i32, listen_on(r, client, 0), NDSH_ERR_INVALID_ID));
}

/* ---- endpoints ----------------------------------------------------------------------------- */

Test(endpoint, holds_a_port_until_its_end)
{
	const struct ndsh_bind here = {
		.h.type = NDSH_MSG_ENDPOINT_CREATE, .addr = address(NDD_RIG_IP, 7000)};
	const struct ndsh_bind any = {.h.type = NDSH_MSG_ENDPOINT_CREATE, .addr.port = 7001},
			       other = {.h.type = NDSH_MSG_ENDPOINT_CREATE,
				       .addr = address("10.77.0.2", 7002)};
	struct ndsh_id_msg destroy = {.h.type = NDSH_MSG_ENDPOINT_DESTROY};
	const struct net_ip mine = net_rig_ip(NDD_RIG_IP);
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union reply reply;
	int client = ndd_rig_open(r, &s);

	cr_assert(eq(i32, ndd_rig_ask(r, client, &here, &reply), NDSH_OK));
	destroy.id = reply.bind.id;
	cr_expect(eq(i32, ndd_rig_ask(r, client, &here, &reply), NDSH_ERR_PORT_IN_USE));
	cr_expect(eq(u32, s->endpoints.used, 1));
	cr_assert(eq(i32, ndd_rig_ask(r, client, &destroy, &reply), NDSH_OK));
	cr_expect(eq(i32, ndd_rig_ask(r, client, &here, &reply), NDSH_OK));
	cr_expect(eq(i32, ndd_rig_ask(r, client, &any, &reply), NDSH_OK));
	cr_expect_arr_eq(reply.bind.addr.ip, mine.b, 16, "no address: the adapter's");
	cr_expect(eq(i32, ndd_rig_ask(r, client, &other, &reply), NDSH_ERR_ADDRESS_NOT_LOCAL));
}
