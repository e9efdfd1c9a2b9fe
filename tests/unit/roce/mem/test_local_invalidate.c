/* SPDX-License-Identifier: BSD-3-Clause */
/* READs that end the registration they are read into, when they have succeeded. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/fast.h"

#define BYTES (3 * WINDOW_MTU + 100)

/* A READ of side 1 into these SGEs. */
static void
post_read(struct pair *p, uint64_t context, const struct ndsh_sge *sge, uint32_t n, uint32_t flags)
{
	pair_post(p, 1, 0,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA,
			.rkey = p->side[0].key,
			.ctrl = NDSH_CTRL(NDSH_OP_READ, n, flags, 0)},
		sge, NULL);
}

static struct ndsh_sge
fast_sge(const struct fast *f, uint32_t at, uint32_t bytes)
{
	return (struct ndsh_sge){.addr = FAST_BASE + at, .len = bytes, .key = f->local};
}

/* Requests may read from side 0. */
static struct pair *
readable_pair(void)
{
	return pair_new(&(struct pair_opts){.qps = 2, .mtu = WINDOW_MTU});
}

static bool
is_registered(struct pair *p, const struct fast *f)
{
	struct ndsh_cqe c;
	struct ndsh_sge sge = fast_sge(f, 0, 8);

	pair_post_sge(p, 1, 1, 77, NDSH_OP_WRITE, 0, &sge);
	cr_assert(pair_run(p, PAIR_LONG));
	cr_assert(pair_poll(p, 1, &c));
	cr_assert_eq(c.context, 77);
	cr_assert(c.status == NDSH_WC_SUCCESS || c.status == NDSH_WC_LOC_PROT_ERR);
	return c.status == NDSH_WC_SUCCESS;
}

/* checks R-RW-06[1]: with the last of its bytes, not before; without the flag, never. */
Test(local_invalidate, R_RW_06_behind_the_last_byte)
{
	for (unsigned flag = 0; flag < 2; flag++) {
		struct pair *p = readable_pair();
		struct fast *f = fast_ready(p, FAST_LOCAL | WINDOW_RW);
		struct ndsh_sge sge = fast_sge(f, 5, BYTES);

		for (uint32_t i = 0; i < BYTES; i++)
			p->side[0].arena[i] = (uint8_t)(i * 7 + i / 256);
		post_read(p, 2, &sge, 1, flag ? NDSH_WRF_LOCAL_INV : 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		for (uint32_t i = 0; i < BYTES; i++)
			cr_assert_eq(*fast_byte(p, f, 0, 5 + i), (uint8_t)(i * 7 + i / 256));
		cr_assert_eq(is_registered(p, f), !flag);
		if (flag) {
			fast_register(p, 0, 3, f, 1, 1, 8, FAST_LOCAL);
			cr_assert(pair_run(p, PAIR_LONG));
			pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
		}
		fast_free(p, f);
	}
}

/* checks R-RW-06[1]: the first SGE names it, and what that names must be a registration. */
Test(local_invalidate, R_RW_06_the_first_sge)
{
	for (unsigned first = 0; first < 2; first++) {
		struct pair *p = readable_pair();
		struct fast *f = fast_ready(p, FAST_LOCAL);
		struct ndsh_sge sge[2];
		uint64_t sent;

		sge[first] = pair_sge(p, 1, 0, 8);
		sge[!first] = fast_sge(f, 0, 8);
		sent = p->sent[1];
		post_read(p, 2, sge, 2, NDSH_WRF_LOCAL_INV);
		cr_assert(pair_run(p, PAIR_LONG));
		if (first) {
			pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		} else {
			cr_assert_eq(pair_expect(p, 1, 2, NDSH_WC_LOC_QP_OP_ERR).syndrome,
				ROCE_REASON_LOCAL_INV);
			pair_expect_dead(p, 1, 0, ROCE_REASON_LOCAL_INV);
			cr_assert_eq(p->sent[1], sent);
		}
		cr_assert_eq(is_registered(p, f), !first);
		fast_free(p, f);
	}
}

/* One without any ends nothing, whatever the request before it named. */
Test(local_invalidate, R_RW_06_no_sge)
{
	for (unsigned before = 0; before < 2; before++) {
		struct pair *p = readable_pair();
		struct fast *f = fast_ready(p, FAST_LOCAL);
		struct ndsh_sge sge = before ? fast_sge(f, 0, 8) : pair_sge(p, 1, 0, 8);

		post_read(p, 2, &sge, 1, 0);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
		post_read(p, 3, NULL, 0, NDSH_WRF_LOCAL_INV);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
		cr_assert(is_registered(p, f));
		fast_free(p, f);
	}
}

/* The registration ends while the READ, which has no bytes to place, is under way. */
Test(local_invalidate, R_RW_06_it_has_ended_already)
{
	struct pair *p = readable_pair();
	struct fast *f = fast_ready(p, FAST_LOCAL);
	struct ndsh_sge sge = fast_sge(f, 0, 0);

	post_read(p, 2, &sge, 1, NDSH_WRF_LOCAL_INV);
	pair_turn(p, 1);
	window_invalidate(p, 1, 3, f->token, 0);
	pair_turn(p, 1);
	pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 2, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 1, 0);
	fast_free(p, f);
}
