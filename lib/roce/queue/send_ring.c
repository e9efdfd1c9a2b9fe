/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send rings that are polled. A ring whose client rang twice in a short while is polled in every
 * turn, until it has been empty for ROCE_SEND_RING_IDLE_NS; then page->sq_polled tells its client
 * to ring again. A full barrier stands between that store and the last look at the ring: a request
 * that is posted meanwhile is seen here, or its client rings.
 */
#include "roce/queue/send_ring.h"

#include "base/list.h"
#include "roce/qp/qp.h"
#include "roce/queue/doorbell.h"
#include "roce/shard/shard.h"

#define RELEASE 64u /* rings for one barrier */

static void
ring_set_polled(struct roce_qp *qp, uint32_t polled)
{
	__atomic_store_n(&qp->page->sq_polled, polled, __ATOMIC_RELAXED);
}

void
roce_send_ring_watch(struct roce_shard *s, struct roce_qp *qp)
{
	qp->ring_ns = s->now_ns;
	if (base_linked(&qp->ring_link))
		return;
	ring_set_polled(qp, 1);
	base_list_append(&s->rings, &qp->ring_link);
}

/* Has the ring work, or had it lately? False: it is to leave the list. */
static bool
ring_poll(struct roce_shard *s, struct roce_qp *qp, unsigned *found)
{
	if (qp->tx_bits & ROCE_TXB_BLOCKED) { /* it sends again when there is progress */
		qp->ring_ns = s->now_ns;
		return true;
	}
	if (ndsh_sq_ready(&qp->sq)) {
		qp->ring_ns = s->now_ns;
		*found += !base_linked(&qp->tx_link);
		base_list_join(&s->senders, &qp->tx_link);
		return true;
	}
	return s->now_ns - qp->ring_ns < ROCE_SEND_RING_IDLE_NS;
}

/* The clients of these rings were told to ring: look at each ring once more, behind one barrier for
 * all of them. */
static void
ring_release(struct roce_shard *s, struct roce_qp **idle, unsigned n)
{
	if (n == 0)
		return;
	ndsh_full_barrier();
	for (unsigned i = 0; i < n; i++) {
		if (!ndsh_sq_ready(&idle[i]->sq))
			continue;
		ring_set_polled(idle[i], 1);
		base_list_append(&s->rings, &idle[i]->ring_link);
	}
}

void
roce_send_ring_leave(struct roce_qp *qp)
{
	base_list_remove(&qp->ring_link);
	ring_set_polled(qp, 0);
}

unsigned
roce_send_rings_poll(struct roce_shard *s, unsigned budget)
{
	struct base_link *last = s->rings.prev, *l;
	struct roce_qp *idle[RELEASE];
	unsigned found = 0, n = 0;

	while (budget-- > 0 && (l = base_list_first(&s->rings)) != NULL) {
		struct roce_qp *qp = base_container(l, struct roce_qp, ring_link);
		bool stop = l == last;

		base_list_remove(l);
		if (ring_poll(s, qp, &found)) {
			base_list_append(&s->rings, l);
		} else {
			ring_set_polled(qp, 0);
			idle[n++] = qp;
		}
		if (n == RELEASE) {
			ring_release(s, idle, n);
			n = 0;
		}
		if (stop)
			break;
	}
	ring_release(s, idle, n);
	return found;
}

/* Has this ring work that only polling would find? */
static bool
ring_has_work(const struct base_link *l)
{
	const struct roce_qp *qp = base_container(l, struct roce_qp, ring_link);

	return !(qp->tx_bits & ROCE_TXB_BLOCKED) && ndsh_sq_ready(&qp->sq);
}

bool
roce_shard_rest(struct roce_shard *s)
{
	struct base_link *l;

	if (!base_list_empty(&s->flushing) || !roce_doorbells_empty(&s->doorbells))
		return false;
	for (l = s->rings.next; l != &s->rings; l = l->next)
		ring_set_polled(base_container(l, struct roce_qp, ring_link), 0);
	ndsh_full_barrier();
	for (l = s->rings.next; l != &s->rings; l = l->next)
		if (ring_has_work(l))
			break;
	if (l == &s->rings) {
		while ((l = base_list_first(&s->rings)) != NULL)
			base_list_remove(l);
		return true;
	}
	for (l = s->rings.next; l != &s->rings; l = l->next)
		ring_set_polled(base_container(l, struct roce_qp, ring_link), 1);
	return false;
}
