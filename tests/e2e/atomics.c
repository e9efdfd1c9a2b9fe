/* SPDX-License-Identifier: BSD-3-Clause */
/* Fetch-and-add and compare-and-swap through two daemons. */
#include <string.h>

#include "scenarios.h"

#define RIGHTS (ND_MR_FLAG_ALLOW_REMOTE_ATOMIC | ND_MR_FLAG_ALLOW_REMOTE_READ)
#define ADDS   2000
#define DEPTH  8 /* under way: more than reads were agreed, some wait */

static uint64_t *
word(const struct side *s, unsigned int i)
{
	return (uint64_t *)(void *)s->buf + i;
}

static struct nd_sge
sge_at(const struct side *s, unsigned int i)
{
	return (struct nd_sge){word(s, i), sizeof(uint64_t), nd_mr_local_token(s->mr)};
}

static nd_status
add(struct side *s, unsigned int slot, const struct side *peer, struct nd_mr *mr, uint64_t value)
{
	struct nd_sge sge = sge_at(s, slot);

	return nd_qp_fetch_add(s->qp, word(s, slot), &sge, (uintptr_t)word(peer, 0),
		nd_mr_remote_token(mr), value, 0);
}

static void
swap(struct side *s, const struct side *peer, struct nd_mr *mr, uint64_t compare, uint64_t value,
	uint64_t was)
{
	struct nd_sge sge = sge_at(s, 100);
	struct nd_result result;

	WANT(ND_SUCCESS, nd_qp_compare_swap(s->qp, NULL, &sge, (uintptr_t)word(peer, 0),
				 nd_mr_remote_token(mr), compare, value, 0));
	WANT(ND_SUCCESS, side_result(s, &result));
	CHECK(result.request_type == ND_REQUEST_ATOMIC && result.bytes_transferred == 8);
	CHECK(*word(s, 100) == was);
}

/* Each addition is done once, and returns the old value: no value comes twice. */
static void
count_up(struct side *s, const struct side *peer, struct nd_mr *mr)
{
	static uint8_t seen[ADDS];
	struct nd_result result;
	unsigned int posted = 0;

	for (unsigned int done = 0; done < ADDS; done++) {
		uint64_t old;

		for (; posted < ADDS && posted < done + DEPTH; posted++)
			WANT(ND_SUCCESS, add(s, posted % DEPTH, peer, mr, 1));
		WANT(ND_SUCCESS, side_result(s, &result));
		memcpy(&old, result.request_context, sizeof(old));
		CHECK(old < ADDS && seen[old]++ == 0);
	}
	CHECK(__atomic_load_n(word(peer, 0), __ATOMIC_RELAXED) == ADDS);
}

/* Values, refusals at the post, and a region without the right, which ends the connection. */
void
scenario_atomics(struct pair *p)
{
	struct nd_result result;
	struct nd_sge sge;
	struct nd_mr *mr;

	pair_open(p);
	WANT(ND_SUCCESS, region_new(p->b.pd, p->b.buf, BUFFER_BYTES, RIGHTS, &mr));
	*word(&p->b, 0) = 0;
	count_up(&p->a, &p->b, mr);
	swap(&p->a, &p->b, mr, 1, 77, ADDS);
	CHECK(*word(&p->b, 0) == ADDS);
	swap(&p->a, &p->b, mr, ADDS, 0x1122334455667788, ADDS);
	CHECK(*word(&p->b, 0) == 0x1122334455667788);

	sge = sge_at(&p->a, 0);
	WANT(ND_INVALID_PARAMETER_3, nd_qp_fetch_add(p->a.qp, NULL, &sge, (uintptr_t)p->b.buf + 4,
					     nd_mr_remote_token(mr), 1, 0));
	WANT(ND_INVALID_PARAMETER_6, nd_qp_fetch_add(p->a.qp, NULL, &sge, (uintptr_t)p->b.buf,
					     nd_mr_remote_token(mr), 1, ND_OP_FLAG_INLINE));
	WANT(ND_INVALID_PARAMETER_7, nd_qp_compare_swap(p->a.qp, NULL, &sge, (uintptr_t)p->b.buf,
					     nd_mr_remote_token(mr), 1, 1, ND_OP_FLAG_INLINE));
	sge.bytes = 4;
	WANT(ND_INVALID_PARAMETER_2, nd_qp_compare_swap(p->a.qp, NULL, &sge, (uintptr_t)p->b.buf,
					     nd_mr_remote_token(mr), 1, 1, 0));
	WANT(ND_SUCCESS, add(&p->a, 0, &p->b, p->b.mr, 1)); /* a region without the right */
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	CHECK(*word(&p->b, 0) == 0x1122334455667788);
	pair_close(p);
}
