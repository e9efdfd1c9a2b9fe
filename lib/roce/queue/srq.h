/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#ifndef ROCE_SRQ_H
#define ROCE_SRQ_H

#include "base/list.h"
#include "roce/roce.h"

struct roce_srq {
	struct ndsh_rq rq;
	struct ndsh_srq_page *page;
	uint32_t limit; /* 0: not armed */
	uint32_t pd, users;
	bool used;
	struct base_link event;
	void *owner;
	struct roce_client *client;
	struct roce_srq *next_free;
};

/* A receive was taken from srq->rq. */
void roce_srq_taken(struct roce_shard *s, struct roce_srq *srq);

#endif
