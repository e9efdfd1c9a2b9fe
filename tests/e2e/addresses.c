/* SPDX-License-Identifier: BSD-3-Clause */
/* Local addresses and ports: which connector gets one, and for how long. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "meeting.h"
#include "scenarios.h"

static uint16_t
local_port(struct side *s)
{
	struct sockaddr_storage local;
	socklen_t bytes = sizeof(local);

	WANT(ND_SUCCESS,
		nd_connector_local_address(s->connector, (struct sockaddr *)&local, &bytes));
	CHECK(bytes == s->addr_bytes);
	return get_port(&local);
}

static uint16_t
peer_port(struct side *s)
{
	struct sockaddr_storage peer;
	socklen_t bytes = sizeof(peer);

	WANT(ND_SUCCESS, nd_connector_peer_address(s->connector, (struct sockaddr *)&peer, &bytes));
	CHECK(bytes == s->addr_bytes);
	return get_port(&peer);
}

/* One byte too few: the size is told, and nothing is written. */
static void
check_short(nd_status (*ask)(struct nd_connector *c, struct sockaddr *addr, socklen_t *bytes),
	struct side *s)
{
	socklen_t bytes = s->addr_bytes - 1;
	struct sockaddr_storage seen, before;

	memset(&before, 0x77, sizeof(before));
	seen = before;
	WANT(ND_BUFFER_OVERFLOW, ask(s->connector, (struct sockaddr *)&seen, &bytes));
	CHECK(bytes == s->addr_bytes && memcmp(&seen, &before, sizeof(seen)) == 0);
}

static nd_status
listen_at(struct side *s, uint16_t port, struct nd_listener **listener)
{
	struct sockaddr_storage local = s->addr;

	set_port(&local, port);
	WANT(ND_SUCCESS, nd_listener_create(s->adapter, listener));
	return nd_listener_listen(*listener, (struct sockaddr *)&local, s->addr_bytes, 0);
}

/*
 * checks R-CONN-15[1,3,5,6], R-LSN-07[2,4,5]: a port belongs to one connector, and the first
 * bind stays valid.
 */
void
scenario_bind(struct pair *p)
{
	struct sockaddr_storage foreign = p->b.addr;
	struct side *a = &p->a, second;
	struct nd_listener *listener;
	uint16_t port;

	side_open_alone(a);
	second = *a;
	WANT(ND_SUCCESS, nd_connector_create(a->adapter, &second.connector));
	WANT(ND_INVALID_ADDRESS,
		nd_connector_bind(a->connector, (struct sockaddr *)&foreign, p->b.addr_bytes));
	WANT(ND_SUCCESS, side_bind(a, 0));
	port = local_port(a);
	CHECK(port >= 49152);
	WANT(ND_ADDRESS_ALREADY_ASSOCIATED, side_bind(a, 0));
	CHECK(local_port(a) == port);
	WANT(ND_SHARING_VIOLATION, side_bind(&second, port));
	WANT(ND_SHARING_VIOLATION, listen_at(a, port, &listener));
	WANT(ND_SUCCESS, side_bind(&second, 0));
	CHECK(local_port(&second) != port);
	nd_connector_close(second.connector);
	nd_connector_close(a->connector);
	WANT(ND_SUCCESS,
		nd_listener_listen(listener, (struct sockaddr *)&a->addr, a->addr_bytes, 0));
	nd_listener_close(listener);
	WANT(ND_SUCCESS, listen_at(a, port, &listener));
	WANT(ND_SUCCESS, nd_connector_create(a->adapter, &a->connector));
	WANT(ND_SHARING_VIOLATION, side_bind(a, port));
	nd_listener_close(listener);
	WANT(ND_SUCCESS, side_bind(a, port));
	side_close(a);
}

static void
wildcard_of(struct sockaddr_storage *any, sa_family_t family)
{
	memset(any, 0, sizeof(*any));
	any->ss_family = family;
}

/*
 * checks R-LSN-01[1-3]: the wildcard of either family takes what comes to the adapter's address, at
 * a port that was chosen or named; a listener listens once, and a second call changes nothing.
 */
void
scenario_wildcard(struct pair *p)
{
	static const sa_family_t families[] = {AF_INET, AF_INET6};
	struct sockaddr_storage any, seen;
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 4; i++) {
		const uint16_t port = i < 2 ? 0 : (uint16_t)(7300 + i);
		socklen_t bytes = sizeof(seen);

		nd_listener_close(m.listener);
		WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &m.listener));
		WANT(ND_INVALID_DEVICE_STATE,
			nd_listener_local_address(m.listener, (struct sockaddr *)&seen, &bytes));
		wildcard_of(&any, families[i % 2]);
		set_port(&any, port);
		WANT(ND_SUCCESS,
			nd_listener_listen(m.listener, (struct sockaddr *)&any, sizeof(any), 0));
		for (int again = 0; again < 2; again++) {
			set_port(&any, again ? 7310 : port);
			WANT(ND_INVALID_DEVICE_STATE,
				nd_listener_listen(
					m.listener, (struct sockaddr *)&any, sizeof(any), 0));
		}
		bytes = sizeof(seen);
		WANT(ND_SUCCESS,
			nd_listener_local_address(m.listener, (struct sockaddr *)&seen, &bytes));
		CHECK(port != 0 ? get_port(&seen) == port : get_port(&seen) >= 49152);
		m.where = p->b.addr;
		set_port(&m.where, get_port(&seen));
		meet_again(&m);
		meet_connect(&m);
		pair_works(p);
	}
	meet_close(&m);
}

