/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory in pieces: fast-register regions, which are lists of pages, and the key to all that a
 * client has shared. roce_mr_access() refuses both, and then the callers ask here, piece by piece.
 *
 * The pages of a region are client's addresses, looked up in the arena at each access: memory that
 * the client has given back meanwhile is simply not found.
 */
#include "roce/mem/fast_register.h"

#include "roce/assert.h"
#include "roce/mem/arena.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/shard/shard.h"

#define PAGE		 ((uint64_t)NDSH_PAGE_BYTES)
#define LOCAL		 (ROCE_ACCESS_LOCAL_READ | NDSH_ACCESS_LOCAL_WRITE)
#define REMOTE		 (NDSH_ACCESS_REMOTE_READ | NDSH_ACCESS_REMOTE_WRITE)
#define SECRET_DOMAIN	 4u
#define LOCAL_GENERATION 0u

static uint32_t
index_of(const struct roce_shard *s, const struct roce_mr *mr)
{
	return (uint32_t)(mr - s->mrs);
}

/* Where the client's [va, va+bytes) lies; NULL: not in one piece of the arena. */
static uint8_t *
arena_at(const struct roce_arena *a, uint64_t va, uint64_t bytes)
{
	const struct roce_extent *e = roce_arena_find(a, va, bytes);

	return e == NULL ? NULL : e->host + (va - e->va);
}

/* ---- the objects ---------------------------------------------------------------------------- */

size_t
roce_frmr_bytes(uint32_t max_pages)
{
	return sizeof(struct roce_frmr) + max_pages * sizeof(uint64_t);
}

struct roce_mr *
roce_frmr_create(struct roce_shard *s, const struct roce_frmr_cfg *cfg, void *mem, uint32_t *slot,
	uint64_t *secret)
{
	struct roce_mr *mr;

	if (cfg->max_pages == 0 || cfg->max_pages > NDSH_FRMR_PAGES_MAX)
		return NULL;
	mr = roce_mr_take(s, cfg->pd);
	if (mr == NULL)
		return NULL;
	mr->kind = ROCE_MR_FRMR;
	mr->secret = roce_shard_random(s, SECRET_DOMAIN);
	mr->fr = mem;
	mr->fr->arena = cfg->arena;
	mr->fr->lists = cfg->lists;
	mr->fr->max_pages = cfg->max_pages;
	mr->fr->remote = cfg->remote;
	mr->fr->local_key = ndsh_window_token(index_of(s, mr), mr->secret, LOCAL_GENERATION);
	*slot = index_of(s, mr);
	*secret = mr->secret;
	return mr;
}

void
roce_frmr_destroy(struct roce_shard *s, struct roce_mr *fr)
{
	roce_assert(index_of(s, fr) < s->cfg.max_mrs && fr->kind == ROCE_MR_FRMR);
	roce_mr_give(s, fr);
}

struct roce_mr *
roce_arena_open(struct roce_shard *s, uint32_t pd, const struct roce_arena *arena)
{
	struct roce_mr *mr = roce_mr_take(s, pd);

	if (mr == NULL)
		return NULL;
	mr->kind = ROCE_MR_ARENA;
	mr->arena = arena;
	mr->key = roce_mr_new_key(s, mr);
	return mr;
}

void
roce_arena_close(struct roce_shard *s, struct roce_mr *key)
{
	roce_assert(index_of(s, key) < s->cfg.max_mrs && key->kind == ROCE_MR_ARENA);
	roce_mr_give(s, key);
}

/* ---- registering ---------------------------------------------------------------------------- */

/* Each page is read once, and judged as it was read: the client may change its list meanwhile. */
static bool
take_pages(struct roce_frmr *fr, const struct roce_frmr_args *f)
{
	const uint64_t *list = fr->lists + (size_t)f->list * fr->max_pages;

	for (uint32_t i = 0; i < f->pages; i++) {
		uint64_t page = __atomic_load_n(&list[i], __ATOMIC_RELAXED);

		if (page % PAGE != 0 || arena_at(fr->arena, page, PAGE) == NULL)
			return false;
		fr->page[i] = page;
	}
	return true;
}

