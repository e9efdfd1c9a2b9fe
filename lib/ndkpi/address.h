/* SPDX-License-Identifier: BSD-3-Clause */
/* A consumer's address, kept for a request. */
#ifndef NDK_ADDRESS_H
#define NDK_ADDRESS_H

#include <stdbool.h>

#include "ndkpi/ndkpi.h"

struct ndk_address {
	struct sockaddr_storage at;
	socklen_t bytes;
};

/* False: none, or too long for any address. */
static inline bool
ndk_address_keep(struct ndk_address *to, const SOCKADDR *from, ULONG bytes)
{
	if (from == NULL || bytes > sizeof(to->at))
		return false;
	memcpy(&to->at, from, bytes);
	to->bytes = bytes;
	return true;
}

static inline const SOCKADDR *
ndk_address_of(const struct ndk_address *a)
{
	return (const SOCKADDR *)&a->at;
}

#endif
