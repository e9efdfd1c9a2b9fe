/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting: what is refused inline, slot accounting, and what reaches the ring. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ndclient/face/result.h"
#include "ndclient/mem/moved.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "rigs/posting.h"

#define DEFER	   ND_OP_FLAG_DEFER
#define READ_LEGAL (3 | DEFER | ND_OP_FLAG_READ_LOCAL_INVALIDATE)

#define DEPTH 4u

static struct posting *
make(void)
{
	struct posting *b = posting_new(DEPTH);

	b->a->info.max_read_sge = 2;
	return b;
}

/* checks R-POST-01[1], R-POST-06[1], R-RW-01[1-3] */
Test(ndclient_post, R_POST_01_a_request_reaches_the_ring_as_posted)
{
	struct posting *b = make();
	struct nd_sge sge[2] = {{(void *)0x1000, 10, 5}, {(void *)0x2000, 20, 6}};
	struct ndsh_send s;

	cr_assert(eq(i32,
		nd_qp_write(&b->qp, (void *)42, sge, 2, 0xabcdef, 99,
			ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE),
		ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(u64, s.context, 42));
	cr_expect(eq(u64, s.raddr, 0xabcdef));
	cr_expect(eq(u32, s.rkey, ntohl(99)));
	cr_expect(eq(int, s.op, NDSH_OP_WRITE));
	cr_expect(eq(int, s.flags, NDSH_WRF_SILENT | NDSH_WRF_FENCE));
	cr_expect(eq(u32, s.bytes, 30));
	cr_expect(eq(u64, s.sge[1].addr, 0x2000));
	cr_expect(eq(u32, s.sge[1].key, 6));
	cr_expect(eq(u64, b->page.summary, 1), "the bell was rung");
	cr_assert(eq(i32, nd_qp_read(&b->qp, NULL, sge, 1, 1, 2, 0), ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(int, s.op, NDSH_OP_READ));
	cr_assert(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT),
		ND_SUCCESS)); /* R-POST-06 */
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(int, s.flags, NDSH_WRF_SOLICIT));
	posting_free(b);
}

/* What other faces post by lists: the bell is rung once. */
Test(ndclient_post, a_list_is_told_once)
{
	const struct nd_sge sge = {(void *)0x1000, 10, 5};
	struct posting *b = make();
	struct ndsh_send s;

	for (uint64_t i = 0; i < 2; i++) {
		struct ndsh_swr wr = {.context = i};

		cr_assert(eq(i32,
			nd_post_request(&b->qp, NDSH_OP_WRITE, &wr, &sge, 1,
				NDSH_WRF_FENCE | ND_POST_UNTOLD),
			ND_SUCCESS));
	}
	cr_expect(eq(u64, b->page.summary, 0), "not yet");
	nd_post_tell(&b->qp);
	cr_expect(eq(u64, b->page.summary, 1));
	for (uint64_t i = 0; i < 2; i++) {
		cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
		cr_expect(eq(u64, s.context, i));
		cr_expect(eq(int, s.flags, NDSH_WRF_FENCE));
	}
	posting_free(b);
}

/* Before the daemon has looked: the caller's list is of no more interest. */
Test(ndclient_post, R_POST_07_the_list_is_free_when_the_post_returns)
{
	struct posting *b = make();
	struct nd_sge sge[2] = {{(void *)0x1000, 10, 5}, {(void *)0x2000, 20, 6}};
	struct ndsh_send s;
	struct ndsh_recv r;

	cr_assert(eq(i32, nd_qp_send(&b->qp, NULL, sge, 2, 0), ND_SUCCESS));
	cr_assert(eq(i32, nd_qp_receive(&b->qp, NULL, sge, 2), ND_SUCCESS));
	memset(sge, 0xff, sizeof(sge));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_assert(eq(int, ndsh_rq_fetch(&b->daemon_rq, &r), NDSH_FETCH_OK));
	cr_expect(eq(u64, s.sge[0].addr, 0x1000));
	cr_expect(eq(u64, s.sge[1].addr, 0x2000));
	cr_expect(eq(u32, s.sge[1].len, 20));
	cr_expect(eq(u64, r.sge[1].addr, 0x2000));
	cr_expect(eq(u32, r.sge[1].key, 6));
	posting_free(b);
}

