/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast-register regions inside the library, and initiator requests without SGEs. */
#ifndef ND_FAST_H
#define ND_FAST_H

#include "ndclient/nd_int.h"

enum nd_fr_state { ND_FR_FRESH, ND_FR_CHANGING, ND_FR_READY };

struct nd_fr {
	struct nd_object obj;
	struct nd_pd *pd;
	uint32_t state; /* enum nd_fr_state, atomic */
	/* since it was initialized */
	uint32_t id, slot, local_token, max_pages;
	bool remote;
	uint64_t secret;
	uint64_t *lists; /* NDSH_FR_LISTS of max_pages, in shared memory */
	/* guarded by nd_adapter.windows */
	uint32_t generation;
	uint32_t token; /* of the last registration, 0: there was none; atomic */
	struct {
		struct nd_qp *qp; /* whose request has the list, or NULL */
		uint32_t index;	  /* the request's, in the send queue */
	} list[NDSH_FR_LISTS];
};

/* The daemon has forgotten the queue pair. nd_adapter.lock held. */
void nd_fr_release_lists(struct nd_qp *qp);

/* ---- nd_post.c ----------------------------------------------------------------------- */

/* Initiator requests without SGEs: are there a connection and a slot? Then post it. */
nd_status nd_post_check(const struct nd_qp *qp);
void nd_post_local(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, uint32_t flags);
/* Is the initiator request that was posted as number index finished? Not more than depth are
 * outstanding, and neither word is ever so far behind the other. */
static inline bool
nd_qp_is_done(const struct nd_qp *qp, uint32_t index)
{
	return index - __atomic_load_n(&qp->page->sq_done, __ATOMIC_ACQUIRE) >= 2 * qp->sq.depth ||
	       index - __atomic_load_n(&qp->sq_freed, __ATOMIC_ACQUIRE) >= 2 * qp->sq.depth;
}

#endif
