/* SPDX-License-Identifier: BSD-3-Clause */
#include "ping_proto.h"

#include <endian.h>
#include <stdio.h>
#include <string.h>

#define FIRST_CHAR 'A'
#define CHARS	   ('z' - 'A' + 1)

void
ping_info_encode(const struct ping_info *info, uint8_t wire[PING_INFO_BYTES])
{
	uint64_t address = htobe64(info->address);
	uint32_t bytes = htobe32(info->bytes);

	memcpy(wire, &address, 8);
	memcpy(wire + 8, &info->token, 4);
	memcpy(wire + 12, &bytes, 4);
}

void
ping_info_decode(const uint8_t wire[PING_INFO_BYTES], struct ping_info *info)
{
	uint64_t address;
	uint32_t bytes;

	memcpy(&address, wire, 8);
	memcpy(&info->token, wire + 8, 4);
	memcpy(&bytes, wire + 12, 4);
	info->address = be64toh(address);
	info->bytes = be32toh(bytes);
}

void
ping_fill(char *buf, size_t bytes, uint32_t n)
{
	size_t i = (size_t)snprintf(buf, bytes, "rdma-ping-%u: ", n);
	uint32_t c = n % CHARS;

	for (; i < bytes; i++) {
		buf[i] = (char)(FIRST_CHAR + c);
		c = c + 1 < CHARS ? c + 1 : 0;
	}
	buf[bytes - 1] = '\0';
}

size_t
ping_differ(const char *a, const char *b, size_t bytes)
{
	size_t i = 0;

	while (i < bytes && a[i] == b[i])
		i++;
	return i;
}
