/* SPDX-License-Identifier: BSD-3-Clause */
/* The clients of an engine pair: what they post, and what they take from their completion queue. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"

struct ndsh_sge
pair_moved_sge(const struct pair *p, unsigned side, uint32_t at, uint32_t bytes)
{
	const struct pair_side *d = &p->side[side];

	return (struct ndsh_sge){
		.addr = (uintptr_t)d->moved + at, .len = bytes, .key = d->moved_key};
}

struct ndsh_sge
pair_sge(const struct pair *p, unsigned side, uint32_t at, uint32_t bytes)
{
	return (struct ndsh_sge){.addr = PAIR_VA + at, .len = bytes, .key = p->side[side].key};
}

void
pair_post(struct pair *p, unsigned side, unsigned i, const struct ndsh_swr *wr,
	const struct ndsh_sge *sge, const void *data)
{
	struct pair_side *d = &p->side[side];
	struct ndsh_qp_page *page = d->q[i].block;

	ndsh_sq_push(&d->q[i].sq, wr, sge, data);
	if (!page->sq_polled)
		roce_qp_doorbell(d->shard, NULL, d->q[i].qp);
}

void
pair_send(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t at, uint32_t bytes,
	uint32_t flags)
{
	struct ndsh_sge sge = pair_sge(p, side, at, bytes);
	uint32_t num_sge = !(flags & NDSH_WRF_INLINE);

	pair_post(p, side, i,
		&(struct ndsh_swr){.context = context,
			.inline_bytes = bytes,
			.ctrl = NDSH_CTRL(NDSH_OP_SEND, num_sge, flags, 0)},
		&sge, p->side[side].arena + at);
}

void
pair_recv(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t at, uint32_t bytes)
{
	struct ndsh_sge sge = pair_sge(p, side, at, bytes);
	struct pair_side *d = &p->side[side];

	ndsh_rq_push(d->srq != NULL ? &d->srq_rq : &d->q[i].rq, context, &sge, 1);
}

void
pair_write(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t from, uint32_t to,
	uint32_t bytes, uint32_t flags)
{
	struct ndsh_sge sge = pair_sge(p, side, from, bytes);
	uint32_t num_sge = !(flags & NDSH_WRF_INLINE);

	pair_post(p, side, i,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA + to,
			.rkey = p->side[!side].key,
			.inline_bytes = bytes,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, num_sge, flags, 0)},
		&sge, p->side[side].arena + from);
}

void
pair_post_sge(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t op,
	uint32_t flags, const struct ndsh_sge *sge)
{
	pair_post(p, side, i,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA,
			.rkey = p->side[!side].key,
			.ctrl = NDSH_CTRL(op, 1, flags, 0)},
		sge, NULL);
}

void
pair_read(struct pair *p, unsigned side, unsigned i, uint64_t context, uint32_t to, uint32_t from,
	uint32_t bytes, uint32_t flags)
{
	struct ndsh_sge sge = pair_sge(p, side, to, bytes);

	pair_post(p, side, i,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA + from,
			.rkey = p->side[!side].key,
			.ctrl = NDSH_CTRL(NDSH_OP_READ, 1, flags, 0)},
		&sge, NULL);
}

void
pair_write_by_key(struct pair *p, uint64_t context, uint64_t raddr, uint32_t rkey, uint32_t bytes)
{
	struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);

	pair_post(p, 0, 0,
		&(struct ndsh_swr){.context = context,
			.raddr = raddr,
			.rkey = rkey,
			.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, 0, 0)},
		&sge, NULL);
}

bool
pair_poll(struct pair *p, unsigned side, struct ndsh_cqe *cqe)
{
	return ndsh_cq_poll(&p->side[side].reader, cqe, 1) == 1;
}

/* ---- what tests expect ---- */

struct ndsh_cqe
pair_expect(struct pair *p, unsigned side, uint64_t context, uint8_t status)
{
	struct ndsh_cqe c;

	cr_assert(pair_poll(p, side, &c), "no completion for %lu", context);
	cr_assert_eq(c.context, context, "completion of %lu instead of %lu", c.context, context);
	cr_assert_eq(c.status, status, "%lu: status %u, wanted %u", context, c.status, status);
	return c;
}

void
pair_expect_none(struct pair *p, unsigned side)
{
	struct ndsh_cqe c;

	cr_assert_not(pair_poll(p, side, &c), "completion of %lu", c.context);
}

void
pair_arm(struct pair *p, unsigned side, enum ndsh_arm type)
{
	cr_assert_eq(ndsh_cq_arm(&p->side[side].reader, type, NULL), NDSH_ARMED);
}

bool
pair_armed(const struct pair *p, unsigned side)
{
	return ndsh_cq_armed(&p->side[side].reader) != NDSH_ARM_NONE;
}

void
pair_expect_dead(struct pair *p, unsigned side, unsigned i, enum roce_reason reason)
{
	const struct roce_qp *qp = p->side[side].q[i].qp;
	const struct ndsh_qp_page *page = p->side[side].q[i].block;

	cr_assert_eq(roce_qp_state_get(qp), ROCE_QPS_ERR);
	cr_assert_eq(roce_qp_reason(qp), reason, "%s", roce_reason_name(roce_qp_reason(qp)));
	cr_assert_eq(page->dead, 1);
	if (reason != ROCE_REASON_MODIFY) {
		cr_assert(p->side[side].events & 1u << ROCE_EV_QP_ERROR);
		cr_assert_eq(p->side[side].last_event.reason, reason);
		if (reason == ROCE_REASON_CLIENT_BREACH) /* no answer of the peer, or one to it */
			cr_assert(p->side[side].last_event.syndrome == 0 ||
				  p->side[side].last_event.syndrome == ROCE_SYN_NAK_REM_OP);
		cr_assert_eq(p->side[side].last_event.owner, &p->side[side].q[i]);
	}
}

void
pair_expect_alive(struct pair *p, unsigned side, unsigned i)
{
	cr_assert_eq(roce_qp_state_get(p->side[side].q[i].qp), ROCE_QPS_RTS);
}
