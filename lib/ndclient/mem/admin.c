/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registrations by the admin ring. A thread that has posted a request polls for the answer itself
 * for a few microseconds, which is as long as a polling daemon needs; then the queue of answers is
 * armed, and the control thread takes what comes. A thread that takes answers completes the
 * requests of all threads. One request of a region is under way at a time, so it waits in the
 * region itself when the ring is full.
 */
#include <sched.h>

#include "ndclient/cq/cq.h"
#include "ndclient/face/status.h"
#include "ndclient/mem/admin.h"
#include "ndclient/mem/adopt.h"
#include "ndclient/mem/moved.h"
#include "ndclient/mem/mover.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/mem/segment.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/overlapped.h"

#define DEPTH  256u /* or what the daemon permits */
#define BATCH  16u
#define LOOKS  256 /* polls of the queue of answers: some microseconds */
#define YIELDS 4   /* so often the thread yields its CPU, which the daemon may need */

static_assert((DEPTH & (DEPTH - 1)) == 0, "a ring");

/* ---- the ring ------------------------------------------------------------------------ */

static nd_status
admin_create(struct nd_adapter *a)
{
	struct nd_admin *admin = &a->admin;
	struct ndsh_admin_create m = {.h.type = NDSH_MSG_ADMIN_CREATE, .depth = DEPTH};
	struct nd_cq *cq;
	nd_status st;
	void *block;

	while (m.depth > a->info.max_cq_depth)
		m.depth /= 2;
	st = nd_cq_create(a, m.depth, &cq);
	if (st != ND_SUCCESS)
		return st;
	block = nd_block_alloc(a, ndsh_admin_bytes(m.depth), &m.segment, &m.offset);
	m.cq = cq->id;
	st = ND_INSUFFICIENT_RESOURCES;
	if (block != NULL)
		st = nd_control_call(a, &(struct nd_request){.h = &m.h});
	if (st == ND_SUCCESS && nd_control_watch(a, cq, true) == ND_SUCCESS) {
		pthread_mutex_lock(&a->lock);
		LIST_REMOVE(&cq->obj, link); /* it is not an object of the application's */
		pthread_mutex_unlock(&a->lock);
		ndsh_admin_view(&admin->ring, block, m.depth);
		__atomic_store_n(&admin->cq, cq, __ATOMIC_RELEASE);
		return ND_SUCCESS;
	}
	if (st == ND_SUCCESS) /* the daemon has the block for good */
		return ND_INSUFFICIENT_RESOURCES;
	if (block != NULL)
		nd_free(a, block);
	(void)nd_cq_close(cq);
	return st;
}

nd_status
nd_admin_open(struct nd_adapter *a)
{
	nd_status st = ND_SUCCESS;

	if (a->abi_minor < NDSH_MINOR_ADMIN)
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old to register by a ring");
	if (__atomic_load_n(&a->admin.cq, __ATOMIC_ACQUIRE) != NULL)
		return ND_SUCCESS;
	pthread_mutex_lock(&a->admin.open_lock);
	if (a->admin.cq == NULL)
		st = admin_create(a);
	pthread_mutex_unlock(&a->admin.open_lock);
	return st;
}

/* Push the requests that wait, as far as there is room; lock held. */
static void
admin_fill(struct nd_adapter *a)
{
	struct nd_admin *admin = &a->admin;
	bool pushed = false;
	struct nd_mr *mr;

	while ((mr = STAILQ_FIRST(&admin->waiting)) != NULL &&
		admin->ring.next - admin->answered < admin->ring.depth) {
		STAILQ_REMOVE_HEAD(&admin->waiting, queued);
		STAILQ_INSERT_TAIL(&admin->asked, mr, queued);
		ndsh_admin_push(&admin->ring, &(struct ndsh_admin_request){
						      .va = mr->request.va,
						      .bytes = mr->request.bytes,
						      .pd = mr->pd->id,
						      .access = mr->request.access,
						      .token = mr->token,
						      .iova_offset = mr->request.iova_offset,
						      .ctrl = mr->request.op,
					      });
		pushed = true;
	}
	if (pushed && ndsh_doorbell_ring_admin(a->page))
		nd_fd_wake(a->wake_fd);
}

