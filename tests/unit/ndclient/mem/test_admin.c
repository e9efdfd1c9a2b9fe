/* SPDX-License-Identifier: BSD-3-Clause */
/* Registering through the admin ring, against a daemon's half that runs when the test says so. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndclient/cq/cq.h"
#include "ndclient/mem/admin.h"
#include "ndclient/mem/arena.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/session/adapter.h"

#define DEPTH 4u
#define BYTES 4096u

struct bench {
	struct nd_adapter *a;
	struct nd_pd pd;
	struct nd_cq cq;
	struct nd_segment segment;
	struct ndsh_session_page page;
	struct ndsh_admin daemon;
	struct ndsh_cq answers;
	int pipe_fd[2];
	struct ndsh_admin_request last; /* that daemon_serves_one() answered */
};

static struct bench *
make(void)
{
	struct bench *b = aligned_alloc(64, (sizeof(*b) + 63) & ~63ul);
	struct nd_adapter *a = nd_adapter_new();
	void *block = aligned_alloc(64, ndsh_cq_bytes(4 * DEPTH));
	void *ring = aligned_alloc(64, ndsh_admin_bytes(DEPTH));

	memset(b, 0, sizeof(*b));
	memset(block, 0, ndsh_cq_bytes(4 * DEPTH));
	memset(ring, 0, ndsh_admin_bytes(DEPTH));
	b->a = a;
	a->page = &b->page;
	a->wake_fd = -1;
	a->abi_minor = NDSH_ABI_MINOR;
	a->info.max_registration_bytes = BYTES;
	STAILQ_INIT(&a->admin.waiting);
	STAILQ_INIT(&a->admin.asked);
	cr_assert(zero(int, pipe2(b->pipe_fd, O_NONBLOCK)));
	b->cq.notify_fd = b->pipe_fd[0];
	ndsh_cq_reader_view(&b->cq.reader, block, 4 * DEPTH);
	ndsh_cq_view(&b->answers, block, 4 * DEPTH);
	ndsh_admin_view(&a->admin.ring, ring, DEPTH);
	ndsh_admin_view(&b->daemon, ring, DEPTH);
	a->admin.cq = &b->cq;
	b->segment.base = aligned_alloc(64, BYTES);
	nd_extents_init(&b->segment.extents, BYTES);
	a->arena.first = &b->segment;
	b->pd = (struct nd_pd){.obj.holders = 1, .adapter = a, .id = 7};
	return b;
}

static void
drop(struct bench *b)
{
	free(b->cq.reader.page);
	free(b->daemon.ring);
	free(b->segment.base);
	nd_extents_fini(&b->segment.extents);
	close(b->pipe_fd[0]);
	close(b->pipe_fd[1]);
	nd_adapter_free(b->a);
	free(b);
}

/* The daemon answers n requests; *last is what the last one said. */
static uint32_t
serve(struct bench *b, uint32_t n, uint8_t status, struct ndsh_admin_request *last)
{
	uint32_t i;

	for (i = 0; i < n && ndsh_admin_fetch(&b->daemon, last); i++)
		cr_assert(ndsh_cq_push(&b->answers, &(struct ndsh_cqe){.context = last->context,
							    .data = 0x12340000 + b->daemon.next,
							    .slot_count = b->daemon.next,
							    .status = status}));
	ndsh_cq_publish(&b->answers);
	ndsh_full_barrier();
	if (ndsh_cq_fire(&b->answers))
		cr_assert(eq(sz, (size_t)write(b->pipe_fd[1], "", 1), 1));
	nd_admin_readable(b->a);
	return i;
}

