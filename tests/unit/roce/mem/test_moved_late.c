/* SPDX-License-Identifier: BSD-3-Clause */
/* The client tells that a copy command failed when its queue pair is not there any more, or is
 * another client's: that is no concern of what has its place now. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"

#define MTU  1024u
#define LONG UINT64_C(60000000000)

/* The peer of queue pair 0 has written a message, of which side 1's client can place nothing, and
 * has not tried to yet. Both ends are in RESET by now. */
static struct pair *
late_pair(void)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 2, .mtu = MTU, .moved = true});

	p->side[1].gone[1] = 3 * MTU;
	p->side[1].stalled = true;
	pair_write_by_key(p, 1, (uintptr_t)p->side[1].moved, p->side[1].moved_key, 3 * MTU);
	(void)pair_run(p, 1000000);
	for (unsigned side = 0; side < 2; side++)
		cr_assert_eq(roce_qp_modify(p->side[side].shard, p->side[side].q[0].qp, p->now_ns,
				     ROCE_QPS_RESET, 0, NULL),
			ROCE_MODIFY_OK);
	return p;
}

/* The other queue pair writes where there is memory. */
static void
the_other_works(struct pair *p)
{
	pair_write(p, 0, 1, 90, 0, 0, MTU, 0);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 90, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 1, 1);
}

/* It stays as it is: there is no connection that could be ended. */
Test(moved_late, a_queue_pair_in_reset)
{
	struct pair *p = late_pair();

	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	cr_assert_eq(roce_qp_state_get(p->side[1].q[0].qp), ROCE_QPS_RESET);
	cr_assert_not(p->side[1].events & 1u << ROCE_EV_QP_ERROR);
	the_other_works(p);
	pair_free(p);
}

/* It is connected again, and receives. */
Test(moved_late, the_next_connection)
{
	struct pair *p = late_pair();

	for (unsigned side = 0; side < 2; side++)
		pair_connect(p, side, 0);
	pair_write_by_key(
		p, 2, (uintptr_t)p->side[1].moved + 3 * MTU, p->side[1].moved_key, 3 * MTU);
	(void)pair_run(p, 1000000);
	p->side[1].stalled = false;
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 1, 0);
	the_other_works(p);
	pair_free(p);
}

/* ---- another client ------------------------------------------------------------------------ */

struct other {
	uint32_t pd;
	uint8_t memory[3 * MTU];
	void *mem, *shared;
	struct roce_mover *mover;
	struct ndsh_mover client;
	struct roce_mr *mr;
};

static uint32_t
copy_all(void *ctx, const struct ndsh_mover *m, const struct ndsh_cqe *commands, uint32_t n)
{
	(void)ctx;
	for (uint32_t i = 0; i < n; i++)
		ndsh_mover_copy_plain(m, &commands[i]);
	return 0;
}

static void
other_new(struct pair *p, struct other *o)
{
	struct roce_shard *s = p->side[1].shard;

	o->pd = roce_pd_create(s);
	o->mem = calloc(1, roce_mover_bytes());
	o->shared = aligned_alloc(64, (ndsh_mover_bytes(true) + 63) & ~63u);
	memset(o->shared, 0, ndsh_mover_bytes(true));
	o->mover = roce_mover_create(s, NULL, o->mem, o->shared, true, o);
	ndsh_mover_view(&o->client, o->shared, true);
	o->mr = roce_mr_register_moved(s, o->pd, (uintptr_t)o->memory, sizeof(o->memory), o->mover,
		NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_WRITE);
	cr_assert_not_null(o->mr);
}

/* Queue pair 0 of side 1 is destroyed, and the other client gets one in its place. */
static void
other_takes_place(struct pair *p, struct other *o)
{
	struct pair_side *d = &p->side[1];
	const struct roce_qp *place = d->q[0].qp;
	struct roce_qp_cfg cfg = {.pd = o->pd,
		.send_cq = d->cq,
		.recv_cq = d->cq,
		.shared = d->q[0].block,
		.dims = d->dims,
		.owner = &d->q[0]};

	roce_qp_destroy(d->shard, d->q[0].qp);
	while ((d->q[0].qp = roce_qp_create(d->shard, &cfg)) != place)
		roce_qp_destroy(d->shard, d->q[0].qp);
	for (unsigned side = 0; side < 2; side++)
		pair_connect(p, side, 0);
}

static void
other_free(struct pair *p, struct other *o)
{
	struct pair_side *d = &p->side[1];

	roce_qp_destroy(d->shard, d->q[0].qp);
	cr_assert(roce_mr_deregister(d->shard, o->mr));
	cr_assert(roce_mover_destroy(d->shard, o->mover));
	cr_assert(roce_pd_destroy(d->shard, o->pd));
	d->q[0].qp = roce_qp_create(d->shard, &(struct roce_qp_cfg){.pd = d->pd,
						      .send_cq = d->cq,
						      .recv_cq = d->cq,
						      .shared = d->q[0].block,
						      .dims = d->dims});
	free(o->mem);
	free(o->shared);
}

/* What the former client says of its own commands never ends a queue pair of another one, whose
 * commands are counted from 0 again. checks R-MR-14[3] */
Test(moved_late, another_clients_queue_pair)
{
	struct pair *p = late_pair();
	struct other o;

	other_new(p, &o);
	other_takes_place(p, &o);
	pair_write_by_key(p, 2, (uintptr_t)o.memory, roce_mr_key(o.mr), sizeof(o.memory));
	(void)pair_run(p, 1000000);
	p->side[1].stalled = false;
	(void)pair_run(p, 1000000);
	pair_expect_alive(p, 1, 0);
	cr_assert_eq(ndsh_mover_run(&o.client, UINT32_MAX, copy_all, NULL), 3);
	cr_assert(pair_run(p, LONG));
	pair_expect(p, 0, 2, NDSH_WC_SUCCESS);
	pair_expect_alive(p, 1, 0);
	cr_assert_not(p->side[1].events & 1u << ROCE_EV_QP_ERROR);
	the_other_works(p);
	other_free(p, &o);
	pair_free(p);
}
