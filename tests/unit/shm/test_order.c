/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In which order, and how often, words of the rings go over the edge of shared memory. What is
 * published is complete; what the client can change is read once; what need not be touched is not.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "models/edge.h"

#include "../../../lib/shm/ndsh_admin.c"
#include "../../../lib/shm/ndsh_arm.c"
#include "../../../lib/shm/ndsh_cq.c"
#include "../../../lib/shm/ndsh_doorbell.c"
#include "../../../lib/shm/ndsh_resize.c"
#include "../../../lib/shm/ndsh_rq.c"
#include "../../../lib/shm/ndsh_sq.c"

static const struct ndsh_qp_dims dims = {
	.sq_depth = 2, .rq_depth = 2, .sq_sge = 3, .rq_sge = 3, .inline_bytes = 64};
static const struct ndsh_sge list[3] = {{0x1111, 5, 6}, {0x2222, 7, 8}, {0x3333, 9, 10}};

struct rings {
	void *block;
	uint32_t bytes;
	struct ndsh_sq client_sq, daemon_sq;
	struct ndsh_rq client_rq, daemon_rq;
};

static struct rings
rings_make(void)
{
	struct ndsh_qp_layout l;
	struct rings r;

	cr_assert(ndsh_qp_layout(&dims, &l));
	r.bytes = l.total_bytes;
	r.block = aligned_alloc(64, r.bytes);
	memset(r.block, 0, r.bytes);
	ndsh_sq_view(&r.client_sq, r.block, &dims);
	ndsh_rq_view(&r.client_rq, r.block, &dims);
	r.daemon_sq = r.client_sq;
	r.daemon_rq = r.client_rq;
	return r;
}

/* One request of each form that a descriptor has. */
static const uint8_t payload[64] = "it stands in the descriptor, or in the inline area of its slot";
static const struct ndsh_swr forms[] = {
	{.context = 1,
		.raddr = 2,
		.rkey = 3,
		.imm = 4,
		.ctrl = NDSH_CTRL(NDSH_OP_WRITE_IMM, 0, 0, 0)},
	{.context = 5,
		.raddr = 6,
		.rkey = 7,
		.imm = 8,
		.ctrl = NDSH_CTRL(NDSH_OP_SEND_INV, 1, 0, 0)},
	{.context = 9, .raddr = 10, .rkey = 11, .ctrl = NDSH_CTRL(NDSH_OP_READ, 3, 0, 0)},
	{.context = 12, .inline_bytes = 61, .ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, NDSH_WRF_INLINE, 0)},
	{.context = 13,
		.data = {14, 15, 16, 17},
		.inline_bytes = 32,
		.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, NDSH_WRF_INLINE | NDSH_WRF_SHORT, 0)},
	{.context = 18,
		.raddr = 19,
		.rkey = 20,
		.imm = 21,
		.arg = {22, NDSH_ACCESS_REMOTE_READ | 23ull << 32},
		.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, 0, 0)},
};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

static void
expect_sent(const struct ndsh_swr *wr, const struct ndsh_send *out)
{
	const uint32_t nsge = NDSH_CTRL_NSGE(wr->ctrl), flags = NDSH_CTRL_FLAGS(wr->ctrl);

	cr_expect_eq(out->context, wr->context);
	cr_expect_eq(out->raddr, wr->raddr);
	cr_expect_eq(out->rkey, wr->rkey);
	cr_expect_eq(out->imm, wr->imm);
	cr_expect_eq(out->op, NDSH_CTRL_OP(wr->ctrl));
	cr_expect_eq(out->flags, flags);
	cr_expect_eq(out->num_sge, nsge);
	cr_expect_arr_eq(out->sge, list, nsge * sizeof(list[0]));
	if (flags & NDSH_WRF_INLINE) {
		cr_expect_eq(out->bytes, wr->inline_bytes);
		cr_expect_arr_eq(out->inl,
			(flags & NDSH_WRF_SHORT) ? (const uint8_t *)wr->data : payload,
			wr->inline_bytes);
	}
	if (out->op == NDSH_OP_BIND)
		cr_expect_arr_eq(out->arg, wr->arg, sizeof(out->arg));
}