/* What R-OV-04 asks of Register and Deregister: they pend and complete through the request. */
Test(ndclient_admin, register_and_deregister_pend)
{
	struct bench *b = make();
	struct nd_overlapped ov = {0};
	struct ndsh_admin_request r;
	struct nd_mr *mr;

	cr_assert(zero(i32, nd_mr_create(&b->pd, &mr)));
	for (int i = 0; i < 20; i++) {
		cr_assert(eq(i32,
			nd_mr_register(
				mr, b->segment.base + i, 9, ND_MR_FLAG_ALLOW_REMOTE_WRITE, &ov),
			ND_PENDING));
		cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING));
		cr_expect(zero(u32, nd_mr_local_token(mr)), "R-MR-09: not yet");
		cr_assert(eq(u32, serve(b, 9, NDSH_ADMIN_OK, &r), 1));
		cr_expect(r.va == (uintptr_t)b->segment.base + (unsigned)i && r.bytes == 9);
		cr_expect(r.pd == 7 && (r.ctrl & 0xff) == NDSH_ADMIN_REGISTER);
		cr_expect(eq(u32, r.access, NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_LOCAL_WRITE));
		cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS));
		cr_expect(eq(u32, nd_mr_local_token(mr), 0x12340000 + b->daemon.next));
		cr_assert(eq(i32, nd_mr_deregister(mr, &ov), ND_PENDING));
		cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING));
		cr_assert(eq(u32, serve(b, 9, NDSH_ADMIN_OK, &r), 1));
		cr_expect(eq(u32, r.ctrl & 0xff, NDSH_ADMIN_DEREGISTER));
		cr_expect(eq(u32, r.token, 0x12340000 + b->daemon.next - 1));
		cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS));
		cr_expect(zero(u32, nd_mr_local_token(mr)));
	}
	free(mr);
	drop(b);
}

/* It waits, so its request is fetched when the thread has posted it. */
static void *
daemon_serves_one(void *arg)
{
	struct bench *b = arg;
	struct ndsh_admin_request r;

	while (!ndsh_admin_fetch(&b->daemon, &r))
		usleep(1000);
	cr_assert(ndsh_cq_push(&b->answers, &(struct ndsh_cqe){.context = r.context,
						    .data = 0x12340000 + b->daemon.next,
						    .slot_count = b->daemon.next}));
	ndsh_cq_publish(&b->answers);
	ndsh_full_barrier();
	if (ndsh_cq_fire(&b->answers))
		cr_assert(eq(sz, (size_t)write(b->pipe_fd[1], "", 1), 1));
	nd_admin_readable(b->a);
	b->last = r;
	return NULL;
}

static nd_status
register_iova(struct bench *b, struct nd_mr *mr, uint64_t iova)
{
	pthread_t thread;
	nd_status st;

	cr_assert(zero(int, pthread_create(&thread, NULL, daemon_serves_one, b)));
	st = nd_mr_register_iova(mr, b->segment.base + 64, 128, iova, ND_MR_FLAG_ALLOW_REMOTE_READ);
	pthread_join(thread, NULL);
	return st;
}

Test(ndclient_admin, an_iova_is_told_as_what_is_added, .timeout = 60)
{
	static const uint64_t all[3] = {0, 12345, UINT64_MAX - 128};
	struct bench *b = make();
	struct nd_mr *mr[3];

	for (size_t i = 0; i < 3; i++) {
		cr_assert(zero(i32, nd_mr_create(&b->pd, &mr[i])));
		cr_expect(eq(i32, register_iova(b, mr[i], all[i]), ND_SUCCESS));
		cr_expect(eq(u64, b->last.va, (uintptr_t)b->segment.base + 64));
		cr_expect(eq(u64, b->last.va + b->last.iova_offset, all[i]));
		cr_expect(eq(u64, b->last.bytes, 128));
		cr_expect(eq(u64, mr[i]->va, b->last.va));
		cr_expect(eq(u64, mr[i]->iova_offset, b->last.iova_offset));
	}
	for (size_t i = 0; i < 3; i++)
		free(mr[i]);
	drop(b);
}

