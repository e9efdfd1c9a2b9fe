/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and GIDs. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <endian.h>
#include <netinet/in.h>
#include <string.h>

#include "ndverbs/address.h"

static struct sockaddr_storage
address(const char *text)
{
	struct sockaddr_storage s = {.ss_family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET};

	if (s.ss_family == AF_INET6)
		cr_assert(inet_pton(AF_INET6, text, &((struct sockaddr_in6 *)&s)->sin6_addr) == 1);
	else
		cr_assert(inet_pton(AF_INET, text, &((struct sockaddr_in *)&s)->sin_addr) == 1);
	return s;
}

Test(ndverbs_address, there_and_back)
{
	const char *const texts[] = {"192.0.2.1", "2001:db8::1", "fe80::1"};
	const char *const gids[] = {"::ffff:192.0.2.1", "2001:db8::1", "fe80::1"};

	for (int i = 0; i < 3; i++) {
		struct sockaddr_storage from = address(texts[i]), to;
		union ibv_gid gid;
		struct in6_addr want;

		ndv_gid_of(&from, &gid);
		cr_assert(inet_pton(AF_INET6, gids[i], &want) == 1);
		cr_expect(memcmp(&gid, &want, sizeof(want)) == 0, "%s", texts[i]);
		ndv_address_of(&gid, &to);
		cr_expect(memcmp(&from, &to, sizeof(to)) == 0, "%s", texts[i]);
	}
}

Test(ndverbs_address, numbers_of_devices_differ)
{
	const char *const texts[] = {
		"192.0.2.1", "192.0.2.2", "2001:db8::1", "2001:db8::2", "2001:db8:1::1", "fe80::1"};
	__be64 guids[6];

	for (int i = 0; i < 6; i++) {
		struct sockaddr_storage s = address(texts[i]);

		guids[i] = ndv_guid_of(&s);
		cr_expect(eq(u64, be64toh(guids[i]) >> 40, 0x024e44), "%s", texts[i]);
		for (int k = 0; k < i; k++)
			cr_expect(ne(u64, guids[k], guids[i]), "%s and %s", texts[k], texts[i]);
	}
}