/* ---- what is published is complete --------------------------------------------------- */

struct sending {
	struct ndsh_sq *daemon;
	struct ndsh_send out;
	unsigned got;
};

static void
daemon_fetches_send(const struct edge_access *a, void *ctx)
{
	struct sending *s = ctx;

	cr_expect_eq(a->order, __ATOMIC_RELEASE);
	s->got += ndsh_sq_fetch(s->daemon, &s->out) == NDSH_FETCH_OK;
}

/* Several laps, so that the slots have been used before. */
Test(shm_order, a_request_is_complete_when_its_phase_is_seen)
{
	struct rings r = rings_make();

	for (unsigned i = 0; i < 5 * FORMS; i++) {
		const struct ndsh_swr *wr = &forms[i % FORMS];
		struct sending s = {.daemon = &r.daemon_sq};

		edge_begin(daemon_fetches_send, &s);
		ndsh_sq_push(&r.client_sq, wr, list, payload);
		cr_assert_eq(s.got, 1, "%u", i);
		expect_sent(wr, &s.out);
	}
	free(r.block);
}

struct receiving {
	struct ndsh_rq *daemon;
	struct ndsh_recv out;
	unsigned got;
};

static void
daemon_fetches_receive(const struct edge_access *a, void *ctx)
{
	struct receiving *s = ctx;

	cr_expect_eq(a->order, __ATOMIC_RELEASE);
	s->got += ndsh_rq_fetch(s->daemon, &s->out) == NDSH_FETCH_OK;
}

Test(shm_order, a_receive_is_complete_when_its_phase_is_seen)
{
	struct rings r = rings_make();

	for (uint32_t i = 0; i < 20; i++) {
		struct receiving s = {.daemon = &r.daemon_rq};

		edge_begin(daemon_fetches_receive, &s);
		ndsh_rq_push(&r.client_rq, i, list, i % 4);
		cr_assert_eq(s.got, 1);
		cr_expect_eq(s.out.context, i);
		cr_expect_eq(s.out.num_sge, i % 4);
		cr_expect_arr_eq(s.out.sge, list, i % 4 * sizeof(list[0]));
	}
	free(r.block);
}

struct asking {
	struct ndsh_admin daemon;
	struct ndsh_admin_request out;
	unsigned got;
};

static void
daemon_fetches_admin(const struct edge_access *a, void *ctx)
{
	struct asking *s = ctx;

	cr_expect_eq(a->order, __ATOMIC_RELEASE);
	s->got += ndsh_admin_fetch(&s->daemon, &s->out);
}

Test(shm_order, an_admin_request_is_complete_when_its_phase_is_seen)
{
	static struct ndsh_admin_request ring[2];
	struct ndsh_admin client;
	struct asking s = {.got = 0};

	ndsh_admin_view(&client, ring, 2);
	ndsh_admin_view(&s.daemon, ring, 2);
	for (uint32_t i = 1; i < 10; i++) {
		const struct ndsh_admin_request in = {.context = i,
			.va = 2 * i,
			.bytes = 3 * i,
			.pd = 4 * i,
			.access = 5 * i,
			.token = 6 * i,
			.iova_offset = 7 * i,
			.ctrl = NDSH_ADMIN_REGISTER};

		edge_begin(daemon_fetches_admin, &s);
		ndsh_admin_push(&client, &in);
		cr_assert_eq(s.got, i);
		cr_expect_eq(s.out.context, in.context);
		cr_expect_eq(s.out.va, in.va);
		cr_expect_eq(s.out.bytes, in.bytes);
		cr_expect_eq(s.out.pd, in.pd);
		cr_expect_eq(s.out.access, in.access);
		cr_expect_eq(s.out.token, in.token);
		cr_expect_eq(s.out.iova_offset, in.iova_offset);
		cr_expect_eq(NDSH_CTRL_OP(s.out.ctrl), NDSH_ADMIN_REGISTER);
	}
}

struct completing {
	void *base;
	struct ndsh_cq cq;
	struct ndsh_cq_reader reader;
	struct ndsh_cqe out;
	unsigned got;
};

