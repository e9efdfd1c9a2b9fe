/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting of lists that name regions by the place of their tokens. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "rigs/posting.h"

#define DEPTH 16u
#define HUGE  ((size_t)UINT32_MAX + 1)

enum call { SEND, SEND_INV, WRITE, READ, RECEIVE, CALLS };

static struct posting *
make(void)
{
	struct posting *b = posting_new(DEPTH);

	b->a->info.max_read_sge = 2;
	return b;
}

static nd_status
post(struct posting *b, enum call call, const struct nd_buffer *list, size_t n, uint32_t flags)
{
	struct nd_qp *qp = &b->qp;
	void *context = (void *)42;

	switch (call) {
	case SEND:
		return nd_qp_send_buffers(qp, context, list, n, flags);
	case SEND_INV:
		return nd_qp_send_and_invalidate_buffers(qp, context, list, n, 99, flags);
	case WRITE:
		return nd_qp_write_buffers(qp, context, list, n, 0xabcdef, 99, flags);
	case READ:
		return nd_qp_read_buffers(qp, context, list, n, 0xabcdef, 99, flags);
	default:
		return nd_qp_receive_buffers(qp, context, list, n);
	}
}

/* What the daemon gets of an initiator request. */
static struct ndsh_send
fetched(struct posting *b)
{
	struct ndsh_send s;

	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	return s;
}

/* One buffer, two and none: tokens are those that stand there as the request is posted. */
Test(buffers, requests_reach_the_ring_as_posted)
{
	static const uint8_t ops[] = {NDSH_OP_SEND, NDSH_OP_SEND_INV, NDSH_OP_WRITE, NDSH_OP_READ};
	struct posting *b = make();
	uint32_t token[2] = {1, 2};
	const struct nd_buffer list[2] = {
		{(void *)0x1000, 10, &token[0]}, {(void *)0x2000, 20, &token[1]}};

	for (size_t n = 0; n <= 2; n++)
		for (unsigned call = SEND; call < RECEIVE; call++) {
			struct ndsh_send s;

			token[0] = 5 + call;
			token[1] = 6 + call;
			cr_assert(
				eq(i32, post(b, call, list, n, ND_OP_FLAG_READ_FENCE), ND_SUCCESS));
			token[0] = token[1] = 0;
			s = fetched(b);
			cr_expect(eq(u64, s.context, 42));
			cr_expect(eq(int, s.op, ops[call]));
			cr_expect(eq(int, s.flags, NDSH_WRF_FENCE));
			cr_expect(eq(u32, s.rkey, call == SEND ? 0 : ntohl(99)));
			cr_expect(eq(u64, s.raddr, call >= WRITE ? 0xabcdef : 0));
			cr_expect(eq(u32, s.bytes, n * (n + 1) * 5));
			cr_assert(eq(int, s.num_sge, n));
			for (size_t i = 0; i < n; i++) {
				cr_expect(eq(u64, s.sge[i].addr, 0x1000 * (i + 1)));
				cr_expect(eq(u32, s.sge[i].len, 10 * (i + 1)));
				cr_expect(eq(u32, s.sge[i].key, 5 + call + i));
			}
		}
	posting_free(b);
}

Test(buffers, receives_reach_the_ring_as_posted)
{
	struct posting *b = make();
	uint32_t token = 5;
	const struct nd_buffer list[2] = {{(void *)0x1000, 10, &token}, {(void *)0x2000, 20, NULL}};

	for (size_t n = 0; n <= 2; n++) {
		struct ndsh_recv r;

		cr_assert(eq(i32, post(b, RECEIVE, list, n, 0), ND_SUCCESS));
		cr_assert(eq(int, ndsh_rq_fetch(&b->daemon_rq, &r), NDSH_FETCH_OK));
		cr_expect(eq(u64, r.context, 42));
		cr_assert(eq(int, r.num_sge, n));
		for (size_t i = 0; i < n; i++) {
			cr_expect(eq(u64, r.sge[i].addr, 0x1000 * (i + 1)));
			cr_expect(eq(u32, r.sge[i].len, 10 * (i + 1)));
			cr_expect(eq(u32, r.sge[i].key, i == 0 ? 5 : 0), "no region: no memory");
		}
	}
	posting_free(b);
}

/* A buffer of no region makes the whole request inline, wherever it stands, and its bytes are free
 * when the call returns; a read can't be. */
