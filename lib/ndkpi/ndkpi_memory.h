/* SPDX-License-Identifier: BSD-3-Clause */
/* libndkpi: memory regions and windows. Part of ndkpi.h. */
#ifndef NDKPI_MEMORY_H
#define NDKPI_MEMORY_H

#include "ndkpi_object.h"

#ifdef __cplusplus
extern "C" {
#endif

#define NDK_MR_FLAG_ALLOW_LOCAL_READ   0x00000000
#define NDK_MR_FLAG_ALLOW_LOCAL_WRITE  0x00000001
#define NDK_MR_FLAG_ALLOW_REMOTE_READ  0x00000002
#define NDK_MR_FLAG_ALLOW_REMOTE_WRITE 0x00000005
#define NDK_MR_FLAG_RDMA_READ_SINK     0x00000008 /* taken, needed for nothing (R-MR-10) */

/*
 * Register the first Length bytes of the list's memory: nd_mr_register(). The pieces of a chain
 * must follow each other in addresses: STATUS_INVALID_PARAMETER, as of a Length that is more than
 * the chain has, of address 0 (R-MR-13), and of unknown flags. STATUS_INVALID_BUFFER_SIZE: Length
 * 0 (R-MR-04). STATUS_INVALID_DEVICE_REQUEST: a region for fast registration. The list is not
 * used any more when the call returns. Any level.
 */
typedef NTSTATUS (*NDK_FN_REGISTER_MR)(NDK_MR *pNdkMr, MDL *Mdl, SIZE_T Length, ULONG Flags,
	NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);
/* nd_mr_deregister(). Of a region for fast registration: what it has is taken back, and it may be
 * initialized anew. Any level. */
typedef NTSTATUS (*NDK_FN_DEREGISTER_MR)(
	NDK_MR *pNdkMr, NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);
/* nd_fr_initialize(). STATUS_INVALID_DEVICE_REQUEST: not created for fast registration. Any level.
 */
typedef NTSTATUS (*NDK_FN_INITIALIZE_FAST_REGISTER_MR)(NDK_MR *pNdkMr, ULONG AdapterPageCount,
	BOOLEAN RemoteAccess, NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);
/* For the peer, in the order of the wire (R-MR-09): nd_mr_remote_token(), nd_fr_remote_token(); 0
 * before there is one. Any level. */
typedef UINT32 (*NDK_FN_GET_REMOTE_TOKEN_FROM_MR)(NDK_MR *pNdkMr);
/* For NDK_SGE.MemoryRegionToken: nd_mr_local_token(), nd_fr_local_token(). Any level. */
typedef UINT32 (*NDK_FN_GET_LOCAL_TOKEN_FROM_MR)(NDK_MR *pNdkMr);

typedef struct _NDK_MR_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkCloseMr;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_REGISTER_MR NdkRegisterMr;
	NDK_FN_DEREGISTER_MR NdkDeregisterMr;
	NDK_FN_INITIALIZE_FAST_REGISTER_MR NdkInitializeFastRegisterMr;
	NDK_FN_GET_REMOTE_TOKEN_FROM_MR NdkGetRemoteTokenFromMr;
	NDK_FN_GET_LOCAL_TOKEN_FROM_MR NdkGetLocalTokenFromMr;
} NDK_MR_DISPATCH;

struct _NDK_MR {
	NDK_OBJECT_HEADER Header;
	CONST NDK_MR_DISPATCH *Dispatch;
};

/* nd_mw_remote_token(). Any level. */
typedef UINT32 (*NDK_FN_GET_REMOTE_TOKEN_FROM_MW)(NDK_MW *pNdkMw);

typedef struct _NDK_MW_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkCloseMw;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_GET_REMOTE_TOKEN_FROM_MW NdkGetRemoteTokenFromMw;
} NDK_MW_DISPATCH;

struct _NDK_MW {
	NDK_OBJECT_HEADER Header;
	CONST NDK_MW_DISPATCH *Dispatch;
};

#ifdef __cplusplus
}
#endif
#endif
