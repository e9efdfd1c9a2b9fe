/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses as text. */
#include "hostnet/address.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "rigs/net_rig.h"

Test(address, both_families_are_written_as_people_do)
{
	static const char *const texts[] = {"10.77.0.1", "0.0.0.0", "255.255.255.255", "fd77::1",
		"fe80::ff:fe00:7701", "::", "::1", "1111:2222:3333:4444:5555:6666:7777:8888"};
	char buf[INET6_ADDRSTRLEN];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const struct net_ip ip = net_rig_ip(texts[i]);

		cr_expect(eq(str, (char *)ndd_ip_text(ip.b, buf), (char *)texts[i]));
	}
}

Test(address, sixteen_bytes_stay_what_they_are)
{
	const struct net_ip ip = net_rig_ip("fd77::1");
	const struct net_ip copy = ndd_ip(ip.b);

	cr_expect(net_ip_equal(&ip, &copy));
}
