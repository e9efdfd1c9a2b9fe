/* SPDX-License-Identifier: BSD-3-Clause */
/* Another ring for a completion queue in use: both sides' code, one step after the other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/zeroed.h"
#include "shm/ndsh_ring.h"

struct queue {
	void *block, *ring; /* ring: of the last exchange, or NULL */
	struct ndsh_cq daemon;
	struct ndsh_cq_reader client;
	uint64_t made, taken;
};

static struct queue
make(uint32_t depth)
{
	struct queue q = {.block = zeroed(ndsh_cq_bytes(depth))};

	ndsh_cq_view(&q.daemon, q.block, depth);
	ndsh_cq_reader_view(&q.client, q.block, depth);
	return q;
}

static void
drop(struct queue *q)
{
	free(q->ring);
	free(q->block);
}

static void
push(struct queue *q, uint32_t n)
{
	for (; n > 0; n--, q->made++)
		cr_assert(ndsh_cq_push(&q->daemon,
			&(struct ndsh_cqe){.context = q->made, .bytes = (uint32_t)~q->made}));
}

/* Up to n entries: those that must come, in order. */
static uint32_t
take(struct queue *q, uint32_t n)
{
	struct ndsh_cqe e[64];
	uint32_t got = ndsh_cq_poll(&q->client, e, n);

	for (uint32_t i = 0; i < got; i++, q->taken++) {
		cr_assert(eq(u64, e[i].context, q->taken));
		cr_assert(eq(u32, e[i].bytes, (uint32_t)~q->taken));
	}
	return got;
}

/* What is in no ring any more is not read: it has been scribbled over. */
static void
discard(struct queue *q, void *ring, void *fresh, uint32_t old_depth)
{
	memset(ring, 0xa5, ndsh_cq_ring_bytes(old_depth));
	if (ring != (struct ndsh_cq_page *)q->block + 1)
		free(ring);
	q->ring = fresh;
}

/* From one depth to another, at every fill and at every place in the ring, with entries taken and
 * made at every point of the exchange. */
static void
exchange(uint32_t from, uint32_t to, uint32_t lap, uint32_t fill, uint32_t early, uint32_t late)
{
	struct queue q = make(from);
	void *ring = zeroed(ndsh_cq_ring_bytes(to)), *before = (void *)q.daemon.ring;
	enum ndsh_settle state;

	for (uint32_t i = 0; i < lap; i++) {
		push(&q, 1);
		cr_assert(eq(u32, take(&q, 1), 1));
	}
	push(&q, fill);
	ndsh_cq_expect(&q.client, ring, to);
	cr_assert(eq(u32, take(&q, early), early), "all is where it was");
	cr_assert(ndsh_cq_move(&q.daemon, ring, to, to));
	push(&q, to - (fill - early)); /* full */
	cr_assert(eq(u32, take(&q, late), late), "both rings are the queue");
	do
		state = ndsh_cq_settle(&q.client, 1);
	while (state == NDSH_SETTLING && take(&q, 1) <= 1);
	cr_assert(eq(int, state, NDSH_SETTLED));
	cr_assert(q.client.next.ring == NULL, "no ring is to come");
	discard(&q, before, ring, from);
	while (take(&q, 64) != 0)
		;
	cr_assert(eq(u64, q.taken, q.made));
	for (uint32_t i = 0; i < 2 * to; i++) { /* it goes on for laps */
		push(&q, to);
		cr_assert(eq(u32, take(&q, to), to));
	}
	drop(&q);
}

/* checks R-RSZ-01[1] */
Test(shm_resize, R_RSZ_01_nothing_is_lost_at_any_fill_and_place)
{
	for (uint32_t from = 2; from <= 8; from *= 2)
		for (uint32_t to = 2; to <= 16; to *= 2)
			for (uint32_t lap = 0; lap < 2 * from; lap++)
				for (uint32_t fill = 0; fill <= from; fill++)
					for (uint32_t early = 0; early <= fill; early++)
						for (uint32_t late = 0; late <= to; late++)
							if (fill - early <= to)
								exchange(from, to, lap, fill, early,
									late);
}

