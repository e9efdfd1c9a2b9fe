/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs. */
#ifndef NDK_QP_OBJECT_H
#define NDK_QP_OBJECT_H

#include "ndkpi/object.h"

/* Its posts are in post.c. */
extern const NDK_QP_DISPATCH ndk_qp_dispatch;

/* NDK_PD_DISPATCH's calls of these names. */
NTSTATUS ndk_create_qp(NDK_PD *self, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, PVOID qp_context,
	ULONG receive_depth, ULONG initiator_depth, ULONG receive_sge, ULONG initiator_sge,
	ULONG inline_bytes, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out);
NTSTATUS ndk_create_qp_with_srq(NDK_PD *self, NDK_CQ *receive_cq, NDK_CQ *initiator_cq,
	NDK_SRQ *srq, PVOID qp_context, ULONG initiator_depth, ULONG initiator_sge,
	ULONG inline_bytes, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out);

#endif
