/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests from moved memory that are copied at the post, into room beside the send queue. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ndclient/mem/copies.h"
#include "ndclient/mem/moved.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/qp/batch.h"
#include "ndclient/qp/post.h"
#include "rigs/posting.h"

#define DEPTH	   64u
#define TOKEN	   (5u << NDSH_TOKEN_KEY_BITS | 77)
#define COPY_TOKEN 4711u
#define ARENA	   (1u << 20)
#define ROOM	   (DEPTH * 4096u) /* of a queue of that depth */
#define MEMORY	   65536u

static _Alignas(64) char arena[ARENA];
static char *memory; /* moved */

static struct world {
	struct posting *b;
	struct nd_segment segment;
	struct nd_pd pd;
	struct nd_mr mr;
} w;

static void
set_up(void)
{
	memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert(ne(ptr, memory, MAP_FAILED));
	w.b = posting_new(DEPTH);
	w.b->a->max_transfer_bytes = MEMORY;
	w.b->a->mover = (void *)w.b; /* there is one; nothing here needs it */
	pthread_mutex_init(&w.b->a->lock, NULL);
	pthread_mutex_init(&w.b->a->arena.lock, NULL);
	LIST_INIT(&w.b->a->objects);
	w.segment.base = (uint8_t *)arena;
	cr_assert(nd_extents_init(&w.segment.extents, ARENA));
	w.b->a->arena.first = &w.segment;
	w.pd = (struct nd_pd){.adapter = w.b->a, .id = 3, .copy_token = COPY_TOKEN};
	w.mr = (struct nd_mr){
		.pd = &w.pd, .va = (uintptr_t)memory, .bytes = MEMORY, .token = TOKEN};
	nd_moved_add(&w.mr);
	w.b->qp.pd = &w.pd;
	nd_object_open(&w.b->qp.obj, &nd_qp_class, w.b->a);
	LIST_INSERT_HEAD(&w.pd.qps, &w.b->qp, of_pd);
	nd_copies_offer(&w.b->qp);
	cr_assert(ne(ptr, w.b->qp.copies, NULL));
}

static void
tear_down(void)
{
	nd_copies_free(w.b->a, w.b->qp.copies, true);
	cr_expect(eq(u64, w.segment.extents.free_bytes, ARENA), "the room was given back");
	cr_expect(zero(u64, w.b->a->copies_bytes));
	nd_extents_fini(&w.segment.extents);
	posting_free(w.b);
	munmap(memory, MEMORY);
}

TestSuite(ndclient_copies, .init = set_up, .fini = tear_down);

static struct nd_sge
piece(uint32_t at, uint32_t bytes)
{
	return (struct nd_sge){memory + at, bytes, TOKEN};
}

/* What the daemon gets of a send. */
static struct ndsh_send
sent(const struct nd_sge *sge, uint32_t n, uint32_t flags)
{
	struct ndsh_send s;

	cr_assert(eq(i32, nd_qp_send(&w.b->qp, NULL, sge, n, flags), ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&w.b->daemon_sq, &s), NDSH_FETCH_OK));
	return s;
}

static bool
is_copy(const struct ndsh_send *s)
{
	return s->num_sge == 1 && s->sge[0].key == COPY_TOKEN &&
	       s->sge[0].addr - (uintptr_t)arena <= ARENA - s->sge[0].len;
}

static void
end_requests(uint32_t n)
{
	__atomic_fetch_add(&w.b->qp.page->sq_done, n, __ATOMIC_RELEASE);
}

/* checks R-POST-07: the pieces, one after the other. */
Test(ndclient_copies, a_request_names_the_copy)
{
	struct nd_sge sge[2] = {piece(4000, 200), piece(7, 100)};
	struct ndsh_send s;

	memset(memory + 4000, 1, 200);
	memset(memory + 7, 2, 100);
	s = sent(sge, 2, 0);
	cr_assert(is_copy(&s));
	cr_expect(eq(u32, s.bytes, 300));
	cr_expect(zero(i32, memcmp((void *)s.sge[0].addr, memory + 4000, 200)));
	cr_expect(zero(i32, memcmp((char *)s.sge[0].addr + 200, memory + 7, 100)));
	sge[0] = piece(0, ND_COPY_MAX);
	memset(memory, 3, ND_COPY_MAX);
	s = sent(sge, 1, 0);
	cr_assert(is_copy(&s));
	cr_expect(zero(i32, memcmp((void *)s.sge[0].addr, memory, ND_COPY_MAX)));
}