/* It would register the memory by its address. */
Test(ndclient_admin, an_iova_that_can_not_be, .timeout = 60)
{
	struct bench *b = make();
	uint64_t own = (uintptr_t)b->segment.base + 64;
	struct nd_mr *mr;

	cr_assert(zero(i32, nd_mr_create(&b->pd, &mr)));
	cr_expect(eq(i32, nd_mr_register_iova(mr, (void *)own, 128, UINT64_MAX - 127, 0),
		ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_mr_register_iova(mr, (void *)own, 128, UINT64_MAX, 0),
		ND_INVALID_PARAMETER));
	b->a->abi_minor = NDSH_MINOR_IOVA - 1;
	cr_expect(eq(i32, nd_mr_register_iova(mr, (void *)own, 128, 0, 0), ND_NOT_SUPPORTED));
	cr_expect(eq(i32, nd_mr_register_iova(mr, (void *)own, 128, own + 1, 0), ND_NOT_SUPPORTED));
	cr_expect(eq(i32, register_iova(b, mr, own), ND_SUCCESS), "that is none");
	cr_expect(zero(u64, b->last.iova_offset));
	free(mr);
	drop(b);
}

Test(ndclient_admin, one_request_of_a_region_at_a_time)
{
	struct bench *b = make();
	struct nd_overlapped ov = {0}, other = {0};
	struct ndsh_admin_request r;
	struct nd_mr *mr;

	cr_assert(zero(i32, nd_mr_create(&b->pd, &mr)));
	cr_expect(eq(i32, nd_mr_deregister(mr, &other), ND_INVALID_DEVICE_STATE));
	cr_assert(eq(i32, nd_mr_register(mr, b->segment.base, 9, 0, &ov), ND_PENDING));
	cr_expect(eq(
		i32, nd_mr_register(mr, b->segment.base, 9, 0, &other), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_mr_deregister(mr, &other), ND_INVALID_DEVICE_STATE));
	cr_assert(eq(u32, serve(b, 9, NDSH_ADMIN_FULL, &r), 1));
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_INSUFFICIENT_RESOURCES));
	cr_assert(eq(i32, nd_mr_register(mr, b->segment.base, 9, 0, &ov), ND_PENDING), "again");
	cr_assert(eq(u32, serve(b, 9, NDSH_ADMIN_OK, &r), 1));
	cr_expect(eq(
		i32, nd_mr_register(mr, b->segment.base, 9, 0, &other), ND_INVALID_DEVICE_STATE));
	cr_assert(eq(i32, nd_mr_deregister(mr, &ov), ND_PENDING));
	cr_assert(eq(u32, serve(b, 9, NDSH_ADMIN_BUSY, &r), 1));
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_DEVICE_BUSY));
	cr_expect(ne(u32, nd_mr_local_token(mr), 0), "it stays registered");
	free(mr);
	drop(b);
}

Test(ndclient_admin, more_requests_than_the_ring_holds_wait_in_order)
{
	enum { N = 3 * DEPTH + 1 };
	struct bench *b = make();
	struct nd_overlapped ov[N] = {0};
	struct ndsh_admin_request r;
	struct nd_mr *mr[N];

	for (int i = 0; i < N; i++) {
		cr_assert(zero(i32, nd_mr_create(&b->pd, &mr[i])));
		cr_assert(eq(
			i32, nd_mr_register(mr[i], b->segment.base + i, 1, 0, &ov[i]), ND_PENDING));
	}
	for (int i = 0; i < N; i++) {
		cr_assert(eq(u32, serve(b, 1, NDSH_ADMIN_OK, &r), 1));
		cr_expect(eq(u64, r.va, (uintptr_t)b->segment.base + (unsigned)i));
		for (int k = 0; k < N; k++)
			cr_assert(eq(i32, nd_overlapped_status(&ov[k]),
				k <= i ? ND_SUCCESS : ND_PENDING));
	}
	for (int i = 0; i < N; i++)
		free(mr[i]);
	drop(b);
}

