/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions; windows are in window.c. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "ndclient/face/flags.h"
#include "ndclient/mem/admin.h"
#include "ndclient/mem/adopt.h"
#include "ndclient/mem/arena.h"
#include "ndclient/mem/copies.h"
#include "ndclient/mem/mover.h"
#include "ndclient/mem/pd.h"
#include "ndclient/mem/region.h"
#include "ndclient/mem/window.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/callbacks.h"
#include "ndclient/session/error.h"
#include "ndclient/session/object.h"
#include "ndclient/session/overlapped.h"

#define PUBLIC_FLAGS                                                                               \
	(ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |                            \
		ND_MR_FLAG_RDMA_READ_SINK | ND_MR_FLAG_DO_NOT_SECURE_VM |                          \
		ND_MR_FLAG_ALLOW_REMOTE_ATOMIC | ND_MR_FLAG_ADOPT | ND_MR_FLAG_DO_NOT_ADOPT |      \
		ND_MR_FLAG_IN_PLACE)
_Static_assert((PUBLIC_FLAGS & ND_MR_FLAG_ALLOW_WINDOWS) == 0, "libndverbs' own flag");
#define MR_FLAGS (PUBLIC_FLAGS | ND_MR_FLAG_ALLOW_WINDOWS)

#define TO_ADOPT (ND_MR_FLAG_ADOPT | ND_MR_FLAG_IN_PLACE)

/* *moved: not of the arena. DO_NOT_SECURE_VM leaves pages unmade (R-MR-11). */
static nd_status
region_check_memory(
	struct nd_adapter *a, const void *buf, size_t bytes, uint32_t flags, bool *moved)
{
	if (buf == NULL)
		return nd_fail(ND_INVALID_PARAMETER, "no memory");
	if ((flags & ~MR_FLAGS) != 0)
		return nd_fail(ND_INVALID_PARAMETER_3, "unknown flags");
	if ((flags & TO_ADOPT) && (flags & ND_MR_FLAG_DO_NOT_ADOPT))
		return nd_fail(ND_INVALID_PARAMETER_3, "to adopt the memory, and not to");
	if (bytes == 0)
		return nd_fail(ND_INVALID_BUFFER_SIZE, "a region of 0 bytes");
	if (bytes > a->info.max_registration_bytes)
		return nd_fail(ND_INVALID_PARAMETER, "longer than max_registration_bytes");
	pthread_mutex_lock(&a->arena.lock);
	*moved = nd_arena_find(&a->arena, buf, bytes) == NULL;
	pthread_mutex_unlock(&a->arena.lock);
	if (!*moved)
		return ND_SUCCESS;
	if ((nd_region_access(flags) & NDSH_ACCESS_REMOTE_ATOMIC) &&
		a->abi_minor < NDSH_MINOR_MOVED_ATOMICS)
		return nd_fail(ND_NOT_SUPPORTED,
			"atomics on memory that is not of nd_alloc(): the daemon is too old");
	return nd_mover_check(buf, bytes, nd_region_access(flags) & NDSH_ACCESS_LOCAL_WRITE,
		!(flags & ND_MR_FLAG_DO_NOT_SECURE_VM));
}

