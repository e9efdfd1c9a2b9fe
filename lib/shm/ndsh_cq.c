/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion ring. The daemon writes entries, the client reads them.
 *
 * Order: the daemon writes 28 bytes of an entry, then its last word (the phase is
 * in it) with release; the client loads that word with acquire, then the rest. The
 * client returns slots by consumer (release, after it copied them; acquire by the
 * daemon before it writes over them). produced, solicited and fault are hints for
 * arming and published once per turn; their barrier is argued in ndsh_arm.c.
 */
#include <string.h>

#include "ndsh_ring.h"
#include "ndsh_shared.h"

void
ndsh_cq_view(struct ndsh_cq *cq, void *base, uint32_t depth)
{
	struct ndsh_cq_page *page = base;

	*cq = (struct ndsh_cq){.page = page, .ring = (void *)(page + 1), .depth = depth};
}

bool
ndsh_cq_look_for_room(struct ndsh_cq *cq)
{
	if (cq->fault != NDSH_CQ_OK) /* no further entries are reported (R-CQ-31) */
		return false;
	cq->consumer = __atomic_load_n(&cq->page->consumer, __ATOMIC_ACQUIRE);
	if (cq->produced - cq->consumer >= cq->depth)
		cq->fault = NDSH_CQ_OVERRUN;
	return cq->fault == NDSH_CQ_OK;
}

void
ndsh_cq_reader_view(struct ndsh_cq_reader *r, void *base, uint32_t depth)
{
	struct ndsh_cq_page *page = base;

	*r = (struct ndsh_cq_reader){.page = page, .ring = (void *)(page + 1), .depth = depth};
}

bool
ndsh_cq_has_failed(const struct ndsh_cq_reader *r, uint64_t from, uint64_t to)
{
	for (uint64_t i = from > r->taken ? from : r->taken; i < to; i++) {
		const uint8_t *slot = (const uint8_t *)ndsh_cq_entry(r, i);

		/* The status is the first byte of that word. */
		if ((ndsh_load32_acquire(slot + NDSH_CQE_LAST_WORD) & 0xff) != NDSH_WC_SUCCESS)
			return true;
	}
	return false;
}

bool
ndsh_cq_take(struct ndsh_cq_reader *r, struct ndsh_cqe *out)
{
	uint64_t i = r->taken - r->origin;
	const ndsh_word64 *slot = (const ndsh_word64 *)&r->ring[i & (r->depth - 1)];
	ndsh_word64 *to = (ndsh_word64 *)out;
	uint32_t last = ndsh_load32_acquire((const uint8_t *)slot + NDSH_CQE_LAST_WORD);

	if (((last >> 24) & NDSH_CQEF_PHASE) != ndsh_phase(i, r->depth))
		return false;
	r->taken++;
	to[0] = ndsh_load64(&slot[0]);
	to[1] = ndsh_load64(&slot[1]);
	to[2] = ndsh_load64(&slot[2]);
	out->syndrome = ndsh_load32(&slot[3]);
	memcpy((uint8_t *)out + NDSH_CQE_LAST_WORD, &last, sizeof(last));
	return true;
}

void
ndsh_cq_taken(struct ndsh_cq_reader *r)
{
	__atomic_store_n(&r->page->consumer, r->taken, __ATOMIC_RELEASE);
}

uint32_t
ndsh_cq_poll(struct ndsh_cq_reader *r, struct ndsh_cqe *out, uint32_t n)
{
	uint32_t got = 0;

	while (got < n &&
		(ndsh_cq_take(r, &out[got]) || (ndsh_cq_follow(r) && ndsh_cq_take(r, &out[got]))))
		got++;
	if (got > 0)
		ndsh_cq_taken(r);
	return got;
}
