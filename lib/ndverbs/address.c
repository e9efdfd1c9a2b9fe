/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>

#include "ndverbs/address.h"

#define V4_AT 12u

static const uint8_t v4_prefix[V4_AT] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

static bool
is_v4(const union ibv_gid *gid)
{
	return memcmp(gid->raw, v4_prefix, V4_AT) == 0;
}

void
ndv_gid_of(const struct sockaddr_storage *address, union ibv_gid *gid)
{
	if (address->ss_family == AF_INET6) {
		memcpy(gid->raw, &((const struct sockaddr_in6 *)address)->sin6_addr, 16);
		return;
	}
	memcpy(gid->raw, v4_prefix, V4_AT);
	memcpy(gid->raw + V4_AT, &((const struct sockaddr_in *)address)->sin_addr, 4);
}

void
ndv_address_of(const union ibv_gid *gid, struct sockaddr_storage *address)
{
	memset(address, 0, sizeof(*address));
	if (!is_v4(gid)) {
		address->ss_family = AF_INET6;
		memcpy(&((struct sockaddr_in6 *)address)->sin6_addr, gid->raw, 16);
		return;
	}
	address->ss_family = AF_INET;
	memcpy(&((struct sockaddr_in *)address)->sin_addr, gid->raw + V4_AT, 4);
}

/* Five bytes are left behind the prefix: those of IPv4 fit; of IPv6 all bytes take part. */
__be64
ndv_guid_of(const struct sockaddr_storage *address)
{
	uint8_t guid[8] = {0x02, 'N', 'D', 0, 0, 0, 0, 0};
	union ibv_gid gid;
	__be64 out;

	ndv_gid_of(address, &gid);
	for (unsigned i = is_v4(&gid) ? V4_AT : 0; i < sizeof(gid.raw); i++)
		guid[3 + (i + 4) % 5] ^= gid.raw[i];
	memcpy(&out, guid, sizeof(out));
	return out;
}
