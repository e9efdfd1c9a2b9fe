/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arming of a completion queue: one word {type, N}, which both sides change by
 * compare-and-swap only. N is the sequence number up to which entries are old: the
 * newest at the last notification (R-CQ-11), or the newest taken when the arm was
 * set (R-CQ-14). P is the sequence number of the newest published entry.
 *
 * The daemon publishes P, passes one full barrier, then reads the arm word. The client swaps the
 * arm word, then reads P; the swap is its full barrier. So one of the two sees the other's write
 * (Dekker): either the daemon finds the arm or the client finds P. The side that wins the swap
 * {t,N} -> {NONE,P} has fired: exactly one.
 *
 * x86: stores wait in a buffer while later loads are done; a locked instruction
 * drains it. Both the barrier and the swap are locked. arm64: the barrier is dmb ish.
 * The swap is casal or ldaxr/stlxr with release, the loads after it are ldar, and
 * a load-acquire is never done before an earlier store-release.
 *
 * After a failed swap each side reads again and judges again. It is not enough
 * that the other side has seen the new P: it may have taken the entry and not fire,
 * while an earlier waiter is still owed a notification for it (R-CQ-20).
 */
#include "ndsh_ring.h"

/* Failed swaps of the daemon before it takes the word by force: its work per turn is bounded
 * even if a client changes the word all the time. */
#define FIRE_TRIES 8

