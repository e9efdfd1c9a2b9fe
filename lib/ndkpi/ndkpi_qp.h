/* SPDX-License-Identifier: BSD-3-Clause */
/* libndkpi: queue pairs. Part of ndkpi.h. */
#ifndef NDKPI_QP_H
#define NDKPI_QP_H

#include "ndkpi_queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The same in ndclient.h, to the letter. FAST_REGISTER alone takes ALLOW_LOCAL_WRITE; from version
 * 1.2 on there are the last two, of which DEFER is a hint (R-POST-12). */
#define NDK_OP_FLAG_SILENT_SUCCESS	       0x00000001u
#define NDK_OP_FLAG_READ_FENCE		       0x00000002u
#define NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT     0x00000004u
#define NDK_OP_FLAG_ALLOW_REMOTE_READ	       0x00000008u
#define NDK_OP_FLAG_ALLOW_LOCAL_WRITE	       0x00000010u
#define NDK_OP_FLAG_ALLOW_REMOTE_WRITE	       0x00000030u
#define NDK_OP_FLAG_INLINE		       0x00000040u
#define NDK_OP_FLAG_RDMA_READ_SINK	       0x00000080u
#define NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE 0x00000100u
#define NDK_OP_FLAG_DEFER		       0x00000200u

/*
 * Posts. STATUS_SUCCESS: the outcome comes through the completion queue. Else nothing was queued:
 * STATUS_CONNECTION_INVALID, not connected (not for receives); STATUS_NO_MORE_ENTRIES, as many are
 * outstanding as the queue holds; STATUS_DATA_OVERRUN, too many SGEs; STATUS_BUFFER_OVERFLOW, too
 * many bytes; STATUS_INVALID_PARAMETER, flags that this request does not have. What was deferred
 * before goes out in any case. Any level.
 */
/* nd_qp_send(). */
typedef NTSTATUS (*NDK_FN_SEND)(
	NDK_QP *pNdkQp, PVOID RequestContext, CONST NDK_SGE *pSgl, ULONG nSge, ULONG Flags);
/* nd_qp_send_and_invalidate(): when the peer takes the receive, its registration or window with
 * this token ends. The peer must have agreed to that (R-INV-10). */
typedef NTSTATUS (*NDK_FN_SEND_AND_INVALIDATE)(NDK_QP *pNdkQp, PVOID RequestContext,
	CONST NDK_SGE *pSgl, ULONG nSge, ULONG Flags, UINT32 RemoteToken);
/* nd_qp_receive(). */
typedef NTSTATUS (*NDK_FN_RECEIVE)(
	NDK_QP *pNdkQp, PVOID RequestContext, CONST NDK_SGE *pSgl, ULONG nSge);
/* nd_qp_read(). With RDMA_READ_LOCAL_INVALIDATE the registration of the first SGE's token ends. */
typedef NTSTATUS (*NDK_FN_READ)(NDK_QP *pNdkQp, PVOID RequestContext, CONST NDK_SGE *pSgl,
	ULONG nSge, UINT64 RemoteAddress, UINT32 RemoteToken, ULONG Flags);
/* nd_qp_write(). */
typedef NTSTATUS (*NDK_FN_WRITE)(NDK_QP *pNdkQp, PVOID RequestContext, CONST NDK_SGE *pSgl,
	ULONG nSge, UINT64 RemoteAddress, UINT32 RemoteToken, ULONG Flags);
/* nd_qp_bind(), of a region that NdkRegisterMr registered. VirtualAddress is an index into it and
 * is not dereferenced; there is no zero-based one (R-MW-13). STATUS_ACCESS_VIOLATION: not inside
 * the region, or a right that the region lacks; STATUS_INVALID_DEVICE_STATE: it is bound. */
typedef NTSTATUS (*NDK_FN_BIND)(NDK_QP *pNdkQp, PVOID RequestContext, NDK_MR *pMr, NDK_MW *pMw,
	PVOID VirtualAddress, SIZE_T Length, ULONG Flags);
/* nd_qp_fast_register(), of pages as NdkBuildLAM tells them. STATUS_ACCESS_VIOLATION: a remote
 * right, and the region was initialized without remote access; STATUS_INVALID_DEVICE_STATE: it was
 * not initialized. The new remote token is there when this has returned. */
typedef NTSTATUS (*NDK_FN_FAST_REGISTER)(NDK_QP *pNdkQp, PVOID RequestContext, NDK_MR *pMr,
	ULONG AdapterPageCount, CONST NDK_LOGICAL_ADDRESS *AdapterPageArray, ULONG FBO,
	SIZE_T Length, PVOID BaseVirtualAddress, ULONG Flags);
/* nd_qp_invalidate(), nd_qp_invalidate_fr(), and nd_qp_invalidate_mr() for a region that is not for
 * fast registration, which ends the connection. */
typedef NTSTATUS (*NDK_FN_INVALIDATE)(
	NDK_QP *pNdkQp, PVOID RequestContext, NDK_OBJECT_HEADER *pNdkMrOrMw, ULONG Flags);

/* nd_qp_flush(). May run at the same time as a post. A round trip. */
typedef VOID (*NDK_FN_FLUSH)(NDK_QP *pNdkQp);

typedef struct _NDK_QP_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkCloseQp;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_FLUSH NdkFlush;
	NDK_FN_SEND NdkSend;
	NDK_FN_RECEIVE NdkReceive;
	NDK_FN_BIND NdkBind;
	NDK_FN_FAST_REGISTER NdkFastRegister;
	NDK_FN_INVALIDATE NdkInvalidate;
	NDK_FN_READ NdkRead;
	NDK_FN_WRITE NdkWrite;
	NDK_FN_SEND_AND_INVALIDATE NdkSendAndInvalidate;
} NDK_QP_DISPATCH;

struct _NDK_QP {
	NDK_OBJECT_HEADER Header;
	CONST NDK_QP_DISPATCH *Dispatch;
};

#ifdef __cplusplus
}
#endif
#endif
