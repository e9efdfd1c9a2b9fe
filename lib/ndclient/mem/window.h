/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows, and the regions and queue pairs that they are bound to. */
#ifndef ND_WINDOW_H
#define ND_WINDOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "ndclient/session/object.h"
#include "shm/ndsh_ring.h"

/* As the application can know it: from its own posts, from completions it took, and from the words
 * that the daemon shares. The daemon may know more, never less. */
enum nd_mw_state { ND_MW_UNBOUND, ND_MW_BOUND, ND_MW_INVALIDATING };

struct nd_mw { /* guarded by nd_adapter.windows_lock */
	struct nd_object obj;
	struct nd_pd *pd;
	struct nd_mr *mr; /* NULL if unbound */
	struct nd_qp *qp; /* NULL if unbound */
	enum nd_mw_state state;
	uint32_t index; /* INVALIDATING: the request's, in the send queue */
	uint32_t id, slot, generation;
	uint32_t token; /* of the last bind, 0: there was none; atomic */
	uint64_t secret;
	LIST_ENTRY(nd_mw) of_mr, hash;
	TAILQ_ENTRY(nd_mw) of_qp;
};

extern const struct nd_class nd_mw_class;

/* One whose tokens end as the caller likes (enum ndsh_mw_type). Its first is in token, which opens
 * nothing. The daemon alone knows whether it is bound: it is bound without nd_mw_bind(), and
 * nd_mr_is_bound() does not see it. */
nd_status nd_mw_create_keyed(struct nd_pd *pd, enum ndsh_mw_type type, struct nd_mw **mw);

/* Bind the window, as far as this side is concerned, and give it the token of its next generation.
 * False: it is bound (R-MW-01). */
bool nd_mw_bind(struct nd_mw *mw, struct nd_mr *mr, struct nd_qp *qp);
/* An Invalidate of it is about to be posted, as the queue pair's next request. */
void nd_mw_invalidate(struct nd_mw *mw, struct nd_qp *qp);
bool nd_mw_is_invalidating(struct nd_mw *mw);
/* May this entry have changed the state of a window? Then it goes to nd_mw_see(). */
static inline bool
nd_mw_concerns(const struct ndsh_cqe *e)
{
	return e->op == NDSH_OP_INVALIDATE || (e->flags & NDSH_CQEF_INV) != 0 ||
	       e->status != NDSH_WC_SUCCESS;
}
void nd_mw_see(struct nd_qp *qp, const struct ndsh_cqe *e);
/* The queue pair is no more: neither are its windows' bindings (R-MW-10). */
void nd_mw_unbind_all(struct nd_qp *qp);

/* The window is being closed: is its invalidation under way? Only if nd_verifying(). */
void nd_mw_verify_close(struct nd_mw *mw);

/* Is a window bound to the region? */
bool nd_mr_is_bound(struct nd_mr *mr);
/* The region is no more, whatever holds it. */
void nd_mr_unbind_all(struct nd_mr *mr);
/* Take down the closed regions without a window any more. As nd_object_drop(), and by the
 * callbacks' thread. */
void nd_mr_end_all(struct nd_adapter *a);

#endif
