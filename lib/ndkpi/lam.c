/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A logical address is the address in this process of a page that the daemon has mapped too. Memory
 * of NdkAllocateMemory() is that already, and a mapping of it holds nothing; other memory is
 * adopted as long as a mapping holds it (adopted.h). Neither pends: the calls wait for the daemon.
 */
#include "ndkpi/adapter.h"
#include "ndkpi/lam.h"
#include "ndkpi/mdl.h"
#include "ndkpi/status.h"

static void
lam_fill(NDK_LOGICAL_ADDRESS_MAPPING *lam, uintptr_t page, ULONG count)
{
	/* Behind the structure's end, as far as its type says. */
	NDK_LOGICAL_ADDRESS *pages =
		(NDK_LOGICAL_ADDRESS *)((char *)lam +
					offsetof(NDK_LOGICAL_ADDRESS_MAPPING, AdapterPageArray));

	lam->AdapterPageCount = count;
	for (ULONG i = 0; i < count; i++)
		pages[i].QuadPart = (LONGLONG)(page + (uintptr_t)i * PAGE_SIZE);
}

/* *hold: NULL of memory that is mapped for good. */
static nd_status
lam_hold(struct ndk_adapter *a, uintptr_t start, SIZE_T bytes, struct ndk_hold **hold)
{
	*hold = NULL;
	if (ndk_blocks_have(&a->blocks, start, bytes))
		return ND_SUCCESS;
	if (ndk_blocks_meet(&a->blocks, start, bytes))
		return ND_NOT_SUPPORTED;
	return ndk_adopted_hold(&a->adopted, a->nd, start, bytes, hold);
}

NTSTATUS
ndk_build_lam(NDK_ADAPTER *self, MDL *mdl, SIZE_T length, NDK_FN_REQUEST_COMPLETION completion,
	PVOID context, NDK_LOGICAL_ADDRESS_MAPPING *lam, ULONG *lam_bytes, ULONG *fbo)
{
	struct ndk_adapter *a = (struct ndk_adapter *)self;
	uintptr_t start = (uintptr_t)ndk_mdl_start(mdl, length);
	struct ndk_hold *hold;
	SIZE_T count, bytes;
	ULONG room;
	nd_status st;

	(void)completion;
	(void)context;
	if (start == 0 || lam_bytes == NULL || fbo == NULL)
		return STATUS_INVALID_PARAMETER;
	count = (NDK_PAGE_OFFSET(start) + length + PAGE_SIZE - 1) / PAGE_SIZE;
	bytes = offsetof(NDK_LOGICAL_ADDRESS_MAPPING, AdapterPageArray) +
		count * sizeof(NDK_LOGICAL_ADDRESS);
	if (bytes > UINT32_MAX)
		return STATUS_INSUFFICIENT_RESOURCES;
	room = lam != NULL ? *lam_bytes : 0;
	*lam_bytes = (ULONG)bytes;
	if (room < bytes)
		return STATUS_BUFFER_TOO_SMALL;
	st = lam_hold(a, start, length, &hold);
	if (st != ND_SUCCESS)
		return ndk_status(st);
	*fbo = NDK_PAGE_OFFSET(start);
	lam->AdapterContext = hold;
	lam_fill(lam, start - *fbo, (ULONG)count);
	return STATUS_SUCCESS;
}

VOID
ndk_release_lam(NDK_ADAPTER *self, NDK_LOGICAL_ADDRESS_MAPPING *lam)
{
	if (lam == NULL || lam->AdapterContext == NULL)
		return;
	ndk_adopted_drop(&((struct ndk_adapter *)self)->adopted, lam->AdapterContext);
	lam->AdapterContext = NULL;
}
