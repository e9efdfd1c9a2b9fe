/* SPDX-License-Identifier: BSD-3-Clause */
/* Before there is an adapter: the daemon's addresses, and which of them a peer is reached from. */
#include <string.h>
#include <unistd.h>

#include "ndclient/session/address.h"
#include "ndclient/session/error.h"
#include "ndclient/session/socket.h"

/* The list may need several messages. */
struct listing {
	int sock;
	uint32_t abi_minor; /* of the daemon */
	uint32_t before;    /* addresses of earlier pages */
	struct ndsh_address_list_reply page;
};

static nd_status
next_page(struct listing *l)
{
	struct ndsh_address_list all = {.h.type = NDSH_MSG_ADDRESS_LIST};
	struct ndsh_address_page m = {.h.type = NDSH_MSG_ADDRESS_PAGE};
	nd_status st;

	l->before += l->page.count;
	m.first = l->before;
	st = nd_socket_exchange(
		l->sock, l->abi_minor < NDSH_MINOR_ADDRESS_PAGE ? &all.h : &m.h, &l->page, NULL);
	if (st == ND_SUCCESS && l->page.count > NDSH_ADDRESS_LIST_MAX)
		l->page.count = NDSH_ADDRESS_LIST_MAX;
	return st;
}

static bool
may_go_on(const struct listing *l)
{
	return l->page.count == NDSH_ADDRESS_LIST_MAX && l->abi_minor >= NDSH_MINOR_ADDRESS_PAGE;
}

static nd_status
list_all(struct listing *l, struct sockaddr_storage *list, uint32_t room)
{
	nd_status st;

	do {
		st = next_page(l);
		for (uint32_t i = 0; st == ND_SUCCESS && i < l->page.count; i++)
			if (l->before + i < room)
				(void)nd_address_to(&list[l->before + i], &l->page.addr[i]);
	} while (st == ND_SUCCESS && may_go_on(l));
	return st;
}

nd_status
nd_query_addresses(
	const struct nd_open_options *opt, struct sockaddr_storage *list, uint32_t *count)
{
	uint32_t room = list != NULL && count != NULL ? *count : 0;
	struct ndsh_hello_reply hello;
	struct listing l = {0};
	nd_status st;

	if (count == NULL)
		return ND_INVALID_PARAMETER_3;
	st = nd_socket_open(opt, &l.sock, &hello);
	if (st != ND_SUCCESS)
		return st;
	l.abi_minor = hello.abi_minor;
	st = list_all(&l, list, room);
	close(l.sock);
	if (st != ND_SUCCESS)
		return st;
	*count = l.before + l.page.count;
	return *count > room ? ND_BUFFER_OVERFLOW : ND_SUCCESS;
}

/* A daemon that is too old to be asked for a route: of the family of to, with the most leading bits
 * of it. */
static nd_status
guess_route(int sock, const struct ndsh_addr *to, struct ndsh_addr *from)
{
	struct listing l = {.sock = sock};
	int best = -1, best_bits = -1;
	nd_status st = next_page(&l);

	if (st != ND_SUCCESS)
		return st;
	for (uint32_t i = 0; i < l.page.count; i++) {
		int bits = nd_address_common_bits(to, &l.page.addr[i]);

		if (bits > best_bits) {
			best_bits = bits;
			best = (int)i;
		}
	}
	if (best < 0)
		return nd_fail(ND_NETWORK_UNREACHABLE, "the daemon has no address of that family");
	*from = l.page.addr[best];
	return ND_SUCCESS;
}

static nd_status
ask_route(int sock, const struct ndsh_addr *to, struct ndsh_addr *from)
{
	struct ndsh_route m = {.h.type = NDSH_MSG_ROUTE, .addr = *to}, reply;
	nd_status st = nd_socket_exchange(sock, &m.h, &reply, NULL);

	if (st == ND_NETWORK_UNREACHABLE)
		return nd_fail(st, "the daemon has no route there");
	*from = reply.addr;
	return st;
}

nd_status
nd_resolve_address(const struct nd_open_options *opt, const struct sockaddr *remote,
	socklen_t remote_bytes, struct sockaddr_storage *local)
{
	struct ndsh_hello_reply hello;
	struct ndsh_addr to, from;
	nd_status st;
	int sock;

	if (local == NULL)
		return ND_INVALID_PARAMETER_4;
	if (!nd_address_from(&to, remote, remote_bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	to.port = 0;
	st = nd_socket_open(opt, &sock, &hello);
	if (st != ND_SUCCESS)
		return st;
	st = hello.abi_minor < NDSH_MINOR_ROUTE ? guess_route(sock, &to, &from)
						: ask_route(sock, &to, &from);
	close(sock);
	if (st != ND_SUCCESS)
		return st;
	from.port = 0;
	(void)nd_address_to(local, &from);
	return ND_SUCCESS;
}
