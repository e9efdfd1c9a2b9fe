/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's addresses: all of them, before there is an adapter, or those of one. */
#include <string.h>
#include <unistd.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/listing.h"
#include "ndclient/session/socket.h"

static nd_status
ask_page(struct nd_listing *l)
{
	struct ndsh_address_list all = {.h.type = NDSH_MSG_ADDRESS_LIST};
	struct ndsh_address_page m = {
		.h.type = NDSH_MSG_ADDRESS_PAGE, .first = l->before, .own = l->adapter != NULL};

	if (l->adapter != NULL)
		return nd_control_call(
			l->adapter, &(struct nd_request){.h = &m.h, .reply = &l->page});
	return nd_socket_exchange(
		l->sock, l->abi_minor < NDSH_MINOR_ADDRESS_PAGE ? &all.h : &m.h, &l->page, NULL);
}

nd_status
nd_listing_next(struct nd_listing *l)
{
	nd_status st;

	l->before += l->page.count;
	st = ask_page(l);
	if (st == ND_SUCCESS && l->page.count > NDSH_ADDRESS_LIST_MAX)
		l->page.count = NDSH_ADDRESS_LIST_MAX;
	return st;
}

static bool
listing_goes_on(const struct nd_listing *l)
{
	return l->page.count == NDSH_ADDRESS_LIST_MAX && l->abi_minor >= NDSH_MINOR_ADDRESS_PAGE;
}

/* *count: in, room in list; out, how many there are. */
static nd_status
list_all(struct nd_listing *l, struct sockaddr_storage *list, uint32_t *count)
{
	const uint32_t room = list != NULL ? *count : 0;
	nd_status st;

	do {
		st = nd_listing_next(l);
		for (uint32_t i = 0; st == ND_SUCCESS && i < l->page.count; i++)
			if (l->before + i < room)
				(void)nd_address_to(&list[l->before + i], &l->page.addr[i]);
	} while (st == ND_SUCCESS && listing_goes_on(l));
	if (st != ND_SUCCESS)
		return st;
	*count = l->before + l->page.count;
	return *count > room ? ND_BUFFER_OVERFLOW : ND_SUCCESS;
}

nd_status
nd_query_addresses(
	const struct nd_open_options *opt, struct sockaddr_storage *list, uint32_t *count)
{
	struct ndsh_hello_reply hello;
	struct nd_listing l = {0};
	nd_status st;

	if (count == NULL)
		return ND_INVALID_PARAMETER_3;
	st = nd_socket_open(opt, &l.sock, &hello);
	if (st != ND_SUCCESS)
		return st;
	l.abi_minor = hello.abi_minor;
	st = list_all(&l, list, count);
	close(l.sock);
	return st;
}

nd_status
nd_adapter_query_addresses(struct nd_adapter *a, struct sockaddr_storage *list, uint32_t *count)
{
	struct nd_listing l = {.adapter = a};

	if (a == NULL || count == NULL)
		return ND_INVALID_PARAMETER;
	if (a->abi_minor < NDSH_MINOR_ADAPTER)
		return nd_fail(ND_NOT_SUPPORTED,
			"this daemon is too old to tell the addresses of one adapter");
	l.abi_minor = a->abi_minor;
	return list_all(&l, list, count);
}
