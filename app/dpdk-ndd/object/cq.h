/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues. */
#ifndef NDD_CQ_H
#define NDD_CQ_H

#include "lcore/shard.h"
#include "session/reply.h"

struct ndd_segment;

struct ndd_cq {
	struct ndd_owner owner; /* what the engine hands back */
	struct roce_cq *engine;
	struct ndd_segment *segment;	  /* of its page, and of its first ring */
	struct ndd_segment *ring_segment; /* of its ring, once it was resized */
	uint32_t users;
	bool lost; /* a page of its ring is missing */
};

ndd_handler ndd_cq_resize, ndd_cq_affinity;
/* The engine reports that a completion queue has failed, or the session's mover. */
void ndd_cq_on_error(struct ndd_session *s, const struct ndd_event *ev);

#endif