static struct completing
completing_make(uint32_t depth)
{
	struct completing c = {.base = aligned_alloc(64, ndsh_cq_bytes(depth))};

	memset(c.base, 0, ndsh_cq_bytes(depth));
	ndsh_cq_view(&c.cq, c.base, depth);
	ndsh_cq_reader_view(&c.reader, c.base, depth);
	return c;
}

/* Behind each store, not only behind the last one. */
static void
client_takes(const struct edge_access *a, void *ctx)
{
	struct completing *c = ctx;

	if (a->kind == EDGE_STORE)
		c->got += ndsh_cq_take(&c->reader, &c->out);
}

Test(shm_order, an_entry_is_complete_when_its_phase_is_seen)
{
	struct completing c = completing_make(2);

	for (uint32_t i = 1; i < 10; i++) {
		const struct ndsh_cqe in = {i, 2 * i, 3 * i, 4 * i, 5 * i, 6 * i, 7, 8, 0, 0};

		edge_begin(client_takes, &c);
		cr_assert(ndsh_cq_push(&c.cq, &in));
		cr_assert_eq(c.got, i);
		edge_begin(NULL, NULL);
		ndsh_cq_taken(&c.reader);
		cr_expect_eq(c.out.context, in.context);
		cr_expect_eq(c.out.qp, in.qp);
		cr_expect_eq(c.out.bytes, in.bytes);
		cr_expect_eq(c.out.data, in.data);
		cr_expect_eq(c.out.slot_count, in.slot_count);
		cr_expect_eq(c.out.syndrome, in.syndrome);
		cr_expect_eq(c.out.status, in.status);
		cr_expect_eq(c.out.op, in.op);
	}
	free(c.base);
}

/* The daemon may write over a slot as soon as consumer is behind it. */
static void
daemon_writes_over(const struct edge_access *a, void *ctx)
{
	struct completing *c = ctx;

	if (a->p != &c->cq.page->consumer)
		return;
	cr_expect_eq(a->order, __ATOMIC_RELEASE);
	memset(c->cq.ring, 0xa5, ndsh_cq_ring_bytes(c->cq.depth));
	c->got++;
}

Test(shm_order, entries_are_copied_when_their_slots_are_given_back)
{
	struct completing c = completing_make(4);
	struct ndsh_cqe out[4];

	for (uint64_t i = 0; i < 4; i++)
		cr_assert(ndsh_cq_push(&c.cq, &(struct ndsh_cqe){.context = i, .bytes = 7}));
	edge_begin(daemon_writes_over, &c);
	cr_assert_eq(ndsh_cq_poll(&c.reader, out, 4), 4);
	cr_expect_eq(c.got, 1);
	for (uint64_t i = 0; i < 4; i++)
		cr_expect(out[i].context == i && out[i].bytes == 7);
	free(c.base);
}

static void
client_reads_produced(const struct edge_access *a, void *ctx)
{
	struct completing *c = ctx;
	struct ndsh_cq_page *page = c->cq.page;

	if (a->p == &page->produced) {
		cr_expect_eq(a->order, __ATOMIC_RELEASE);
		cr_expect_eq(page->solicited, 2);
		cr_expect_eq(page->fault, NDSH_CQ_FATAL);
		c->got++;
	}
}

Test(shm_order, produced_is_published_last)
{
	struct completing c = completing_make(4);

	cr_assert(ndsh_cq_push(&c.cq, &(struct ndsh_cqe){.context = 1}));
	cr_assert(ndsh_cq_push(&c.cq, &(struct ndsh_cqe){.flags = NDSH_CQEF_SOLICITED}));
	cr_assert(ndsh_cq_push(&c.cq, &(struct ndsh_cqe){.context = 3}));
	c.cq.fault = NDSH_CQ_FATAL;
	edge_begin(client_reads_produced, &c);
	ndsh_cq_publish(&c.cq);
	cr_expect_eq(c.got, 1);
	cr_expect_eq(c.cq.page->produced, 3);
	free(c.base);
}

static void
client_follows(const struct edge_access *a, void *ctx)
{
	struct completing *c = ctx;

	if (a->p == &c->cq.page->rings) {
		cr_expect_eq(a->order, __ATOMIC_RELEASE);
		cr_expect_eq(ndsh_cq_settle(&c->reader, 1), NDSH_SETTLED);
		cr_expect_eq(c->reader.origin, 3);
		c->got++;
	}
}

