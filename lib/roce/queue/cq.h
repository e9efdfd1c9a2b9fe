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
	struct base_link send_failing,
		recv_failing; /* of a dead one: those that are not in ERR yet */
	void *owner;
	struct roce_client *client;
	struct roce_principal *principal; /* of the client */
	struct roce_cq *next_free;
	uint32_t flushing; /* queue pairs in the list of those, once for each side here */
	uint32_t rests;	   /* of the principal that were over when it fired */
	bool used, dead;
};

static inline struct roce_principal *
roce_cq_principal(const struct roce_cq *cq)
{
	return cq->principal;
}

/* The queue had no room for an entry, or had died before. */
void roce_cq_overran(struct roce_shard *s, struct roce_cq *cq);

BASE_INLINE void
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
