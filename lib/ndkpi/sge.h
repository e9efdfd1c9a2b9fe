/* SPDX-License-Identifier: BSD-3-Clause */
/* A consumer's list of buffers is libndclient's, as it stands. */
#ifndef NDK_SGE_H
#define NDK_SGE_H

#include "ndclient/ndclient.h"

#include "ndkpi/ndkpi.h"

_Static_assert(sizeof(NDK_SGE) == sizeof(struct nd_sge), "as large");
_Static_assert(offsetof(NDK_SGE, VirtualAddress) == offsetof(struct nd_sge, buffer), "buffer");
_Static_assert(offsetof(NDK_SGE, Length) == offsetof(struct nd_sge, bytes), "bytes");
_Static_assert(offsetof(NDK_SGE, MemoryRegionToken) == offsetof(struct nd_sge, token), "token");

static inline const struct nd_sge *
ndk_sge(const NDK_SGE *sge)
{
	return (const struct nd_sge *)(const void *)sge;
}

#endif