/* checks R-RSZ-01[1] */
Test(shm_order, R_RSZ_01_the_exchange_is_one_store)
{
	static _Alignas(64) struct ndsh_cqe ring[4];
	struct completing c = completing_make(2);

	for (int i = 0; i < 3; i++) {
		cr_assert(ndsh_cq_push(&c.cq, &(struct ndsh_cqe){.context = 1}));
		cr_assert_eq(ndsh_cq_poll(&c.reader, &c.out, 1), 1);
	}
	ndsh_cq_expect(&c.reader, ring, 4);
	edge_begin(client_follows, &c);
	cr_assert(ndsh_cq_move(&c.cq, ring, 4, 4));
	cr_expect_eq(c.got, 1);
	free(c.base);
}

/* ---- what the client can change is read once ----------------------------------------- */

/* Behind each load the client scribbles over what was just read. */
static void
client_scribbles(const struct edge_access *a, void *ctx)
{
	(void)ctx;
	cr_assert_eq(a->kind, EDGE_LOAD, "the daemon writes nothing there");
	for (size_t i = 0; i < a->bytes; i++)
		((uint8_t *)(uintptr_t)a->p)[i] ^= 0xff;
}

static void
expect_read_once(const uint32_t *ctrl)
{
	cr_expect_eq(edge.seen[0].p, ctrl, "the word with the phase is the first");
	cr_expect_eq(edge.seen[0].order, __ATOMIC_ACQUIRE);
	for (unsigned i = 0; i < edge.count; i++)
		cr_expect_eq(edge_count_in(EDGE_LOAD, edge.seen[i].p, edge.seen[i].bytes), 1);
}

Test(shm_order, a_request_is_read_once)
{
	for (unsigned i = 0; i < FORMS; i++) {
		struct rings r = rings_make();
		struct ndsh_send out;

		edge_begin(NULL, NULL);
		ndsh_sq_push(&r.client_sq, &forms[i], list, payload);
		edge_begin(client_scribbles, NULL);
		cr_assert_eq(ndsh_sq_fetch(&r.daemon_sq, &out), NDSH_FETCH_OK);
		expect_sent(&forms[i], &out);
		expect_read_once(&r.daemon_sq.ring[0].ctrl);
		free(r.block);
	}
}

Test(shm_order, a_receive_is_read_once)
{
	for (uint32_t nsge = 0; nsge < 4; nsge++) {
		struct rings r = rings_make();
		struct ndsh_recv out;

		edge_begin(NULL, NULL);
		ndsh_rq_push(&r.client_rq, 7, list, nsge);
		edge_begin(client_scribbles, NULL);
		cr_assert_eq(ndsh_rq_fetch(&r.daemon_rq, &out), NDSH_FETCH_OK);
		cr_expect_eq(out.context, 7);
		cr_expect_eq(out.num_sge, nsge);
		cr_expect_arr_eq(out.sge, list, nsge * sizeof(list[0]));
		expect_read_once(&r.daemon_rq.ring[0].ctrl);
		free(r.block);
	}
}

Test(shm_order, an_admin_request_is_read_once)
{
	static struct ndsh_admin_request ring[1];
	const struct ndsh_admin_request in = {.context = 1,
		.va = 2,
		.bytes = 3,
		.pd = 4,
		.access = 5,
		.token = 6,
		.iova_offset = 8,
		.ctrl = 7};
	struct ndsh_admin_request out;
	struct ndsh_admin client, daemon;

	ndsh_admin_view(&client, ring, 1);
	ndsh_admin_view(&daemon, ring, 1);
	ndsh_admin_push(&client, &in);
	edge_begin(client_scribbles, NULL);
	cr_assert(ndsh_admin_fetch(&daemon, &out));
	cr_expect_eq(out.context, 1);
	cr_expect_eq(out.va, 2);
	cr_expect_eq(out.bytes, 3);
	cr_expect_eq(out.pd, 4);
	cr_expect_eq(out.access, 5);
	cr_expect_eq(out.token, 6);
	cr_expect_eq(out.iova_offset, 8);
	cr_expect_eq(out.ctrl, 7 | NDSH_CTRL_PHASE);
	expect_read_once(&ring[0].ctrl);
	cr_expect_eq(edge_count_in(EDGE_LOAD, &ring[0].reserved, sizeof(ring[0].reserved)), 0);
	cr_expect_eq(
		edge_count_in(EDGE_LOAD, ring[0].reserved_too, sizeof(ring[0].reserved_too)), 0);
}