/* ---- small requests from memory that the library moves ---- */

/* How many bytes of the request were copied at the post. */
static uint32_t
copied(struct posting *b, enum ndsh_op op, const struct nd_sge *sge, uint32_t n, uint32_t flags)
{
	struct ndsh_send s;
	nd_status st = op == NDSH_OP_READ    ? nd_qp_read(&b->qp, NULL, sge, n, 8, 9, flags)
		       : op == NDSH_OP_WRITE ? nd_qp_write(&b->qp, NULL, sge, n, 8, 9, flags)
					     : nd_qp_send(&b->qp, NULL, sge, n, flags);

	cr_assert(eq(i32, st, ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	b->qp.page->sq_done++;
	cr_assert(eq(int, s.op, op));
	if (!(s.flags & NDSH_WRF_INLINE)) {
		cr_assert(eq(u32, s.num_sge, n));
		return 0;
	}
	for (uint32_t i = 0, at = 0; i < n; at += sge[i++].bytes)
		cr_assert(zero(int, memcmp(s.inl + at, sge[i].buffer, sge[i].bytes)));
	return s.bytes;
}

Test(ndclient_post, moved_memory_is_copied_at_the_post)
{
	struct posting *b = make();
	struct nd_pd pd = {.adapter = b->a, .id = 3}, other = {.adapter = b->a, .id = 4};
	static char memory[100] = "what is in it, and what is behind it";
	const uint32_t token = 5u << NDSH_TOKEN_KEY_BITS | 77;
	struct nd_mr mr = {.pd = &pd, .va = (uintptr_t)memory + 1, .bytes = 50, .token = token};
	struct nd_sge sge[2] = {{memory + 1, 20, token}, {memory + 30, 12, token}};

	b->qp.pd = &pd;
	b->a->mover = (void *)b;
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, sge, 2, 0)), "no region yet");
	nd_moved_add(&mr);
	cr_expect(eq(u32, copied(b, NDSH_OP_SEND, sge, 2, 0), 32));
	cr_expect(eq(u32, copied(b, NDSH_OP_WRITE, sge, 1, ND_OP_FLAG_SILENT_SUCCESS), 20));
	cr_expect(zero(u32, copied(b, NDSH_OP_READ, sge, 1, 0)));
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, sge, 1, ND_OP_FLAG_READ_FENCE)),
		"a read may be about to bring it");
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, NULL, 0, 0)));
	sge[1].bytes = 13;
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, sge, 2, 0)), "more than there is room for");
	sge[1] = (struct nd_sge){memory + 50, 2, token};
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, sge, 2, 0)), "the daemon refuses it");
	sge[1] = (struct nd_sge){memory, 2, token};
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, sge, 2, 0)));
	sge[1] = (struct nd_sge){memory + 1, 2, token + 1};
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, sge, 2, 0)));
	b->qp.pd = &other;
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, sge, 1, 0)));
	b->qp.pd = &pd;
	nd_moved_remove(&mr);
	cr_expect(zero(u32, copied(b, NDSH_OP_SEND, sge, 1, 0)));
	posting_free(b);
}

/* checks R-POST-02[1,2], R-SR-01 */
Test(ndclient_post, R_POST_02_initiator_requests_need_a_connection_receives_dont)
{
	struct posting *b = make();

	for (uint32_t state = ND_QP_UNCONNECTED; state <= ND_QP_DISCONNECTED; state += 2) {
		b->qp.state = state;
		cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_CONNECTION_INVALID));
		cr_expect(eq(
			i32, nd_qp_write(&b->qp, NULL, NULL, 0, 0, 0, 0), ND_CONNECTION_INVALID));
		cr_expect(
			eq(i32, nd_qp_read(&b->qp, NULL, NULL, 0, 0, 0, 0), ND_CONNECTION_INVALID));
		cr_expect(eq(i32, nd_qp_receive(&b->qp, NULL, NULL, 0), ND_SUCCESS));
	}
	cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
	posting_free(b);
}

