/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A completion queue in use gets another ring (R-RSZ-01).
 *
 * The page with the words of both sides stays where it is; only entries move. An exchange does not
 * touch the arm word, its N, the counts and the fault, and no waiter can notice one. Entries keep
 * their numbers; the one numbered `moved` is the first in the new ring, at its first slot and in
 * its first pass.
 *
 * The order of events:
 *  1. The client names the new ring in its reader (ndsh_cq_expect()), then asks the daemon. Still
 *     everything is in the ring before.
 *  2. The daemon zeroes the new ring and, between two pushes, compares the entries not yet taken
 *     with the new depth. The client writes consumer: a value that lags behind means more
 *     entries than there are; one that runs ahead means so too by this arithmetic, and is refused.
 *     A wrong value within the bounds loses or overruns only that client's entries: the daemon
 *     reads no entry, and writes only at slots of a ring whose depth it has checked.
 *  3. It writes moved, then rings with release. That is the exchange: one store. Nothing is copied
 *     by the daemon, however long the queue is: other clients' work goes on in the same turn.
 *     All later entries go to the new ring; slot `moved` of the ring before stays as it was,
 *     which for the client is: empty.
 *  4. A client that finds nothing at its place checks whether rings is the number it waits for
 *     (acquire): if so, all entries below moved are to be seen in the ring before, and with the
 *     last of them taken it goes on in the new one. So from the exchange on both rings together
 *     are the queue, whether the answer has come or not. A client that has read `produced`
 *     (acquire) finds every entry that it counts: rings was written before it. Arming needs no
 *     more.
 *  5. When the answer is there, the client carries over what is left below moved. These entries get
 *     the slots in front of the first, as of the pass before it: at most depth of them are not
 *     taken, so the daemon does not write there yet. Each was checked to be untaken in the same
 *     critical section. Then the reader uses the new ring alone, and the memory of the ring before
 *     may be used anew.
 *
 * Should the daemon end, rings tells which ring counts; no answer is needed for it. A client that
 * gives the memory back too early, or asks for two exchanges at a time, harms its own entries.
 *
 * x86: stores and loads of these words stay in program order; release and acquire are for the
 * compiler. arm64: stlr and ldar. No barrier is needed: neither side reads a word that answers one
 * of its own here.
 */
#include "ndsh_ring.h"
#include "ndsh_shared.h"

bool
ndsh_cq_move(struct ndsh_cq *cq, void *ring, uint32_t depth, uint32_t entries)
{
	if (cq->produced - __atomic_load_n(&cq->page->consumer, __ATOMIC_ACQUIRE) > entries)
		return false;
	cq->ring = ring;
	cq->depth = depth;
	cq->origin = cq->produced;
	cq->rings++;
	__atomic_store_n(&cq->page->moved, cq->produced, __ATOMIC_RELAXED);
	__atomic_store_n(&cq->page->rings, cq->rings, __ATOMIC_RELEASE);
	return true;
}

void
ndsh_cq_expect(struct ndsh_cq_reader *r, void *ring, uint32_t depth)
{
	r->next.ring = ring;
	r->next.depth = depth;
	r->next.number = __atomic_load_n(&r->page->rings, __ATOMIC_RELAXED) + 1;
	r->next.carried = 0;
}

#define NOT_MOVED UINT64_MAX

/* From which entry on the ring to come is in use; NOT_MOVED: it is not, or none is to come. */
static uint64_t
moved_at(const struct ndsh_cq_reader *r)
{
	if (r->next.ring == NULL ||
		__atomic_load_n(&r->page->rings, __ATOMIC_ACQUIRE) != r->next.number)
		return NOT_MOVED;
	return __atomic_load_n(&r->page->moved, __ATOMIC_RELAXED);
}

static void
go_over(struct ndsh_cq_reader *r, uint64_t moved)
{
	r->ring = r->next.ring;
	r->depth = r->next.depth;
	r->origin = moved;
	r->next.ring = NULL;
}

const struct ndsh_cqe *
ndsh_cq_entry(const struct ndsh_cq_reader *r, uint64_t number)
{
	const uint64_t moved = moved_at(r);

	if (number >= moved)
		return &r->next.ring[(number - moved) & (r->next.depth - 1)];
	return &r->ring[(number - r->origin) & (r->depth - 1)];
}

bool
ndsh_cq_follow(struct ndsh_cq_reader *r)
{
	const uint64_t moved = moved_at(r);

	if (r->taken == moved)
		go_over(r, moved);
	return moved != NOT_MOVED; /* if not there yet, an entry came after the poll found none */
}

/* Into the slot of its number in the new ring, with the phase of the pass before the first. */
static void
entries_carry(struct ndsh_cq_reader *r, uint64_t number, uint64_t moved)
{
	const struct ndsh_cqe *from = ndsh_cq_entry(r, number);
	struct ndsh_cqe *to = &r->next.ring[(number - moved) & (r->next.depth - 1)];
	struct ndsh_cqe e;

	ndsh_copy_in(&e, from, sizeof(e) / 8);
	e.flags &= (uint8_t)~NDSH_CQEF_PHASE;
	ndsh_copy_out(to, &e, sizeof(e) / 8);
}

enum ndsh_settle
ndsh_cq_settle(struct ndsh_cq_reader *r, uint32_t n)
{
	const uint64_t moved = moved_at(r);

	if (r->next.ring == NULL) /* polling has come there */
		return NDSH_SETTLED;
	if (moved == NOT_MOVED) {
		r->next.ring = NULL;
		return NDSH_SETTLE_NOT;
	}
	if (r->next.carried < r->taken)
		r->next.carried = r->taken;
	for (; n > 0 && r->next.carried < moved; n--)
		entries_carry(r, r->next.carried++, moved);
	if (r->next.carried < moved)
		return NDSH_SETTLING;
	go_over(r, moved);
	return NDSH_SETTLED;
}
