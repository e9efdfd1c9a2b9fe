/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast registration and windows: what the peer reaches, and what takes it back. */
#include <sys/mman.h>

#include "kpi.h"

#define PAGES 4u
#define BASE  0x7000000000ull /* of no memory */

/* Register pages of the side's buffer, out of order, at BASE + offset. */
static void
register_pages(const struct side *s, NDK_MR *mr, ULONG offset, ULONG flags)
{
	struct {
		NDK_LOGICAL_ADDRESS_MAPPING lam;
		NDK_LOGICAL_ADDRESS more[PAGES];
	} m;
	NDK_LOGICAL_ADDRESS pages[2];
	ULONG room = sizeof(m), fbo;
	MDL mdl;

	MmInitializeMdl(&mdl, s->buffer, PAGES * PAGE_SIZE);
	WANT(STATUS_SUCCESS, s->adapter->Dispatch->NdkBuildLAM(s->adapter, &mdl, PAGES * PAGE_SIZE,
				     NULL, NULL, &m.lam, &room, &fbo));
	CHECK(m.lam.AdapterPageCount == PAGES && fbo == 0);
	pages[0] = m.more[1]; /* the third */
	pages[1] = m.lam.AdapterPageArray[0];
	WANT(STATUS_SUCCESS,
		s->qp->Dispatch->NdkFastRegister(s->qp, mr, mr, 2, pages, offset,
			2 * PAGE_SIZE - offset, (PVOID)(uintptr_t)(BASE + offset), flags));
	s->adapter->Dispatch->NdkReleaseLAM(s->adapter, &m.lam);
}

static void
write_there(struct side *a, const char *text, UINT64 address, UINT32 token)
{
	ULONG bytes = (ULONG)strlen(text) + 1;
	NDK_SGE sge = side_sge(a, 0, bytes);

	memcpy(a->buffer, text, bytes);
	WANT(STATUS_SUCCESS, a->qp->Dispatch->NdkWrite(a->qp, a, &sge, 1, address, token, 0));
	side_result(a, a, NdkOperationTypeWrite);
}

static void
send_and_invalidate(struct side *a, UINT32 token)
{
	NDK_SGE sge = side_sge(a, 0, 4);

	WANT(STATUS_SUCCESS, a->qp->Dispatch->NdkSendAndInvalidate(a->qp, &sge, &sge, 1,
				     NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT, token));
	CHECK(side_result(a, &sge, NdkOperationTypeSend).TypeSpecificCompletionOutput == 0);
}

/* The plain call tells of the receive, and not of the token, which is gone all the same. */
static void
plain_result(struct side *b, NDK_MR *mr)
{
	NDK_RESULT r;

	while (b->cq->Dispatch->NdkGetCqResults(b->cq, &r, 1) == 0)
		;
	WANT(STATUS_SUCCESS, r.Status);
	CHECK(r.BytesTransferred == 4 && r.RequestContext == b);
	WANT(STATUS_SUCCESS, b->qp->Dispatch->NdkInvalidate(b->qp, mr, &mr->Header, 0));
	WANT(STATUS_INVALID_DEVICE_REQUEST, side_next(b).Status);
}

/* checks R-CR-06[1,2], R-CR-07[1-3], R-FR-01[1], R-FR-08[1], R-FR-10[1,2]: pages are registered,
 * written by the peer, and taken back by the peer's send; the next one by a request here. */
