/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "rigs/ud_world.h"

void
ud_start(struct ud_world *w, unsigned side, unsigned i, uint32_t q_key)
{
	struct pair_side *d = &w->p->side[side];
	struct roce_qp_attr attr;

	pair_attr(w->p, side, i, &attr);
	cr_assert_eq(roce_qp_modify(d->shard, d->q[i].qp, w->p->now_ns, ROCE_QPS_RESET, 0, &attr),
		ROCE_MODIFY_OK);
	cr_assert(roce_ud_start(d->shard, d->q[i].qp, w->p->now_ns,
		&(struct roce_ud_cfg){.q_key = q_key,
			.gid = attr.path.sgid,
			.vlan = w->p->opts.vlan,
			.ahs = &w->table[side]}));
	roce_ah_set(&w->ah[side][UD_AH % UD_AHS], UD_AH, &attr.path, 0, UD_MTU);
}

struct ud_world
ud_world_new(const struct pair_opts *opts)
{
	struct ud_world w = {.p = pair_new(opts)};

	return w;
}

void
ud_world_start(struct ud_world *w)
{
	for (unsigned side = 0; side < 2; side++) {
		w->table[side] = (struct roce_ah_table){.slot = w->ah[side], .count = UD_AHS};
		for (unsigned i = 0; i < w->p->opts.qps; i++)
			ud_start(w, side, i, UD_Q_KEY);
	}
}

const struct roce_counters *
ud_count(const struct ud_world *w, unsigned side)
{
	return roce_shard_counters(w->p->side[side].shard);
}

void
ud_post(struct ud_world *w, unsigned i, uint64_t context, uint32_t bytes, uint32_t q_key,
	uint32_t flags)
{
	struct pair *p = w->p;
	struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);

	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.rkey = UD_AH,
			.inline_bytes = bytes,
			.raddr = NDSH_UD_RADDR(roce_qp_num(p->side[1].q[i].qp), q_key),
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, !(flags & NDSH_WRF_INLINE), flags, 0)},
		&sge, p->side[0].arena);
}

void
ud_send(struct ud_world *w, unsigned i, uint64_t context, uint32_t bytes)
{
	ud_post(w, i, context, bytes, UD_Q_KEY, 0);
}

void
ud_fill(struct ud_world *w, uint32_t bytes)
{
	for (uint32_t k = 0; k < bytes; k++)
		w->p->side[0].arena[k] = (uint8_t)(k * 7 + bytes);
}

struct ndsh_cqe
ud_arrived(struct ud_world *w, uint64_t context, uint32_t bytes)
{
	const uint8_t *at = w->p->side[1].arena + UD_TARGET;
	struct ndsh_cqe c = pair_expect(w->p, 1, context, NDSH_WC_SUCCESS);

	cr_assert_eq(c.op, NDSH_OP_RECV);
	cr_assert_eq(c.bytes, UD_GRH + bytes);
	cr_assert(c.flags & NDSH_CQEF_GRH);
	cr_assert_eq(c.syndrome, roce_qp_num(w->p->side[0].q[0].qp), "source queue pair");
	cr_assert_arr_eq(at + UD_GRH, w->p->side[0].arena, bytes);
	return c;
}