static uint64_t
rand64(uint64_t *rng)
{
	uint64_t z = *rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ z >> 27;
}

/* One exchange after the other, with the rest of the daemon's and the client's life in between. */
static void
random_life(uint64_t seed)
{
	uint32_t depth = 8, next_depth = 0;
	void *next = NULL, *before = NULL;
	struct queue q = make(depth);
	bool moved = false;

	for (uint32_t step = 0; step < 400; step++) {
		uint64_t r = rand64(&seed);
		uint32_t n = (uint32_t)(r >> 32) % 5, queued = (uint32_t)(q.made - q.taken);

		switch (r % 6) {
		case 0:
		case 1:
			push(&q, n < q.daemon.depth - queued ? n : q.daemon.depth - queued);
			break;
		case 2:
		case 3:
			cr_assert(eq(u32, take(&q, n), n < queued ? n : queued));
			break;
		case 4:
			if (next == NULL) {
				next_depth = 2u << (r >> 32) % 5;
				next = zeroed(ndsh_cq_ring_bytes(next_depth));
				before = (void *)q.daemon.ring;
				ndsh_cq_expect(&q.client, next, next_depth);
				moved = false;
			} else if (!moved) {
				moved = ndsh_cq_move(&q.daemon, next, next_depth, next_depth);
				cr_assert(eq(int, moved, queued <= next_depth));
			}
			break;
		default:
			if (next == NULL || (!moved && n != 0))
				break;
			switch (ndsh_cq_settle(&q.client, n)) {
			case NDSH_SETTLING:
				cr_assert(moved);
				break;
			case NDSH_SETTLED:
				cr_assert(moved);
				discard(&q, before, next, depth);
				depth = next_depth;
				next = NULL;
				break;
			case NDSH_SETTLE_NOT:
				cr_assert(not(moved));
				free(next);
				next = NULL;
			}
		}
	}
	while (take(&q, 64) != 0)
		;
	cr_assert(eq(u64, q.taken, q.made));
	if (next != NULL && before != (struct ndsh_cq_page *)q.block + 1)
		free(before);
	if (next != NULL)
		q.ring = next;
	drop(&q);
}

/* checks R-RSZ-01[1] */
Test(shm_resize, R_RSZ_01_nothing_is_lost_in_random_lives)
{
	for (uint64_t seed = 1; seed <= 3000; seed++)
		random_life(seed);
}

/* checks R-RSZ-01[3] */
Test(shm_resize, R_RSZ_01_below_what_is_queued_nothing_changes)
{
	struct queue q = make(16);
	void *ring = zeroed(ndsh_cq_ring_bytes(8));

	push(&q, 5);
	for (int i = 0; i < 2; i++) {
		ndsh_cq_expect(&q.client, ring, 8);
		cr_assert(not(ndsh_cq_move(&q.daemon, ring, 8, 4)));
		cr_assert(eq(int, ndsh_cq_settle(&q.client, 1), NDSH_SETTLE_NOT));
		cr_assert(q.client.next.ring == NULL, "it is forgotten");
		cr_assert(eq(u32, q.daemon.depth, 16));
		push(&q, 3);
		cr_assert(eq(u32, take(&q, 3), 3));
	}
	cr_assert(eq(u32, take(&q, 16), 5));
	ndsh_cq_expect(&q.client, ring, 8);
	cr_assert(ndsh_cq_move(&q.daemon, ring, 8, 4));
	cr_assert(eq(int, ndsh_cq_settle(&q.client, 1), NDSH_SETTLED));
	q.ring = ring;
	drop(&q);
}