/*
 * What the library refuses inline is a breach here. Whether the region is registered, and whether a
 * later registration came first through another queue pair, it can't know: that is a failed request
 * (R-FR-06).
 */
enum roce_frmr_result
roce_frmr_register(struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w)
{
	const struct roce_frmr_args *f = &w->frmr;
	struct roce_mr *mr = roce_mr_slot(s, w->rkey);

	if (mr == NULL || mr->kind != ROCE_MR_FRMR || mr->pd != qp->pd)
		return ROCE_FRMR_REFUSED;
	if (f->pages > mr->fr->max_pages || ((f->access & REMOTE) && !mr->fr->remote) ||
		f->generation == LOCAL_GENERATION ||
		w->rkey != ndsh_window_token(index_of(s, mr), mr->secret, f->generation))
		return ROCE_FRMR_BREACH;
	if (mr->rights != 0 || (int32_t)(f->generation - mr->generation) <= 0)
		return ROCE_FRMR_REFUSED;
	if (!take_pages(mr->fr, f))
		return ROCE_FRMR_BAD_PAGE;
	mr->generation = f->generation;
	mr->key = w->rkey;
	mr->va = w->raddr;
	mr->bytes = f->bytes;
	mr->rights = f->access | ROCE_ACCESS_LOCAL_READ;
	return ROCE_FRMR_OK;
}

bool
roce_frmr_is(struct roce_shard *s, uint32_t token)
{
	const struct roce_mr *mr = roce_mr_slot(s, token);

	return mr != NULL && mr->kind == ROCE_MR_FRMR;
}

struct roce_mr *
roce_frmr_of_local(struct roce_shard *s, const struct roce_qp *qp, uint32_t key)
{
	struct roce_mr *mr = roce_mr_slot(s, key);

	if (mr == NULL || mr->kind != ROCE_MR_FRMR || mr->fr->local_key != key ||
		mr->pd != qp->pd || mr->rights == 0)
		return NULL;
	return mr;
}

/* ---- access --------------------------------------------------------------------------------- */

/* Each side has its own token: the peer's opens nothing here, nor ours there. */
static bool
fast_permits(const struct roce_mr *mr, uint32_t key, uint64_t va, uint64_t bytes, uint32_t right)
{
	uint64_t off = va - mr->va; /* below: huge */

	return key == ((right & LOCAL) != 0 ? mr->fr->local_key : mr->key) &&
	       (mr->rights & right) == right && bytes <= mr->bytes && off <= mr->bytes - bytes;
}

bool
roce_frmr_permits(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint64_t bytes, uint32_t right)
{
	const struct roce_mr *mr = roce_mr_slot(s, key);

	if (mr == NULL || mr->pd != qp->pd)
		return false;
	if (mr->kind == ROCE_MR_FRMR)
		return fast_permits(mr, key, va, bytes, right);
	return mr->kind == ROCE_MR_ARENA && mr->key == key && (right & ~LOCAL) == 0 &&
	       arena_at(mr->arena, va, bytes) != NULL;
}

uint8_t *
roce_frmr_piece(struct roce_shard *s, const struct roce_qp *qp, uint32_t key, uint64_t va,
	uint32_t *bytes, uint32_t right)
{
	const struct roce_mr *mr = roce_mr_slot(s, key);
	uint32_t left; /* of the first page */
	uint64_t at;

	if (!roce_frmr_permits(s, qp, key, va, *bytes, right))
		return NULL;
	if (mr->kind == ROCE_MR_ARENA)
		return arena_at(mr->arena, va, *bytes);
	at = va - mr->va + mr->va % PAGE; /* counted from the start of the first page */
	left = (uint32_t)(PAGE - at % PAGE);
	if (*bytes > left)
		*bytes = left;
	return arena_at(mr->fr->arena, mr->fr->page[at / PAGE] + at % PAGE, *bytes);
}
