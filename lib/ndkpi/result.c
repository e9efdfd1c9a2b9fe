/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/result.h"

#define BATCH 16u

/* Receives with an immediate are of peers that do not speak NDK: they are receives. */
static const NDK_OPERATION_TYPE types[] = {
	[ND_REQUEST_RECEIVE] = NdkOperationTypeReceive,
	[ND_REQUEST_SEND] = NdkOperationTypeSend,
	[ND_REQUEST_BIND] = NdkOperationTypeBind,
	[ND_REQUEST_INVALIDATE] = NdkOperationTypeInvalidate,
	[ND_REQUEST_READ] = NdkOperationTypeRead,
	[ND_REQUEST_WRITE] = NdkOperationTypeWrite,
	[ND_REQUEST_RECEIVE_AND_INVALIDATE] = NdkOperationTypeReceiveAndInvalidate,
	[ND_REQUEST_RECEIVE_WITH_IMMEDIATE] = NdkOperationTypeReceive,
	[ND_REQUEST_WRITTEN_WITH_IMMEDIATE] = NdkOperationTypeReceive,
	[ND_REQUEST_FAST_REGISTER] = NdkOperationTypeFastRegister,
};

static NDK_RESULT_EX
result_of(const struct nd_result_ex *from)
{
	return (NDK_RESULT_EX){
		.Status = from->status,
		.BytesTransferred = from->bytes_transferred,
		.QPContext = from->qp_context,
		.RequestContext = from->request_context,
		.Type = types[from->request_type],
		.TypeSpecificCompletionOutput = from->invalidated_token,
	};
}

ULONG
ndk_results_ex(struct nd_cq *cq, NDK_RESULT_EX results[], ULONG n)
{
	struct nd_result_ex batch[BATCH];
	ULONG taken = 0;

	while (taken < n) {
		ULONG want = n - taken < BATCH ? n - taken : BATCH;
		int32_t got = nd_cq_get_results_ex(cq, batch, want);

		for (int32_t i = 0; i < got; i++)
			results[taken++] = result_of(&batch[i]);
		if (got < (int32_t)want)
			break;
	}
	return taken;
}

/* Taken straight into the consumer's array. */
_Static_assert(sizeof(NDK_RESULT) == sizeof(struct nd_result_brief), "as large");
_Static_assert(offsetof(NDK_RESULT, Status) == offsetof(struct nd_result_brief, status), "status");
_Static_assert(offsetof(NDK_RESULT, BytesTransferred) ==
		       offsetof(struct nd_result_brief, bytes_transferred),
	"bytes");
_Static_assert(offsetof(NDK_RESULT, QPContext) == offsetof(struct nd_result_brief, qp_context),
	"queue pair");
_Static_assert(
	offsetof(NDK_RESULT, RequestContext) == offsetof(struct nd_result_brief, request_context),
	"request");

ULONG
ndk_results(struct nd_cq *cq, NDK_RESULT results[], ULONG n)
{
	const int32_t taken =
		nd_cq_get_results_brief(cq, (struct nd_result_brief *)(void *)results, n);

	return taken > 0 ? (ULONG)taken : 0;
}
