/* SPDX-License-Identifier: BSD-3-Clause */
/* The shard's pools of requests in flight (struct roce_wqe) and of their extensions. */
#ifndef ROCE_POOL_H
#define ROCE_POOL_H

#include "base/compiler.h"
#include "roce/assert.h"
#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"

/* How many extensions a shard has: most requests have few SGEs. */
static inline uint32_t
roce_pool_exts(const struct roce_shard_cfg *cfg)
{
	return cfg->max_wqes / 8 + 2;
}

/* May a request to send be taken from the pools? */
bool roce_wqe_for_send(const struct roce_shard *s);
/* An empty WRITE that no client posted, after roce_wqe_for_send(). */
struct roce_wqe *roce_wqe_for_probe(struct roce_shard *s);
/* A roce_wqe, with an extension if it is extended; the caller made sure that there is one. */
BASE_INLINE struct roce_wqe *
roce_wqe_alloc(struct roce_shard *s, bool extended)
{
	struct roce_wqe *w = s->wqe_free;

	roce_assert(w != NULL);
	s->wqe_free = w->next;
	s->usage.wqes++;
	w->next = NULL;
	w->ext = NULL;
	if (base_unlikely(extended)) {
		roce_assert(s->ext_free != NULL);
		w->ext = s->ext_free;
		s->ext_free = w->ext->next;
		s->exts_left--;
	}
	return w;
}

void roce_wqe_free(struct roce_shard *s, struct roce_wqe *w);

#endif