void
fast(void)
{
	UINT32 token, second, privileged;
	struct side a, b;
	NDK_RESULT_EX r;
	NDK_MR *mr;
	NDK_SGE sge;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	mr = side_new_fast(&b, PAGES, TRUE);
	register_pages(&b, mr, 10, NDK_OP_FLAG_ALLOW_REMOTE_WRITE | NDK_OP_FLAG_RDMA_READ_SINK);
	side_result(&b, mr, NdkOperationTypeFastRegister);
	token = mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
	write_there(&a, "across", BASE + PAGE_SIZE - 3, token);
	CHECK(memcmp(b.buffer + 3 * PAGE_SIZE - 3, "acr", 3) == 0);
	CHECK(strcmp(b.buffer, "oss") == 0);

	side_receive(&b, &b, 100, 4);
	send_and_invalidate(&a, token);
	r = side_result(&b, &b, NdkOperationTypeReceiveAndInvalidate);
	CHECK(r.TypeSpecificCompletionOutput == token && r.BytesTransferred == 4);

	register_pages(&b, mr, 0, NDK_OP_FLAG_ALLOW_REMOTE_READ);
	side_result(&b, mr, NdkOperationTypeFastRegister);
	second = mr->Dispatch->NdkGetRemoteTokenFromMr(mr);
	CHECK(second != token);
	WANT(STATUS_SUCCESS, b.qp->Dispatch->NdkInvalidate(b.qp, &b, &mr->Header, 0));
	side_result(&b, &b, NdkOperationTypeInvalidate);

	/* Local requests by logical addresses, with the privileged token. */
	b.pd->Dispatch->NdkGetPrivilegedMemoryRegionToken(b.pd, &privileged);
	CHECK(privileged != 0);
	sge = (NDK_SGE){.Length = 4, .MemoryRegionToken = privileged};
	sge.LogicalAddress.QuadPart = (LONGLONG)(uintptr_t)b.buffer + 300;
	WANT(STATUS_SUCCESS, b.qp->Dispatch->NdkReceive(b.qp, &sge, &sge, 1));
	memcpy(a.buffer, "now", 4);
	sge = side_sge(&a, 0, 4);
	WANT(STATUS_SUCCESS, a.qp->Dispatch->NdkSend(a.qp, a.buffer, &sge, 1, 0));
	side_result(&a, a.buffer, NdkOperationTypeSend);
	side_result(&b, &sge, NdkOperationTypeReceive);
	CHECK(strcmp(b.buffer + 300, "now") == 0);

	register_pages(&b, mr, 0, NDK_OP_FLAG_ALLOW_REMOTE_READ);
	side_result(&b, mr, NdkOperationTypeFastRegister);
	side_receive(&b, &b, 100, 4);
	send_and_invalidate(&a, mr->Dispatch->NdkGetRemoteTokenFromMr(mr));
	plain_result(&b, mr);
	WANT(STATUS_SUCCESS, OUTCOME(mr->Dispatch->NdkDeregisterMr(mr, told_done, &t)));
	CLOSE(mr, NdkCloseMr);
	side_close(&a);
	side_close(&b);
}

/* checks R-RW-06[1], R-FR-10[3]: a read ends the registration of its first buffer. */
void
local_invalidate(void)
{
	const ULONG local = NDK_OP_FLAG_ALLOW_LOCAL_WRITE;
	struct side a, b;
	NDK_MR *mr;
	NDK_SGE sge;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	mr = side_new_fast(&a, PAGES, FALSE);
	memcpy(b.buffer, "fetched", 8);
	for (int i = 0; i < 2; i++) { /* it could not be registered while it is */
		register_pages(&a, mr, 0, local | NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_DEFER);
		sge = (NDK_SGE){.VirtualAddress = (PVOID)(uintptr_t)BASE,
			.Length = 8,
			.MemoryRegionToken = mr->Dispatch->NdkGetLocalTokenFromMr(mr)};
		WANT(STATUS_SUCCESS,
			a.qp->Dispatch->NdkRead(a.qp, &sge, &sge, 1, (uintptr_t)b.buffer,
				b.mr->Dispatch->NdkGetRemoteTokenFromMr(b.mr),
				NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE));
		side_result(&a, &sge, NdkOperationTypeRead);
		CHECK(strcmp(a.buffer + 2 * PAGE_SIZE, "fetched") == 0);
		memset(a.buffer, 0, PAGES * PAGE_SIZE);
	}
	WANT(STATUS_ACCESS_VIOLATION,
		a.qp->Dispatch->NdkFastRegister(a.qp, mr, mr, 1,
			&(NDK_LOGICAL_ADDRESS){.QuadPart = (LONGLONG)(uintptr_t)a.buffer}, 0, 8,
			(PVOID)(uintptr_t)BASE, NDK_OP_FLAG_ALLOW_REMOTE_READ));
	CLOSE(mr, NdkCloseMr);
	side_close(&a);
	side_close(&b);
}

