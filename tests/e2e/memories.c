/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every operation, from and to every kind of memory that may be registered: from a's to b's, the
 * bytes compared where they arrive and around there.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "scenarios.h"
#include "window.h"

#define AREA	   ND_ADOPT_BYTES_MIN
#define AT	   67u /* where data begin: no multiple of anything */
#define GUARD	   0xee
#define INLINE	   100u
#define FAST_PAGES (AREA / ND_PAGE_BYTES)
#define FAST_BASE  UINT64_C(0x123456789000) /* no memory is there */
#define IMMEDIATE  0x12345678u
#define BOUND	   (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)
#define SHARES	   (ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ)

enum kind {
	ARENA,
	HEAP,
	STACK,
	ANONYMOUS,
	ADOPTED,
	SHARED,
	FILE_SHARED,
	FILE_PRIVATE,
	READ_ONLY,
	KINDS
};
enum way { REGION, WINDOW, FAST, WAYS };

struct memory {
	enum kind kind;
	char *at;
	struct nd_mr *mr;
};

/* What the peer is told. */
struct target {
	const struct memory *memory;
	enum way way;
	uint64_t address; /* of byte 0 */
	uint32_t token;
};

static unsigned int operations;

/* ---- memory ---------------------------------------------------------------------------------- */

static char *
obtain(const struct side *s, enum kind kind, char *stack)
{
	switch (kind) {
	case ARENA:
		return nd_alloc(s->adapter, AREA);
	case HEAP:
		return malloc(AREA);
	case STACK:
		return stack;
	case SHARED:
		return map_anonymous(AREA, MAP_SHARED);
	case FILE_SHARED:
		return map_file(AREA, MAP_SHARED);
	case FILE_PRIVATE:
		return map_file(AREA, MAP_PRIVATE);
	default:
		return map_anonymous(AREA, MAP_PRIVATE);
	}
}

static void
memory_open(const struct side *s, struct memory *m, enum kind kind, char *stack)
{
	uint32_t rights = SHARES | ND_MR_FLAG_ALLOW_REMOTE_ATOMIC;

	*m = (struct memory){.kind = kind, .at = obtain(s, kind, stack)};
	CHECK(m->at != NULL);
	if (kind == READ_ONLY) {
		for (uint32_t i = 0; i < AREA; i++)
			m->at[i] = (char)(i * 11 + i / 251);
		CHECK(mprotect(m->at, AREA, PROT_READ) == 0);
		rights = ND_MR_FLAG_ALLOW_REMOTE_READ;
	}
	rights |= kind == ADOPTED ? ND_MR_FLAG_ADOPT : ND_MR_FLAG_DO_NOT_ADOPT;
	WANT(ND_SUCCESS, region_new(s->pd, m->at, AREA, rights, &m->mr));
}

/* Its adapter is closed. */
static void
memory_free(const struct memory *m)
{
	if (m->kind == HEAP)
		free(m->at);
	else if (m->kind > STACK)
		CHECK(munmap(m->at, AREA) == 0);
}

static void
fill(const struct memory *m, uint32_t bytes)
{
	static unsigned int salt;

	salt++;
	for (uint32_t i = 0; m->kind != READ_ONLY && i < bytes; i++)
		m->at[AT + i] = (char)(i * 7 + i / 256 * 13 + salt * 31);
}

static void
clear(const struct memory *m)
{
	memset(m->at, GUARD, AREA);
}

/* As it stands in from, and nothing beside it. */
static void
arrived(const struct memory *from, const struct memory *to, uint32_t bytes)
{
	operations++;
	CHECK(memcmp(from->at + AT, to->at + AT, bytes) == 0);
	for (uint32_t i = 0; i < AREA; i++)
		if (i < AT || i >= AT + bytes)
			CHECK((unsigned char)to->at[i] == GUARD);
}

/* ---- operations ------------------------------------------------------------------------------ */

static struct nd_sge
sge_of(const struct memory *m, uint32_t bytes)
{
	return (struct nd_sge){m->at + AT, bytes, nd_mr_local_token(m->mr)};
}

static void
receive(struct side *s, const struct memory *m, uint32_t bytes)
{
	struct nd_sge sge = sge_of(m, bytes);

	WANT(ND_SUCCESS, nd_qp_receive(s->qp, m->at, &sge, 1));
}

static void
done(struct side *s)
{
	struct nd_result result;

	WANT(ND_SUCCESS, side_result(s, &result));
}

