/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/windows.h"

struct pair *
window_pair(void)
{
	return pair_new(&(struct pair_opts){
		.qps = 2, .mtu = WINDOW_MTU, .mr_access = NDSH_ACCESS_LOCAL_WRITE});
}

struct window
window_new(struct pair *p)
{
	struct window v = {0};

	v.mw = roce_mw_create(p->side[1].shard, p->side[1].pd, &v.slot, &v.secret);
	cr_assert_not_null(v.mw);
	return v;
}

struct pair *
window_keyed_pair(void)
{
	return pair_new(&(struct pair_opts){.qps = 3,
		.mtu = WINDOW_MTU,
		.access = WINDOW_RW | NDSH_ACCESS_REMOTE_ATOMIC,
		.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_WINDOW_BIND});
}

struct window
window_new_keyed(struct pair *p, uint32_t type)
{
	struct window v = {.type = type};

	v.mw = roce_mw_create_keyed(p->side[1].shard, p->side[1].pd, type, &v.token);
	cr_assert_not_null(v.mw);
	return v;
}

static uint32_t
next_token(const struct window *v)
{
	if (v->type == NDSH_MW_DERIVED)
		return ndsh_window_token(v->slot, v->secret, v->generation);
	return (v->token & ~0xffu) | ((v->token + 1) & 0xff);
}

void
window_free(struct pair *p, struct window *v)
{
	roce_mw_destroy(p->side[1].shard, v->mw);
}

void
window_pair_free(struct pair *p, struct window *v)
{
	window_free(p, v);
	pair_free(p);
}

void
window_bind_at(struct pair *p, unsigned i, uint64_t context, struct window *v, uint32_t region,
	uint32_t at, uint64_t bytes, uint32_t access, uint32_t flags)
{
	v->generation++;
	v->token = next_token(v);
	pair_post(p, 1, i,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA + at,
			.rkey = v->token,
			.imm = v->generation,
			.arg = {bytes, access | (uint64_t)region << 32},
			.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, flags, 0)},
		NULL, NULL);
}

void
window_bind(struct pair *p, unsigned i, uint64_t context, struct window *v, uint32_t access)
{
	window_bind_at(p, i, context, v, p->side[1].key, WINDOW_AT, WINDOW_BYTES, access, 0);
}

void
window_invalidate(struct pair *p, unsigned i, uint64_t context, uint32_t token, uint32_t flags)
{
	pair_post(p, 1, i,
		&(struct ndsh_swr){.context = context,
			.rkey = token,
			.ctrl = NDSH_CTRL(NDSH_OP_INVALIDATE, 0, flags, 0)},
		NULL, NULL);
}

void
window_use(struct pair *p, unsigned i, uint64_t context, uint8_t op, uint32_t token, uint32_t at,
	uint32_t bytes)
{
	struct ndsh_sge sge = pair_sge(p, 0, at, bytes);

	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = context,
			.raddr = PAIR_VA + at,
			.rkey = token,
			.ctrl = NDSH_CTRL(op, 1, 0, 0)},
		&sge, NULL);
}

void
window_send_inv(struct pair *p, unsigned i, uint64_t context, uint32_t bytes, uint32_t token,
	uint32_t flags)
{
	struct ndsh_sge sge = pair_sge(p, 0, 0, bytes);
	bool inl = flags & NDSH_WRF_INLINE;

	pair_post(p, 0, i,
		&(struct ndsh_swr){.context = context,
			.rkey = token,
			.inline_bytes = inl ? bytes : 0,
			.ctrl = NDSH_CTRL(NDSH_OP_SEND_INV, !inl, flags, 0)},
		&sge, p->side[0].arena);
}

void
window_expect_closed(
	struct pair *p, unsigned i, uint8_t op, uint32_t token, uint32_t at, uint32_t bytes)
{
	uint8_t before[64];

	memcpy(before, p->side[1].arena + at, sizeof(before));
	p->side[0].arena[at]++;
	window_use(p, i, 77, op, token, at, bytes);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 77, NDSH_WC_REM_ACCESS_ERR);
	pair_expect_dead(p, 1, i, ROCE_REASON_SENT_REM_ACCESS);
	cr_assert_arr_eq(p->side[1].arena + at, before, sizeof(before));
}