/* checks R-POST-12[1-3], R-POST-13[1]: two deferred requests, of which the second fails inline, and
 * one that is deferred with none behind it. */
void
deferred(void)
{
	const ULONG remote = NDK_OP_FLAG_ALLOW_REMOTE_READ, defer = NDK_OP_FLAG_DEFER;
	NDK_LOGICAL_ADDRESS page;
	struct side a, b;
	NDK_RESULT_EX r;
	NDK_MR *mr;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	mr = side_new_fast(&b, PAGES, TRUE);
	page.QuadPart = (LONGLONG)(uintptr_t)b.buffer;
	register_pages(&b, mr, 0, remote | defer);
	WANT(STATUS_INVALID_PARAMETER,
		b.qp->Dispatch->NdkFastRegister(b.qp, NULL, mr, PAGES + 1, &page, 0, 1,
			(PVOID)(uintptr_t)BASE, remote | defer));
	side_result(&b, mr, NdkOperationTypeFastRegister);
	CHECK(b.cq->Dispatch->NdkGetCqResultsEx(b.cq, &r, 1) == 0);
	WANT(STATUS_SUCCESS, b.qp->Dispatch->NdkInvalidate(b.qp, &b, &mr->Header, defer));
	side_result(&b, &b, NdkOperationTypeInvalidate);
	CLOSE(mr, NdkCloseMr);
	side_close(&a);
	side_close(&b);
}

/* Two pages and a bit of it: touching them is a fault of this process. */
static void
protect(char *memory, bool on)
{
	CHECK(mprotect(memory, 3 * PAGE_SIZE, on ? PROT_NONE : PROT_READ | PROT_WRITE) == 0);
}

/*
 * checks R-MW-13[1,2]: an index into a region that this process may not touch is bound; an address
 * from zero on is not; a right that the region lacks is refused.
 */
void
windows(void)
{
	const ULONG both = NDK_OP_FLAG_ALLOW_REMOTE_READ | NDK_OP_FLAG_ALLOW_REMOTE_WRITE;
	const NDK_QP_DISPATCH *d;
	struct side a, b;
	NDK_MR *read_only;
	NDK_MW *mw;

	side_open(&a, &place_a);
	side_open(&b, &place_b);
	side_meet(&a, &b);
	d = b.qp->Dispatch;
	read_only = side_new_mr(&b, FALSE);
	WANT(STATUS_SUCCESS, side_register(read_only, b.buffer, BYTES, 0));
	CREATE(&mw, b.pd->Dispatch->NdkCreateMw(b.pd, told_created, &t, &mw));
	CHECK(mw->Dispatch->NdkGetRemoteTokenFromMw(mw) == 0);
	WANT(STATUS_ACCESS_VIOLATION, d->NdkBind(b.qp, mw, b.mr, mw, NULL, 4096, both));
	WANT(STATUS_ACCESS_VIOLATION, d->NdkBind(b.qp, mw, read_only, mw, b.buffer, 4096, both));
	WANT(STATUS_INVALID_PARAMETER,
		d->NdkBind(b.qp, mw, b.mr, mw, b.buffer, 4096, NDK_OP_FLAG_ALLOW_LOCAL_WRITE));
	protect(b.buffer, true);
	WANT(STATUS_SUCCESS, d->NdkBind(b.qp, mw, b.mr, mw, b.buffer + 100, 4096, both));
	side_result(&b, mw, NdkOperationTypeBind);
	WANT(STATUS_INVALID_DEVICE_STATE,
		d->NdkBind(b.qp, mw, b.mr, mw, b.buffer + 100, 4096, both));
	write_there(
		&a, "window", (uintptr_t)b.buffer + 100, mw->Dispatch->NdkGetRemoteTokenFromMw(mw));
	protect(b.buffer, false);
	CHECK(strcmp(b.buffer + 100, "window") == 0);
	WANT(STATUS_SUCCESS, d->NdkInvalidate(b.qp, &mw, &mw->Header, 0));
	side_result(&b, &mw, NdkOperationTypeInvalidate);
	CLOSE(mw, NdkCloseMw);
	CLOSE(read_only, NdkCloseMr);
	side_close(&a);
	side_close(&b);
}
