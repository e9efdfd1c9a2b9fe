/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts. Flags have other values here and there (nd_flags_of_ndk()); all else is passed on. What is
 * refused before libndclient sees it leaves nothing behind that was deferred: it hands each request
 * over at once (R-POST-12).
 */
#include <stdbool.h>

#include "base/compiler.h"
#include "ndkpi/mr.h"
#include "ndkpi/qp.h"
#include "ndkpi/sge.h"
#include "ndkpi/status.h"

static struct nd_qp *
qp_of(NDK_QP *self)
{
	return ((struct ndk_object *)self)->nd;
}

/* What a consumer named, of the queue pair's adapter. */
static void *
qp_peer_object(NDK_QP *self, const void *named, NDK_OBJECT_TYPE type)
{
	return ndk_object_of(named, type, ((struct ndk_object *)self)->adapter);
}

static VOID
qp_flush(NDK_QP *self)
{
	(void)nd_qp_flush(qp_of(self));
}

/* ---- flags ------------------------------------------------------------------------------ */

/* Those that each request may have and that have the same values: what most requests have. */
static bool
flags_are_same(ULONG flags)
{
	return base_likely(
		(flags & ~(ULONG)(NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_READ_FENCE)) == 0);
}

struct how {
	nd_status status;
	uint32_t flags; /* ND's, if the status is ND_SUCCESS */
};

static struct how
how_of(enum nd_request_type type, ULONG flags)
{
	struct how how;

	how.status = nd_flags_of_ndk(type, flags, &how.flags);
	return how;
}

/*
 * ---- data ----
 *
 * Apart from flags, libndclient refuses nothing here with ND_INVALID_PARAMETER_n. So a request
 * whose flags are the same is passed on by a jump, and its status as it is. The others have
 * functions of their own, and with them the frames that a call of nd_flags_of_ndk() takes.
 */

static __attribute__((noinline)) NTSTATUS
send_with(NDK_QP *self, PVOID context, CONST NDK_SGE *sge, ULONG n, ULONG flags)
{
	const struct how how = how_of(ND_REQUEST_SEND, flags);

	if (how.status != ND_SUCCESS)
		return ndk_status(how.status);
	return nd_qp_send(qp_of(self), context, ndk_sge(sge), n, how.flags);
}

static NTSTATUS
qp_send(NDK_QP *self, PVOID context, CONST NDK_SGE *sge, ULONG n, ULONG flags)
{
	if (!flags_are_same(flags))
		return send_with(self, context, sge, n, flags);
	return nd_qp_send(qp_of(self), context, ndk_sge(sge), n, flags);
}

static NTSTATUS
qp_send_and_invalidate(
	NDK_QP *self, PVOID context, CONST NDK_SGE *sge, ULONG n, ULONG flags, UINT32 token)
{
	const struct how how = how_of(ND_REQUEST_SEND, flags);

	if (how.status != ND_SUCCESS)
		return ndk_status(how.status);
	return nd_qp_send_and_invalidate(qp_of(self), context, ndk_sge(sge), n, token, how.flags);
}

static NTSTATUS
qp_receive(NDK_QP *self, PVOID context, CONST NDK_SGE *sge, ULONG n)
{
	return nd_qp_receive(qp_of(self), context, ndk_sge(sge), n);
}

static __attribute__((noinline)) NTSTATUS
read_with(NDK_QP *self, PVOID context, CONST NDK_SGE *sge, ULONG n, UINT64 address, UINT32 token,
	ULONG flags)
{
	const struct how how = how_of(ND_REQUEST_READ, flags);

	if (how.status != ND_SUCCESS)
		return ndk_status(how.status);
	return nd_qp_read(qp_of(self), context, ndk_sge(sge), n, address, token, how.flags);
}

static NTSTATUS
qp_read(NDK_QP *self, PVOID context, CONST NDK_SGE *sge, ULONG n, UINT64 address, UINT32 token,
	ULONG flags)
{
	if (!flags_are_same(flags))
		return read_with(self, context, sge, n, address, token, flags);
	return nd_qp_read(qp_of(self), context, ndk_sge(sge), n, address, token, flags);
}

