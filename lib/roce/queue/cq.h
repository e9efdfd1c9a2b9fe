/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues: entries are made at once and published once per turn. */
#ifndef ROCE_CQ_H
#define ROCE_CQ_H

#include "base/compiler.h"
#include "base/list.h"
#include "roce/shard/shard.h"

struct roce_cq {
	struct ndsh_cq ring;
	struct base_link touched, fired, event, broken;
	struct base_link send_qps, recv_qps;
	void *owner;
	struct roce_cq *next_free;
	uint32_t flushing; /* queue pairs in the list of those, once for each side here */
	bool used, dead;
};

/* The queue had no room for an entry, or had died before. */
void roce_cq_overran(struct roce_shard *s, struct roce_cq *cq);

static inline void
roce_cq_push(struct roce_shard *s, struct roce_cq *cq, const struct ndsh_cqe *cqe)
{
	base_list_join(&s->touched_cqs, &cq->touched);
	if (base_unlikely(!ndsh_cq_push(&cq->ring, cqe)))
		roce_cq_overran(s, cq);
}

/* Why a dead one is dead. */
static inline enum roce_reason
roce_cq_reason(const struct roce_cq *cq)
{
	return cq->ring.fault == NDSH_CQ_OVERRUN ? ROCE_REASON_CQ_OVERRUN : ROCE_REASON_CQ_FATAL;
}

#endif