/* checks R-OV-10[1,2], R-OV-11[1]: what the daemon has not been asked yet is taken back; the region
 * is as it was, and no other one is touched. */
Test(ndclient_admin, R_OV_10_cancel_takes_back_what_waits)
{
	struct bench *b = make();
	struct nd_overlapped ov[DEPTH + 3] = {0};
	struct ndsh_admin_request r;
	struct nd_mr *mr[DEPTH + 3];
	uint32_t token;

	for (uint32_t i = 0; i < DEPTH + 3; i++)
		cr_assert(zero(i32, nd_mr_create(&b->pd, &mr[i])));
	cr_expect(eq(i32, nd_mr_cancel(NULL), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_mr_cancel(mr[0]), ND_SUCCESS), "nothing is pending");
	cr_assert(
		eq(i32, nd_mr_register(mr[DEPTH], b->segment.base, 9, 0, &ov[DEPTH]), ND_PENDING));
	cr_assert(eq(u32, serve(b, 1, NDSH_ADMIN_OK, &r), 1));
	token = nd_mr_local_token(mr[DEPTH]);
	for (uint32_t i = 0; i < DEPTH; i++)
		cr_assert(eq(
			i32, nd_mr_register(mr[i], b->segment.base, i + 1, 0, &ov[i]), ND_PENDING));
	cr_assert(eq(i32, nd_mr_deregister(mr[DEPTH], &ov[DEPTH]), ND_PENDING));
	for (uint32_t i = DEPTH + 1; i < DEPTH + 3; i++)
		cr_assert(eq(
			i32, nd_mr_register(mr[i], b->segment.base, i + 1, 0, &ov[i]), ND_PENDING));

	cr_expect(eq(i32, nd_mr_cancel(mr[DEPTH]), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&ov[DEPTH]), ND_CANCELED));
	cr_expect(eq(u32, nd_mr_local_token(mr[DEPTH]), token), "registered, as before");
	cr_expect(eq(i32, nd_mr_cancel(mr[DEPTH + 1]), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&ov[DEPTH + 1]), ND_CANCELED));
	cr_expect(zero(u32, nd_mr_local_token(mr[DEPTH + 1])));
	cr_expect(eq(i32, nd_overlapped_status(&ov[DEPTH + 2]), ND_PENDING), "of another object");

	cr_assert(eq(u32, serve(b, DEPTH, NDSH_ADMIN_OK, &r), DEPTH));
	cr_assert(eq(u32, serve(b, DEPTH, NDSH_ADMIN_OK, &r), 1), "those two are not asked for");
	cr_expect(eq(u64, r.bytes, DEPTH + 3));
	cr_expect(eq(i32, nd_overlapped_status(&ov[DEPTH + 2]), ND_SUCCESS));
	cr_assert(eq(i32, nd_mr_register(mr[DEPTH + 1], b->segment.base, 9, 0, &ov[DEPTH + 1]),
			  ND_PENDING),
		"it can be used again");
	cr_assert(eq(i32, nd_mr_deregister(mr[DEPTH], &ov[DEPTH]), ND_PENDING));
	cr_assert(eq(u32, serve(b, DEPTH, NDSH_ADMIN_OK, &r), 2));
	cr_expect(eq(i32, nd_overlapped_status(&ov[DEPTH]), ND_SUCCESS));
	for (uint32_t i = 0; i < DEPTH + 3; i++)
		free(mr[i]);
	drop(b);
}

struct canceler {
	struct nd_mr *mr;
	struct nd_overlapped *ov;
	uint32_t begun, over;
};

