/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory windows. Binding and invalidating are posts (qp/post.c); here a window's state is tracked,
 * so that a second bind (R-MW-01) and the deregistration of a region in use (R-MR-06) are refused
 * by the call itself.
 *
 * A binding ends with the completion of an Invalidate, with a receive that brought the token, or
 * with the queue pair. The application may take all three results late, or never: an Invalidate may
 * be silent, and results of a dead queue pair may stay in their queue. So a query of the state
 * reads the queue pair's shared words first, in window_settle(). A failed Bind or Invalidate ends
 * the queue pair, and with it the binding.
 *
 * A binding holds its region: one that is closed meanwhile goes with its last window (R-MR-07).
 * That needs a call to the daemon, which a thread that polls or posts must not wait for: the
 * callbacks' thread makes it.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/mem/window.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/object.h"
#include "ndclient/session/spin.h"
#include "ndclient/session/verify.h"

/* Lock held, also in the next three. */
static void
window_forget(struct nd_mw *mw)
{
	if (mw->state == ND_MW_UNBOUND)
		return;
	if (mw->state == ND_MW_BOUND)
		TAILQ_REMOVE(&mw->qp->bound, mw, of_qp);
	else
		TAILQ_REMOVE(&mw->qp->invalidating, mw, of_qp);
	LIST_REMOVE(mw, of_mr);
	mw->state = ND_MW_UNBOUND;
	mw->mr = NULL;
	mw->qp = NULL;
}

static void
region_let_go(struct nd_mr *mr)
{
	struct nd_adapter *a = mr->obj.adapter;

	if (!nd_object_let_go(&mr->obj))
		return;
	SLIST_INSERT_HEAD(&a->ended_mrs, mr, ended);
	nd_fd_wake(a->callbacks.end_fd); /* -1 if there is no thread */
}

static void
window_unbind(struct nd_mw *mw)
{
	struct nd_mr *mr = mw->mr;

	window_forget(mw);
	if (mr != NULL)
		region_let_go(mr);
}

static void
window_settle(struct nd_mw *mw)
{
	if (mw->state == ND_MW_UNBOUND)
		return;
	if (nd_gone(mw->qp->adapter) ||
		__atomic_load_n(&mw->qp->page->dead, __ATOMIC_ACQUIRE) != 0 ||
		(mw->state == ND_MW_INVALIDATING && nd_qp_is_done(mw->qp, mw->index)))
		window_unbind(mw);
}

bool
nd_mw_bind(struct nd_mw *mw, struct nd_mr *mr, struct nd_qp *qp)
{
	struct nd_adapter *a = qp->adapter;
	uint32_t token;
	bool ok;

	nd_spin_lock(&a->windows_lock);
	window_settle(mw);
	ok = mw->state == ND_MW_UNBOUND;
	if (ok) {
		token = ndsh_window_token(mw->slot, mw->secret, ++mw->generation);
		__atomic_store_n(&mw->token, token, __ATOMIC_RELAXED);
		mw->state = ND_MW_BOUND;
		mw->mr = mr;
		mw->qp = qp;
		nd_object_hold(&mr->obj);
		LIST_INSERT_HEAD(&mr->windows, mw, of_mr);
		TAILQ_INSERT_TAIL(&qp->bound, mw, of_qp);
	}
	nd_spin_unlock(&a->windows_lock);
	return ok;
}

/* Of a window that is not bound to this queue pair, the daemon will say what is wrong (R-INV-04).
 */
void
nd_mw_invalidate(struct nd_mw *mw, struct nd_qp *qp)
{
	struct nd_adapter *a = qp->adapter;

	nd_spin_lock(&a->windows_lock);
	if (mw->state == ND_MW_BOUND && mw->qp == qp) {
		TAILQ_REMOVE(&qp->bound, mw, of_qp);
		TAILQ_INSERT_TAIL(&qp->invalidating, mw, of_qp);
		mw->state = ND_MW_INVALIDATING;
		mw->index = qp->sq.next;
	}
	nd_spin_unlock(&a->windows_lock);
}

