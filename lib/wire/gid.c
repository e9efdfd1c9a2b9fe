/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "wire/gid.h"

bool
roce_gid_is_v4(const struct roce_gid *gid)
{
	static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(gid->raw, prefix, sizeof(prefix)) == 0;
}

bool
roce_gid_is_group(const struct roce_gid *gid)
{
	return roce_gid_is_v4(gid) ? gid->raw[12] >> 4 == 14 : gid->raw[0] == 0xff;
}

void
roce_gid_from_v4(struct roce_gid *gid, const uint8_t v4[4])
{
	memset(gid->raw, 0, 10);
	memset(gid->raw + 10, 0xff, 2);
	memcpy(gid->raw + 12, v4, 4);
}
