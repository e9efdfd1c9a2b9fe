/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses of libndclient as NDK has them. */
#ifndef NDK_STATUS_H
#define NDK_STATUS_H

#include "ndclient/ndclient.h"

#include "ndkpi/ndkpi.h"

/* Numbers are the same, but NDK counts no parameters. */
NTSTATUS ndk_status(nd_status st);
/* Of calls that fill a buffer of the consumer's: too small is an error of NDK's own. */
NTSTATUS ndk_status_of_size(nd_status st);
/* Of a Disconnect (R-DISC-04). */
NTSTATUS ndk_status_of_disconnect(nd_status st);

#endif
