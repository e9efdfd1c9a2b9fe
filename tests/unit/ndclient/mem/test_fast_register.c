/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-register regions, deferred posts and flags on the client's side: what is refused inline,
 * what reaches the ring, and when. The daemon's half is played in this process.
 */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ndclient/mem/fast_register.h"
#include "ndclient/mem/pd.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "rigs/posting.h"

#define DEPTH  8u
#define PAGES  4u
#define SECRET 0x1122334455667788ull
#define BASE   0x123456000000ull
#define PAGE   ND_PAGE_BYTES

static struct nd_pd pd, other_pd;
static struct nd_fr fr; /* ready, of pd */
static uint64_t lists[NDSH_FRMR_LISTS * PAGES];

static struct posting *
make(void)
{
	struct posting *b = posting_new(DEPTH);

	b->a->abi_minor = NDSH_ABI_MINOR;
	LIST_INIT(&b->a->objects);
	pd.adapter = other_pd.adapter = b->a;
	b->qp.pd = &pd;
	fr = (struct nd_fr){.pd = &pd,
		.state = ND_FRMR_READY,
		.slot = 77,
		.secret = SECRET,
		.local_token = ndsh_window_token(77, SECRET, 0),
		.max_pages = PAGES,
		.remote = true,
		.lists = lists};
	fr.obj.class = &nd_fr_class;
	LIST_INSERT_HEAD(&b->a->objects, &fr.obj, link);
	return b;
}

static nd_status
post(struct posting *b, uint32_t count, uint32_t flags)
{
	const uint64_t pages[PAGES] = {PAGE, 9 * PAGE, 3 * PAGE, 7 * PAGE};

	return nd_qp_fast_register(
		&b->qp, NULL, &fr, pages, count, 5, count * PAGE - 5, BASE + 5, flags);
}

static bool
fetch(struct posting *b, struct ndsh_send *wr)
{
	return ndsh_sq_fetch(&b->daemon_sq, wr) == NDSH_FETCH_OK;
}

static bool
rung(struct posting *b)
{
	bool yes = (b->page.summary & 1) != 0 && (b->page.bitmap[0] & 1) != 0;

	b->page.summary = b->page.bitmap[0] = 0;
	return yes;
}

/* checks R-FR-05[1,2]: also the token that the daemon will expect */
Test(ndclient_fast, what_reaches_the_ring)
{
	struct posting *b = make();
	struct ndsh_send wr;
	uint32_t last = 0;

	cr_expect(zero(u32, nd_fr_remote_token(&fr)));
	for (uint32_t g = 1; g <= 4; g++) {
		cr_assert(eq(i32, post(b, g, ND_OP_FLAG_ALLOW_WRITE | ND_OP_FLAG_READ_FENCE),
			ND_SUCCESS));
		cr_expect(ne(u32, nd_fr_remote_token(&fr), last));
		last = nd_fr_remote_token(&fr);
		cr_expect(eq(u32, ntohl(last), ndsh_window_token(77, SECRET, g)));
		cr_assert(fetch(b, &wr));
		cr_expect(eq(int, wr.op, NDSH_OP_FAST_REGISTER));
		cr_expect(eq(int, wr.flags, NDSH_WRF_FENCE));
		cr_expect(eq(u64, wr.raddr, BASE + 5));
		cr_expect(eq(u32, wr.rkey, ntohl(last)));
		cr_expect(eq(u32, wr.imm, g));
		cr_expect(eq(u64, wr.arg[0], g * PAGE - 5));
		cr_expect(eq(u32, NDSH_FRMR_ACCESS(wr.arg[1]),
			NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_WRITE));
		cr_expect(eq(u32, NDSH_FRMR_PAGES(wr.arg[1]), g));
		cr_expect(eq(u64, lists[NDSH_FRMR_LIST(wr.arg[1]) * PAGES + g - 1],
			((const uint64_t[]){1, 9, 3, 7})[g - 1] * PAGE));
	}
	posting_free(b);
}

/* A list is the daemon's until its request is finished: never one that it may still read. */
Test(ndclient_fast, lists_come_back_with_their_requests)
{
	struct posting *b = make();
	struct ndsh_send wr;
	uint32_t first;

	for (unsigned i = 0; i < NDSH_FRMR_LISTS; i++)
		cr_assert(eq(i32, post(b, 1, 0), ND_SUCCESS));
	cr_assert(fetch(b, &wr));
	first = NDSH_FRMR_LIST(wr.arg[1]);
	cr_expect(eq(i32, post(b, 1, 0), ND_NO_MORE_ENTRIES));
	__atomic_store_n(&b->qp.page->sq_done, 1, __ATOMIC_RELEASE); /* a silent one */
	cr_assert(eq(i32, post(b, 1, 0), ND_SUCCESS));
	cr_expect(eq(i32, post(b, 1, 0), ND_NO_MORE_ENTRIES));
	for (unsigned i = 0; i < NDSH_FRMR_LISTS; i++)
		cr_assert(fetch(b, &wr));
	cr_expect(eq(u32, NDSH_FRMR_LIST(wr.arg[1]), first));
	__atomic_store_n(&b->qp.sq_freed, 3, __ATOMIC_RELEASE); /* results were taken */
	cr_expect(eq(i32, post(b, 1, 0), ND_SUCCESS));
	cr_expect(eq(i32, post(b, 1, 0), ND_SUCCESS));
	cr_expect(eq(i32, post(b, 1, 0), ND_NO_MORE_ENTRIES));
	nd_frmr_release_lists(&b->qp); /* closed */
	cr_expect(eq(i32, post(b, 1, 0), ND_SUCCESS));
	posting_free(b);
}

