/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time-wait (IBTA 12.9.8.4): when it is over, no packet of the connection is under way any more,
 * and its queue pair may have another one. Targets of iSER keep the queue pair until TIMEWAIT_EXIT
 * tells them, as from the kernel. The daemon has a time-wait of its own for the numbers of
 * connections and queue pairs; this one is for what programs see.
 */
#include "ndclient/session/futex.h"
#include "ndverbs/cm/cm.h"

/* The code is the peer's word: a quarter of a second at least, and some 4 s at most (W-CM-52). */
#define CODE_MIN 16u
#define CODE_MAX 20u

static uint64_t
timewait_ns(uint8_t code)
{
	return 4096ull << (code < CODE_MIN ? CODE_MIN : code > CODE_MAX ? CODE_MAX : code);
}

/* Without a thread for it the event does not come; the connection is over all the same. */
static void
set_time(struct cm_session *s)
{
	const struct cm_id *first = TAILQ_FIRST(&s->resting);

	if (first != NULL)
		(void)nd_cm_wake_at(s->adapter, first->rests_until_ns);
}

void
cm_timewait_begin(struct cm_id *id, uint8_t code)
{
	struct cm_session *s = id->session;
	struct cm_id *before = TAILQ_LAST(&s->resting, cm_resting);

	if (id->rests_until_ns != 0)
		return;
	id->rests_until_ns = nd_now_ns() + timewait_ns(code);
	while (before != NULL && before->rests_until_ns > id->rests_until_ns)
		before = TAILQ_PREV(before, cm_resting, in_resting);
	if (before != NULL) {
		TAILQ_INSERT_AFTER(&s->resting, before, id, in_resting);
		return;
	}
	TAILQ_INSERT_HEAD(&s->resting, id, in_resting);
	set_time(s);
}

void
cm_timewait_forget(struct cm_id *id)
{
	if (id->rests_until_ns == 0)
		return;
	TAILQ_REMOVE(&id->session->resting, id, in_resting);
	id->rests_until_ns = 0;
}

void
cm_timewait_over(struct nd_cm *cm)
{
	struct cm_session *s = (struct cm_session *)cm;
	uint64_t now_ns = nd_now_ns();
	struct cm_id *id;

	pthread_mutex_lock(&cm_lock);
	while ((id = TAILQ_FIRST(&s->resting)) != NULL && id->rests_until_ns <= now_ns) {
		cm_timewait_forget(id);
		cm_event_raise(id, CM_EV_TIMEWAIT_EXIT, 0, NULL);
	}
	set_time(s);
	pthread_mutex_unlock(&cm_lock);
}
