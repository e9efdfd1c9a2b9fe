/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of an overlapped request: begun, then refused or ended. */
#ifndef ND_OVERLAPPED_H
#define ND_OVERLAPPED_H

#include "ndclient/ndclient.h"

/* Make the request pending: the first step of a call, which then returns by nd_overlapped_issued().
 * a: the adapter of the object that the request is made of. call: its name, for the verifier.
 * ND_INVALID_PARAMETER: the request is under way already; ND_NO_MEMORY. */
nd_status nd_overlapped_begin(const struct nd_adapter *a, struct nd_overlapped *ov,
	const char *call) __attribute__((warn_unused_result));
/* The request was begun, but the call returns an error: no waiter is told (R-OV-03). */
void nd_overlapped_refuse(struct nd_overlapped *ov, nd_status st);
/* What the call returns. With ND_PENDING the request may be over already, and is not touched. */
static inline nd_status
nd_overlapped_issued(struct nd_overlapped *ov, nd_status st)
{
	if (st != ND_PENDING)
		nd_overlapped_refuse(ov, st);
	return st;
}
/* Complete the request and notify its waiters. It must not be touched afterwards. */
void nd_overlapped_end(struct nd_overlapped *ov, nd_status st);

#endif
