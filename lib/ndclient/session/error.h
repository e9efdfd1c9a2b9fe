/* SPDX-License-Identifier: BSD-3-Clause */
/* The words behind a status that a call returned. */
#ifndef ND_ERROR_H
#define ND_ERROR_H

#include "ndclient/ndclient.h"

/* Set nd_last_error() of this thread; returns st. */
nd_status nd_fail(nd_status st, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
