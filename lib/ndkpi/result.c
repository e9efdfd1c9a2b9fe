/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>

#include "base/compiler.h"
#include "ndkpi/result.h"

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

/*
 * Results are taken straight into the consumer's array. Those of the longer kind need their type's
 * other number, and lose the immediate, which is the upper half of their last word.
 */
#define SAME_PLACE(theirs, field, ours, member)                                                    \
	_Static_assert(offsetof(theirs, field) == offsetof(struct ours, member), #member)
_Static_assert(sizeof(NDK_RESULT) == sizeof(struct nd_result_brief), "as large");
SAME_PLACE(NDK_RESULT, Status, nd_result_brief, status);
SAME_PLACE(NDK_RESULT, BytesTransferred, nd_result_brief, bytes_transferred);
SAME_PLACE(NDK_RESULT, QPContext, nd_result_brief, qp_context);
SAME_PLACE(NDK_RESULT, RequestContext, nd_result_brief, request_context);
_Static_assert(sizeof(NDK_RESULT_EX) == sizeof(struct nd_result_ex), "as large");
SAME_PLACE(NDK_RESULT_EX, Status, nd_result_ex, status);
SAME_PLACE(NDK_RESULT_EX, BytesTransferred, nd_result_ex, bytes_transferred);
SAME_PLACE(NDK_RESULT_EX, QPContext, nd_result_ex, qp_context);
SAME_PLACE(NDK_RESULT_EX, RequestContext, nd_result_ex, request_context);
SAME_PLACE(NDK_RESULT_EX, Type, nd_result_ex, request_type);
SAME_PLACE(NDK_RESULT_EX, TypeSpecificCompletionOutput, nd_result_ex, invalidated_token);
_Static_assert(sizeof(NDK_OPERATION_TYPE) == sizeof(enum nd_request_type) &&
		       __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	"types, and the lower half");

static bool
has_immediate(uint32_t type)
{
	return type == ND_REQUEST_RECEIVE_WITH_IMMEDIATE ||
	       type == ND_REQUEST_WRITTEN_WITH_IMMEDIATE;
}

ULONG
ndk_results_ex(struct nd_cq *cq, NDK_RESULT_EX results[], ULONG n)
{
	const int32_t taken = nd_cq_get_results_ex(cq, (struct nd_result_ex *)(void *)results, n);

	for (int32_t i = 0; i < taken; i++) {
		const uint32_t type = results[i].Type;

		results[i].Type = types[type];
		if (base_unlikely(has_immediate(type)))
			results[i].TypeSpecificCompletionOutput = 0;
	}
	return taken > 0 ? (ULONG)taken : 0;
}

ULONG
ndk_results(struct nd_cq *cq, NDK_RESULT results[], ULONG n)
{
	const int32_t taken =
		nd_cq_get_results_brief(cq, (struct nd_result_brief *)(void *)results, n);

	return taken > 0 ? (ULONG)taken : 0;
}