/* An unreliable connection takes SENDs and WRITEs, and nothing that would be answered. */
Test(ndclient_post, an_unreliable_connection)
{
	struct posting *b = make();
	struct ndsh_swr wr = {.context = 1};
	struct ndsh_send s;

	b->qp.unreliable = true;
	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_SUCCESS));
	b->qp.state = ND_QP_UNRELIABLE;
	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_write(&b->qp, NULL, NULL, 0, 0, 0, 0), ND_SUCCESS));
	for (unsigned i = 0; i < 3; i++)
		cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(i32, nd_qp_read(&b->qp, NULL, NULL, 0, 0, 0, 0), ND_INVALID_DEVICE_REQUEST));
	cr_expect(eq(i32, nd_post_request(&b->qp, NDSH_OP_SEND_INV, &wr, NULL, 0, 0),
		ND_INVALID_DEVICE_REQUEST));
	cr_expect(eq(i32, nd_post_check(&b->qp), ND_CONNECTION_INVALID), "binds and the like");
	cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
	posting_free(b);
}

/* checks R-SR-09[2], R-POST-02[1]: from when a receive was taken, if it was not flushed */
Test(ndclient_post, who_has_heard_the_peer_may_send_before_its_accept_is_over)
{
	struct posting *b = make();

	b->qp.rq_freed = b->qp.accept_mark = 7;
	b->qp.state = ND_QP_ACCEPTING;
	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_CONNECTION_INVALID));
	b->qp.rq_freed++;
	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_SUCCESS));
	b->qp.page->dead = 1;
	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_CONNECTION_INVALID));
	posting_free(b);
}

/* The daemon polls the rings of a queue pair in error only if the doorbell rings. */
Test(ndclient_post, R_POST_03_a_receive_for_a_dead_queue_pair_rings)
{
	struct posting *b = make();

	cr_assert(eq(i32, nd_qp_receive(&b->qp, NULL, NULL, 0), ND_SUCCESS));
	cr_expect(zero(u64, b->page.summary), "a living one looks when a message comes");
	b->qp.page->dead = 1;
	cr_assert(eq(i32, nd_qp_receive(&b->qp, NULL, NULL, 0), ND_SUCCESS));
	cr_expect(eq(u64, b->page.summary, 1));
	posting_free(b);
}

/* The engine's contract: a dead queue pair is not polled any more, so every later post rings. */
Test(ndclient_post, R_POST_03_a_request_for_a_dead_queue_pair_rings)
{
	struct posting *b = make();

	b->qp.page->sq_polled = 1;
	cr_assert(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_SUCCESS));
	cr_expect(zero(u64, b->page.summary), "the daemon polls");
	b->qp.page->sq_polled = 0;
	b->qp.page->dead = 1;
	cr_assert(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_SUCCESS));
	cr_expect(eq(u64, b->page.summary, 1));
	posting_free(b);
}

/* checks R-POST-01[2], R-POST-04[2,3,5] */
Test(ndclient_post, R_POST_04_limits)
{
	struct posting *b = make();
	struct nd_sge sge[3] = {{NULL, 500, 0}, {NULL, 501, 0}, {NULL, 0, 0}};

	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, sge, 3, 0), ND_DATA_OVERRUN));
	cr_expect(eq(i32, nd_qp_receive(&b->qp, NULL, sge, 3), ND_DATA_OVERRUN));
	cr_expect(eq(i32, nd_qp_write(&b->qp, NULL, sge, 2, 0, 0, 0), ND_BUFFER_OVERFLOW));
	cr_expect(eq(i32, nd_qp_receive(&b->qp, NULL, sge, 2), ND_BUFFER_OVERFLOW));
	sge[0].bytes = sge[1].bytes = UINT32_MAX; /* the sum must not wrap */
	cr_expect(eq(i32, nd_qp_read(&b->qp, NULL, sge, 2, 0, 0, 0), ND_BUFFER_OVERFLOW));
	cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
	cr_expect(not(ndsh_rq_ready(&b->daemon_rq)));
	sge[0].bytes = sge[1].bytes = 300; /* as many bytes as a request may have, of two regions */
	b->a->info.max_registration_bytes = 400;
	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, sge, 2, 0), ND_SUCCESS));
	posting_free(b);
}

