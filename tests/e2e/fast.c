/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast-register regions and privileged tokens: side b owns them, a is the peer. */
#include <arpa/inet.h>
#include <string.h>

#include "pair.h"
#include "scenarios.h"

#define BASE	   UINT64_C(0x123456789000) /* no memory is there */
#define PAGES	   (BUFFER_BYTES / ND_PAGE_BYTES)
#define PEER_RW	   (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)
#define BIG_BYTES  (8u << 20) /* a segment of its own */
#define OFFSET	   100u
#define FAST_BYTES (BUFFER_BYTES - 2 * OFFSET)

static struct nd_fr *
fr_new(struct side *s, int remote)
{
	struct nd_fr *fr;

	WANT(ND_SUCCESS, nd_fr_create(s->pd, &fr));
	CHECK(nd_fr_local_token(fr) == 0 && nd_fr_remote_token(fr) == 0);
	WANT(ND_SUCCESS, nd_fr_initialize(fr, PAGES, remote));
	CHECK(nd_fr_local_token(fr) != 0);
	return fr;
}

/* The pages of the buffer, from the last one to the first. */
static void
list_pages(const struct side *s, uint64_t *pages)
{
	for (unsigned i = 0; i < PAGES; i++)
		pages[i] = (uintptr_t)s->buf + (PAGES - 1 - i) * ND_PAGE_BYTES;
}

static char *
byte_of(const struct side *s, unsigned at)
{
	at += OFFSET;
	return s->buf + (PAGES - 1 - at / ND_PAGE_BYTES) * ND_PAGE_BYTES + at % ND_PAGE_BYTES;
}

static nd_status
post(struct side *s, struct nd_fr *fr, uint32_t flags)
{
	uint64_t pages[PAGES];

	list_pages(s, pages);
	return nd_qp_fast_register(
		s->qp, fr, fr, pages, PAGES, OFFSET, FAST_BYTES, BASE + OFFSET, flags);
}

static void
fast_register(struct side *s, struct nd_fr *fr, uint32_t flags)
{
	struct nd_result result;

	WANT(ND_SUCCESS, post(s, fr, flags));
	WANT(ND_SUCCESS, side_result(s, &result));
	CHECK(result.request_type == ND_REQUEST_FAST_REGISTER && result.request_context == fr);
}

static const void *
remote(unsigned at)
{
	return (const void *)(uintptr_t)(BASE + OFFSET + at);
}