static __attribute__((noinline)) NTSTATUS
write_with(NDK_QP *self, PVOID context, CONST NDK_SGE *sge, ULONG n, UINT64 address, UINT32 token,
	ULONG flags)
{
	const struct how how = how_of(ND_REQUEST_WRITE, flags);

	if (how.status != ND_SUCCESS)
		return ndk_status(how.status);
	return nd_qp_write(qp_of(self), context, ndk_sge(sge), n, address, token, how.flags);
}

static NTSTATUS
qp_write(NDK_QP *self, PVOID context, CONST NDK_SGE *sge, ULONG n, UINT64 address, UINT32 token,
	ULONG flags)
{
	if (!flags_are_same(flags))
		return write_with(self, context, sge, n, address, token, flags);
	return nd_qp_write(qp_of(self), context, ndk_sge(sge), n, address, token, flags);
}

/* ---- memory ----------------------------------------------------------------------------- */

static NTSTATUS
qp_bind(NDK_QP *self, PVOID context, NDK_MR *region, NDK_MW *window, PVOID address, SIZE_T bytes,
	ULONG flags)
{
	const struct ndk_mr *mr = qp_peer_object(self, region, NdkObjectTypeMr);
	const struct ndk_object *mw = qp_peer_object(self, window, NdkObjectTypeMw);
	const struct how how = how_of(ND_REQUEST_BIND, flags);

	if (mr == NULL || mr->fast || mw == NULL)
		return STATUS_INVALID_PARAMETER;
	if (how.status != ND_SUCCESS)
		return ndk_status(how.status);
	return ndk_status(
		nd_qp_bind(qp_of(self), context, mr->object.nd, mw->nd, address, bytes, how.flags));
}

/* Pages are numbers of 64 bits in both. */
_Static_assert(sizeof(NDK_LOGICAL_ADDRESS) == sizeof(uint64_t), "a page is its address");

static NTSTATUS
qp_fast_register(NDK_QP *self, PVOID context, NDK_MR *region, ULONG count,
	CONST NDK_LOGICAL_ADDRESS *pages, ULONG offset, SIZE_T bytes, PVOID base, ULONG flags)
{
	const struct ndk_mr *mr = qp_peer_object(self, region, NdkObjectTypeMr);
	const struct how how = how_of(ND_REQUEST_FAST_REGISTER, flags);

	if (mr == NULL)
		return STATUS_INVALID_PARAMETER;
	if (!mr->fast)
		return STATUS_INVALID_DEVICE_REQUEST;
	if (how.status != ND_SUCCESS)
		return ndk_status(how.status);
	return ndk_status(nd_qp_fast_register(qp_of(self), context, mr->object.nd,
		(const uint64_t *)(const void *)pages, count, offset, bytes, (uintptr_t)base,
		how.flags));
}

static NTSTATUS
qp_invalidate(NDK_QP *self, PVOID context, NDK_OBJECT_HEADER *named, ULONG flags)
{
	const struct ndk_mr *mr = qp_peer_object(self, named, NdkObjectTypeMr);
	const struct ndk_object *mw = qp_peer_object(self, named, NdkObjectTypeMw);
	const struct how how = how_of(ND_REQUEST_INVALIDATE, flags);
	nd_status st;

	if (mr == NULL && mw == NULL)
		return STATUS_INVALID_PARAMETER;
	if (how.status != ND_SUCCESS)
		return ndk_status(how.status);
	if (mw != NULL)
		st = nd_qp_invalidate(qp_of(self), context, mw->nd, how.flags);
	else if (mr->fast)
		st = nd_qp_invalidate_fr(qp_of(self), context, mr->object.nd, how.flags);
	else /* R-INV-01 */
		st = nd_qp_invalidate_mr(qp_of(self), context, mr->object.nd, how.flags);
	return ndk_status(st);
}

const NDK_QP_DISPATCH ndk_qp_dispatch = {
	.NdkCloseQp = ndk_object_close,
	.NdkQueryExtension = ndk_query_extension,
	.NdkFlush = qp_flush,
	.NdkSend = qp_send,
	.NdkReceive = qp_receive,
	.NdkBind = qp_bind,
	.NdkFastRegister = qp_fast_register,
	.NdkInvalidate = qp_invalidate,
	.NdkRead = qp_read,
	.NdkWrite = qp_write,
	.NdkSendAndInvalidate = qp_send_and_invalidate,
};
