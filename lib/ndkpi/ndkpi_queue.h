/* SPDX-License-Identifier: BSD-3-Clause */
/* libndkpi: completion queues and their results, shared receive queues. Part of ndkpi.h. */
#ifndef NDKPI_QUEUE_H
#define NDKPI_QUEUE_H

#include "ndkpi_object.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct _NDK_SGE {
	__extension__ union {
		PVOID VirtualAddress;
		NDK_LOGICAL_ADDRESS LogicalAddress; /* with the privileged token */
	};
	ULONG Length;
	UINT32 MemoryRegionToken; /* not looked at with NDK_OP_FLAG_INLINE */
} NDK_SGE;
NDWIN_ASSERT(sizeof(NDK_SGE) == 16);
NDWIN_ASSERT(offsetof(NDK_SGE, Length) == 8);
NDWIN_ASSERT(offsetof(NDK_SGE, MemoryRegionToken) == 12);

/* ---- completion queues ------------------------------------------------------------------ */

/* Statuses are those of nd_result. */
typedef struct _NDK_RESULT {
	NTSTATUS Status;
	ULONG BytesTransferred;
	PVOID QPContext;
	PVOID RequestContext;
} NDK_RESULT;
NDWIN_ASSERT(sizeof(NDK_RESULT) == 24);

typedef enum _NDK_OPERATION_TYPE {
	NdkOperationTypeReceive = 1,
	NdkOperationTypeReceiveAndInvalidate = 32769,
	NdkOperationTypeSend = 2,
	NdkOperationTypeFastRegister = 4,
	NdkOperationTypeBind = 8,
	NdkOperationTypeInvalidate = 16,
	NdkOperationTypeRead = 32,
	NdkOperationTypeWrite = 64
} NDK_OPERATION_TYPE;

typedef struct _NDK_RESULT_EX {
	NTSTATUS Status;
	ULONG BytesTransferred;
	PVOID QPContext;
	PVOID RequestContext;
	NDK_OPERATION_TYPE Type;
	/* ReceiveAndInvalidate: the token, as NdkGetRemoteTokenFromMr() tells it; else 0 */
	ULONG_PTR TypeSpecificCompletionOutput;
} NDK_RESULT_EX;
NDWIN_ASSERT(sizeof(NDK_RESULT_EX) == 40);
NDWIN_ASSERT(offsetof(NDK_RESULT_EX, Type) == 24);
NDWIN_ASSERT(offsetof(NDK_RESULT_EX, TypeSpecificCompletionOutput) == 32);

/* STATUS_SUCCESS: there are new results. STATUS_BUFFER_OVERFLOW, STATUS_INTERNAL_ERROR: the queue
 * is dead; STATUS_DEVICE_REMOVED: the daemon has gone (R-CQ-29). */
typedef VOID (*NDK_FN_CQ_NOTIFICATION_CALLBACK)(PVOID CqNotificationContext, NTSTATUS CqStatus);

/* nd_cq_resize(). Any level. */
typedef NTSTATUS (*NDK_FN_RESIZE_CQ)(NDK_CQ *pNdkCq, ULONG CqDepth,
	NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

#define NDK_CQ_NOTIFY_ERRORS	0
#define NDK_CQ_NOTIFY_ANY	1
#define NDK_CQ_NOTIFY_SOLICITED 2
/* Arm for one callback: nd_cq_arm_callback(). An unknown Type does nothing. Any level. */
typedef VOID (*NDK_FN_ARM_CQ)(NDK_CQ *pNdkCq, ULONG Type);
/* Take results, oldest first: nd_cq_get_results_ex(). 0: there is none; that of a dead queue is
 * told by its callback. The plain call returns a receive that came with a token to invalidate, too,
 * and does not tell the token (R-CR-07). Any level. */
typedef ULONG (*NDK_FN_GET_CQ_RESULTS)(NDK_CQ *pNdkCq, NDK_RESULT Results[], ULONG nResults);
typedef ULONG (*NDK_FN_GET_CQ_RESULTS_EX)(NDK_CQ *pNdkCq, NDK_RESULT_EX Results[], ULONG nResults);
/* nd_cq_moderate(). Any level. */
typedef NTSTATUS (*NDK_FN_CONTROL_CQ_INTERRUPT_MODERATION)(
	NDK_CQ *pNdkCq, ULONG ModerationInterval, ULONG ModerationCount);

typedef struct _NDK_CQ_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkCloseCq;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_RESIZE_CQ NdkResizeCq;
	NDK_FN_ARM_CQ NdkArmCq;
	NDK_FN_GET_CQ_RESULTS NdkGetCqResults;
	NDK_FN_CONTROL_CQ_INTERRUPT_MODERATION NdkControlCqInterruptModeration;
	NDK_FN_GET_CQ_RESULTS_EX NdkGetCqResultsEx;
} NDK_CQ_DISPATCH;

struct _NDK_CQ {
	NDK_OBJECT_HEADER Header;
	CONST NDK_CQ_DISPATCH *Dispatch;
};

/* ---- shared receive queues -------------------------------------------------------------- */

/* STATUS_SUCCESS: fewer receives wait than the threshold; STATUS_DEVICE_REMOVED. */
typedef VOID (*NDK_FN_SRQ_NOTIFICATION_CALLBACK)(PVOID SrqNotificationContext, NTSTATUS SrqStatus);

/* nd_srq_modify(): 0 leaves depth or threshold alone, a threshold arms (R-SRQ-04). Any level. */
typedef NTSTATUS (*NDK_FN_MODIFY_SRQ)(NDK_SRQ *pNdkSrq, ULONG SrqDepth, ULONG NotifyThreshold,
	NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);
/* nd_srq_receive(). One thread at a time. Any level; while an NdkModifySrq is under way it may wait
 * for the daemon's answer to that. */
typedef NTSTATUS (*NDK_FN_SRQ_RECEIVE)(
	NDK_SRQ *pNdkSrq, PVOID RequestContext, CONST NDK_SGE *pSgl, ULONG nSge);

typedef struct _NDK_SRQ_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkCloseSrq;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_MODIFY_SRQ NdkModifySrq;
	NDK_FN_SRQ_RECEIVE NdkSrqReceive;
} NDK_SRQ_DISPATCH;

struct _NDK_SRQ {
	NDK_OBJECT_HEADER Header;
	CONST NDK_SRQ_DISPATCH *Dispatch;
};

#ifdef __cplusplus
}
#endif
#endif