static void
works(struct pair *p, const struct nd_fr *fr, int seed)
{
	struct nd_result result;

	for (unsigned i = 0; i < FAST_BYTES; i++)
		p->a.buf[i] = (char)(i * 5 + i / 4096 + (unsigned)seed);
	WANT(ND_SUCCESS, side_reach(&p->a, 1, remote(0), FAST_BYTES, nd_fr_remote_token(fr)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	for (unsigned i = 0; i < FAST_BYTES; i++)
		CHECK(*byte_of(&p->b, i) == p->a.buf[i]);
	memset(p->a.buf, 0, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_reach(&p->a, 0, remote(0), FAST_BYTES, nd_fr_remote_token(fr)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	for (unsigned i = 0; i < FAST_BYTES; i++)
		CHECK(*byte_of(&p->b, i) == p->a.buf[i]);
}

static void
end_by_owner(struct pair *p, struct nd_fr *fr)
{
	struct nd_result result;

	WANT(ND_SUCCESS, nd_qp_invalidate_fr(p->b.qp, fr, fr, 0));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.request_type == ND_REQUEST_INVALIDATE);
}

static void
end_by_peer(struct pair *p, struct nd_fr *fr)
{
	struct nd_sge sge = {p->a.buf, 8, nd_mr_local_token(p->a.mr)};
	struct nd_result_ex told;
	struct nd_result result;

	WANT(ND_SUCCESS, side_receive(&p->b, 64));
	WANT(ND_SUCCESS,
		nd_qp_send_and_invalidate(p->a.qp, NULL, &sge, 1, nd_fr_remote_token(fr), 0));
	WANT(ND_SUCCESS, side_result_ex(&p->b, &told));
	CHECK(told.request_type == ND_REQUEST_RECEIVE_AND_INVALIDATE);
	CHECK(told.invalidated_token == nd_fr_remote_token(fr));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
}

/*
 * checks R-FR-01, R-FR-05[2,3], R-FR-10[1]: over and over, with another token each time, ended
 * by either side; the last token but one is refused then.
 */
void
scenario_fast_register(struct pair *p)
{
	uint32_t token = 0, local;
	struct nd_fr *fr;

	pair_open(p);
	fr = fr_new(&p->b, 1);
	local = nd_fr_local_token(fr);
	for (int round = 0; round < 6; round++) {
		uint32_t before = token;

		WANT(ND_SUCCESS, post(&p->b, fr, PEER_RW));
		token = nd_fr_remote_token(fr); /* the result is not there yet, perhaps */
		CHECK(token != before && token != 0 && nd_fr_local_token(fr) == local);
		WANT(ND_SUCCESS, side_result(&p->b, &(struct nd_result){0}));
		works(p, fr, round);
		if (round % 2 != 0)
			end_by_peer(p, fr);
		else
			end_by_owner(p, fr);
	}
	fast_register(&p->b, fr, PEER_RW);
	pair_refuses(p, 1, remote(0), 100, token);
	WANT(ND_SUCCESS, nd_fr_close(fr));
	pair_close(p);
}

/*
 * checks R-FR-02[1,2], R-FR-03[1-7], R-FR-04: what is refused where it is posted, and leaves no
 * trace.
 */
void
scenario_fast_register_inline(struct pair *p)
{
	struct nd_adapter_info info;
	uint64_t pages[PAGES];
	struct nd_fr *fr;

	pair_open(p);
	WANT(ND_SUCCESS, nd_adapter_query(p->b.adapter, &info));
	CHECK(info.max_fast_register_pages >= 16);
	WANT(ND_SUCCESS, nd_fr_create(p->b.pd, &fr));
	list_pages(&p->b, pages);
	WANT(ND_INVALID_DEVICE_STATE, post(&p->b, fr, 0));
	WANT(ND_IMPLEMENTATION_LIMIT, nd_fr_initialize(fr, info.max_fast_register_pages + 1, 0));
	WANT(ND_INVALID_PARAMETER, nd_fr_initialize(fr, 0, 0));
	WANT(ND_SUCCESS, nd_fr_initialize(fr, PAGES - 1, 0));
	WANT(ND_INVALID_DEVICE_STATE, nd_fr_initialize(fr, PAGES - 1, 0));
	WANT(ND_INVALID_PARAMETER, post(&p->b, fr, 0)); /* one page too many */
#define REFUSED(status, count, offset, bytes, base, flags)                                         \
	WANT(status,                                                                               \
		nd_qp_fast_register(p->b.qp, NULL, fr, pages, count, offset, bytes, base, flags))
	REFUSED(ND_INVALID_PARAMETER, 0, 0, 1, BASE, 0);
	REFUSED(ND_INVALID_PARAMETER, 1, 0, 0, BASE, 0);
	REFUSED(ND_INVALID_PARAMETER, 1, ND_PAGE_BYTES, 1, BASE, 0);
	REFUSED(ND_INVALID_PARAMETER, 2, 0, 2 * ND_PAGE_BYTES + 1, BASE, 0);
	REFUSED(ND_INVALID_PARAMETER, 2, 1, 2 * ND_PAGE_BYTES, BASE + 1, 0);
	REFUSED(ND_INVALID_PARAMETER, 2, 1, 8, BASE, 0);
	REFUSED(ND_INVALID_PARAMETER, 2, 1, 8, 0, 0); /* no zero-based addresses */
	REFUSED(ND_INVALID_PARAMETER, 2, 0, 8, BASE + 1, 0);
	REFUSED(ND_INVALID_PARAMETER, 1, 0, 8, BASE, ND_OP_FLAG_INLINE);
	REFUSED(ND_ACCESS_VIOLATION, 1, 0, 8, BASE, ND_OP_FLAG_ALLOW_READ);
	REFUSED(ND_ACCESS_VIOLATION, 1, 0, 8, BASE, ND_OP_FLAG_ALLOW_WRITE);
	pages[1]++;
	REFUSED(ND_INVALID_PARAMETER, 2, 0, 8, BASE, 0);
	pages[1]--;
	CHECK(nd_fr_remote_token(fr) == 0);
	CHECK(side_quiet(&p->b, 50));
	REFUSED(ND_SUCCESS, 1, 0, ND_PAGE_BYTES, 0, ND_OP_FLAG_ALLOW_LOCAL_WRITE); /* a number */
	WANT(ND_SUCCESS, side_result(&p->b, &(struct nd_result){0}));
	WANT(ND_SUCCESS, nd_fr_close(fr));
	pair_works(p);
	pair_close(p);
}

/* checks R-FR-06: what is registered; and a page that is not of nd_alloc(). */
void
scenario_fast_register_fails(struct pair *p)
{
	static char foreign[2 * ND_PAGE_BYTES];

	for (int twice = 0; twice <= 1; twice++) {
		uint64_t page = ((uintptr_t)foreign + ND_PAGE_BYTES) & -(uint64_t)ND_PAGE_BYTES;
		struct nd_result result;
		struct nd_fr *fr;

		pair_open(p);
		fr = fr_new(&p->b, 1);
		if (twice) {
			fast_register(&p->b, fr, PEER_RW);
			WANT(ND_SUCCESS, post(&p->b, fr, 0));
		} else {
			WANT(ND_SUCCESS,
				nd_qp_fast_register(p->b.qp, fr, fr, &page, 1, 0, 8, BASE, 0));
		}
		WANT(twice ? ND_INVALID_DEVICE_REQUEST : ND_ACCESS_VIOLATION,
			side_result(&p->b, &result));
		CHECK(result.request_type == ND_REQUEST_FAST_REGISTER);
		WANT(ND_SUCCESS, nd_fr_close(fr));
		pair_close(p);
	}
}

/* The region closed, the memory given back: the peer is refused, and other connections go on. */
void
scenario_fast_register_ends(struct pair *p)
{
	for (int free_memory = 0; free_memory <= 1; free_memory++) {
		struct pair other;
		struct nd_fr *fr;
		uint64_t page;
		char *block;
		uint32_t token;

		pair_open(p);
		pair_beside(p, &other);
		fr = fr_new(&p->b, 1);
		block = nd_alloc(p->b.adapter, BIG_BYTES);
		CHECK(block != NULL && (uintptr_t)block % ND_PAGE_BYTES == 0);
		page = (uintptr_t)block;
		WANT(ND_SUCCESS, nd_qp_fast_register(p->b.qp, fr, fr, &page, 1, 0, ND_PAGE_BYTES,
					 BASE, PEER_RW));
		WANT(ND_SUCCESS, side_result(&p->b, &(struct nd_result){0}));
		token = nd_fr_remote_token(fr);
		WANT(ND_SUCCESS, side_reach(&p->a, 1, (void *)(uintptr_t)BASE, 8, token));
		WANT(ND_SUCCESS, side_result(&p->a, &(struct nd_result){0}));
		if (free_memory)
			nd_free(p->b.adapter, block);
		else
			WANT(ND_SUCCESS, nd_fr_close(fr));
		pair_refuses(p, 1, (void *)(uintptr_t)BASE, 8, token);
		pair_works(&other);
		pair_close(p);
	}
}

/* checks R-FR-10[3], R-RW-06[1]: what b reads from a ends b's registration, on success only. */
void
scenario_read_local_invalidate(struct pair *p)
{
	struct nd_result result;
	struct nd_fr *fr;
	struct nd_sge sge[2];

	pair_open(p);
	fr = fr_new(&p->b, 1);
	fast_register(&p->b, fr, PEER_RW);
	for (unsigned i = 0; i < BUFFER_BYTES; i++)
		p->a.buf[i] = (char)(i * 11 + i / 4096);
	sge[0] = (struct nd_sge){
		(void *)(uintptr_t)remote(0), FAST_BYTES - 8, nd_fr_local_token(fr)};
	sge[1] = (struct nd_sge){byte_of(&p->b, 0) - OFFSET, 8, nd_mr_local_token(p->b.mr)};
	WANT(ND_SUCCESS, nd_qp_read(p->b.qp, NULL, sge, 2, (uintptr_t)p->a.buf,
				 nd_mr_remote_token(p->a.mr), ND_OP_FLAG_READ_LOCAL_INVALIDATE));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.request_type == ND_REQUEST_READ && result.bytes_transferred == FAST_BYTES);
	for (unsigned i = 0; i < FAST_BYTES - 8; i++)
		CHECK(*byte_of(&p->b, i) == p->a.buf[i]);
	fast_register(&p->b, fr, PEER_RW); /* it was not registered */
	end_by_owner(p, fr);
	/* A region is no registration: the read is refused, and the connection is at its end. */
	WANT(ND_SUCCESS, nd_qp_read(p->b.qp, NULL, &sge[1], 1, (uintptr_t)p->a.buf,
				 nd_mr_remote_token(p->a.mr), ND_OP_FLAG_READ_LOCAL_INVALIDATE));
	WANT(ND_INVALID_DEVICE_REQUEST, side_result(&p->b, &result));
	WANT(ND_SUCCESS, nd_fr_close(fr));
	pair_close(p);
}

/* checks R-FR-08[1,2]: in SGEs the token opens all of the memory, for the peer nothing. */
void
scenario_privileged_token(struct pair *p)
{
	struct nd_result result;
	uint32_t token, again;
	struct nd_sge sge;
	char *block;

	pair_open(p);
	WANT(ND_SUCCESS, nd_pd_privileged_token(p->b.pd, &token));
	WANT(ND_SUCCESS, nd_pd_privileged_token(p->b.pd, &again));
	CHECK(token == again && token != 0);
	block = nd_alloc(p->b.adapter, BUFFER_BYTES); /* later than the token */
	CHECK(block != NULL);
	sge = (struct nd_sge){block, BUFFER_BYTES, token};
	memset(block, 0x6b, BUFFER_BYTES);
	WANT(ND_SUCCESS, nd_qp_write(p->b.qp, NULL, &sge, 1, (uintptr_t)p->a.buf,
				 nd_mr_remote_token(p->a.mr), 0));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(memcmp(block, p->a.buf, BUFFER_BYTES) == 0);
	memset(p->a.buf, 0x19, BUFFER_BYTES);
	WANT(ND_SUCCESS, nd_qp_read(p->b.qp, NULL, &sge, 1, (uintptr_t)p->a.buf,
				 nd_mr_remote_token(p->a.mr), 0));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(memcmp(block, p->a.buf, BUFFER_BYTES) == 0);
	pair_refuses(p, 0, block, 8, htonl(token));
	pair_close(p);
}
