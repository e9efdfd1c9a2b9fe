/* SPDX-License-Identifier: BSD-3-Clause */
/* What all of the datagram calls need first. */
#ifndef ND_UD_H
#define ND_UD_H

#include <stddef.h>

#include "ndclient/ndclient.h"

/* ND_NOT_SUPPORTED with words if the daemon knows of no datagrams. */
nd_status nd_ud_supported(const struct nd_adapter *a, const char *call);
/* A zeroed handle or listener, as yet unknown to the adapter; NULL: *st says why. */
void *nd_ud_new(const struct nd_adapter *a, size_t bytes, const char *call, nd_status *st);

#endif
