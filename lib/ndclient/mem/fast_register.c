/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fast-register regions. The daemon knows the object; registering and invalidating are posts. A
 * page list lies in shared memory and is the daemon's until its request is finished, so a region
 * has a few: the next registration may be posted while earlier ones are under way.
 */
#include <arpa/inet.h>
#include <stdlib.h>

#include "ndclient/face/flags.h"
#include "ndclient/mem/fast_register.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/segment.h"
#include "ndclient/qp/post.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/object.h"
#include "ndclient/session/spin.h"

static_assert(ND_PAGE_BYTES == NDSH_PAGE_BYTES, "pages are the ABI's");

#define ALLOW (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE | ND_OP_FLAG_ALLOW_LOCAL_WRITE)

#define INVALIDATE_FLAGS (ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE | ND_OP_FLAG_DEFER)
#define REGISTER_FLAGS	 (INVALIDATE_FLAGS | ALLOW)
#define NO_LIST		 NDSH_FRMR_LISTS

nd_status
nd_fr_create(struct nd_pd *pd, struct nd_fr **out)
{
	struct nd_fr *fr;

	if (pd == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	fr = calloc(1, sizeof(*fr));
	if (fr == NULL)
		return ND_NO_MEMORY;
	fr->pd = pd;
	nd_object_open(&fr->obj, &nd_fr_class, pd->adapter);
	nd_object_rest(&fr->obj, &pd->obj);
	*out = fr;
	return ND_SUCCESS;
}

/* Only one thread gets through, and only once. */
static bool
frmr_claim(struct nd_fr *fr)
{
	uint32_t fresh = ND_FRMR_FRESH;

	return __atomic_compare_exchange_n(
		&fr->state, &fresh, ND_FRMR_CHANGING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static nd_status
frmr_initialize(struct nd_fr *fr, uint32_t max_pages, bool remote)
{
	struct nd_adapter *a = fr->pd->adapter;
	struct ndsh_frmr_create m = {.h.type = NDSH_MSG_FRMR_CREATE,
		.pd = fr->pd->id,
		.max_pages = max_pages,
		.remote = remote};
	struct ndsh_frmr_create_reply reply;
	nd_status st;

	fr->lists = nd_block_alloc(a, (uint64_t)NDSH_FRMR_LISTS * max_pages * sizeof(*fr->lists),
		&m.segment, &m.offset);
	if (fr->lists == NULL)
		return nd_gone(a) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
	st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS) {
		nd_free(a, fr->lists);
		fr->lists = NULL;
		return st;
	}
	fr->id = reply.fr;
	fr->slot = reply.slot;
	fr->secret = reply.secret;
	fr->max_pages = max_pages;
	fr->remote = remote;
	fr->local_token = ndsh_window_token(fr->slot, fr->secret, 0);
	return ND_SUCCESS;
}

nd_status
nd_fr_initialize(struct nd_fr *fr, uint32_t max_pages, int remote_access)
{
	uint32_t limit = fr->pd->adapter->info.max_fast_register_pages;
	nd_status st;

	if (limit == 0)
		return nd_fail(
			ND_NOT_SUPPORTED, "this daemon is too old for fast-register regions");
	if (max_pages > limit)
		return nd_fail(
			ND_IMPLEMENTATION_LIMIT, "%u pages, of at most %u", max_pages, limit);
	if (max_pages == 0)
		return nd_fail(ND_INVALID_PARAMETER, "a region of no pages");
	if (!frmr_claim(fr))
		return nd_fail(ND_INVALID_DEVICE_STATE, "the region was initialized before");
	st = frmr_initialize(fr, max_pages, remote_access != 0);
	__atomic_store_n(
		&fr->state, st == ND_SUCCESS ? ND_FRMR_READY : ND_FRMR_FRESH, __ATOMIC_RELEASE);
	return st;
}

static bool
frmr_is_ready(const struct nd_fr *fr)
{
	return __atomic_load_n(&fr->state, __ATOMIC_ACQUIRE) == ND_FRMR_READY;
}

static void
frmr_destroy(struct nd_object *o)
{
	struct nd_fr *fr = (struct nd_fr *)o;

	if (frmr_is_ready(fr) && nd_object_forget(o->adapter, NDSH_MSG_FRMR_DESTROY, fr->id))
		nd_free(o->adapter, fr->lists);
	free(fr);
}

const struct nd_class nd_fr_class = {.destroy = frmr_destroy};

nd_status
nd_fr_close(struct nd_fr *fr)
{
	return nd_close(fr, NULL);
}

uint32_t
nd_fr_local_token(const struct nd_fr *fr)
{
	return frmr_is_ready(fr) ? fr->local_token : 0;
}

uint32_t
nd_fr_remote_token(const struct nd_fr *fr)
{
	return htonl(__atomic_load_n(&fr->token, __ATOMIC_RELAXED));
}

/* ---- requests ------------------------------------------------------------------------ */

/* R-FR-03 */
static bool
frmr_pages_fit(const struct nd_fr *fr, const uint64_t *pages, uint32_t count, uint32_t offset,
	uint64_t bytes, uint64_t base)
{
	if (count == 0 || count > fr->max_pages || pages == NULL || offset >= NDSH_PAGE_BYTES)
		return false;
	if (bytes == 0 || bytes > (uint64_t)count * NDSH_PAGE_BYTES - offset)
		return false;
	if (base % NDSH_PAGE_BYTES != offset || base + bytes < base)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (pages[i] % NDSH_PAGE_BYTES != 0)
			return false;
	return true;
}

static nd_status
frmr_check(const struct nd_qp *qp, const struct nd_fr *fr, uint32_t flags, uint32_t legal)
{
	if (fr == NULL || fr->pd != qp->pd || (flags & ~legal) != 0)
		return ND_INVALID_PARAMETER;
	return frmr_is_ready(fr) ? ND_SUCCESS : ND_INVALID_DEVICE_STATE;
}

/* Take a list that the daemon is done with, and the token of the next generation; NO_LIST: there is
 * none. */
static uint32_t
frmr_take_list(struct nd_fr *fr, struct nd_qp *qp, struct ndsh_swr *wr)
{
	struct nd_adapter *a = qp->adapter;
	uint32_t i;

	nd_spin_lock(&a->windows_lock);
	for (i = 0; i < NDSH_FRMR_LISTS; i++)
		if (fr->list[i].qp == NULL || nd_qp_is_done(fr->list[i].qp, fr->list[i].index))
			break;
	if (i < NDSH_FRMR_LISTS) {
		fr->list[i].qp = qp;
		fr->list[i].index = qp->sq.next;
		if (++fr->generation == 0) /* that is the local token's */
			fr->generation = 1;
		wr->imm = fr->generation;
		wr->rkey = ndsh_window_token(fr->slot, fr->secret, fr->generation);
		__atomic_store_n(&fr->token, wr->rkey, __ATOMIC_RELAXED);
	}
	nd_spin_unlock(&a->windows_lock);
	return i;
}

nd_status
nd_qp_fast_register(struct nd_qp *qp, void *context, struct nd_fr *fr, const uint64_t *pages,
	uint32_t count, uint32_t offset, uint64_t bytes, uint64_t base, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context, .raddr = base, .arg[0] = bytes};
	nd_status st = frmr_check(qp, fr, flags, REGISTER_FLAGS);
	uint32_t list;

	if (st == ND_SUCCESS && !frmr_pages_fit(fr, pages, count, offset, bytes, base))
		st = ND_INVALID_PARAMETER;
	if (st == ND_SUCCESS && !fr->remote &&
		(flags & (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)))
		st = ND_ACCESS_VIOLATION; /* R-FR-04 */
	if (st == ND_SUCCESS)
		st = nd_post_check(qp); /* R-FR-07 */
	if (st != ND_SUCCESS)
		return st;
	list = frmr_take_list(fr, qp, &wr);
	if (list == NO_LIST)
		return ND_NO_MORE_ENTRIES;
	for (uint32_t i = 0; i < count; i++)
		fr->lists[(size_t)list * fr->max_pages + i] = pages[i];
	wr.arg[1] = NDSH_FRMR_ARG(nd_frmr_access(flags), list, count);
	nd_post_local(qp, NDSH_OP_FAST_REGISTER, &wr, nd_request_flags(flags));
	return ND_SUCCESS;
}

nd_status
nd_qp_invalidate_fr(struct nd_qp *qp, void *context, struct nd_fr *fr, uint32_t flags)
{
	struct ndsh_swr wr = {.context = (uintptr_t)context};
	nd_status st = frmr_check(qp, fr, flags, INVALIDATE_FLAGS);

	if (st == ND_SUCCESS)
		st = nd_post_check(qp);
	if (st != ND_SUCCESS)
		return st;
	wr.rkey = __atomic_load_n(&fr->token, __ATOMIC_RELAXED);
	nd_post_local(qp, NDSH_OP_INVALIDATE, &wr, nd_request_flags(flags));
	return ND_SUCCESS;
}

/* The daemon has forgotten the queue pair: none of its requests reads a list any more. */
void
nd_frmr_release_lists(struct nd_qp *qp)
{
	struct nd_adapter *a = qp->adapter;
	struct nd_object *o;

	nd_spin_lock(&a->windows_lock);
	LIST_FOREACH (o, &a->objects, link) {
		struct nd_fr *fr = (struct nd_fr *)o;

		for (uint32_t i = 0; o->class == &nd_fr_class && i < NDSH_FRMR_LISTS; i++)
			if (fr->list[i].qp == qp)
				fr->list[i].qp = NULL;
	}
	nd_spin_unlock(&a->windows_lock);
}
