/* SPDX-License-Identifier: BSD-3-Clause */
#include "local.h"

#include <string.h>

#include "fail.h"
#include "wait.h"

#define ADDRESSES 32

static nd_status
local_open(const struct nd_open_options *opt, const struct app_addr *local,
	struct nd_adapter **adapter)
{
	char text[APP_ADDR_TEXT];
	nd_status st =
		nd_adapter_open((const struct sockaddr *)&local->ss, local->bytes, opt, adapter);

	if (st != ND_SUCCESS)
		app_fail(st, "can't open the adapter at %s", app_addr_text(local, false, text));
	return st;
}

nd_status
app_open_for_remote(const char *socket_path, const struct app_addr *local,
	const struct app_addr *remote, struct nd_adapter **adapter, struct app_addr *used)
{
	struct nd_open_options opt = {.socket_path = socket_path};
	char text[APP_ADDR_TEXT];
	nd_status st;

	if (local != NULL) {
		*used = *local;
	} else {
		*used = *remote; /* for its family and size */
		st = nd_resolve_address(
			&opt, (const struct sockaddr *)&remote->ss, remote->bytes, &used->ss);
		if (st != ND_SUCCESS) {
			app_fail(st, "no local address for %s", app_addr_text(remote, false, text));
			return st;
		}
	}
	return local_open(&opt, used, adapter);
}

/* Find the daemon's first address; any address of the daemon opens an adapter. */
static nd_status
local_first_address(const struct nd_open_options *opt, struct app_addr *first)
{
	struct sockaddr_storage list[ADDRESSES];
	uint32_t count = ADDRESSES;
	nd_status st = nd_query_addresses(opt, list, &count);

	if (st != ND_SUCCESS && st != ND_BUFFER_OVERFLOW) {
		app_fail(st, "can't list the daemon's addresses");
		return st;
	}
	if (count == 0) {
		app_complain("the daemon has no address; its configuration gives its ports some");
		return ND_DEVICE_NOT_READY;
	}
	app_addr_any(list[0].ss_family, 0, first);
	first->ss = list[0];
	return ND_SUCCESS;
}

static nd_status
acceptor_listen(struct app_acceptor *a, const struct app_addr *where)
{
	char text[APP_ADDR_TEXT];
	nd_status st = nd_listener_create(a->adapter, &a->listener);

	a->where = *where;
	if (st == ND_SUCCESS)
		st = nd_listener_listen(
			a->listener, (const struct sockaddr *)&where->ss, where->bytes, 0);
	if (st == ND_SUCCESS) {
		a->where.bytes = sizeof(a->where.ss);
		st = nd_listener_local_address(
			a->listener, (struct sockaddr *)&a->where.ss, &a->where.bytes);
	}
	if (st != ND_SUCCESS)
		app_fail(st, "can't listen at %s", app_addr_text(where, true, text));
	return st;
}

/* Let a new connector wait for the next request. */
static nd_status
acceptor_replenish(struct app_acceptor *a)
{
	nd_status st = nd_connector_create(a->adapter, &a->next);

	if (st == ND_SUCCESS) {
		memset(&a->ov, 0, sizeof(a->ov));
		st = nd_listener_get_request(a->listener, a->next, &a->ov);
		if (st == ND_PENDING)
			st = ND_SUCCESS;
	}
	if (st != ND_SUCCESS)
		app_fail(st, "can't wait for connections");
	return st;
}

nd_status
app_open_local(const char *socket_path, const struct app_addr *local, struct nd_adapter **adapter,
	struct app_addr *used)
{
	struct nd_open_options opt = {.socket_path = socket_path};
	nd_status st = ND_SUCCESS;

	if (local != NULL && !app_addr_is_any(local))
		*used = *local;
	else
		st = local_first_address(&opt, used);
	return st == ND_SUCCESS ? local_open(&opt, used, adapter) : st;
}

nd_status
app_acceptor_open(
	struct app_acceptor *a, const char *socket_path, const struct app_addr *bind, uint16_t port)
{
	struct app_addr by, where;
	nd_status st;

	memset(a, 0, sizeof(*a));
	st = app_open_local(socket_path, bind, &a->adapter, &by);
	if (st == ND_SUCCESS) {
		if (bind != NULL)
			where = *bind;
		else
			app_addr_any(by.ss.ss_family, port, &where);
		st = acceptor_listen(a, &where);
	}
	if (st == ND_SUCCESS)
		st = acceptor_replenish(a);
	if (st != ND_SUCCESS)
		app_acceptor_close(a);
	return st;
}

nd_status
app_acceptor_next(struct app_acceptor *a, int timeout_ms, struct nd_connector **c)
{
	nd_status st = app_wait(&a->ov, timeout_ms);

	if (st == ND_TIMEOUT || (st == ND_CANCELED && app_stopping()))
		return st;
	if (st != ND_SUCCESS) {
		app_fail(st, "waiting for connections");
		return st;
	}
	*c = a->next;
	a->next = NULL;
	st = acceptor_replenish(a);
	if (st != ND_SUCCESS)
		nd_connector_close(*c);
	return st;
}

void
app_acceptor_close(struct app_acceptor *a)
{
	if (a->listener != NULL)
		nd_listener_close(a->listener);
	if (a->next != NULL)
		nd_connector_close(a->next);
	if (a->adapter != NULL)
		nd_adapter_close(a->adapter);
	memset(a, 0, sizeof(*a));
}