/* By an iova, which is no address of this process: beside the request, and in it. */
Test(ndclient_copies, what_is_named_by_an_iova)
{
	struct nd_sge sge[2] = {{(void *)4000, 200, TOKEN}, {(void *)7, 100, TOKEN}};
	struct ndsh_send s;

	w.mr.iova_offset = 0 - w.mr.va;
	nd_moved_add(&w.mr);
	memset(memory + 4000, 1, 200);
	memset(memory + 7, 2, 100);
	s = sent(sge, 2, 0);
	cr_assert(is_copy(&s));
	cr_expect(zero(i32, memcmp((void *)s.sge[0].addr, memory + 4000, 200)));
	cr_expect(zero(i32, memcmp((char *)s.sge[0].addr + 200, memory + 7, 100)));
	sge[0].bytes = sge[1].bytes = 8;
	s = sent(sge, 2, 0);
	cr_assert(eq(u32, s.bytes, 16));
	cr_assert(zero(int, s.num_sge), "in the request");
	cr_expect(zero(i32, memcmp(s.inl, memory + 4000, 8)));
	cr_expect(zero(i32, memcmp((char *)s.inl + 8, memory + 7, 8)));
	memory[4000] = 99;
	sge[0] = (struct nd_sge){memory, 8, TOKEN};
	s = sent(sge, 1, 0);
	cr_expect(eq(u64, s.sge[0].addr, (uintptr_t)memory), "the daemon will refuse it");
}

