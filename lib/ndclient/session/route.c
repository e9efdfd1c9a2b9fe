/* SPDX-License-Identifier: BSD-3-Clause */
/* Before there is an adapter: which of the daemon's addresses a peer is reached from, and which
 * adapter has it. */
#include <unistd.h>

#include "ndclient/session/address.h"
#include "ndclient/session/error.h"
#include "ndclient/session/listing.h"
#include "ndclient/session/socket.h"

/* A daemon that is too old to be asked for a route: of the family of to, with the most leading bits
 * of it. */
static nd_status
guess_route(int sock, const struct ndsh_addr *to, struct ndsh_addr *from)
{
	struct nd_listing l = {.sock = sock};
	int best = -1, best_bits = -1;
	nd_status st = nd_listing_next(&l);

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

nd_status
nd_resolve_adapter(const struct nd_open_options *opt, const struct sockaddr *local,
	socklen_t local_bytes, uint64_t *adapter_id)
{
	struct ndsh_adapter m = {.h.type = NDSH_MSG_ADAPTER};
	struct ndsh_hello_reply hello;
	struct ndsh_adapter_reply about;
	nd_status st;
	int sock;

	if (adapter_id == NULL)
		return ND_INVALID_PARAMETER_4;
	if (!nd_address_from(&m.addr, local, local_bytes))
		return nd_fail(ND_INVALID_ADDRESS, "not an IPv4 or IPv6 address");
	m.addr.port = 0;
	st = nd_socket_open(opt, &sock, &hello);
	if (st != ND_SUCCESS)
		return st;
	if (hello.abi_minor < NDSH_MINOR_ADAPTER)
		st = nd_fail(ND_NOT_SUPPORTED, "this daemon is too old to tell ids of adapters");
	else
		st = nd_socket_exchange(sock, &m.h, &about, NULL);
	close(sock);
	if (st == ND_SUCCESS)
		*adapter_id = about.adapter_id;
	return st;
}