/* checks R-RSZ-01[7]: arm, mark and fault are what they were. */
Test(shm_resize, arm_and_fault_are_untouched)
{
	struct queue q = make(4);
	void *ring = zeroed(ndsh_cq_ring_bytes(8));
	uint64_t word;

	push(&q, 3);
	ndsh_cq_publish(&q.daemon);
	cr_assert(eq(int, ndsh_cq_arm(&q.client, NDSH_ARM_ANY, NULL), NDSH_ARM_FIRED));
	cr_assert(eq(int, ndsh_cq_arm(&q.client, NDSH_ARM_SOLICITED, NULL), NDSH_ARMED));
	word = q.client.page->arm;
	ndsh_cq_expect(&q.client, ring, 8);
	cr_assert(ndsh_cq_move(&q.daemon, ring, 8, 8));
	cr_assert(eq(int, ndsh_cq_settle(&q.client, 8), NDSH_SETTLED));
	cr_expect(eq(u64, q.client.page->arm, word));
	cr_expect(not(ndsh_cq_fire(&q.daemon)), "nothing happened");
	cr_assert(ndsh_cq_push(&q.daemon,
		&(struct ndsh_cqe){
			.context = q.made++, .bytes = ~3u, .flags = NDSH_CQEF_SOLICITED}));
	ndsh_cq_publish(&q.daemon);
	cr_expect(ndsh_cq_fire(&q.daemon), "the arm that was set before the exchange");
	push(&q, 4);
	cr_assert(not(ndsh_cq_push(&q.daemon, &(struct ndsh_cqe){0})), "8 are 8");
	ndsh_cq_publish(&q.daemon);
	cr_expect(eq(u32, q.client.page->fault, NDSH_CQ_OVERRUN));
	cr_expect(eq(u32, take(&q, 16), 8));
	q.ring = ring;
	drop(&q);
}

/* A look at entries that takes none, as moderation does, finds them in either ring. */
Test(shm_resize, a_failed_entry_is_found_at_every_step)
{
	for (uint64_t failed = 0; failed < 6; failed++) {
		struct queue q = make(4);
		void *ring = zeroed(ndsh_cq_ring_bytes(8));

		for (uint64_t i = 0; i < 6; i++) {
			if (i == 3) {
				ndsh_cq_expect(&q.client, ring, 8);
				cr_assert(ndsh_cq_move(&q.daemon, ring, 8, 8));
			}
			cr_assert(
				ndsh_cq_push(&q.daemon, &(struct ndsh_cqe){.status = i == failed}));
		}
		do {
			cr_expect(ndsh_cq_has_failed(&q.client, failed, failed + 1));
			cr_expect(not(ndsh_cq_has_failed(&q.client, 0, failed)));
			cr_expect(not(ndsh_cq_has_failed(&q.client, failed + 1, 6)));
		} while (ndsh_cq_settle(&q.client, 1) == NDSH_SETTLING);
		cr_expect(ndsh_cq_has_failed(&q.client, 0, 6));
		q.ring = ring;
		drop(&q);
	}
}

/* A consumer that lies: the daemon refuses, or only that queue suffers; it never reads an entry. */
Test(shm_resize, a_lie_about_consumer_hurts_the_liar_only)
{
	const uint64_t lies[] = {6, 1000, UINT64_MAX, UINT64_MAX - 1000, UINT64_C(1) << 63};
	struct queue q = make(8);
	void *ring = zeroed(ndsh_cq_ring_bytes(4));

	push(&q, 5);
	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		q.client.page->consumer = lies[i];
		cr_expect(not(ndsh_cq_move(&q.daemon, ring, 4, 4)), "%zu", i);
	}
	q.client.page->consumer = 5; /* nothing was taken */
	cr_assert(ndsh_cq_move(&q.daemon, ring, 4, 4));
	push(&q, 4);
	cr_expect(not(ndsh_cq_push(&q.daemon, &(struct ndsh_cqe){0})));
	free(ring);
	drop(&q);
}

/* The daemon ended before it answered: what it did stands in the page. */
Test(shm_resize, the_page_tells_without_an_answer)
{
	for (int moved = 0; moved < 2; moved++) {
		struct queue q = make(4);
		void *ring = zeroed(ndsh_cq_ring_bytes(8));

		push(&q, 2);
		ndsh_cq_expect(&q.client, ring, 8);
		if (moved)
			cr_assert(ndsh_cq_move(&q.daemon, ring, 8, 8));
		push(&q, 2);
		cr_expect(eq(int, ndsh_cq_settle(&q.client, 64),
			moved ? NDSH_SETTLED : NDSH_SETTLE_NOT));
		cr_expect(eq(u32, take(&q, 8), 4));
		q.ring = ring;
		drop(&q);
	}
}
