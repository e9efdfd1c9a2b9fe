/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues. */
#ifndef NDD_SRQ_H
#define NDD_SRQ_H

#include "lcore/shard.h"
#include "session/reply.h"

struct ndd_pd;
struct ndd_segment;

struct ndd_srq {
	struct ndd_owner owner;
	struct roce_srq *engine;
	struct ndd_segment *segment;
	struct ndd_pd *pd;
	uint32_t sge; /* of each receive */
	uint32_t users;
};

ndd_handler ndd_srq_arm, ndd_srq_affinity, ndd_srq_resize;
/* Fewer receives are left than it was armed for. */
void ndd_srq_on_limit(struct ndd_session *s, const struct ndd_event *ev);

#endif
