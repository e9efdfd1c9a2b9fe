/* SPDX-License-Identifier: BSD-3-Clause */
/* Socket addresses and the ABI's, which holds IPv4 as ::ffff:a.b.c.d. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/address.h"

static const uint8_t v4_prefix[12] = {[10] = 0xff, [11] = 0xff};

bool
nd_address_is_v4(const struct ndsh_addr *a)
{
	return memcmp(a->ip, v4_prefix, sizeof(v4_prefix)) == 0;
}

bool
nd_address_from(struct ndsh_addr *to, const struct sockaddr *from, socklen_t bytes)
{
	const struct sockaddr_in *in = (const void *)from;
	const struct sockaddr_in6 *in6 = (const void *)from;

	memset(to, 0, sizeof(*to));
	if (from == NULL || bytes < sizeof(from->sa_family))
		return false;
	if (from->sa_family == AF_INET && bytes >= sizeof(*in)) {
		memcpy(to->ip, v4_prefix, sizeof(v4_prefix));
		memcpy(to->ip + 12, &in->sin_addr, 4);
		to->port = ntohs(in->sin_port);
		return true;
	}
	if (from->sa_family == AF_INET6 && bytes >= sizeof(*in6)) {
		memcpy(to->ip, &in6->sin6_addr, 16);
		to->port = ntohs(in6->sin6_port);
		to->scope_id = in6->sin6_scope_id;
		return true;
	}
	return false;
}

socklen_t
nd_address_to(struct sockaddr_storage *to, const struct ndsh_addr *from)
{
	struct sockaddr_in *in = (void *)to;
	struct sockaddr_in6 *in6 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (nd_address_is_v4(from)) {
		in->sin_family = AF_INET;
		memcpy(&in->sin_addr, from->ip + 12, 4);
		in->sin_port = htons(from->port);
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	memcpy(&in6->sin6_addr, from->ip, 16);
	in6->sin6_port = htons(from->port);
	in6->sin6_scope_id = from->scope_id;
	return sizeof(*in6);
}

nd_status
nd_address_give(const struct ndsh_addr *from, struct sockaddr *addr, socklen_t *bytes)
{
	struct sockaddr_storage ss;
	socklen_t need = nd_address_to(&ss, from);
	bool fits = addr != NULL && *bytes >= need;

	if (fits)
		memcpy(addr, &ss, need);
	*bytes = need;
	return fits ? ND_SUCCESS : ND_BUFFER_OVERFLOW;
}

bool
nd_address_is_any(const struct ndsh_addr *a)
{
	static const uint8_t zero[16];

	return memcmp(a->ip, zero, 16) == 0 ||
	       (nd_address_is_v4(a) && memcmp(a->ip + 12, zero, 4) == 0);
}

int
nd_address_common_bits(const struct ndsh_addr *a, const struct ndsh_addr *b)
{
	int bits = 0;

	if (nd_address_is_v4(a) != nd_address_is_v4(b))
		return -1;
	while (bits < 128 && a->ip[bits / 8] == b->ip[bits / 8])
		bits += 8;
	if (bits < 128)
		bits += __builtin_clz((unsigned int)(a->ip[bits / 8] ^ b->ip[bits / 8])) - 24;
	return bits;
}