/* ---- answers ------------------------------------------------------------------------- */

struct outcome {
	struct nd_mr *mr;
	struct nd_overlapped *ov;
	nd_status st;
};

void
nd_admin_blank(struct nd_mr *mr)
{
	nd_moved_remove(mr);
	nd_adopt_put(mr->pd->adapter, mr->adopted);
	mr->adopted = NULL;
	__atomic_store_n(&mr->token, 0, __ATOMIC_RELAXED);
	mr->va = 0;
	mr->iova_offset = 0;
	mr->bytes = 0;
	mr->state = ND_MR_IDLE;
}

/* The request of the region is over: from here on the application may use the region again. Lock
 * held. */
static void
region_settle(struct nd_mr *mr, const struct ndsh_cqe *e)
{
	mr->ov = NULL;
	if (mr->request.op != NDSH_ADMIN_DEREGISTER && e->status == NDSH_ADMIN_OK) {
		mr->access = mr->request.access;
		mr->va = mr->request.va;
		mr->iova_offset = mr->request.iova_offset;
		mr->bytes = mr->request.bytes;
		__atomic_store_n(&mr->token, e->data, __ATOMIC_RELEASE);
		mr->state = ND_MR_REGISTERED;
		if (mr->request.op == NDSH_ADMIN_REGISTER_MOVED)
			nd_moved_add(mr);
	} else if (e->status == NDSH_ADMIN_BUSY) {
		mr->state = ND_MR_REGISTERED;
	} else {
		nd_admin_blank(mr);
	}
}

/* Answers come in the order of the requests; lock held. */
static uint32_t
admin_collect(struct nd_adapter *a, struct outcome out[BATCH])
{
	struct ndsh_cqe e[BATCH];
	uint32_t n = nd_gone(a) ? 0 : ndsh_cq_poll(&a->admin.cq->reader, e, BATCH);

	for (uint32_t i = 0; i < n; i++) {
		struct nd_mr *mr = STAILQ_FIRST(&a->admin.asked);

		STAILQ_REMOVE_HEAD(&a->admin.asked, queued);
		out[i] = (struct outcome){mr, mr->ov, nd_status_of_admin(e[i].status)};
		__atomic_fetch_add(&mr->ending, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&a->admin.answered, e[i].slot_count, __ATOMIC_RELAXED);
		region_settle(mr, &e[i]);
	}
	if (n != 0)
		admin_fill(a);
	return n;
}

void
nd_admin_take(struct nd_adapter *a)
{
	struct nd_mover *mover = __atomic_load_n(&a->mover, __ATOMIC_ACQUIRE);
	struct outcome out[BATCH];
	uint32_t n;

	do {
		pthread_mutex_lock(&a->admin.lock);
		n = admin_collect(a, out);
		pthread_mutex_unlock(&a->admin.lock);
		if (n != 0 &&
			mover != NULL) /* then no copy command is left that touches the region */
			nd_mover_run(mover);
		for (uint32_t i = 0; i < n; i++) {
			nd_overlapped_end(out[i].ov, out[i].st);
			__atomic_fetch_sub(&out[i].mr->ending, 1, __ATOMIC_RELEASE);
		}
	} while (n == BATCH);
}

/* Leave the rest to the control thread. */
static void
admin_arm(struct nd_adapter *a)
{
	struct nd_admin *admin = &a->admin;
	enum ndsh_arm_result result = NDSH_ARMED;

	do {
		pthread_mutex_lock(&admin->lock);
		if (admin->answered != admin->ring.next)
			result = ndsh_cq_arm(&admin->cq->reader, NDSH_ARM_ANY, NULL);
		else
			result = NDSH_ARMED;
		pthread_mutex_unlock(&admin->lock);
		if (result == NDSH_ARM_FIRED)
			nd_admin_take(a);
	} while (result == NDSH_ARM_FIRED);
}