nd_status
nd_mr_create(struct nd_pd *pd, struct nd_mr **out)
{
	struct nd_adapter *a;
	struct nd_mr *mr;
	nd_status st;

	if (pd == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	a = pd->adapter;
	st = nd_admin_open(a);
	if (st != ND_SUCCESS)
		return st;
	mr = calloc(1, sizeof(*mr));
	if (mr == NULL)
		return ND_NO_MEMORY;
	mr->pd = pd;
	nd_object_open(&mr->obj, &nd_mr_class, a);
	nd_object_rest(&mr->obj, &pd->obj);
	*out = mr;
	return ND_SUCCESS;
}

/* Waits if ov is NULL. The daemon may answer before this returns (R-OV-04). */
static nd_status
region_request(struct nd_mr *mr, const struct nd_mr_request *what, struct nd_overlapped *ov)
{
	struct nd_adapter *a = mr->pd->adapter;
	struct nd_overlapped own = {.flags = ND_REQUEST_NOT_TO_PORT};
	nd_status st;

	st = nd_overlapped_begin(a, ov != NULL ? ov : &own, what->call);
	if (st != ND_SUCCESS)
		return st;
	st = nd_admin_request(mr, what, ov != NULL ? ov : &own);
	if (ov != NULL)
		return nd_overlapped_issued(ov, st);
	return st == ND_PENDING ? nd_overlapped_wait(&own, -1) : st;
}

/* *adopted: NULL if the memory is moved. */
static nd_status
region_adopt(
	struct nd_adapter *a, void *buf, size_t bytes, uint32_t flags, struct nd_adopted **adopted)
{
	enum nd_adopt_reason reason = nd_adopt(a, buf, bytes, flags, adopted);

	if (reason == ND_ADOPT_REASONS || !(flags & ND_MR_FLAG_IN_PLACE))
		return ND_SUCCESS;
	return reason == ND_ADOPT_RESOURCES
		       ? nd_fail(ND_INSUFFICIENT_RESOURCES, "no memory to adopt the buffer with")
		       : nd_fail(ND_NOT_SUPPORTED, "memory that can't be adopted");
}

static nd_status
region_register(struct nd_mr *mr, void *buf, size_t bytes, uint64_t iova_offset, uint32_t flags,
	struct nd_overlapped *ov)
{
	struct nd_mr_request what = {.op = NDSH_ADMIN_REGISTER,
		.va = (uintptr_t)buf,
		.bytes = bytes,
		.iova_offset = iova_offset,
		.access = nd_region_access(flags),
		.call = "nd_mr_register"};
	struct nd_adapter *a = mr->pd->adapter;
	bool moved = false;
	nd_status st = region_check_memory(a, buf, bytes, flags, &moved);

	if (st == ND_SUCCESS && moved)
		st = region_adopt(a, buf, bytes, flags, &what.adopted);
	if (st == ND_SUCCESS && moved && what.adopted == NULL) {
		what.op = NDSH_ADMIN_REGISTER_MOVED;
		st = nd_mover_need(a);
	}
	if (st == ND_SUCCESS && moved && what.adopted == NULL)
		nd_copies_need(mr->pd);
	if (st == ND_SUCCESS)
		st = region_request(mr, &what, ov);
	nd_adopt_put(a, what.adopted); /* the region holds it now, or it ends */
	return st;
}

nd_status
nd_mr_register(struct nd_mr *mr, void *buf, size_t bytes, uint32_t flags, struct nd_overlapped *ov)
{
	return mr != NULL ? region_register(mr, buf, bytes, 0, flags, ov) : ND_INVALID_PARAMETER;
}

nd_status
nd_mr_register_iova(struct nd_mr *mr, void *buf, size_t bytes, uint64_t iova, uint32_t flags)
{
	uint64_t iova_offset = iova - (uintptr_t)buf;

	if (iova + bytes < iova)
		return nd_fail(ND_INVALID_PARAMETER, "an iova that wraps");
	if (iova_offset != 0 && mr->pd->adapter->abi_minor < NDSH_MINOR_IOVA)
		return nd_fail(ND_NOT_SUPPORTED, "this daemon is too old for an iova");
	return region_register(mr, buf, bytes, iova_offset, flags, NULL);
}

nd_status
nd_mr_deregister(struct nd_mr *mr, struct nd_overlapped *ov)
{
	const struct nd_mr_request what = {.op = NDSH_ADMIN_DEREGISTER, .call = __func__};
	nd_status st;

	if (mr == NULL)
		return ND_INVALID_PARAMETER;
	if (nd_mr_is_bound(mr)) /* R-MR-06 */
		return nd_fail(ND_DEVICE_BUSY, "windows are bound to the region");
	st = region_request(mr, &what, ov);
	if (ov == NULL)
		nd_adopt_reap(mr->pd->adapter);
	return st;
}

nd_status
nd_mr_cancel(struct nd_mr *mr)
{
	if (mr == NULL)
		return ND_INVALID_PARAMETER;
	nd_admin_cancel(mr);
	return ND_SUCCESS;
}

/* The windows may let go of the region in a thread that cannot take it down, so the callbacks'
 * thread must be there to do it. Without it, the next close of a window or queue pair does it. */
static bool
region_stop(struct nd_object *o)
{
	struct nd_adapter *a = o->adapter;

	if (nd_mr_is_bound((struct nd_mr *)o)) {
		pthread_mutex_lock(&a->lock);
		if (!nd_gone(a))
			(void)nd_callbacks_start(a);
		pthread_mutex_unlock(&a->lock);
	}
	return false;
}

/* Windows are bound to it only if the adapter is being closed. */
static void
region_destroy(struct nd_object *o)
{
	struct nd_mr *mr = (struct nd_mr *)o;

	nd_mr_unbind_all(mr);
	nd_admin_cancel(mr);
	(void)nd_mr_deregister(mr, NULL);
	nd_admin_cancel(
		mr); /* another thread may have told the outcome, and have it in hand still */
	free(mr);
}

const struct nd_class nd_mr_class = {.stop = region_stop, .destroy = region_destroy};

nd_status
nd_mr_close(struct nd_mr *mr)
{
	return nd_close(mr, NULL);
}

uint32_t
nd_mr_local_token(const struct nd_mr *mr)
{
	return __atomic_load_n(&mr->token, __ATOMIC_ACQUIRE);
}

/* As it stands on the wire (R-MR-09). */
uint32_t
nd_mr_remote_token(const struct nd_mr *mr)
{
	return htonl(nd_mr_local_token(mr));
}