/* checks R-CONN-16 */
void
scenario_host_ports(struct pair *p)
{
	struct sockaddr_in6 any = {.sin6_family = AF_INET6};
	struct sockaddr_storage taken = {0};
	socklen_t bytes = sizeof(taken);
	struct nd_listener *listener;
	int tcp = socket(AF_INET6, SOCK_STREAM, 0);

	side_open_alone(&p->a);
	CHECK(bind(tcp, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(tcp, 1) == 0);
	CHECK(getsockname(tcp, (struct sockaddr *)&taken, &bytes) == 0);
	WANT(ND_SUCCESS, side_bind(&p->a, get_port(&taken)));
	nd_connector_close(p->a.connector);
	WANT(ND_SUCCESS, listen_at(&p->a, get_port(&taken), &listener));
	side_close(&p->a);
	close(tcp);
}

/*
 * checks R-CONN-03[1,2], R-CONN-19[1-7]: the port of a bind is that of every attempt, and the
 * peer sees it.
 */
void
scenario_bound_connect(struct pair *p)
{
	struct sockaddr_storage dest, seen;
	struct nd_result result;
	socklen_t bytes = sizeof(seen);
	struct meeting m;
	uint16_t port;

	meet_open(&m, p);
	WANT(ND_CONNECTION_INVALID,
		nd_connector_local_address(p->a.connector, (struct sockaddr *)&seen, &bytes));
	WANT(ND_SUCCESS, side_bind(&p->a, 0));
	WANT(ND_SUCCESS, side_receive(&p->a, 100)); /* stays, whatever fails */
	port = local_port(&p->a);
	dest = m.where;
	set_port(&dest, SILENT_PORT);
	for (int i = 0; i < 3; i++)
		WANT(ND_CONNECTION_REFUSED, side_connect(&p->a, &dest));
	CHECK(local_port(&p->a) == port);
	WANT(ND_CONNECTION_INVALID,
		nd_connector_peer_address(p->a.connector, (struct sockaddr *)&seen, &bytes));
	WANT(ND_CONNECTION_INVALID, nd_connector_read_limits(p->a.connector, NULL, NULL));
	meet_ask(&m, 1, 1);
	meet_get(&m);
	check_short(nd_connector_peer_address, &p->b);
	check_short(nd_connector_local_address, &p->b);
	CHECK(peer_port(&p->b) == port);
	meet_accept(&m, 1, 1);
	CHECK(peer_port(&p->a) == get_port(&m.where) && local_port(&p->a) == port);
	CHECK(local_port(&p->b) == get_port(&m.where));
	meet_complete(&m);
	CHECK(peer_port(&p->a) == get_port(&m.where) && peer_port(&p->b) == port);
	WANT(ND_SUCCESS, side_send(&p->b, 10));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_RECEIVE && result.bytes_transferred == 10);
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	pair_works(p);
	meet_close(&m);
}

#define LISTED 67 /* as path_cases.py has them: 2, 8 in each of 8 VLANs, and the link-local one */

/* All are listed, each once, and open an adapter; a shorter array gets the first ones. */
void
scenario_listed(struct pair *p)
{
	const struct nd_open_options opt = {.socket_path = p->a.socket_path};
	struct sockaddr_storage all[LISTED + 1], some[LISTED - 1], none;
	uint32_t count = 0;

	WANT(ND_BUFFER_OVERFLOW, nd_query_addresses(&opt, NULL, &count));
	CHECK(count == LISTED);
	WANT(ND_BUFFER_OVERFLOW, nd_query_addresses(&opt, some, (count = LISTED - 1, &count)));
	CHECK(count == LISTED);
	memset(&none, 0xa5, sizeof(none));
	all[LISTED] = none;
	WANT(ND_SUCCESS, nd_query_addresses(&opt, all, (count = LISTED + 1, &count)));
	CHECK(count == LISTED && memcmp(&all[LISTED], &none, sizeof(none)) == 0);
	CHECK(memcmp(all, some, sizeof(some)) == 0);
	for (uint32_t i = 0; i < LISTED; i++) {
		struct nd_adapter *adapter;

		for (uint32_t k = 0; k < i; k++)
			CHECK(memcmp(&all[i], &all[k], sizeof(all[i])) != 0);
		WANT(ND_SUCCESS, nd_adapter_open((struct sockaddr *)&all[i], sizeof(all[i]), &opt,
					 &adapter));
		nd_adapter_close(adapter);
	}
}

/*
 * checks R-CONN-15[9,10], R-LSN-07[1,4,5]: accepted connections keep the port of a listener that
 * has gone.
 */
void
scenario_port_kept(struct pair *p)
{
	struct nd_listener *listener;
	struct side other;
	struct meeting m;
	uint16_t port;

	meet_open(&m, p);
	meet_connect(&m); /* a without a bind */
	CHECK(local_port(&p->a) >= 49152);
	port = get_port(&m.where);
	other = p->b;
	WANT(ND_SUCCESS, nd_connector_create(p->b.adapter, &other.connector));
	WANT(ND_SHARING_VIOLATION, side_bind(&other, port));
	nd_listener_close(m.listener);
	WANT(ND_SHARING_VIOLATION, listen_at(&p->b, port, &listener));
	WANT(ND_ADDRESS_ALREADY_EXISTS, side_bind(&other, port));
	pair_works(p);
	nd_connector_close(p->b.connector);
	WANT(ND_SUCCESS, side_bind(&other, port));
	nd_connector_close(other.connector);
	WANT(ND_SUCCESS,
		nd_listener_listen(listener, (struct sockaddr *)&m.where, p->b.addr_bytes, 0));
	pair_close(p);
}