/* ---- what need not be touched is not ------------------------------------------------- */

/* The client's line moves from cache to cache when the daemon reads it: once for a ring's worth. */
Test(shm_order, consumer_is_read_when_the_room_that_is_known_is_used_up)
{
	struct completing c = completing_make(4);
	struct ndsh_cqe out[4];

	for (unsigned lap = 0; lap < 3; lap++) {
		edge_begin(NULL, NULL);
		for (unsigned i = 0; i < 4; i++)
			cr_assert(ndsh_cq_push(&c.cq, &(struct ndsh_cqe){.context = i}));
		cr_expect_eq(edge_count(EDGE_LOAD, &c.cq.page->consumer), lap > 0, "%u", lap);
		cr_assert_eq(ndsh_cq_poll(&c.reader, out, 4), 4);
	}
	free(c.base);
}

Test(shm_order, a_poll_that_finds_nothing_writes_nothing)
{
	struct completing c = completing_make(4);
	struct ndsh_cqe out[4];

	cr_assert(ndsh_cq_push(&c.cq, &(struct ndsh_cqe){.context = 1}));
	cr_assert_eq(ndsh_cq_poll(&c.reader, out, 4), 1);
	edge_begin(NULL, NULL);
	cr_expect_eq(ndsh_cq_poll(&c.reader, out, 4), 0);
	for (unsigned i = 0; i < edge.count; i++)
		cr_expect_eq(edge.seen[i].kind, EDGE_LOAD);
	free(c.base);
}

/* ---- doorbells ----------------------------------------------------------------------- */

static void
daemon_takes_bell(const struct edge_access *a, void *ctx)
{
	struct ndsh_session_page *s = ctx;
	uint64_t summary, bits = 0;
	uint32_t word = 0;

	if (a->p != &s->summary)
		return;
	summary = ndsh_doorbell_begin(s);
	cr_expect(ndsh_doorbell_take(s, &summary, &word, &bits),
		"the summary is seen before the bit");
	cr_expect(word == 5 && bits == 2);
}

/* Its bit is set when its word is called for; and between the request and the look whether it is
 * polled there is a barrier. */
Test(shm_order, a_doorbell_is_complete_when_the_summary_is_seen)
{
	static struct ndsh_session_page s;
	static struct ndsh_qp_page qp;

	edge_begin(daemon_takes_bell, &s);
	cr_expect_not(ndsh_doorbell_ring(&s, &qp, 5 * 64 + 1));
	cr_expect_eq(edge_count(EDGE_LOCKED, &s.summary), 1);
	cr_expect_eq(edge.seen[0].kind, EDGE_LOCKED);
	cr_expect_eq(edge.seen[1].p, &qp.sq_polled);
	cr_expect_eq(s.summary, 0);
}

/* Between its word that it sleeps and the last look there is a barrier. */
Test(shm_order, the_daemon_says_that_it_sleeps_before_it_looks)
{
	static struct ndsh_session_page s;

	edge_begin(NULL, NULL);
	cr_expect(ndsh_doorbell_sleep(&s));
	cr_expect_eq(edge.seen[0].p, &s.asleep);
	cr_expect_eq(edge.seen[1].kind, EDGE_LOCKED);
	cr_expect_eq(edge.seen[2].p, &s.summary);
}

/* As long as no client rings, its line stays in all caches. */
Test(shm_order, a_look_at_a_silent_session_is_a_plain_load)
{
	static struct ndsh_session_page s;

	edge_begin(NULL, NULL);
	cr_expect_eq(ndsh_doorbell_begin(&s), 0);
	cr_expect_eq(edge.count, 1);
	cr_expect_eq(edge.seen[0].kind, EDGE_LOAD);
}