static bool
arm_swap(uint64_t *arm, uint64_t *expected, uint64_t desired)
{
	return __atomic_compare_exchange_n(
		arm, expected, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void
ndsh_cq_publish(struct ndsh_cq *cq)
{
	struct ndsh_cq_page *page = cq->page;

	__atomic_store_n(&page->solicited, cq->solicited, __ATOMIC_RELAXED);
	/* Release: a client that sees the fault also sees the entries made before it; and one that
	 * sees how many there are sees which of them were solicited, and the fault. */
	__atomic_store_n(&page->fault, cq->fault, __ATOMIC_RELEASE);
	__atomic_store_n(&page->produced, cq->produced, __ATOMIC_RELEASE);
}

/* Does an arm of this type wait for entries, or for a fault alone? */
static bool
counts_entries(enum ndsh_arm type)
{
	return type > NDSH_ARM_ERRORS;
}

/* Does the daemon owe a notification for this word? */
static bool
is_due(const struct ndsh_cq *cq, uint64_t word)
{
	const enum ndsh_arm type = NDSH_ARM_TYPE(word);
	const uint64_t newest = type == NDSH_ARM_ANY ? cq->produced : cq->solicited;

	if (type == NDSH_ARM_NONE)
		return false;
	return cq->fault != NDSH_CQ_OK || (counts_entries(type) && newest > NDSH_ARM_SEQ(word));
}

bool
ndsh_cq_fire(struct ndsh_cq *cq)
{
	uint64_t fired = NDSH_ARM_WORD(NDSH_ARM_NONE, cq->produced);
	uint64_t word = __atomic_load_n(&cq->page->arm, __ATOMIC_SEQ_CST);

	for (int i = 0; i < FIRE_TRIES; i++) {
		if (!is_due(cq, word))
			return false;
		if (arm_swap(&cq->page->arm, &word, fired))
			return true;
	}
	word = __atomic_exchange_n(&cq->page->arm, fired, __ATOMIC_SEQ_CST);
	return NDSH_ARM_TYPE(word) != NDSH_ARM_NONE;
}

static uint64_t
larger_of(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Set or strengthen the arm (R-CQ-18). A new arm looks only at entries not yet taken: N rises to
 * C. An arm that already waits for entries keeps its N: an entry that was taken after it was set
 * still owes it a notification.
 */
static enum ndsh_arm
arm_join(const struct ndsh_cq_reader *r, enum ndsh_arm type)
{
	uint64_t word = __atomic_load_n(&r->page->arm, __ATOMIC_SEQ_CST);
	uint64_t joined;
	enum ndsh_arm old;

	do {
		uint64_t n = NDSH_ARM_SEQ(word);

		old = NDSH_ARM_TYPE(word);
		if (!counts_entries(old))
			n = larger_of(n, r->taken);
		joined = NDSH_ARM_WORD(type > old ? type : old, n);
	} while (!arm_swap(&r->page->arm, &word, joined));
	return old;
}

/*
 * Judge once more after arming: a fault satisfies every type (R-CQ-08); an entry that is neither
 * taken nor older than the last notification satisfies ANY and SOLICITED, whatever kind of entry
 * it is (R-CQ-12, R-CQ-13). If the swap is lost to the daemon, its wake-up is on the way.
 */
enum ndsh_arm_result
ndsh_cq_arm(struct ndsh_cq_reader *r, enum ndsh_arm type, enum ndsh_arm *before)
{
	struct ndsh_cq_page *page = r->page;
	enum ndsh_arm old = arm_join(r, type);
	uint64_t word;

	if (before != NULL)
		*before = old;
	word = __atomic_load_n(&page->arm, __ATOMIC_SEQ_CST);
	while (NDSH_ARM_TYPE(word) != NDSH_ARM_NONE) {
		uint64_t produced = __atomic_load_n(&page->produced, __ATOMIC_SEQ_CST);
		uint64_t n = NDSH_ARM_SEQ(word);

		if (__atomic_load_n(&page->fault, __ATOMIC_SEQ_CST) != NDSH_CQ_OK) {
			if (arm_swap(&page->arm, &word, NDSH_ARM_WORD(NDSH_ARM_NONE, n)))
				return NDSH_ARM_FAULT;
			continue;
		}
		if (!counts_entries(type) || produced <= larger_of(n, r->taken))
			break;
		if (arm_swap(&page->arm, &word, NDSH_ARM_WORD(NDSH_ARM_NONE, produced)))
			return NDSH_ARM_FIRED;
	}
	return NDSH_ARMED;
}

enum ndsh_arm
ndsh_cq_armed(const struct ndsh_cq_reader *r)
{
	return NDSH_ARM_TYPE(__atomic_load_n(&r->page->arm, __ATOMIC_SEQ_CST));
}

void
ndsh_cq_mark(struct ndsh_cq_reader *r)
{
	uint64_t word = __atomic_load_n(&r->page->arm, __ATOMIC_SEQ_CST);
	uint64_t marked;

	do {
		uint64_t produced = __atomic_load_n(&r->page->produced, __ATOMIC_SEQ_CST);

		marked = NDSH_ARM_WORD(NDSH_ARM_NONE, larger_of(NDSH_ARM_SEQ(word), produced));
	} while (!arm_swap(&r->page->arm, &word, marked));
}

bool
ndsh_cq_disarm(struct ndsh_cq_reader *r)
{
	uint64_t word = __atomic_load_n(&r->page->arm, __ATOMIC_SEQ_CST);

	while (NDSH_ARM_TYPE(word) != NDSH_ARM_NONE)
		if (arm_swap(
			    &r->page->arm, &word, NDSH_ARM_WORD(NDSH_ARM_NONE, NDSH_ARM_SEQ(word))))
			return true;
	return false;
}

uint64_t
ndsh_cq_made(const struct ndsh_cq_reader *r)
{
	return __atomic_load_n(&r->page->produced, __ATOMIC_SEQ_CST);
}

uint64_t
ndsh_cq_old(const struct ndsh_cq_reader *r)
{
	return larger_of(NDSH_ARM_SEQ(__atomic_load_n(&r->page->arm, __ATOMIC_SEQ_CST)), r->taken);
}

/* The same pattern as in ndsh_cq_arm(): first the word, then what was made. */
bool
ndsh_cq_watch(struct ndsh_cq_reader *r, enum ndsh_arm type, uint64_t seen)
{
	struct ndsh_cq_page *page = r->page;
	const uint64_t *made = type == NDSH_ARM_SOLICITED ? &page->solicited : &page->produced;
	uint64_t word = __atomic_load_n(&page->arm, __ATOMIC_SEQ_CST);

	while (!arm_swap(&page->arm, &word, NDSH_ARM_WORD(type, seen)))
		;
	return __atomic_load_n(&page->fault, __ATOMIC_SEQ_CST) != NDSH_CQ_OK ||
	       __atomic_load_n(made, __ATOMIC_SEQ_CST) > seen;
}
