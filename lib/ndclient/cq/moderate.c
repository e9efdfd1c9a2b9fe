/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moderation: a callback that is due waits for more entries, or for a time (R-MOD-01).
 *
 * The arm has been satisfied, so the arm word in shared memory is free. While the callback is held
 * back the library uses it to watch for what might end the wait. With a count that is any entry;
 * with a time alone only a failed one, for which the daemon fires as for a solicited one. Arms of
 * the application join with the callback that is due (R-CQ-25), and don't touch the word.
 */
#include <unistd.h>

#include "ndclient/cq/arm.h"
#include "ndclient/cq/cq.h"
#include "ndclient/cq/moderate.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/spin.h"

#define UNLIMITED 0xffffffffu
#define NS_PER_US 1000ull

static uint64_t
moderation_deadline(const struct nd_moderation *m)
{
	return m->us == UNLIMITED ? UINT64_MAX : m->due_ns + m->us * NS_PER_US;
}

/* False: no descriptor is left; then the callback is not held back. */
static bool
moderation_set_timer(struct nd_cq *cq, uint64_t at_ns)
{
	struct nd_moderation *m = &cq->moderation;

	if (at_ns == UINT64_MAX)
		return true;
	if (!m->has_timer) {
		m->timer_fd = nd_callbacks_timer(cq->adapter, ND_CALLBACK_CQ, cq->id);
		if (m->timer_fd < 0)
			return false;
		m->has_timer = true;
	}
	return nd_timer_set(m->timer_fd, at_ns);
}

/* UINT64_MAX: none. By the depth that the queue has now. */
static uint64_t
count_limit(const struct nd_cq *cq)
{
	return cq->moderation.count >= cq->depth ? UINT64_MAX : cq->moderation.count;
}

/* After a resize there may be neither limit. */
static bool
is_moderated(const struct nd_cq *cq)
{
	uint64_t count = count_limit(cq);

	return cq->moderation.us != 0 && count > 1 &&
	       (cq->moderation.us != UNLIMITED || count != UINT64_MAX);
}

/* Faults and failed entries wait for nothing (R-MOD-02). */
static bool
moderation_is_over(struct nd_cq *cq)
{
	struct nd_moderation *m = &cq->moderation;
	uint64_t made = ndsh_cq_made(&cq->reader), seen = m->seen;

	m->seen = made;
	return nd_cq_fault(cq) != ND_SUCCESS || made - m->from >= count_limit(cq) ||
	       ndsh_cq_has_failed(&cq->reader, seen, made) || nd_now_ns() >= moderation_deadline(m);
}

void
nd_moderation_begin(struct nd_cq *cq)
{
	cq->moderation.from = ndsh_cq_old(&cq->reader);
}

bool
nd_moderation_holds(struct nd_cq *cq)
{
	struct nd_moderation *m = &cq->moderation;
	enum ndsh_arm watch = count_limit(cq) == UINT64_MAX ? NDSH_ARM_SOLICITED : NDSH_ARM_ANY;

	if (m->has_timer)
		(void)nd_drain(m->timer_fd);
	if (!is_moderated(cq))
		return m->due = false;
	if (!m->due) {
		m->due = true;
		m->due_ns = nd_now_ns();
		m->seen = m->from;
	}
	do {
		if (moderation_is_over(cq))
			return m->due = false;
	} while (ndsh_cq_watch(&cq->reader, watch, m->seen));
	return m->due = moderation_set_timer(cq, moderation_deadline(m));
}

void
nd_moderation_resized(struct nd_cq *cq, uint32_t depth)
{
	cq->depth = depth;
	nd_cq_kick(cq); /* one that is held back is judged anew */
}

void
nd_moderation_off(struct nd_cq *cq)
{
	if (cq->moderation.has_timer)
		close(cq->moderation.timer_fd); /* and so it is out of the epoll */
	cq->moderation.has_timer = false;
}

nd_status
nd_cq_moderate(struct nd_cq *cq, uint32_t us, uint32_t count)
{
	bool limited;

	nd_spin_lock(&cq->lock);
	limited = us != UNLIMITED || count < cq->depth;
	if (limited && !nd_gone(cq->adapter)) {
		cq->moderation.us = us;
		cq->moderation.count = count;
		nd_cq_kick(cq); /* one that is held back is judged anew */
	}
	nd_spin_unlock(&cq->lock);
	if (!limited)
		return ND_INVALID_PARAMETER_MIX;
	return nd_gone(cq->adapter) ? ND_DEVICE_REMOVED : ND_SUCCESS;
}
