/* SPDX-License-Identifier: BSD-3-Clause */
/* What is posted: whose regions it may name, and deferral, which is a hint. */
#include <string.h>

#include "scenarios.h"

#define RIGHTS                                                                                     \
	(ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |                             \
		ND_MR_FLAG_ALLOW_REMOTE_WRITE)

/* ---- regions of others ----------------------------------------------------------------- */

/* A send of a from that memory, as that region; what came of it. */
static nd_status
send_from(struct pair *p, void *buffer, const struct nd_mr *mr)
{
	struct nd_sge sge = {buffer, 64, nd_mr_local_token(mr)};
	struct nd_result at_a, at_b;
	nd_status st;

	WANT(ND_SUCCESS, side_receive(&p->b, 64));
	WANT(ND_SUCCESS, nd_qp_send(p->a.qp, NULL, &sge, 1, 0));
	st = side_result(&p->a, &at_a);
	if (st == ND_SUCCESS)
		WANT(ND_SUCCESS, side_result(&p->b, &at_b));
	return st;
}

/* checks R-MR-02[1]: two queue pairs of the domain, in their own SGEs and by the peer */
static void
of_the_domain(struct pair *p)
{
	struct pair other;

	pair_open(p);
	pair_beside(p, &other);
	WANT(ND_SUCCESS, send_from(p, p->a.buf, p->a.mr));
	WANT(ND_SUCCESS, send_from(&other, p->a.buf, p->a.mr));
	pair_works(p);
	pair_works(&other);
	pair_close(p);
}

/* checks R-MR-02[2]: of another open of the same adapter, whose memory is this process's as well */
static void
of_another_instance(struct pair *p)
{
	struct side second = p->a;

	pair_open(p);
	side_open(&second, 16);
	WANT(ND_ACCESS_VIOLATION, send_from(p, second.buf, second.mr));
	pair_close(p);
	side_close(&second);
}

/* checks R-MR-02[3]: of another domain of the same instance, over the same memory */
static void
of_another_domain(struct pair *p)
{
	struct nd_pd *pd;
	struct nd_mr *mr;

	pair_open(p);
	WANT(ND_SUCCESS, nd_pd_create(p->a.adapter, &pd));
	WANT(ND_SUCCESS, region_new(pd, p->a.buf, BUFFER_BYTES, RIGHTS, &mr));
	WANT(ND_ACCESS_VIOLATION, send_from(p, p->a.buf, mr));
	pair_close(p);
}

/* checks R-MR-02[4]: so it is for the peer, whose request is refused */
static void
peer_of_another_domain(struct pair *p, int write)
{
	struct nd_pd *pd;
	struct nd_mr *mr;

	pair_open(p);
	WANT(ND_SUCCESS, nd_pd_create(p->b.adapter, &pd));
	WANT(ND_SUCCESS, region_new(pd, p->b.buf, BUFFER_BYTES, RIGHTS, &mr));
	pair_refuses(p, write, p->b.buf, 100, nd_mr_remote_token(mr));
	pair_close(p);
}

void
scenario_region_domains(struct pair *p)
{
	of_the_domain(p);
	of_another_instance(p);
	of_another_domain(p);
	peer_of_another_domain(p, 0);
	peer_of_another_domain(p, 1);
}

/* ---- deferral -------------------------------------------------------------------------- */

static nd_status
fast_register(struct side *s, struct nd_fr *fr, uint32_t pages)
{
	uint64_t page = (uintptr_t)s->buf;

	return nd_qp_fast_register(
		s->qp, fr, fr, &page, pages, 0, ND_PAGE_BYTES, page, ND_OP_FLAG_DEFER);
}

/* checks R-POST-12[1]: two registrations are deferred, the second is refused inline; exactly one
 * entry appears without further posts */
static void
refused_behind_deferred(struct pair *p)
{
	struct nd_fr *fr[2];
	struct nd_result result;

	pair_open(p);
	for (int i = 0; i < 2; i++) {
		WANT(ND_SUCCESS, nd_fr_create(p->a.pd, &fr[i]));
		WANT(ND_SUCCESS, nd_fr_initialize(fr[i], 1, 1));
	}
	WANT(ND_SUCCESS, fast_register(&p->a, fr[0], 1));
	WANT(ND_INVALID_PARAMETER, fast_register(&p->a, fr[1], 2));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_FAST_REGISTER && result.request_context == fr[0]);
	CHECK(side_quiet(&p->a, 20));
	pair_close(p);
}

/* checks R-POST-12[2,3], R-POST-13: a chain of which all are deferred runs; one that is not is no
 * sooner done than those before it; silent ones stay silent, all others have their entries */
static void
deferred_chain(struct pair *p, uint32_t last)
{
	struct nd_result result;

	pair_open(p);
	memset(p->a.buf, 0x5a, 64);
	for (uintptr_t i = 0; i < 3; i++) {
		struct nd_sge sge = {p->a.buf, 64, nd_mr_local_token(p->a.mr)};
		uint32_t flags = i == 2 ? last : ND_OP_FLAG_DEFER;

		WANT(ND_SUCCESS, nd_qp_write(p->a.qp, (void *)i, &sge, 1,
					 (uintptr_t)p->b.buf + 64 * i, nd_mr_remote_token(p->b.mr),
					 flags | (i == 1 ? ND_OP_FLAG_SILENT_SUCCESS : 0)));
	}
	for (uintptr_t i = 0; i < 3; i += 2) {
		WANT(ND_SUCCESS, side_result(&p->a, &result));
		CHECK(result.request_context == (void *)i);
	}
	for (int i = 0; i < 3 * 64; i++)
		CHECK(p->b.buf[i] == 0x5a);
	CHECK(side_quiet(&p->a, 20));
	pair_close(p);
}

void
scenario_deferred(struct pair *p)
{
	refused_behind_deferred(p);
	deferred_chain(p, 0);
	deferred_chain(p, ND_OP_FLAG_DEFER);
}