/* checks R-FR-07[1]: connected, and in its domain, or there is nothing in the queue */
Test(ndclient_fast, an_initiator_request)
{
	struct posting *b = make();
	struct ndsh_send wr;

	b->qp.state = ND_QP_UNCONNECTED;
	cr_expect(eq(i32, post(b, 1, 0), ND_CONNECTION_INVALID));
	cr_expect(eq(i32, nd_qp_invalidate_fr(&b->qp, NULL, &fr, 0), ND_CONNECTION_INVALID));
	b->qp.state = ND_QP_DISCONNECTED;
	cr_expect(eq(i32, post(b, 1, 0), ND_CONNECTION_INVALID));
	b->qp.state = ND_QP_CONNECTED;
	fr.pd = &other_pd;
	cr_expect(eq(i32, post(b, 1, 0), ND_INVALID_PARAMETER));
	cr_expect(eq(i32, nd_qp_invalidate_fr(&b->qp, NULL, &fr, 0), ND_INVALID_PARAMETER));
	cr_expect(not(fetch(b, &wr)));
	cr_expect(zero(u32, nd_fr_remote_token(&fr)));
	posting_free(b);
}

/*
 * checks R-POST-12[1,2]: of two deferred registrations the second is refused inline; the first
 * is there, and the daemon was told of it, without any further post
 */
Test(ndclient_fast, what_was_deferred_before_a_refusal_is_handed_over)
{
	struct posting *b = make();
	struct ndsh_send wr;

	cr_assert(eq(i32, post(b, 1, ND_OP_FLAG_DEFER), ND_SUCCESS));
	cr_assert(eq(i32, post(b, PAGES + 1, ND_OP_FLAG_DEFER), ND_INVALID_PARAMETER));
	cr_expect(rung(b));
	cr_assert(fetch(b, &wr));
	cr_expect(eq(int, wr.flags, 0));
	cr_expect(not(fetch(b, &wr)));
	posting_free(b);
}

/*
 * checks R-POST-12[3], R-POST-13: nothing follows a chain that ends deferred, and yet all of it
 * runs
 */
Test(ndclient_fast, a_chain_that_ends_deferred)
{
	const struct nd_sge none = {0};
	struct posting *b = make();
	struct ndsh_send wr;

	cr_assert(eq(i32, post(b, 1, ND_OP_FLAG_DEFER), ND_SUCCESS));
	cr_expect(rung(b));
	cr_assert(eq(i32, nd_qp_send(&b->qp, NULL, &none, 0, ND_OP_FLAG_DEFER), ND_SUCCESS));
	cr_expect(rung(b));
	cr_assert(eq(i32, nd_qp_write(&b->qp, NULL, &none, 0, 0, 0, ND_OP_FLAG_DEFER), ND_SUCCESS));
	cr_expect(rung(b));
	cr_assert(eq(i32, nd_qp_read(&b->qp, NULL, &none, 0, 0, 0, ND_OP_FLAG_DEFER), ND_SUCCESS));
	cr_expect(rung(b));
	cr_assert(eq(i32, nd_qp_invalidate_fr(&b->qp, NULL, &fr, ND_OP_FLAG_DEFER), ND_SUCCESS));
	cr_expect(rung(b));
	for (unsigned i = 0; i < 5; i++) {
		cr_assert(fetch(b, &wr));
		cr_expect(eq(int, wr.flags, 0));
	}
	posting_free(b);
}

/* checks R-RW-06[2]: to a daemon that can't do it the flag does not go */
Test(ndclient_fast, read_local_invalidate)
{
	const struct nd_sge none = {0};
	struct posting *b = make();
	struct ndsh_send wr;

	for (uint32_t minor = 4; minor <= 5; minor++) {
		b->a->abi_minor = minor;
		cr_assert(eq(i32,
			nd_qp_read(&b->qp, NULL, &none, 0, 0, 0, ND_OP_FLAG_READ_LOCAL_INVALIDATE),
			ND_SUCCESS));
		cr_assert(fetch(b, &wr));
		cr_expect(eq(int, wr.flags, minor < 5 ? 0 : NDSH_WRF_LOCAL_INV));
	}
	cr_expect(
		eq(i32, nd_qp_write(&b->qp, NULL, &none, 0, 0, 0, ND_OP_FLAG_READ_LOCAL_INVALIDATE),
			ND_INVALID_PARAMETER_6));
	posting_free(b);
}

/* Values of NDK that were not translated are refused by the calls, never taken for others. */
Test(ndclient_fast, nothing_is_passed_through)
{
	static const uint32_t only_ndk[] = {0x40, 0x80, 0x100, 0x200};
	const struct nd_sge none = {0};
	struct posting *b = make();

	for (size_t i = 0; i < sizeof(only_ndk) / sizeof(only_ndk[0]); i++) {
		uint32_t f = only_ndk[i];

		cr_expect(eq(i32, nd_qp_send(&b->qp, NULL, &none, 0, f), ND_INVALID_PARAMETER_4));
		cr_expect(eq(
			i32, nd_qp_write(&b->qp, NULL, &none, 0, 0, 0, f), ND_INVALID_PARAMETER_6));
		cr_expect(eq(
			i32, nd_qp_read(&b->qp, NULL, &none, 0, 0, 0, f), ND_INVALID_PARAMETER_6));
		cr_expect(eq(i32, post(b, 1, f), ND_INVALID_PARAMETER));
	}
	posting_free(b);
}
