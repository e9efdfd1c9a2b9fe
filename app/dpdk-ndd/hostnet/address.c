/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>

#include "hostnet/address.h"

const char *
ndd_ip_text(const uint8_t ip[16], char buf[INET6_ADDRSTRLEN])
{
	struct net_ip a = ndd_ip(ip);
	bool v4 = net_ip_is_v4(&a);
	const char *s =
		inet_ntop(v4 ? AF_INET : AF_INET6, v4 ? a.b + 12 : a.b, buf, INET6_ADDRSTRLEN);

	return s != NULL ? s : "?";
}