static void
received(struct side *s, uint32_t bytes, int immediate)
{
	struct nd_result_ex result;

	WANT(ND_SUCCESS, side_result_ex(s, &result));
	CHECK(result.bytes_transferred == bytes);
	CHECK(result.immediate == (immediate ? IMMEDIATE : 0));
}

static void
sends(struct pair *p, const struct memory *from, const struct memory *to, uint32_t bytes)
{
	struct nd_sge sge = sge_of(from, bytes);

	for (int immediate = 0; immediate < 2; immediate++) {
		fill(from, bytes);
		clear(to);
		receive(&p->b, to, bytes);
		if (immediate)
			WANT(ND_SUCCESS,
				nd_qp_send_with_immediate(p->a.qp, NULL, &sge, 1, IMMEDIATE, 0));
		else
			WANT(ND_SUCCESS, nd_qp_send(p->a.qp, NULL, &sge, 1, 0));
		received(&p->b, bytes, immediate);
		arrived(from, to, bytes);
		done(&p->a);
	}
}

static void
writes(struct pair *p, const struct memory *from, const struct target *t, uint32_t bytes)
{
	struct nd_sge sge = sge_of(from, bytes);

	fill(from, bytes);
	clear(t->memory);
	WANT(ND_SUCCESS, nd_qp_write(p->a.qp, NULL, &sge, 1, t->address + AT, t->token, 0));
	done(&p->a);
	arrived(from, t->memory, bytes);
	fill(from, bytes);
	clear(t->memory);
	receive(&p->b, t->memory, 0);
	WANT(ND_SUCCESS, nd_qp_write_with_immediate(
				 p->a.qp, NULL, &sge, 1, t->address + AT, t->token, IMMEDIATE, 0));
	received(&p->b, bytes, 1);
	arrived(from, t->memory, bytes);
	done(&p->a);
}

/* The buffer is the program's again when the post returns. */
static void
inlined(struct pair *p, const struct memory *from, const struct target *t, uint32_t bytes)
{
	struct nd_sge sge = sge_of(from, bytes);
	char kept[INLINE];

	fill(from, bytes);
	clear(t->memory);
	memcpy(kept, from->at + AT, bytes);
	WANT(ND_SUCCESS,
		nd_qp_write(p->a.qp, NULL, &sge, 1, t->address + AT, t->token, ND_OP_FLAG_INLINE));
	fill(from, bytes);
	done(&p->a);
	if (from->kind != READ_ONLY)
		memcpy(from->at + AT, kept, bytes);
	arrived(from, t->memory, bytes);
}

static void
reads(struct pair *p, const struct memory *to, const struct target *t, uint32_t bytes)
{
	struct nd_sge sge = sge_of(to, bytes);

	fill(t->memory, bytes);
	clear(to);
	WANT(ND_SUCCESS, nd_qp_read(p->a.qp, NULL, &sge, 1, t->address + AT, t->token, 0));
	done(&p->a);
	arrived(t->memory, to, bytes);
}

/* One after the other without a pause: a swap that fails, one that is done, an addition, and a read
 * that sees all of it. The old values go where no word could be. */
