/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rigs/admin_bench.h"
#include "rigs/zeroed.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"

uint32_t
admin_bench_handle(uint32_t i)
{
	return 1000 + i;
}

uint64_t
admin_bench_va(uint32_t i)
{
	return UINT64_C(0x7f0000000000) + i * ADMIN_BYTES;
}

static size_t
edge(size_t *page)
{
	*page = (size_t)sysconf(_SC_PAGESIZE);
	return (sizeof(struct roce_admin) + *page - 1) / *page * *page;
}

static struct roce_admin *
admin_at_the_edge(void)
{
	size_t page, room = edge(&page);
	uint8_t *pages =
		mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	cr_assert(ne(ptr, pages, MAP_FAILED));
	cr_assert(zero(int, mprotect(pages + room, page, PROT_NONE)));
	return (struct roce_admin *)(pages + room - sizeof(struct roce_admin));
}

static void
edge_unmap(struct roce_admin *a)
{
	size_t page, room = edge(&page);

	munmap((uint8_t *)(a + 1) - room, room + page);
}

static struct admin_bench_client *
client(struct admin_bench *b, uint32_t i, uint32_t max)
{
	struct admin_bench_client *c = zeroed(sizeof(*c));

	c->admin = admin_at_the_edge();
	c->block = zeroed(ndsh_cq_bytes(2 * ADMIN_DEPTH));
	c->base = zeroed(ndsh_admin_bytes(ADMIN_DEPTH));
	c->cq = roce_cq_create(b->s, NULL, c->block, 2 * ADMIN_DEPTH, NULL);
	ndsh_cq_reader_view(&c->answers, c->block, 2 * ADMIN_DEPTH);
	ndsh_admin_view(&c->ring, c->base, ADMIN_DEPTH);
	roce_admin_init(c->admin, max);
	c->pd = roce_pd_create(b->s);
	roce_admin_add_pd(c->admin, admin_bench_handle(i), c->pd);
	cr_assert(roce_admin_add_range(c->admin, admin_bench_va(i), ADMIN_BYTES, c->memory));
	roce_admin_open(c->admin, c->base, ADMIN_DEPTH, c->cq);
	return c;
}

struct admin_bench *
admin_bench_new(uint32_t max, uint32_t mrs)
{
	const struct roce_shard_cfg cfg = {.max_qps = 1,
		.max_cqs = 3,
		.max_pds = 2,
		.max_mrs = mrs,
		.max_wqes = 16,
		.secret = {3, 4},
		.rto_floor_ns = 10000000,
		.window = 16};
	struct admin_bench *b = calloc(1, sizeof(*b));

	b->mem = zeroed(roce_shard_bytes(&cfg));
	b->s = roce_shard_init(b->mem, &cfg);
	cr_assert(ne(ptr, b->s, NULL));
	for (uint32_t i = 0; i < 2; i++)
		b->c[i] = client(b, i, max);
	return b;
}

void
admin_bench_free(struct admin_bench *b)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct admin_bench_client *c = b->c[i];

		roce_admin_close(c->admin);
		while (!roce_admin_purge(b->s, c->admin))
			;
		cr_expect(roce_pd_destroy(b->s, c->pd), "all its regions are gone");
		cr_expect(roce_cq_destroy(b->s, c->cq));
		edge_unmap(c->admin);
		free(c->block);
		free(c->base);
		free(c);
	}
	cr_expect(zero(u32, admin_bench_used(b)));
	free(b->mem);
	free(b);
}

struct ndsh_cqe
admin_bench_ask(struct admin_bench *b, uint32_t i, const struct ndsh_admin_request *r)
{
	struct admin_bench_client *c = b->c[i];
	struct ndsh_cqe e = {0};

	ndsh_admin_push(&c->ring, r);
	cr_assert(eq(uint, roce_admin_serve(b->s, c->admin, ADMIN_DEPTH), 1));
	roce_shard_publish(b->s);
	cr_assert(eq(u32, ndsh_cq_poll(&c->answers, &e, 1), 1));
	cr_assert(eq(u32, e.slot_count, c->ring.next));
	cr_assert(eq(u64, e.context, r->context));
	cr_assert(eq(u8, e.op, (uint8_t)r->ctrl));
	return e;
}

struct ndsh_cqe
admin_bench_register(
	struct admin_bench *b, uint32_t i, uint64_t va, uint64_t bytes, uint32_t access)
{
	return admin_bench_ask(b, i,
		&(struct ndsh_admin_request){.context = va,
			.va = va,
			.bytes = bytes,
			.pd = admin_bench_handle(i),
			.access = access,
			.ctrl = NDSH_ADMIN_REGISTER});
}

uint8_t
admin_bench_deregister(struct admin_bench *b, uint32_t i, uint32_t token)
{
	return admin_bench_ask(b, i,
		&(struct ndsh_admin_request){
			.pd = admin_bench_handle(i), .token = token, .ctrl = NDSH_ADMIN_DEREGISTER})
		.status;
}

uint8_t *
admin_bench_opens(struct admin_bench *b, uint32_t i, uint32_t token, uint64_t va)
{
	const struct roce_qp qp = {.pd = b->c[i]->pd};

	return roce_mr_access(b->s, &qp, token, va, 1, ROCE_ACCESS_LOCAL_READ);
}

uint32_t
admin_bench_used(struct admin_bench *b)
{
	struct roce_usage u;

	roce_shard_usage(b->s, &u);
	return u.mrs;
}