/* ---- completions --------------------------------------------------------------------- */

/* Lock held. */
static void
windows_end_all(struct nd_qp *qp)
{
	struct nd_mw *mw;

	while ((mw = TAILQ_FIRST(&qp->bound)) != NULL)
		window_unbind(mw);
	while ((mw = TAILQ_FIRST(&qp->invalidating)) != NULL)
		window_unbind(mw);
}

/* The first so many requests of the queue are finished; lock held. */
static void
windows_end_invalidated(struct nd_qp *qp, uint32_t finished)
{
	struct nd_mw *mw;

	while ((mw = TAILQ_FIRST(&qp->invalidating)) != NULL && (int32_t)(finished - mw->index) > 0)
		window_unbind(mw);
}

/* Token and queue pair must both be the window's: its slot may belong to another window by now, or
 * the window may be bound anew. Lock held. */
static void
windows_end_token(struct nd_qp *qp, uint32_t token)
{
	uint32_t slot = token >> NDSH_TOKEN_KEY_BITS;
	struct nd_mw *mw;

	LIST_FOREACH (mw, &qp->adapter->mw_by_slot[slot % ND_MW_BUCKETS], hash)
		if (mw->token == token && mw->qp == qp) {
			window_unbind(mw);
			return;
		}
}

void
nd_mw_see(struct nd_qp *qp, const struct ndsh_cqe *e)
{
	struct nd_adapter *a = qp->adapter;

	nd_spin_lock(&a->windows_lock);
	if (e->status != NDSH_WC_SUCCESS)
		windows_end_all(qp); /* it is in error state, or will be in a moment */
	else if (e->op == NDSH_OP_INVALIDATE)
		windows_end_invalidated(qp, e->slot_count);
	else
		windows_end_token(qp, e->data);
	nd_spin_unlock(&a->windows_lock);
}

void
nd_mw_unbind_all(struct nd_qp *qp)
{
	nd_spin_lock(&qp->adapter->windows_lock);
	windows_end_all(qp);
	nd_spin_unlock(&qp->adapter->windows_lock);
}

static struct nd_mr *
next_ended_region(struct nd_adapter *a)
{
	struct nd_mr *mr;

	nd_spin_lock(&a->windows_lock);
	mr = SLIST_FIRST(&a->ended_mrs);
	if (mr != NULL)
		SLIST_REMOVE_HEAD(&a->ended_mrs, ended);
	nd_spin_unlock(&a->windows_lock);
	return mr;
}

void
nd_mr_end_all(struct nd_adapter *a)
{
	struct nd_mr *mr;

	while ((mr = next_ended_region(a)) != NULL)
		nd_object_end(&mr->obj);
}

void
nd_mr_unbind_all(struct nd_mr *mr)
{
	struct nd_adapter *a = mr->obj.adapter;
	struct nd_mw *mw;

	nd_spin_lock(&a->windows_lock);
	while ((mw = LIST_FIRST(&mr->windows)) != NULL)
		window_forget(mw);
	nd_spin_unlock(&a->windows_lock);
}

bool
nd_mr_is_bound(struct nd_mr *mr)
{
	struct nd_adapter *a = mr->pd->adapter;
	struct nd_mw *mw, *next;
	bool bound;

	nd_spin_lock(&a->windows_lock);
	for (mw = LIST_FIRST(&mr->windows); mw != NULL; mw = next) {
		next = LIST_NEXT(mw, of_mr);
		window_settle(mw);
	}
	bound = !LIST_EMPTY(&mr->windows);
	nd_spin_unlock(&a->windows_lock);
	return bound;
}