Test(ndclient_copies, what_is_not_copied)
{
	struct nd_sge sge[2] = {piece(0, ND_COPY_MAX), piece(0, 1)}, other = piece(0, 100);
	struct ndsh_send s = sent(sge, 2, 0);

	cr_expect(eq(u32, s.sge[0].key, TOKEN), "too much");
	s = sent(sge, 1, ND_OP_FLAG_READ_FENCE);
	cr_expect(eq(u32, s.sge[0].key, TOKEN), "a read may be about to bring it");
	end_requests(2);
	other.token++;
	s = sent(&other, 1, 0);
	cr_expect(eq(u32, s.sge[0].key, TOKEN + 1), "memory of another kind");
	sge[0] = piece(0, 32);
	s = sent(sge, 1, 0);
	cr_expect(zero(int, s.num_sge), "it fits into the request");
	sge[0] = piece(0, 100);
	cr_assert(eq(i32, nd_qp_read(&w.b->qp, NULL, sge, 1, 1, 2, 0), ND_DATA_OVERRUN));
	w.b->a->info.max_read_sge = 1;
	cr_assert(eq(i32, nd_qp_read(&w.b->qp, NULL, sge, 1, 1, 2, 0), ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&w.b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(u32, s.sge[0].key, TOKEN));
}

/* checks R-MR-14[1], R-MR-14[3]: the daemon finds out, and the result tells. */
Test(ndclient_copies, memory_that_is_gone)
{
	struct nd_sge sge = piece(4000, 200);
	struct ndsh_send s;

	cr_assert(zero(i32, munmap(memory + 4096, 4096)));
	s = sent(&sge, 1, 0);
	cr_expect(eq(u32, s.sge[0].key, TOKEN));
	sge = piece(8192, 4096);
	cr_assert(zero(i32, mprotect(memory + 8192, 4096, PROT_NONE)));
	s = sent(&sge, 1, 0);
	cr_expect(eq(u32, s.sge[0].key, TOKEN));
	sge = piece(4000, 96);
	s = sent(&sge, 1, 0);
	cr_expect(is_copy(&s));
	sge = piece(8192, 16); /* few enough for the descriptor */
	errno = 4711;
	s = sent(&sge, 1, 0);
	cr_expect(eq(u32, s.num_sge, 1));
	cr_expect(eq(u32, s.sge[0].key, TOKEN));
	cr_expect(eq(int, errno, 4711));
}

/* Bytes of a request that is not done stay; those of a finished one are room again, in order. */
Test(ndclient_copies, the_room_is_used_again)
{
	const uint32_t bytes = 5000, fit = ROOM / 5056;
	struct nd_sge sge = piece(0, bytes);
	struct ndsh_send s[DEPTH];

	for (uint32_t i = 0; i < fit; i++) {
		memset(memory, (int)i, bytes);
		s[i] = sent(&sge, 1, 0);
		cr_assert(is_copy(&s[i]));
	}
	cr_expect(eq(u32, sent(&sge, 1, 0).sge[0].key, TOKEN), "no room");
	for (uint32_t i = 0; i < fit; i++)
		for (uint32_t k = 0; k < bytes; k++)
			cr_assert(eq(int, ((char *)s[i].sge[0].addr)[k], (int)i));
	end_requests(1);
	s[0] = sent(&sge, 1, 0);
	cr_expect(is_copy(&s[0]));
	cr_expect(eq(u64, s[0].sge[0].addr % 64, 0));
	cr_expect(eq(u32, sent(&sge, 1, 0).sge[0].key, TOKEN), "no room again");
	for (uint32_t i = 1; i < fit; i++)
		cr_assert(ne(u64, s[i].sge[0].addr, s[0].sge[0].addr));
}

/* Those of a batch that is dropped leave room for as much again; copies before it stay. */
Test(ndclient_copies, the_room_of_a_dropped_batch_is_whole)
{
	const uint32_t bytes = 5000, fit = ROOM / 5056;
	struct nd_sge sge = piece(0, bytes);
	struct ndsh_send before, s;
	struct nd_batch batch;

	memset(memory, 1, bytes);
	before = sent(&sge, 1, 0);
	cr_assert(is_copy(&before));
	memset(memory, 2, bytes);
	nd_batch_begin(&w.b->qp, &batch);
	for (uint32_t lap = 0; lap < 5; lap++) {
		for (uint32_t i = 1; i < fit; i++)
			cr_assert(eq(i32,
				nd_post_request(&w.b->qp, NDSH_OP_SEND,
					&(struct ndsh_swr){.context = 1}, &sge, 1, ND_POST_HELD),
				ND_SUCCESS));
		nd_batch_drop(&w.b->qp, &batch);
	}
	for (uint32_t i = 1; i < fit; i++) {
		s = sent(&sge, 1, 0);
		cr_assert(is_copy(&s));
	}
	s = sent(&sge, 1, 0);
	cr_expect(eq(u32, s.sge[0].key, TOKEN), "no room");
	for (uint32_t k = 0; k < bytes; k++)
		cr_assert(eq(int, ((char *)before.sge[0].addr)[k], 1));
}

#define FLYING 20u /* requests under way; their copies fit into the room */

/* The room and the slots go round, and each request finds its bytes as they were at its post, until
 * it is done, as either word tells: the daemon's count, or completions that were taken. */
static void
round_and_round(void (*tell)(uint32_t done))
{
	struct nd_sge sge = piece(0, 3000);
	struct ndsh_send s[FLYING];
	uint8_t wanted[3000];

	for (uint32_t i = 0; i < 10 * ROOM / 3000; i++) {
		if (i >= FLYING) {
			memset(wanted, (int)(i - FLYING), sizeof(wanted));
			cr_assert(zero(i32, memcmp((void *)s[i % FLYING].sge[0].addr, wanted,
						    sizeof(wanted))),
				"%u", i - FLYING);
			tell(i - FLYING + 1);
		}
		memset(memory, (int)i, 3000);
		s[i % FLYING] = sent(&sge, 1, 0);
		cr_assert(is_copy(&s[i % FLYING]));
	}
}

static void
tell_by_page(uint32_t done)
{
	__atomic_store_n(&w.b->qp.page->sq_done, done, __ATOMIC_RELEASE);
}

static void
tell_by_completion(uint32_t done)
{
	__atomic_store_n(&w.b->qp.sq_freed, done, __ATOMIC_RELEASE);
}

/* A completion that was taken very late takes the word back. */
static void
tell_by_either(uint32_t done)
{
	tell_by_page(done);
	tell_by_completion(done > 300 ? done - 300 : 0);
}

Test(ndclient_copies, round_and_round_with_silent_requests)
{
	round_and_round(tell_by_page);
}

Test(ndclient_copies, round_and_round_with_completions)
{
	round_and_round(tell_by_completion);
}

Test(ndclient_copies, round_and_round_with_late_completions)
{
	round_and_round(tell_by_either);
}

/* checks R-ORD-05: what stands behind a request that waits for reads starts behind them, too, and
 * is to send what they bring. */
Test(ndclient_copies, R_ORD_05_nothing_is_copied_behind_a_fence)
{
	struct nd_sge few = piece(0, 10), many = piece(0, 2000);

	cr_assert(eq(u32, sent(&many, 1, ND_OP_FLAG_READ_FENCE).sge[0].key, TOKEN));
	for (int i = 0; i < 2; i++) {
		struct ndsh_send s = sent(&many, 1, 0);

		cr_expect(eq(u32, s.sge[0].key, TOKEN));
		s = sent(&few, 1, 0);
		cr_expect(eq(u32, s.num_sge, 1), "not inline");
		cr_expect(eq(u32, s.sge[0].key, TOKEN));
	}
	end_requests(1);
	struct ndsh_send s = sent(&many, 1, 0);
	cr_expect(is_copy(&s));
}
