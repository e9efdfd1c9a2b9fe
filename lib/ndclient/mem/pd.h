/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains. */
#ifndef ND_PD_H
#define ND_PD_H

#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/session/object.h"

struct nd_qp;

struct nd_pd {
	struct nd_object obj;
	struct nd_adapter *adapter;
	uint32_t id;
	uint32_t copy_token;	/* for copies of its queue pairs' (copies.c), or 0; atomic */
	LIST_HEAD(, nd_qp) qps; /* that are not gone, by nd_adapter.lock */
};

extern const struct nd_class nd_pd_class;

#endif