bool
nd_mw_is_invalidating(struct nd_mw *mw)
{
	struct nd_adapter *a = mw->pd->adapter;
	bool yes;

	nd_spin_lock(&a->windows_lock);
	window_settle(mw);
	yes = mw->state == ND_MW_INVALIDATING;
	nd_spin_unlock(&a->windows_lock);
	return yes;
}

/* ---- the object ---------------------------------------------------------------------- */

static void
window_enlist(struct nd_mw *mw)
{
	struct nd_adapter *a = mw->pd->adapter;

	nd_object_open(&mw->obj, &nd_mw_class, a);
	nd_object_rest(&mw->obj, &mw->pd->obj);
	nd_spin_lock(&a->windows_lock);
	LIST_INSERT_HEAD(&a->mw_by_slot[mw->slot % ND_MW_BUCKETS], mw, hash);
	nd_spin_unlock(&a->windows_lock);
}

void
nd_mw_verify_close(struct nd_mw *mw)
{
	if (nd_mw_is_invalidating(mw))
		nd_breach("R-LIFE-11",
			"the window with token %#x is closed while its invalidation is under way",
			__atomic_load_n(&mw->token, __ATOMIC_RELAXED));
}

static bool
window_stop(struct nd_object *o)
{
	if (nd_verifying())
		nd_mw_verify_close((struct nd_mw *)o);
	return false;
}

/* The daemon first: until it has invalidated the window, its region is busy (R-MW-09). */
static void
window_destroy(struct nd_object *o)
{
	struct nd_mw *mw = (struct nd_mw *)o;

	(void)nd_object_forget(o->adapter, NDSH_MSG_MW_DESTROY, mw->id);
	nd_spin_lock(&o->adapter->windows_lock);
	window_unbind(mw);
	LIST_REMOVE(mw, hash);
	nd_spin_unlock(&o->adapter->windows_lock);
	nd_mr_end_all(o->adapter);
	free(mw);
}

const struct nd_class nd_mw_class = {.stop = window_stop, .destroy = window_destroy};

static nd_status
window_make(struct nd_pd *pd, enum ndsh_mw_type type, struct nd_mw **out)
{
	struct ndsh_mw_create m = {
		.h.type = NDSH_MSG_MW_CREATE, .pd = pd->id, .type = (uint32_t)type};
	struct ndsh_mw_create_reply reply;
	struct nd_mw *mw = calloc(1, sizeof(*mw));
	nd_status st;

	if (mw == NULL)
		return ND_NO_MEMORY;
	st = nd_control_call(pd->adapter, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS) {
		free(mw);
		return st;
	}
	mw->pd = pd;
	mw->id = reply.mw;
	mw->slot = reply.slot;
	if (type == NDSH_MW_DERIVED)
		mw->secret = reply.secret;
	else
		mw->token = (uint32_t)reply.secret;
	window_enlist(mw);
	*out = mw;
	return ND_SUCCESS;
}

nd_status
nd_mw_create(struct nd_pd *pd, struct nd_mw **out)
{
	if (pd == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	if (pd->adapter->abi_minor < NDSH_MINOR_WINDOWS)
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old for memory windows");
	return window_make(pd, NDSH_MW_DERIVED, out);
}

/* An older daemon would make one with derived tokens. */
nd_status
nd_mw_create_keyed(struct nd_pd *pd, enum ndsh_mw_type type, struct nd_mw **out)
{
	if (pd->adapter->abi_minor < NDSH_MINOR_KEYED_WINDOWS)
		return nd_fail(
			ND_NOT_SUPPORTED, "this daemon is too old for verbs' memory windows");
	return window_make(pd, type, out);
}

nd_status
nd_mw_close(struct nd_mw *mw)
{
	return nd_close(mw, NULL);
}

/* As it stands on the wire (R-MR-09). */
uint32_t
nd_mw_remote_token(const struct nd_mw *mw)
{
	return htonl(__atomic_load_n(&mw->token, __ATOMIC_RELAXED));
}