/* Is the request that was pushed as number index - 1 answered? */
static bool
admin_has_answered(const struct nd_admin *admin, uint32_t index)
{
	return (int32_t)(__atomic_load_n(&admin->answered, __ATOMIC_RELAXED) - index) >= 0;
}

/* Read without the lock; so only words that any thread may read. */
static bool
admin_has_answers(const struct nd_admin *admin)
{
	uint64_t made = __atomic_load_n(&admin->cq->reader.page->produced, __ATOMIC_ACQUIRE);

	return (uint32_t)made != __atomic_load_n(&admin->answered, __ATOMIC_RELAXED);
}

static void
admin_poll(struct nd_adapter *a, uint32_t index)
{
	for (int i = 1; i <= LOOKS * YIELDS; i++) {
		if (admin_has_answers(&a->admin))
			nd_admin_take(a);
		if (admin_has_answered(&a->admin, index))
			return;
		if (i % LOOKS == 0)
			sched_yield();
	}
	admin_arm(a);
}

void
nd_admin_readable(struct nd_adapter *a)
{
	struct nd_cq *cq = a->admin.cq;

	if (!nd_drain(cq->notify_fd))
		(void)nd_control_watch(a, cq, false);
	nd_admin_take(a);
	admin_arm(a);
}

/* ---- requests ------------------------------------------------------------------------ */

/* Lock held. */
static nd_status
admin_enter(struct nd_mr *mr, const struct nd_mr_request *what, struct nd_overlapped *ov)
{
	struct nd_adapter *a = mr->pd->adapter;
	bool fresh = what->op != NDSH_ADMIN_DEREGISTER;

	if (mr->state != (fresh ? ND_MR_IDLE : ND_MR_REGISTERED)) /* R-MR-01 */
		return nd_fail(ND_INVALID_DEVICE_STATE,
			fresh ? "the region is registered" : "the region is not registered");
	if (nd_gone(a)) { /* set before nd_admin_end() takes out the requests */
		nd_admin_blank(mr);
		return ND_DEVICE_REMOVED;
	}
	mr->state = ND_MR_CHANGING;
	mr->request = *what;
	if (what->adopted != NULL) {
		nd_adopt_hold(a, what->adopted);
		mr->adopted = what->adopted;
	}
	mr->ov = ov;
	STAILQ_INSERT_TAIL(&a->admin.waiting, mr, queued);
	admin_fill(a);
	return ND_PENDING;
}

nd_status
nd_admin_request(struct nd_mr *mr, const struct nd_mr_request *what, struct nd_overlapped *ov)
{
	struct nd_adapter *a = mr->pd->adapter;
	uint32_t index;
	nd_status st;

	pthread_mutex_lock(&a->admin.lock);
	st = admin_enter(mr, what, ov);
	index = a->admin.ring.next;
	pthread_mutex_unlock(&a->admin.lock);
	if (st == ND_PENDING)
		admin_poll(a, index);
	return st;
}

void
nd_admin_end(struct nd_adapter *a, nd_status st)
{
	struct nd_mr *mr;

	pthread_mutex_lock(&a->admin.lock);
	STAILQ_CONCAT(&a->admin.asked, &a->admin.waiting);
	while ((mr = STAILQ_FIRST(&a->admin.asked)) != NULL) {
		struct nd_overlapped *ov = mr->ov;

		STAILQ_REMOVE_HEAD(&a->admin.asked, queued);
		nd_admin_blank(mr);
		nd_overlapped_end(ov, st);
	}
	pthread_mutex_unlock(&a->admin.lock);
}

void
nd_admin_fini(struct nd_adapter *a)
{
	if (a->admin.cq != NULL)
		a->admin.cq->obj.class->destroy(&a->admin.cq->obj);
	pthread_mutex_destroy(&a->admin.open_lock);
	pthread_mutex_destroy(&a->admin.lock);
}
