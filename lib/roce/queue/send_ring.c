/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send rings that are polled. A ring whose client rang twice in a short while is polled in every
 * turn, until it has been empty for ROCE_SEND_RING_IDLE_NS; then page->sq_polled tells its client
 * to ring again. A full barrier stands between that store and the last look at the ring: a request
 * that is posted meanwhile is seen here, or its client rings.
 */
#include "roce/queue/send_ring.h"

#include "base/compiler.h"
#include "base/list.h"
#include "roce/qp/qp.h"
#include "roce/queue/senders.h"
#include "roce/shard/line.h"
#include "roce/shard/shard.h"
#include "roce/shard/turns.h"

#define RELEASE 64u /* rings for one barrier */

static void
ring_set_polled(struct roce_qp *qp, uint32_t polled)
{
	__atomic_store_n(&qp->page->sq_polled, polled, __ATOMIC_RELAXED);
}

static void
ring_join(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_client *c = roce_qp_client(qp);

	base_list_append(&c->rings, &qp->ring_link);
	if (base_linked(&c->polled))
		return;
	base_list_append(&s->rings, &c->polled);
	s->polled++;
}

void
roce_send_ring_watch(struct roce_shard *s, struct roce_qp *qp)
{
	qp->ring_ns = s->now_ns;
	if (base_linked(&qp->ring_link))
		return;
	ring_set_polled(qp, 1);
	ring_join(s, qp);
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
		roce_senders_join(s, qp);
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
		ring_join(s, idle[i]);
	}
}

void
roce_send_ring_leave(struct roce_qp *qp)
{
	base_list_remove(&qp->ring_link);
	ring_set_polled(qp, 0);
}

/* Up to budget rings of c; the next time begins behind them. */
BASE_INLINE unsigned
client_poll(struct roce_shard *s, struct roce_client *c, unsigned budget)
{
	struct base_link *l = c->rings.next, *next;
	struct roce_qp *idle[RELEASE];
	unsigned found = 0, n = 0;

	for (; l != &c->rings && budget > 0; l = next, budget--) {
		struct roce_qp *qp = base_container(l, struct roce_qp, ring_link);

		next = l->next;
		if (base_likely(ring_poll(s, qp, &found)))
			continue;
		base_list_remove(l);
		ring_set_polled(qp, 0);
		idle[n++] = qp;
		if (n == RELEASE) {
			ring_release(s, idle, n);
			n = 0;
		}
	}
	if (l != &c->rings)
		base_list_rotate(&c->rings, l);
	ring_release(s, idle, n);
	return found;
}

/* Each client has the same part of the budget: one with many rings does not delay another's. */
__attribute__((noinline, cold)) static unsigned
poll_in_turns(struct roce_shard *s, unsigned budget)
{
	unsigned clients = s->polled, each = (budget + clients - 1) / clients, found = 0;

	for (; clients > 0 && budget > 0; clients--) {
		struct base_link *l = base_list_first(&s->rings);
		struct roce_client *c = base_container(l, struct roce_client, polled);
		unsigned part = each < budget ? each : budget;

		found += client_poll(s, c, part);
		budget -= part;
		base_list_remove(l);
		if (base_list_empty(&c->rings))
			s->polled--;
		else
			base_list_append(&s->rings, l);
	}
	return found;
}

unsigned
roce_send_rings_poll(struct roce_shard *s, unsigned budget)
{
	if (base_unlikely(s->polled > 1))
		return poll_in_turns(s, budget);
	if (s->polled == 0)
		return 0;
	return client_poll(s, base_container(s->rings.next, struct roce_client, polled), budget);
}

/* Has this ring work that only polling would find? */
static bool
ring_has_work(const struct base_link *l)
{
	const struct roce_qp *qp = base_container(l, struct roce_qp, ring_link);

	return !(qp->tx_bits & ROCE_TXB_BLOCKED) && ndsh_sq_ready(&qp->sq);
}

static void
client_set_polled(struct roce_client *c, uint32_t polled)
{
	for (struct base_link *l = c->rings.next; l != &c->rings; l = l->next)
		ring_set_polled(base_container(l, struct roce_qp, ring_link), polled);
}

static bool
client_has_work(const struct roce_client *c)
{
	for (const struct base_link *l = c->rings.next; l != &c->rings; l = l->next)
		if (ring_has_work(l))
			return true;
	return false;
}

static struct roce_client *
client_of(struct base_link *l)
{
	return base_container(l, struct roce_client, polled);
}

static void
rings_forget(struct roce_shard *s)
{
	struct base_link *l, *r;

	while ((l = base_list_first(&s->rings)) != NULL) {
		while ((r = base_list_first(&client_of(l)->rings)) != NULL)
			base_list_remove(r);
		base_list_remove(l);
	}
	s->polled = 0;
}

/* Has a turn left something of the ends of queue pairs to the next one? */
static bool
ends_wait(struct roce_shard *s)
{
	return roce_line_next(s, ROCE_LINE_FLUSH) != NULL ||
	       roce_line_next(s, ROCE_LINE_WINDOWS) != NULL ||
	       roce_line_next(s, ROCE_LINE_BROKEN) != NULL;
}

bool
roce_shard_rest(struct roce_shard *s)
{
	struct base_link *l;

	if (ends_wait(s) || !base_list_empty(&s->dropping) || roce_turns_rung(s))
		return false;
	for (l = s->rings.next; l != &s->rings; l = l->next)
		client_set_polled(client_of(l), 0);
	ndsh_full_barrier();
	for (l = s->rings.next; l != &s->rings; l = l->next)
		if (client_has_work(client_of(l)))
			break;
	if (l == &s->rings) {
		rings_forget(s);
		return true;
	}
	for (l = s->rings.next; l != &s->rings; l = l->next)
		client_set_polled(client_of(l), 1);
	return false;
}
