/* SPDX-License-Identifier: BSD-3-Clause */
/* libndkpi: protection domains and adapters, and what they make. Part of ndkpi.h. */
#ifndef NDKPI_ADAPTER_H
#define NDKPI_ADAPTER_H

#include "ndkpi_connection.h"
#include "ndkpi_memory.h"
#include "ndkpi_qp.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- protection domains ----------------------------------------------------------------- */

/* FastRegister is for the region's life; then NdkInitializeFastRegisterMr, else NdkRegisterMr makes
 * it useful. nd_mr_create(), nd_fr_create(): never pends. Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_MR)(NDK_PD *pNdkPd, BOOLEAN FastRegister,
	NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_MR **ppNdkMr);
/* nd_mw_create(). Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_MW)(NDK_PD *pNdkPd, NDK_FN_CREATE_COMPLETION CreateCompletion,
	PVOID RequestContext, NDK_MW **ppNdkMw);
/* nd_srq_create_near(). SrqNotification may be NULL; else NdkModifySrq arms for it. A limit that is
 * exceeded: STATUS_INVALID_PARAMETER, as of the next two. Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_SRQ)(NDK_PD *pNdkPd, ULONG SrqDepth, ULONG MaxReceiveRequestSge,
	ULONG NotifyThreshold, NDK_FN_SRQ_NOTIFICATION_CALLBACK SrqNotification,
	PVOID SrqNotificationContext, GROUP_AFFINITY *Affinity,
	NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_SRQ **ppNdkSrq);
/* nd_qp_create(). Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_QP)(NDK_PD *pNdkPd, NDK_CQ *pReceiveCq, NDK_CQ *pInitiatorCq,
	PVOID QPContext, ULONG ReceiveQueueDepth, ULONG InitiatorQueueDepth,
	ULONG MaxReceiveRequestSge, ULONG MaxInitiatorRequestSge, ULONG InlineDataSize,
	NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_QP **ppNdkQp);
typedef NTSTATUS (*NDK_FN_CREATE_QP_WITH_SRQ)(NDK_PD *pNdkPd, NDK_CQ *pReceiveCq,
	NDK_CQ *pInitiatorCq, NDK_SRQ *pSrq, PVOID QPContext, ULONG InitiatorQueueDepth,
	ULONG MaxInitiatorRequestSge, ULONG InlineDataSize,
	NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_QP **ppNdkQp);
/* nd_pd_privileged_token(): for SGEs with logical addresses, local only (R-FR-08). Any level. */
typedef VOID (*NDK_FN_GET_PRIVILEGED_MEMORY_REGION_TOKEN)(NDK_PD *pNdkPd, UINT32 *pToken);

typedef struct _NDK_PD_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkClosePd;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_CREATE_MR NdkCreateMr;
	NDK_FN_CREATE_MW NdkCreateMw;
	NDK_FN_CREATE_SRQ NdkCreateSrq;
	NDK_FN_CREATE_QP NdkCreateQp;
	NDK_FN_CREATE_QP_WITH_SRQ NdkCreateQpWithSrq;
	NDK_FN_GET_PRIVILEGED_MEMORY_REGION_TOKEN NdkGetPrivilegedMemoryRegionToken;
} NDK_PD_DISPATCH;

struct _NDK_PD {
	NDK_OBJECT_HEADER Header;
	CONST NDK_PD_DISPATCH *Dispatch;
};

/* ---- adapters --------------------------------------------------------------------------- */

/* The logical addresses of a piece of memory, page by page. */
typedef struct _NDK_LOGICAL_ADDRESS_MAPPING {
	PVOID AdapterContext; /* the library's */
	ULONG AdapterPageCount;
	NDK_LOGICAL_ADDRESS AdapterPageArray[1]; /* AdapterPageCount of them */
} NDK_LOGICAL_ADDRESS_MAPPING;
NDWIN_ASSERT(sizeof(NDK_LOGICAL_ADDRESS_MAPPING) == 24);
NDWIN_ASSERT(offsetof(NDK_LOGICAL_ADDRESS_MAPPING, AdapterPageArray) == 16);

/* *pBufferSize: the room on the way in, the size on the way out. STATUS_BUFFER_TOO_SMALL: not
 * enough room, and pInfo, which may be NULL then, is untouched. Any level. */
typedef NTSTATUS (*NDK_FN_QUERY_ADAPTER_INFO)(
	NDK_ADAPTER *pNdkAdapter, NDK_ADAPTER_INFO *pInfo, ULONG *pBufferSize);
