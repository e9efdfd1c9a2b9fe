/* SPDX-License-Identifier: BSD-3-Clause */
/* What a fast registration takes, and when. */
#include "kpi.h"

#define PAGES	  4u
#define PAGE_SIZE 4096u
#define BASE	  0x70000000u

/* Of so many pages of the buffer, the first of them moved by so many bytes. */
static NTSTATUS
fast_register(const struct side *s, NDK_MR *mr, ULONG count, ULONG moved, ULONG offset,
	SIZE_T length, UINT64 base, ULONG flags)
{
	NDK_LOGICAL_ADDRESS pages[PAGES + 1];

	for (ULONG i = 0; i <= PAGES; i++)
		pages[i].QuadPart = (LONGLONG)(uintptr_t)s->buffer + i * PAGE_SIZE;
	pages[0].QuadPart += moved;
	return s->qp->Dispatch->NdkFastRegister(
		s->qp, mr, mr, count, pages, offset, length, (PVOID)(uintptr_t)base, flags);
}

/* Each argument by itself, and at its last value that is good. */
static void
refused_arguments(const struct side *b, NDK_MR *mr)
{
	const ULONG flags = NDK_OP_FLAG_ALLOW_REMOTE_READ, bad = (ULONG)STATUS_INVALID_PARAMETER;
	static const struct {
		ULONG count, moved, offset;
		SIZE_T length;
		UINT64 base;
	} wrong[] = {
		{PAGES + 1, 0, 0, 8, BASE},
		{2, 8, 0, 8, BASE},
		{2, 0, PAGE_SIZE, 8, BASE + PAGE_SIZE},
		{2, 0, 8, 2 * PAGE_SIZE - 7, BASE + 8},
		{2, 0, 8, 8, BASE},
		{2, 0, 8, 8, 0},
		{2, 0, 0, 0, BASE},
	};

	for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		WANT((NTSTATUS)bad,
			fast_register(b, mr, wrong[i].count, wrong[i].moved, wrong[i].offset,
				wrong[i].length, wrong[i].base, flags));
}

/* checks R-FR-02[1,2]: one page more than the adapter takes, and as many as it takes */
static void
page_limits(const struct side *s)
{
	NDK_MR *mr = side_new_mr(s, TRUE);
	NDK_ADAPTER_INFO info;
	ULONG room = sizeof(info);

	WANT(STATUS_SUCCESS, s->adapter->Dispatch->NdkQueryAdapterInfo(s->adapter, &info, &room));
	CHECK(info.FRMRPageCount >= 16);
	WANT(STATUS_IMPLEMENTATION_LIMIT, OUTCOME(mr->Dispatch->NdkInitializeFastRegisterMr(mr,
						  info.FRMRPageCount + 1, FALSE, told_done, &t)));
	WANT(STATUS_SUCCESS, OUTCOME(mr->Dispatch->NdkInitializeFastRegisterMr(
				     mr, info.FRMRPageCount, FALSE, told_done, &t)));
	CLOSE(mr, NdkCloseMr);
}

/*
 * checks R-FR-03[1-7], R-FR-04[1], R-FR-05[1-3], R-FR-06[1], R-FR-07[1], R-INV-01[2]: refusals at
 * once, which leave nothing; tokens; and a region that is registered already, which ends the
 * connection.
 */
void
registers(void)
{
	const ULONG flags = NDK_OP_FLAG_ALLOW_REMOTE_READ;
	struct side a, b;
	NDK_MR *mr, *local;
	UINT32 token, remote;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	page_limits(&b);
	mr = side_new_fast(&b, PAGES, TRUE);
	local = side_new_fast(&b, PAGES, FALSE);
	token = mr->Dispatch->NdkGetLocalTokenFromMr(mr);
	CHECK(token != 0);
	WANT(STATUS_CONNECTION_INVALID, fast_register(&b, mr, 2, 0, 0, 8, BASE, flags));
	side_meet(&a, &b);
	refused_arguments(&b, mr);
	WANT(STATUS_ACCESS_VIOLATION, fast_register(&b, local, 2, 0, 0, 8, BASE, flags));
	WANT(STATUS_SUCCESS,
		fast_register(&b, mr, PAGES, 0, 8, PAGES * PAGE_SIZE - 8, BASE + 8, flags));
	remote = mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
	side_result(&b, mr, NdkOperationTypeFastRegister);
	CHECK(remote != 0);
	WANT(STATUS_SUCCESS, b.qp->Dispatch->NdkInvalidate(b.qp, &b, &mr->Header, 0));
	side_result(&b, &b, NdkOperationTypeInvalidate);
	WANT(STATUS_SUCCESS, fast_register(&b, mr, 2, 0, 0, 8, BASE, flags));
	side_result(&b, mr, NdkOperationTypeFastRegister);
	CHECK(mr->Dispatch->NdkGetRemoteTokenFromMr(mr) != remote);
	WANT(STATUS_SUCCESS, fast_register(&b, mr, 2, 0, 0, 8, BASE, flags));
	WANT(STATUS_INVALID_DEVICE_REQUEST, side_next(&b).Status);
	CLOSE(mr, NdkCloseMr);
	CLOSE(local, NdkCloseMr);
	side_close(&a);
	side_close(&b);
}
