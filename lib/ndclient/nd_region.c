/* SPDX-License-Identifier: BSD-3-Clause */
/* Protection domains and memory regions; windows are in nd_window.c. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nd_int.h"

#define MR_FLAGS                                                                                   \
	(ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |                            \
		ND_MR_FLAG_RDMA_READ_SINK | ND_MR_FLAG_DO_NOT_SECURE_VM)

nd_status
nd_pd_create(struct nd_adapter *a, struct nd_pd **out)
{
	struct ndsh_id_msg m = {.h.type = NDSH_MSG_PD_CREATE}, reply;
	struct nd_pd *pd;
	nd_status st;

	if (a == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	pd = calloc(1, sizeof(*pd));
	if (pd == NULL)
		return ND_NO_MEMORY;
	st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS) {
		free(pd);
		return st;
	}
	pd->adapter = a;
	pd->id = reply.id;
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->pds, pd, link);
	pthread_mutex_unlock(&a->lock);
	*out = pd;
	return ND_SUCCESS;
}

nd_status
nd_pd_close(struct nd_pd *pd)
{
	struct nd_adapter *a = pd->adapter;
	bool used;

	pthread_mutex_lock(&a->lock);
	used = pd->users != 0;
	if (!used)
		TAILQ_REMOVE(&a->pds, pd, link);
	pthread_mutex_unlock(&a->lock);
	if (used)
		return nd_fail(ND_DEVICE_BUSY,
			"regions, windows or queue pairs use the protection domain");
	(void)nd_control_id(a, NDSH_MSG_PD_DESTROY, pd->id);
	free(pd);
	return ND_SUCCESS;
}

static uint32_t
access_of(uint32_t flags)
{
	uint32_t access = 0;

	if (flags & ND_MR_FLAG_ALLOW_LOCAL_WRITE)
		access |= NDSH_ACCESS_LOCAL_WRITE;
	if (flags & ND_MR_FLAG_ALLOW_REMOTE_READ)
		access |= NDSH_ACCESS_REMOTE_READ;
	if (flags & (ND_MR_FLAG_ALLOW_REMOTE_WRITE & ~ND_MR_FLAG_ALLOW_LOCAL_WRITE)) /* R-MR-03 */
		access |= NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_LOCAL_WRITE;
	return access; /* RDMA_READ_SINK needs nothing here (R-MR-10) */
}

/* Asks the kernel, and changes nothing: such a sync starts no output. */
static bool
is_mapped(const void *buf, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), skip = (uintptr_t)buf % page;

	return msync((char *)buf - skip, bytes + skip, MS_ASYNC) == 0;
}

static nd_status
check(struct nd_adapter *a, const void *buf, size_t bytes, uint32_t flags)
{
	bool ours;

	if (buf == NULL)
		return nd_fail(ND_INVALID_PARAMETER, "no memory");
	if ((flags & ~MR_FLAGS) != 0)
		return nd_fail(ND_INVALID_PARAMETER_3, "unknown flags");
	if (bytes == 0)
		return nd_fail(ND_INVALID_BUFFER_SIZE, "a region of 0 bytes");
	if (bytes > a->info.max_registration_bytes)
		return nd_fail(ND_INVALID_PARAMETER, "longer than max_registration_bytes");
	pthread_mutex_lock(&a->arena.lock);
	ours = nd_arena_find(&a->arena, buf, bytes) != NULL;
	pthread_mutex_unlock(&a->arena.lock);
	if (ours)
		return ND_SUCCESS;
	if (!is_mapped(buf, bytes))
		return nd_fail(ND_ACCESS_VIOLATION, "memory that is not there");
	return nd_fail(ND_NOT_SUPPORTED, "memory that is not of this adapter's nd_alloc()");
}

nd_status
nd_mr_register(struct nd_pd *pd, void *buf, size_t bytes, uint32_t flags, struct nd_mr **out)
{
	struct ndsh_mr_register m = {.h.type = NDSH_MSG_MR_REGISTER};
	struct ndsh_mr_register_reply reply;
	struct nd_adapter *a;
	struct nd_mr *mr;
	nd_status st;

	if (pd == NULL || out == NULL)
		return ND_INVALID_PARAMETER;
	*out = NULL;
	a = pd->adapter;
	st = check(a, buf, bytes, flags);
	if (st != ND_SUCCESS)
		return st;
	mr = calloc(1, sizeof(*mr));
	if (mr == NULL)
		return ND_NO_MEMORY;
	m.pd = pd->id;
	m.access = access_of(flags);
	m.va = (uintptr_t)buf;
	m.bytes = bytes;
	st = nd_control_call(a, &(struct nd_request){.h = &m.h, .reply = &reply});
	if (st != ND_SUCCESS) {
		free(mr);
		return st;
	}
	mr->pd = pd;
	mr->id = reply.mr;
	mr->local_token = reply.local_token;
	mr->remote_token = reply.remote_token;
	mr->access = m.access;
	mr->va = m.va;
	mr->bytes = bytes;
	pthread_mutex_lock(&a->lock);
	TAILQ_INSERT_TAIL(&a->mrs, mr, link);
	pd->users++;
	pthread_mutex_unlock(&a->lock);
	*out = mr;
	return ND_SUCCESS;
}

nd_status
nd_mr_deregister(struct nd_mr *mr)
{
	struct nd_adapter *a = mr->pd->adapter;
	nd_status st;

	if (nd_mr_is_bound(mr)) /* R-MR-06 */
		return nd_fail(ND_DEVICE_BUSY, "windows are bound to the region");
	st = nd_control_id(a, NDSH_MSG_MR_DEREGISTER, mr->id);
	if (st == ND_DEVICE_BUSY)
		return st;
	pthread_mutex_lock(&a->lock);
	TAILQ_REMOVE(&a->mrs, mr, link);
	mr->pd->users--;
	pthread_mutex_unlock(&a->lock);
	free(mr);
	return st == ND_DEVICE_REMOVED ? st : ND_SUCCESS;
}

uint32_t
nd_mr_local_token(const struct nd_mr *mr)
{
	return mr->local_token;
}

uint32_t
nd_mr_remote_token(const struct nd_mr *mr)
{
	return mr->remote_token;
}
