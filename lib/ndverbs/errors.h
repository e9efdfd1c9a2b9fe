/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses of libndclient as verbs tells them: errno, and a line on stderr. */
#ifndef NDV_ERRORS_H
#define NDV_ERRORS_H

#include "ndclient/ndclient.h"

/* The errno of a status; 0 of ND_SUCCESS. */
int ndv_errno(nd_status st);
/* For calls that return a pointer, or -1: sets errno; the return value is NULL. */
void *ndv_null(int error);
/* The daemon can't be reached, or refuses us: say so on stderr, once in this process. Returns the
 * errno. */
int ndv_no_daemon(nd_status st);
/* A request is complete: what the call returned, or, if that is ND_PENDING, what came of it. */
nd_status ndv_outcome(nd_status st, struct nd_overlapped *ov);

#endif