static void *
cancel(void *arg)
{
	struct canceler *c = arg;

	__atomic_store_n(&c->begun, 1, __ATOMIC_RELEASE);
	cr_expect(eq(i32, nd_mr_cancel(c->mr), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(c->ov), ND_SUCCESS), "complete when it returns");
	__atomic_store_n(&c->over, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Until it has begun, and time to come back for one that does not wait. */
static void
await_cancel(const struct canceler *c)
{
	while (__atomic_load_n(&c->begun, __ATOMIC_ACQUIRE) == 0)
		usleep(1000);
	usleep(20000);
}

/* checks R-OV-10[2], R-OV-11[2]: what the daemon has been asked ends with its answer, once, and
 * cancel waits for that. */
Test(ndclient_admin, R_OV_11_cancel_waits_for_what_it_cannot_take_back, .timeout = 60)
{
	struct bench *b = make();
	struct nd_overlapped ov = {0};
	struct ndsh_admin_request r;
	struct canceler c = {.ov = &ov};
	pthread_t thread;

	cr_assert(zero(i32, nd_mr_create(&b->pd, &c.mr)));
	cr_assert(eq(i32, nd_mr_register(c.mr, b->segment.base, 9, 0, &ov), ND_PENDING));
	cr_assert(zero(int, pthread_create(&thread, NULL, cancel, &c)));
	await_cancel(&c);
	cr_expect(zero(u32, __atomic_load_n(&c.over, __ATOMIC_ACQUIRE)));
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING));
	cr_assert(eq(u32, serve(b, 1, NDSH_ADMIN_OK, &r), 1));
	pthread_join(thread, NULL);
	cr_expect(ne(u32, nd_mr_local_token(c.mr), 0));
	free(c.mr);
	drop(b);
}

/* The answer is taken, its outcome not told yet. */
Test(ndclient_admin, R_OV_10_cancel_waits_until_the_outcome_is_told, .timeout = 60)
{
	struct bench *b = make();
	struct nd_overlapped ov = {.status = ND_PENDING};
	struct canceler c = {.ov = &ov};
	pthread_t thread;

	cr_assert(zero(i32, nd_mr_create(&b->pd, &c.mr)));
	c.mr->ending = 1;
	cr_assert(zero(int, pthread_create(&thread, NULL, cancel, &c)));
	await_cancel(&c);
	cr_expect(zero(u32, __atomic_load_n(&c.over, __ATOMIC_ACQUIRE)));
	__atomic_store_n(&ov.status, ND_SUCCESS, __ATOMIC_RELEASE);
	__atomic_store_n(&c.mr->ending, 0, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	free(c.mr);
	drop(b);
}

Test(ndclient_admin, the_daemons_death_ends_what_is_under_way)
{
	struct bench *b = make();
	struct nd_overlapped ov[DEPTH + 2] = {0};
	struct nd_mr *mr[DEPTH + 2];

	for (uint32_t i = 0; i < DEPTH + 2; i++) { /* some in the ring, some waiting */
		cr_assert(zero(i32, nd_mr_create(&b->pd, &mr[i])));
		cr_assert(
			eq(i32, nd_mr_register(mr[i], b->segment.base, 1, 0, &ov[i]), ND_PENDING));
	}
	b->a->gone = 1;
	nd_admin_end(b->a, ND_DEVICE_REMOVED);
	for (uint32_t i = 0; i < DEPTH + 2; i++) {
		cr_expect(eq(i32, nd_overlapped_status(&ov[i]), ND_DEVICE_REMOVED));
		cr_expect(eq(i32, nd_mr_register(mr[i], b->segment.base, 1, 0, &ov[i]),
			ND_DEVICE_REMOVED));
		cr_expect(zero(i32, nd_mr_close(mr[i])));
	}
	drop(b);
}

Test(ndclient_admin, an_older_daemon_is_told_apart)
{
	struct bench *b = make();
	struct nd_mr *mr = (void *)b;

	b->a->abi_minor = 2;
	cr_expect(eq(i32, nd_mr_create(&b->pd, &mr), ND_NOT_SUPPORTED));
	cr_expect(eq(ptr, mr, NULL));
	drop(b);
}
