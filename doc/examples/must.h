/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the hello example: do it, or say what failed and exit. */
#ifndef MUST_H
#define MUST_H

#include <ndclient.h>
#include <stdio.h>
#include <stdlib.h>

#define HELLO_PORT 7175

/* A call that takes ov returns ND_PENDING, and the outcome comes in ov. */
static inline void
must(const char *what, nd_status st, struct nd_overlapped *ov)
{
	if (st == ND_PENDING)
		st = nd_overlapped_wait(ov, -1);
	if (st == ND_SUCCESS)
		return;
	fprintf(stderr, "can't %s: %s %s\n", what, nd_status_name(st), nd_last_error());
	exit(1);
}

#endif