/* nd_cq_create_near(), nd_cq_set_callback(). Affinity may be NULL. STATUS_INVALID_PARAMETER: depth
 * 0 or more than MaxCqDepth. Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_CQ)(NDK_ADAPTER *pNdkAdapter, ULONG CqDepth,
	NDK_FN_CQ_NOTIFICATION_CALLBACK CqNotification, PVOID CqNotificationContext,
	GROUP_AFFINITY *Affinity, NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext,
	NDK_CQ **ppNdkCq);
/* nd_pd_create(). Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_PD)(NDK_ADAPTER *pNdkAdapter,
	NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext, NDK_PD **ppNdkPd);
/* nd_endpoint_create(). Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_SHARED_ENDPOINT)(NDK_ADAPTER *pNdkAdapter,
	CONST SOCKADDR *pAddress, ULONG AddressLength, NDK_FN_CREATE_COMPLETION CreateCompletion,
	PVOID RequestContext, NDK_SHARED_ENDPOINT **ppNdkSharedEndpoint);
/* nd_connector_create(): never pends. Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_CONNECTOR)(NDK_ADAPTER *pNdkAdapter,
	NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext,
	NDK_CONNECTOR **ppNdkConnector);
/* nd_listener_create(), nd_listener_set_callback(). Any level. */
typedef NTSTATUS (*NDK_FN_CREATE_LISTENER)(NDK_ADAPTER *pNdkAdapter,
	NDK_FN_CONNECT_EVENT_CALLBACK ConnectEvent, PVOID ConnectEventContext,
	NDK_FN_CREATE_COMPLETION CreateCompletion, PVOID RequestContext,
	NDK_LISTENER **ppNdkListener);
/*
 * The pages that the first Length bytes of the list's memory lie in, and by *pFBO where in the
 * first of them they begin. *pLAMSize: the room on the way in, the size on the way out. Never
 * pends, so RequestCompletion may be NULL. Memory that is not of NdkAllocateMemory() is adopted
 * where it lies until the mapping is released, as by ND_MR_FLAG_IN_PLACE, with all that is said of
 * adopted memory there: that waits for the daemon. If it fails nothing is mapped, and pNdkLAM is
 * untouched: STATUS_BUFFER_TOO_SMALL: not enough room (pNdkLAM may be NULL then);
 * STATUS_INVALID_PARAMETER: as of NdkRegisterMr; STATUS_INSUFFICIENT_RESOURCES;
 * STATUS_NOT_SUPPORTED: memory that can't be adopted: of a file, shared, not writable, a stack,
 * partly of NdkAllocateMemory(), partly adopted for a region of NdkRegisterMr, or new memory where
 * an older mapping still has adopted pages; or the kernel, or the daemon, is too old. Any level.
 */
typedef NTSTATUS (*NDK_FN_BUILD_LAM)(NDK_ADAPTER *pNdkAdapter, MDL *Mdl, SIZE_T Length,
	NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext,
	NDK_LOGICAL_ADDRESS_MAPPING *pNdkLAM, ULONG *pLAMSize, ULONG *pFBO);
/* When all requests that use its addresses have completed (R-FR-09); then the memory may be freed.
 * Not after NdkCloseAdapter(), which ends all mappings. Waits for the daemon if the memory was
 * adopted. Any level. */
typedef VOID (*NDK_FN_RELEASE_LAM)(NDK_ADAPTER *pNdkAdapter, NDK_LOGICAL_ADDRESS_MAPPING *pNdkLAM);

typedef struct _NDK_ADAPTER_DISPATCH {
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_QUERY_ADAPTER_INFO NdkQueryAdapterInfo;
	NDK_FN_CREATE_CQ NdkCreateCq;
	NDK_FN_CREATE_PD NdkCreatePd;
	NDK_FN_CREATE_SHARED_ENDPOINT NdkCreateSharedEndpoint;
	NDK_FN_CREATE_CONNECTOR NdkCreateConnector;
	NDK_FN_CREATE_LISTENER NdkCreateListener;
	NDK_FN_BUILD_LAM NdkBuildLAM;
	NDK_FN_RELEASE_LAM NdkReleaseLAM;
} NDK_ADAPTER_DISPATCH;

struct _NDK_ADAPTER {
	NDK_OBJECT_HEADER Header;
	CONST NDK_ADAPTER_DISPATCH *Dispatch;
};

/* ---- what stands for NDIS --------------------------------------------------------------- */

/*
 * Open the adapter that has this local address: nd_adapter_open(), at the daemon that NDD_SOCKET in
 * the environment names, in the doc profile, for NDK's pages are all there is to go by.
 * NDIS_STATUS_BAD_VERSION: Version.Major is not 1, or Minor is more than 2, the provider's own,
 * which the object tells whatever was asked for. Any thread; blocks.
 */
NTSTATUS NdkOpenAdapter(CONST SOCKADDR *pAddress, ULONG AddressLength, NDK_VERSION Version,
	NDK_ADAPTER **ppAdapter);
/*
 * Close it. Blocks until the consumer has closed all that was made from it, and every callback has
 * returned (R-LIFE-10). STATUS_INVALID_DEVICE_STATE: called in a callback; nothing happened.
 * Passive.
 */
NTSTATUS NdkCloseAdapter(NDK_ADAPTER *pNdkAdapter);
/*
 * Memory that has logical addresses: nd_alloc(), of whole pages. Other memory can be registered by
 * NdkRegisterMr only. NULL: there is none. A round trip, or some.
 */
PVOID NdkAllocateMemory(NDK_ADAPTER *pNdkAdapter, SIZE_T Bytes);
/* nd_free(); NULL does nothing. Not while a region, a request or a mapping uses it. What the
 * consumer has not freed goes with the adapter. A round trip, or some. */
VOID NdkFreeMemory(NDK_ADAPTER *pNdkAdapter, PVOID Memory);

#ifdef __cplusplus
}
#endif
#endif