Test(ndclient_post, R_RW_07_reads_have_an_sge_limit_of_their_own)
{
	struct posting *b = make();
	struct nd_sge sge[2] = {{NULL, 5, 0}, {NULL, 5, 0}};

	b->a->info.max_read_sge = 1;
	cr_expect(eq(i32, nd_qp_read(&b->qp, NULL, sge, 2, 0, 0, 0), ND_DATA_OVERRUN));
	cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
	cr_expect(eq(i32, nd_qp_write(&b->qp, NULL, sge, 2, 0, 0, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_read(&b->qp, NULL, sge, 1, 0, 0, 0), ND_SUCCESS));
	posting_free(b);
}

/* checks R-MR-09[1]: the four bytes that the peer sent mean the number on the wire. */
Test(ndclient_post, a_remote_token_is_bytes)
{
	static const uint8_t told[4] = {0x12, 0x34, 0x56, 0x78};
	struct posting *b = make();
	struct ndsh_send s;
	uint32_t token;

	memcpy(&token, told, sizeof(token));
	cr_expect(eq(i32, nd_qp_write(&b->qp, NULL, NULL, 0, 0, token, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_read(&b->qp, NULL, NULL, 0, 0, token, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_send_and_invalidate(&b->qp, NULL, NULL, 0, token, 0), ND_SUCCESS));
	for (int i = 0; i < 3; i++) {
		cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
		cr_expect(eq(u32, s.rkey, 0x12345678));
	}
	posting_free(b);
}

Test(ndclient_post, immediates_reach_the_ring_as_they_stand)
{
	struct posting *b = make();
	struct nd_sge sge = {(void *)0x1000, 10, 5};
	struct ndsh_send s;

	cr_expect(
		eq(i32, nd_qp_send_with_immediate(&b->qp, NULL, &sge, 1, 7, 0), ND_NOT_SUPPORTED));
	cr_expect(eq(i32, nd_qp_write_with_immediate(&b->qp, NULL, &sge, 1, 0, 0, 7, 0),
		ND_NOT_SUPPORTED));
	b->a->abi_minor = NDSH_ABI_MINOR;
	cr_expect(eq(i32, nd_qp_send_with_immediate(&b->qp, (void *)1, &sge, 1, 0x11223344, 0),
		ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(int, s.op, NDSH_OP_SEND_IMM));
	cr_expect(eq(u32, s.imm, 0x11223344));
	cr_expect(eq(u32, s.bytes, 10));
	cr_expect(eq(i32,
		nd_qp_write_with_immediate(&b->qp, (void *)2, &sge, 1, 0xabcdef, htonl(99),
			0x55667788, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT),
		ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(int, s.op, NDSH_OP_WRITE_IMM));
	cr_expect(eq(u32, s.imm, 0x55667788));
	cr_expect(eq(u64, s.raddr, 0xabcdef));
	cr_expect(eq(u32, s.rkey, 99));
	cr_expect(eq(int, s.flags, NDSH_WRF_SOLICIT));
	cr_expect(eq(i32, nd_qp_send_with_immediate(&b->qp, NULL, NULL, 0, 0, 0x8),
		ND_INVALID_PARAMETER_5));
	cr_expect(eq(i32, nd_qp_write_with_immediate(&b->qp, NULL, NULL, 0, 0, 0, 0, 0x8),
		ND_INVALID_PARAMETER_7));
	cr_expect(not(ndsh_sq_ready(&b->daemon_sq)));
	posting_free(b);
}

/* checks R-POST-05[1,2] */
Test(ndclient_post, R_POST_05_flags)
{
	struct posting *b = make();

	for (uint32_t bit = 0; bit < 32; bit++) {
		uint32_t f = 1u << bit;

		cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, f),
				  f & (0x27 | DEFER) ? ND_SUCCESS : ND_INVALID_PARAMETER_4),
			"send %#x", f);
		b->qp.page->sq_done = b->qp.sq.next;
		cr_expect(eq(i32, nd_qp_write(&b->qp, NULL, NULL, 0, 0, 0, f),
				  f & (0x23 | DEFER) ? ND_SUCCESS : ND_INVALID_PARAMETER_6),
			"write %#x", f);
		b->qp.page->sq_done = b->qp.sq.next;
		cr_expect(eq(i32, nd_qp_read(&b->qp, NULL, NULL, 0, 0, 0, f),
				  f & READ_LEGAL ? ND_SUCCESS : ND_INVALID_PARAMETER_6),
			"read %#x", f);
		b->qp.page->sq_done = b->qp.sq.next;
	}
	posting_free(b);
}

/* checks R-POST-09[1-3] */
Test(ndclient_post, R_POST_09_inline_gathers_more_pieces_than_sges)
{
	struct posting *b = make();
	struct nd_sge sge[5] = {
		{"ab", 2, 0}, {NULL, 0, 0}, {"cde", 3, 0}, {"f", 1, 0}, {"gh", 2, 0}};
	uint8_t big[33] = {0};
	struct nd_sge too_big = {big, 33, 0};
	struct ndsh_send s;

	cr_assert(eq(i32, nd_qp_send(&b->qp, NULL, sge, 5, ND_OP_FLAG_INLINE), ND_SUCCESS));
	cr_assert(eq(int, ndsh_sq_fetch(&b->daemon_sq, &s), NDSH_FETCH_OK));
	cr_expect(eq(u32, s.bytes, 8));
	cr_expect(zero(int, memcmp(s.inl, "abcdefgh", 8)));
	cr_expect(eq(
		i32, nd_qp_send(&b->qp, NULL, &too_big, 1, ND_OP_FLAG_INLINE), ND_BUFFER_OVERFLOW));
	posting_free(b);
}

/* checks R-ORD-04[1,2] */
Test(ndclient_post, R_ORD_04_silent_requests_give_their_slots_back_by_the_page)
{
	struct posting *b = make();
	struct ndsh_send s;

	for (uint32_t round = 0; round < 10; round++) {
		for (uint32_t i = 0; i < DEPTH; i++)
			cr_assert(eq(i32,
				nd_qp_send(&b->qp, NULL, NULL, 0, ND_OP_FLAG_SILENT_SUCCESS),
				ND_SUCCESS));
		cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_NO_MORE_ENTRIES));
		while (ndsh_sq_fetch(&b->daemon_sq, &s) == NDSH_FETCH_OK)
			b->qp.page->sq_done++;
	}
	posting_free(b);
}

/* A completion that was taken frees its slot even if the page is older; checks R-POST-04[1]. */
Test(ndclient_post, a_taken_completion_frees_its_slot)
{
	struct posting *b = make();

	for (uint32_t i = 0; i < DEPTH; i++)
		cr_assert(eq(i32, nd_qp_receive(&b->qp, NULL, NULL, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_receive(&b->qp, NULL, NULL, 0), ND_NO_MORE_ENTRIES));
	b->qp.rq_freed = 1;
	cr_expect(eq(i32, nd_qp_receive(&b->qp, NULL, NULL, 0), ND_SUCCESS));
	cr_expect(eq(i32, nd_qp_receive(&b->qp, NULL, NULL, 0), ND_NO_MORE_ENTRIES));
	posting_free(b);
}

Test(ndclient_post, a_daemon_that_is_gone_takes_nothing)
{
	struct posting *b = make();

	b->a->gone = 1;
	cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, NULL, 0, 0), ND_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_qp_receive(&b->qp, NULL, NULL, 0), ND_DEVICE_REMOVED));
	posting_free(b);
}
