/* SPDX-License-Identifier: BSD-3-Clause */
/* Rights to memory that only its client can reach: the daemon judges, before each copy. */
#include <criterion/criterion.h>

#include "rigs/windows.h"

#define MTU 1024u

Test(moved_rights, no_right_no_order)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU,
		.moved = true,
		.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ});

	pair_write_by_key(p, 1, (uintptr_t)p->side[1].moved, p->side[1].moved_key, 100);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	cr_assert_eq(p->side[1].client.reader.taken, 0);
	pair_free(p);
}

static unsigned
deregister_on_third(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct pair_side *d = ctx;

	(void)pkt;
	(void)late_ns;
	if (from == 0 && p->sent[0] == 3 && d->moved_mr != NULL) {
		cr_assert(roce_mr_deregister(d->shard, d->moved_mr));
		d->moved_mr = NULL;
	}
	return 1;
}

/* What is on its way is placed, the rest of the message is refused. */
Test(moved_rights, deregistered_in_the_middle_of_a_message)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});

	p->tap = deregister_on_third;
	p->tap_ctx = &p->side[1];
	pair_write_by_key(p, 1, (uintptr_t)p->side[1].moved, p->side[1].moved_key, 8 * MTU);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	pair_free(p);
}

/* checks R-MR-06[2,3]: what the client is bringing is not used when it comes. */
Test(moved_rights, deregistered_while_it_is_fetched)
{
	for (unsigned side = 0; side < 2; side++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});
		struct pair_side *d = &p->side[side];
		struct ndsh_sge moved = pair_moved_sge(p, side, 0, 3 * MTU),
				arena = pair_sge(p, !side, 0, 3 * MTU);
		const struct ndsh_sge *there = side == 1 ? &moved : &arena;

		d->stalled = true;
		pair_post(p, 0, 0,
			&(struct ndsh_swr){.raddr = there->addr,
				.rkey = there->key,
				.ctrl = NDSH_CTRL(
					side == 0 ? NDSH_OP_WRITE : NDSH_OP_READ, 1, 0, 0)},
			side == 0 ? &moved : &arena, NULL);
		(void)pair_run(p, 1000000);
		cr_assert(roce_mr_deregister(d->shard, d->moved_mr));
		d->moved_mr = NULL;
		d->stalled = false;
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 0, side == 0 ? NDSH_WC_LOC_PROT_ERR : NDSH_WC_REM_ACCESS_ERR);
		cr_assert_eq(p->sent[0], side, "packets of side 0");
		cr_assert_eq(p->sent[1], side, "packets of side 1");
		pair_free(p);
	}
}

/* As much of a message leaves as from memory of the arena: all in front of the SGE that opens
 * nothing. */
Test(moved_rights, what_is_in_front_of_a_bad_sge)
{
	for (unsigned moved = 0; moved < 2; moved++) {
		struct pair *p = pair_new(&(struct pair_opts){.mtu = MTU, .moved = true});
		struct ndsh_sge sge[2];

		sge[0] = moved ? pair_moved_sge(p, 0, 0, 3 * MTU) : pair_sge(p, 0, 0, 3 * MTU);
		sge[1] = sge[0];
		sge[1].key ^= 1;
		pair_post(p, 0, 0,
			&(struct ndsh_swr){.raddr = PAIR_VA,
				.rkey = p->side[1].key,
				.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 2, 0, 0)},
			sge, NULL);
		cr_assert(pair_run(p, PAIR_LONG));
		pair_expect(p, 0, 0, NDSH_WC_LOC_PROT_ERR);
		cr_assert_eq(p->sent[0], 3, "%lu packets", p->sent[0]);
		pair_free(p);
	}
}

/* The peer comes through a window to moved memory, until it is invalidated: then its key opens as
 * little as that of a window to an arena. */
Test(moved_rights, a_window_that_is_not_bound_opens_nothing)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2, .mtu = MTU, .moved = true});
	struct pair_side *d = &p->side[1];
	struct window v = window_new(p);
	uint64_t va = (uintptr_t)d->moved;

	v.generation = 1;
	v.token = ndsh_window_token(v.slot, v.secret, v.generation);
	pair_post(p, 1, 0,
		&(struct ndsh_swr){.context = 1,
			.raddr = va,
			.rkey = v.token,
			.imm = v.generation,
			.arg = {WINDOW_BYTES, WINDOW_RW | (uint64_t)d->moved_key << 32},
			.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, 0, 0)},
		NULL, NULL);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 1, NDSH_WC_SUCCESS);
	p->side[0].arena[0] = 1;
	pair_write_by_key(p, 2, va, v.token, 100);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	cr_assert_eq(d->moved[0], 1);
	window_invalidate(p, 0, 3, v.token, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 1, 3, NDSH_WC_SUCCESS);
	p->side[0].arena[0] = 2;
	pair_write_by_key(p, 4, va, v.token, 100);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_REM_ACCESS_ERR);
	cr_assert_eq(d->moved[0], 1);
	window_free(p, &v);
	pair_free(p);
}