static void
atomics(struct pair *p, const struct memory *to, const struct target *t)
{
	const uint64_t at = t->address + 1024, first = 0x0102030405060708, second = 0x1111111111;
	uint64_t got[4], *word = (uint64_t *)(void *)(t->memory->at + 1024);
	struct nd_sge sge[4];

	clear(to);
	for (unsigned int i = 0; i < 4; i++)
		sge[i] = (struct nd_sge){to->at + AT + 8 * i, 8, nd_mr_local_token(to->mr)};
	__atomic_store_n(word, first, __ATOMIC_RELAXED);
	WANT(ND_SUCCESS, nd_qp_compare_swap(p->a.qp, NULL, &sge[0], at, t->token, second, 7, 0));
	WANT(ND_SUCCESS,
		nd_qp_compare_swap(p->a.qp, NULL, &sge[1], at, t->token, first, second, 0));
	WANT(ND_SUCCESS, nd_qp_fetch_add(p->a.qp, NULL, &sge[2], at, t->token, 5, 0));
	WANT(ND_SUCCESS, nd_qp_read(p->a.qp, NULL, &sge[3], 1, at, t->token, 0));
	for (unsigned int i = 0; i < 4; i++)
		done(&p->a);
	memcpy(got, to->at + AT, sizeof(got));
	CHECK(got[0] == first && got[1] == first && got[2] == second && got[3] == second + 5);
	CHECK(__atomic_load_n(word, __ATOMIC_RELAXED) == second + 5);
	CHECK((unsigned char)to->at[AT - 1] == GUARD &&
		(unsigned char)to->at[AT + sizeof(got)] == GUARD);
	operations += 3;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void
every_operation(struct pair *p, const struct memory *ours, const struct target *t)
{
	static const uint32_t sizes[] = {7, 4096 + 5};
	bool from = ours->kind != READ_ONLY, to = t->memory->kind != READ_ONLY;

	for (unsigned int i = 0; i < 2; i++) {
		if (to && t->way == REGION)
			sends(p, ours, t->memory, sizes[i]);
		if (to)
			writes(p, ours, t, sizes[i]);
		if (from)
			reads(p, ours, t, sizes[i]);
	}
	if (to)
		inlined(p, ours, t, INLINE);
	if (from && to && t->way == REGION)
		atomics(p, ours, t);
}

/* Bound, or fast-registered, page by page as they lie. */
static void
open_window(struct side *s, struct target *t, struct nd_mw *mw)
{
	WANT(ND_SUCCESS, nd_qp_bind(s->qp, mw, t->memory->mr, mw, t->memory->at, AREA, BOUND));
	done(s);
	t->token = nd_mw_remote_token(mw);
}

static void
open_fast(struct side *s, struct target *t)
{
	uint64_t pages[FAST_PAGES];
	struct nd_fr *fr;

	for (unsigned int i = 0; i < FAST_PAGES; i++)
		pages[i] = (uintptr_t)t->memory->at + i * ND_PAGE_BYTES;
	WANT(ND_SUCCESS, nd_fr_create(s->pd, &fr));
	WANT(ND_SUCCESS, nd_fr_initialize(fr, FAST_PAGES, 1));
	WANT(ND_SUCCESS,
		nd_qp_fast_register(s->qp, fr, fr, pages, FAST_PAGES, 0, AREA, FAST_BASE, BOUND));
	done(s);
	t->token = nd_fr_remote_token(fr);
	t->address = FAST_BASE;
}

static bool
target_open(struct side *s, struct target *t, const struct memory *m, enum way way)
{
	*t = (struct target){.memory = m,
		.way = way,
		.address = (uintptr_t)m->at,
		.token = nd_mr_remote_token(m->mr)};
	if (way == FAST && m->kind != ARENA)
		return false; /* R-FR-08: pages of the arena only */
	if (way == WINDOW && m->kind == READ_ONLY)
		return false; /* it needs the local write right */
	if (way == WINDOW)
		open_window(s, t, window_new(s));
	else if (way == FAST)
		open_fast(s, t);
	return true;
}

static void
side_ready(struct side *s)
{
	side_open(s, 64);
	WANT(ND_SUCCESS, nd_qp_create(s->pd,
				 &(struct nd_qp_options){.receive_cq = s->cq,
					 .initiator_cq = s->cq,
					 .receive_depth = 8,
					 .initiator_depth = 8,
					 .max_receive_sge = 1,
					 .max_initiator_sge = 1,
					 .inline_bytes = INLINE},
				 &s->qp));
}

/* checks R-MR-11: each kind of a's with each of b's, that as a region, a window and, of the arena,
 * a fast-register region. */
void
scenario_memories(struct pair *p)
{
	char stack[2][AREA];
	struct memory a[KINDS], b[KINDS];
	struct target t;

	side_ready(&p->a);
	side_ready(&p->b);
	pair_connect(p);
	for (unsigned int k = 0; k < KINDS; k++) {
		memory_open(&p->a, &a[k], (enum kind)k, stack[0]);
		memory_open(&p->b, &b[k], (enum kind)k, stack[1]);
	}
	for (unsigned int k = 0; k < KINDS * WAYS; k++) {
		if (!target_open(&p->b, &t, &b[k / WAYS], (enum way)(k % WAYS)))
			continue;
		for (unsigned int i = 0; i < KINDS; i++)
			every_operation(p, &a[i], &t);
	}
	pair_close(p);
	for (unsigned int k = 0; k < KINDS; k++) {
		memory_free(&a[k]);
		memory_free(&b[k]);
	}
	printf("%u operations; ", operations);
}
