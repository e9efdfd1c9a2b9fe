/* SPDX-License-Identifier: BSD-3-Clause */
/* NDK's requests, their results, and the memory that they name. */
#include "kpi.hpp"

std::vector<NDK_SGE>
Kpi::list(const Piece *pieces, uint32_t n) const
{
	std::vector<NDK_SGE> sges(n);

	for (uint32_t i = 0; i < n; i++) {
		NDK_MR *of = pieces[i].second ? mr2 : mr;

		sges[i].VirtualAddress = start(pieces[i]);
		sges[i].Length = pieces[i].length;
		sges[i].MemoryRegionToken = of->Dispatch->NdkGetLocalTokenFromMr(of);
	}
	return sges;
}

static ULONG
flags_of(uint32_t flags)
{
	return (flags & ~(uint32_t)0x3f) |
	       (flags & ND_OP_FLAG_SILENT_SUCCESS ? NDK_OP_FLAG_SILENT_SUCCESS : 0) |
	       (flags & ND_OP_FLAG_READ_FENCE ? NDK_OP_FLAG_READ_FENCE : 0) |
	       (flags & ND_OP_FLAG_INLINE ? NDK_OP_FLAG_INLINE : 0) |
	       (flags & ND_OP_FLAG_SEND_AND_SOLICIT_EVENT
			       ? NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT
			       : 0) |
	       (flags & ND_OP_FLAG_ALLOW_READ ? NDK_OP_FLAG_ALLOW_REMOTE_READ : 0) |
	       (flags & ND_OP_FLAG_ALLOW_WRITE ? NDK_OP_FLAG_ALLOW_REMOTE_WRITE : 0);
}

int32_t
Kpi::receive_list(const void *context, const Piece *pieces, uint32_t n)
{
	return qp->Dispatch->NdkReceive(qp, (void *)context, list(pieces, n).data(), n);
}

int32_t
Kpi::send_list(const void *context, const Piece *pieces, uint32_t n, uint32_t flags)
{
	return qp->Dispatch->NdkSend(
		qp, (void *)context, list(pieces, n).data(), n, flags_of(flags));
}

int32_t
Kpi::write(const void *context, const Piece &piece, const Far &to, uint64_t at,
		uint32_t flags)
{
	return qp->Dispatch->NdkWrite(qp, (void *)context, list(&piece, 1).data(), 1,
		to.address + at, to.token, flags_of(flags));
}

int32_t
Kpi::read_list(const void *context, const Piece *pieces, uint32_t n, const Far &from,
		uint64_t at, uint32_t flags)
{
	return qp->Dispatch->NdkRead(qp, (void *)context, list(pieces, n).data(), n,
		from.address + at, from.token, flags_of(flags));
}

int32_t
Kpi::bind(const void *context, const Piece &piece, uint32_t flags, Far *told)
{
	const NTSTATUS st =
		qp->Dispatch->NdkBind(qp, (void *)context, piece.second ? mr2 : mr, mw,
			start(piece), piece.length, flags_of(flags));
	*told = {(uintptr_t)start(piece), piece.length,
		mw->Dispatch->NdkGetRemoteTokenFromMw(mw)};
	return st;
}

int32_t
Kpi::invalidate(const void *context, uint32_t flags)
{
	return qp->Dispatch->NdkInvalidate(
		qp, (void *)context, &mw->Header, flags_of(flags));
}

int32_t
Kpi::send_and_invalidate(const void *context, uint32_t offset, uint32_t length,
		const Far &window, uint32_t flags)
{
	const Piece piece = {offset, length};
	return qp->Dispatch->NdkSendAndInvalidate(qp, (void *)context,
		list(&piece, 1).data(), 1, flags_of(flags), window.token);
}

int32_t
Kpi::flush()
{
	qp->Dispatch->NdkFlush(qp);
	return STATUS_SUCCESS;
}

int32_t
Kpi::enroll(const void *at, uint64_t length, uint32_t flags)
{
	return enrolled(mr2, at, length, flags);
}

int32_t
Kpi::retire()
{
	Told t;
	return t.outcome(mr2->Dispatch->NdkDeregisterMr(mr2, Told::done, &t));
}

Far
Kpi::second()
{
	return {(uintptr_t)buffer, bytes, mr2->Dispatch->NdkGetRemoteTokenFromMr(mr2)};
}

int32_t
Kpi::share(const void *context, const Piece *pieces, uint32_t n)
{
	NDK_SRQ *q = the_srq();
	return q->Dispatch->NdkSrqReceive(q, (void *)context, list(pieces, n).data(), n);
}

int32_t
Kpi::resize_shared(uint32_t receives)
{
	NDK_SRQ *q = the_srq();
	Told t;
	return t.outcome(q->Dispatch->NdkModifySrq(q, receives, 0, Told::done, &t));
}

bool
Kpi::take(Result *result)
{
	NDK_RESULT r;

	if (cq->Dispatch->NdkGetCqResults(cq, &r, 1) != 1)
		return false;
	*result = {r.Status, r.BytesTransferred, r.RequestContext,
		static_cast<End *>(r.QPContext)};
	return true;
}

int32_t
Kpi::resize(uint32_t results)
{
	Told t;
	return t.outcome(cq->Dispatch->NdkResizeCq(cq, results, Told::done, &t));
}

int32_t
Kpi::arm(uint32_t type, uint32_t)
{
	owner().armed_at = owner().notified.so_far();
	cq->Dispatch->NdkArmCq(cq, type);
	return STATUS_SUCCESS;
}

bool
Kpi::armed(uint32_t)
{
	return owner().notified.so_far() == owner().armed_at;
}

int32_t
Kpi::told(uint32_t)
{
	return owner().notified.wait(owner().armed_at + 1);
}

int32_t
Kpi::cancel_arms()
{
	return STATUS_NOT_SUPPORTED;
}

int32_t
Kpi::enrolled(NDK_MR *of, const void *at, uint64_t length, uint32_t flags)
{
	Told t;
	MDL mdl;

	MmInitializeMdl(&mdl, (void *)at, length);
	return t.outcome(
		of->Dispatch->NdkRegisterMr(of, &mdl, length, flags, Told::done, &t));
}