Test(buffers, what_is_of_no_region_is_inline)
{
	const uint32_t token = 5;
	char text[] = "abcde";
	const struct nd_buffer lists[][2] = {
		{{text, 2, NULL}, {text + 2, 3, &token}}, {{text, 2, &token}, {text + 2, 3, NULL}}};
	const struct nd_buffer one = {text, 5, NULL};

	for (unsigned k = 0; k < 3; k++)
		for (unsigned call = SEND; call <= WRITE; call++) {
			struct posting *b = make();
			struct ndsh_send s;

			memcpy(text, "abcde", 5);
			cr_assert(eq(i32, post(b, call, k < 2 ? lists[k] : &one, k < 2 ? 2 : 1, 0),
				ND_SUCCESS));
			memset(text, 0, sizeof(text));
			s = fetched(b);
			cr_expect(eq(int, s.flags & ~NDSH_WRF_SHORT, NDSH_WRF_INLINE));
			cr_expect(eq(u32, s.bytes, 5));
			cr_expect(zero(int, memcmp(s.inl, "abcde", 5)));
			posting_free(b);
		}
	for (unsigned k = 0; k < 2; k++) {
		struct posting *b = make();
		struct ndsh_send s;

		cr_assert(eq(i32, post(b, READ, lists[k], 2, 0), ND_SUCCESS));
		s = fetched(b);
		cr_expect(not(s.flags & NDSH_WRF_INLINE));
		cr_expect(eq(u32, s.sge[k].key, 0));
		cr_expect(eq(u32, s.sge[1 - k].key, 5));
		posting_free(b);
	}
}

/* The rig's queue pair takes two SGEs of 1,000 bytes in all, 32 inline. */
Test(buffers, limits)
{
	struct posting *b = make();
	const uint32_t token = 5;
	const struct nd_buffer rows[][3] = {
		{{NULL, 500, &token}, {NULL, 501, &token}}, {{NULL, 1001, &token}},
		{{NULL, HUGE, &token}}, {{NULL, HUGE, NULL}},
		{{NULL, 1, &token}, {NULL, HUGE, &token}},
		{{NULL, SIZE_MAX, &token}, {NULL, 2, &token}}, /* the sum must not wrap */
	};
	const struct nd_buffer loose[3] = {{NULL, 0, NULL}};
	char long_text[33] = {0};
	const struct nd_buffer too_long = {long_text, sizeof(long_text), NULL};

	for (unsigned call = SEND; call < CALLS; call++) {
		for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
			cr_expect(eq(i32, post(b, call, rows[i], rows[i][1].token ? 2 : 1, 0),
					  ND_BUFFER_OVERFLOW),
				"call %u, row %zu", call, i);
		cr_expect(eq(i32, post(b, call, rows[0], 3, 0), ND_DATA_OVERRUN));
		cr_expect(eq(i32, post(b, call, rows[0], HUGE, 0), ND_DATA_OVERRUN));
		cr_expect(eq(i32, post(b, call, loose, 3, 0), ND_DATA_OVERRUN), "inline, too");
		cr_expect(eq(i32, post(b, call, NULL, 1, 0), ND_INVALID_PARAMETER_2));
		cr_expect(eq(i32, post(b, call, NULL, 2, 0), ND_INVALID_PARAMETER_2));
		if (call <= WRITE)
			cr_expect(eq(i32, post(b, call, &too_long, 1, 0), ND_BUFFER_OVERFLOW));
	}
	cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
	cr_expect(not(ndsh_rq_ready(&b->daemon_rq)));
	b->a->info.max_read_sge = 1; /* R-RW-07 */
	cr_expect(eq(i32, post(b, READ, (struct nd_buffer[2]){0}, 2, 0), ND_DATA_OVERRUN));
	posting_free(b);
}

/* INLINE follows from the list, so that it is no flag here. */
Test(buffers, flags)
{
	static const nd_status refused[] = {ND_INVALID_PARAMETER_4, ND_INVALID_PARAMETER_4,
		ND_INVALID_PARAMETER_6, ND_INVALID_PARAMETER_6};
	struct posting *b = make();

	for (uint32_t bit = 0; bit < 32; bit++)
		for (unsigned call = SEND; call < RECEIVE; call++) {
			const uint32_t legal = call <= SEND_INV ? 7 : 3;

			cr_expect(eq(i32, post(b, call, NULL, 0, 1u << bit),
					  1u << bit & legal ? ND_SUCCESS : refused[call]),
				"call %u, bit %u", call, bit);
			b->qp.page->sq_done = b->qp.sq.next;
		}
	posting_free(b);
}

/* As of other posts: R-POST-02, R-SRQ-07. */
Test(buffers, the_queue_pair_must_be_ready)
{
	struct posting *b = make();
	const uint32_t token = 5;
	const struct nd_buffer one = {NULL, 1, &token};

	b->qp.state = ND_QP_UNCONNECTED;
	for (unsigned call = SEND; call < RECEIVE; call++)
		cr_expect(eq(i32, post(b, call, &one, 1, 0), ND_CONNECTION_INVALID));
	for (unsigned i = 0; i < DEPTH; i++)
		cr_expect(eq(i32, post(b, RECEIVE, &one, 1, 0), ND_SUCCESS));
	cr_expect(eq(i32, post(b, RECEIVE, &one, 1, 0), ND_NO_MORE_ENTRIES));
	b->qp.srq = (struct nd_srq *)b;
	cr_expect(eq(i32, post(b, RECEIVE, &one, 1, 0), ND_INVALID_DEVICE_REQUEST));
	b->qp.srq = NULL;
	posting_free(b);
}
