/* SPDX-License-Identifier: BSD-3-Clause */
/* The longest messages that there are, 2 GiB, of each operation that moves so much. */
#include <string.h>
#include <unistd.h>

#include "scenarios.h"

#define LONGEST	    (UINT32_C(1) << 31)
#define SECONDS_MAX 600 /* for a program that shares a CPU with many */
#define ALL_RIGHTS                                                                                 \
	(ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |                             \
		ND_MR_FLAG_ALLOW_REMOTE_WRITE)

struct big {
	uint64_t *words;
	struct nd_mr *mr;
	struct nd_sge sge;
};

static struct big
big_of(struct side *s)
{
	struct big b = {.words = nd_alloc(s->adapter, LONGEST)};

	CHECK(b.words != NULL);
	WANT(ND_SUCCESS, region_new(s->pd, b.words, LONGEST, ALL_RIGHTS, &b.mr));
	b.sge = (struct nd_sge){b.words, LONGEST, nd_mr_local_token(b.mr)};
	return b;
}

static void
fill(struct big *b, uint64_t seed)
{
	for (uint64_t i = 0; i < LONGEST / 8; i++)
		b->words[i] = i * 0x9e3779b97f4a7c15u ^ seed;
}

/* The next result, however long it takes. */
static void
want_result(struct side *s, enum nd_request_type type)
{
	struct nd_result result;

	while (nd_cq_get_results(s->cq, &result, 1) == 0)
		sleep_ms(1);
	WANT(ND_SUCCESS, result.status);
	CHECK(result.request_type == type);
	CHECK(type != ND_REQUEST_RECEIVE || result.bytes_transferred == LONGEST);
}

/* checks W-REQ-02[2,5] */
void
scenario_longest(struct pair *p)
{
	struct big a, b;
	struct nd_sge longer;

	alarm(SECONDS_MAX);
	pair_open(p);
	a = big_of(&p->a);
	b = big_of(&p->b);
	fill(&a, 1);
	WANT(ND_SUCCESS, nd_qp_write(p->a.qp, NULL, &a.sge, 1, (uintptr_t)b.words,
				 nd_mr_remote_token(b.mr), 0));
	want_result(&p->a, ND_REQUEST_WRITE);
	CHECK(memcmp(a.words, b.words, LONGEST) == 0);
	fill(&b, 2);
	WANT(ND_SUCCESS, nd_qp_read(p->a.qp, NULL, &a.sge, 1, (uintptr_t)b.words,
				 nd_mr_remote_token(b.mr), 0));
	want_result(&p->a, ND_REQUEST_READ);
	CHECK(memcmp(a.words, b.words, LONGEST) == 0);
	fill(&a, 3);
	WANT(ND_SUCCESS, nd_qp_receive(p->b.qp, NULL, &b.sge, 1));
	WANT(ND_SUCCESS, nd_qp_send(p->a.qp, NULL, &a.sge, 1, 0));
	want_result(&p->a, ND_REQUEST_SEND);
	want_result(&p->b, ND_REQUEST_RECEIVE);
	CHECK(memcmp(a.words, b.words, LONGEST) == 0);
	longer = a.sge;
	longer.bytes++;
	WANT(ND_BUFFER_OVERFLOW, nd_qp_send(p->a.qp, NULL, &longer, 1, 0));
	pair_works(p);
	pair_close(p);
}
