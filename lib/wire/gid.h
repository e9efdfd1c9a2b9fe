/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses of ports. */
#ifndef ROCE_GID_H
#define ROCE_GID_H

#include <stdbool.h>
#include <stdint.h>

/* A GID: an IPv6 address, or an IPv4 address as ::ffff:a.b.c.d (W-GID-01). */
struct roce_gid {
	uint8_t raw[16];
};

bool roce_gid_is_v4(const struct roce_gid *gid);
/* A multicast group's, not a host's. */
bool roce_gid_is_group(const struct roce_gid *gid);
void roce_gid_from_v4(struct roce_gid *gid, const uint8_t v4[4]);

static inline bool
roce_gid_equal(const struct roce_gid *a, const struct roce_gid *b)
{
	return __builtin_memcmp(a->raw, b->raw, 16) == 0;
}

#endif
