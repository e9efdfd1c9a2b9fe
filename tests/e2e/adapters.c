/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters: their ids and addresses, and what is told of them. */
#include <string.h>

#include "meeting.h"
#include "scenarios.h"

#define ADDRESSES_MAX 128u

static struct nd_open_options
options(const struct side *s)
{
	return (struct nd_open_options){.socket_path = s->socket_path, .profile = s->profile};
}

static uint64_t
id_of(const struct side *s, const struct sockaddr_storage *addr)
{
	const struct nd_open_options opt = options(s);
	uint64_t id = 0;

	WANT(ND_SUCCESS,
		nd_resolve_adapter(&opt, (const struct sockaddr *)addr, sizeof(*addr), &id));
	return id;
}

/* Those of this adapter; the buffer is as for all of the daemon's. */
static uint32_t
addresses_of(struct side *s, struct sockaddr_storage *list)
{
	struct sockaddr_storage none;
	uint32_t count = 0, all;

	WANT(ND_BUFFER_OVERFLOW, nd_adapter_query_addresses(s->adapter, NULL, &count));
	CHECK(count >= 1 && count < ADDRESSES_MAX);
	all = count;
	memset(&none, 0xa5, sizeof(none));
	list[all - 1] = list[all] = none;
	count = all - 1;
	WANT(ND_BUFFER_OVERFLOW, nd_adapter_query_addresses(s->adapter, list, &count));
	CHECK(count == all && memcmp(&list[all - 1], &none, sizeof(none)) == 0);
	count = all + 1;
	WANT(ND_SUCCESS, nd_adapter_query_addresses(s->adapter, list, &count));
	CHECK(count == all && memcmp(&list[all], &none, sizeof(none)) == 0);
	return all;
}

static void
check_info(struct side *s, uint64_t id)
{
	struct nd_adapter_info info;

	WANT(ND_SUCCESS, nd_adapter_query(s->adapter, &info));
	CHECK(info.adapter_id == id && id != 0);
	CHECK(info.max_window_bytes == info.max_registration_bytes);
	CHECK(info.vendor_id == 0 && info.device_id == 0); /* links of these tests are software */
}

/* Each address of the adapter leads to it, and there is none of the daemon's that it lacks: the
 * daemon has one port. */
static void
check_addresses(struct side *s, uint64_t id)
{
	const struct nd_open_options opt = options(s);
	struct sockaddr_storage own[ADDRESSES_MAX], all[ADDRESSES_MAX];
	uint32_t count = ADDRESSES_MAX, n = addresses_of(s, own);

	WANT(ND_SUCCESS, nd_query_addresses(&opt, all, &count));
	CHECK(n == count && memcmp(own, all, n * sizeof(own[0])) == 0);
	for (uint32_t i = 0; i < n; i++)
		CHECK(id_of(s, &own[i]) == id);
}

static void
open_by_id(struct side *s, uint64_t id)
{
	const struct nd_open_options opt = options(s);

	nd_adapter_close(s->adapter);
	WANT(ND_INVALID_PARAMETER, nd_adapter_open_id(0, &opt, &s->adapter));
	WANT(ND_INVALID_PARAMETER, nd_adapter_open_id(id + 1, &opt, &s->adapter));
	WANT(ND_INVALID_PARAMETER, nd_adapter_open_id(UINT64_MAX, &opt, &s->adapter));
	CHECK(s->adapter == NULL);
	WANT(ND_SUCCESS, nd_adapter_open_id(id, &opt, &s->adapter));
}

/* The wildcard stands for all of the adapter, so that it is reached by its id alone. */
static void
check_reached(struct pair *p)
{
	struct sockaddr_storage any = {.ss_family = p->b.addr.ss_family}, where;
	socklen_t bytes = sizeof(where);
	struct nd_overlapped get = {0}, ask = {0};
	struct nd_connector *c;
	struct nd_listener *l;

	WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &l));
	WANT(ND_SUCCESS, nd_listener_listen(l, (struct sockaddr *)&any, sizeof(any), 0));
	WANT(ND_SUCCESS, nd_listener_local_address(l, (struct sockaddr *)&where, &bytes));
	set_port(&any, get_port(&where));
	where = p->b.addr;
	set_port(&where, get_port(&any));
	WANT(ND_SUCCESS, nd_connector_create(p->b.adapter, &c));
	WANT(ND_PENDING, nd_listener_get_request(l, c, &get));
	side_open_alone(&p->a);
	WANT(ND_PENDING, nd_connector_connect(p->a.connector, p->a.qp, (struct sockaddr *)&where,
				 p->a.addr_bytes, 1, 1, NULL, 0, &ask));
	WANT(ND_SUCCESS, nd_overlapped_wait(&get, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_connector_reject(c, NULL, 0));
	WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(&ask, PATIENCE_MS));
	side_close(&p->a);
}

/*
 * checks R-ADP-01[1,3,4], R-ADP-02[1-3], R-ADP-03[1,2], R-ADP-04[1,2]: an adapter's id is known
 * before it is opened, by each of its addresses, and stays; it opens the adapter.
 */
void
scenario_adapters(struct pair *p)
{
	const struct nd_open_options opt = options(&p->b);
	struct sockaddr_storage foreign = p->a.addr;
	uint64_t id = id_of(&p->b, &p->b.addr), none = 77;

	WANT(ND_INVALID_ADDRESS,
		nd_resolve_adapter(&opt, (struct sockaddr *)&foreign, sizeof(foreign), &none));
	CHECK(none == 77);
	side_open(&p->b, 16);
	check_info(&p->b, id);
	check_addresses(&p->b, id);
	open_by_id(&p->b, id);
	check_info(&p->b, id);
	check_addresses(&p->b, id);
	check_reached(p);
	WANT(ND_SUCCESS, nd_adapter_close(p->b.adapter));
	CHECK(id_of(&p->b, &p->b.addr) == id);
}
