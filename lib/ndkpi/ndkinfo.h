/* SPDX-License-Identifier: BSD-3-Clause */
/* libndkpi: what an adapter can do, laid out as NDK 1.1 and 1.2 have it. */
#ifndef NDKINFO_H
#define NDKINFO_H

#include "ndknt.h"

#define NDK_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED		      0x00000001
#define NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED	      0x00000002
#define NDK_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED    0x00000004
#define NDK_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED		      0x00000008
#define NDK_ADAPTER_FLAG_RDMA_READ_LOCAL_INVALIDATE_SUPPORTED 0x00000010 /* from 1.2 on */
#define NDK_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED		      0x00000100
#define NDK_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED	      0x00010000

typedef struct {
	USHORT Major;
	USHORT Minor;
} NDK_VERSION;

typedef struct _NDK_ADAPTER_INFO {
	NDK_VERSION Version; /* 1.2 */
	UINT32 VendorId;     /* PCI's; 0 for a device of software */
	UINT32 DeviceId;
	SIZE_T MaxRegistrationSize; /* bytes of a region */
	SIZE_T MaxWindowSize;
	ULONG FRMRPageCount; /* pages of one fast registration */
	ULONG MaxInitiatorRequestSge;
	ULONG MaxReceiveRequestSge;
	ULONG MaxReadRequestSge;
	ULONG MaxTransferLength; /* bytes of one request */
	ULONG MaxInlineDataSize;
	ULONG MaxInboundReadLimit;
	ULONG MaxOutboundReadLimit;
	ULONG MaxReceiveQueueDepth;
	ULONG MaxInitiatorQueueDepth;
	ULONG MaxSrqDepth; /* 0: no shared receive queues */
	ULONG MaxCqDepth;
	ULONG LargeRequestThreshold;
	ULONG MaxCallerData; /* private data of NdkConnect */
	ULONG MaxCalleeData; /* of NdkAccept and NdkReject */
	ULONG AdapterFlags;
} NDK_ADAPTER_INFO;
NDWIN_ASSERT(sizeof(NDK_ADAPTER_INFO) == 96);
NDWIN_ASSERT(offsetof(NDK_ADAPTER_INFO, MaxRegistrationSize) == 16);
NDWIN_ASSERT(offsetof(NDK_ADAPTER_INFO, FRMRPageCount) == 32);
NDWIN_ASSERT(offsetof(NDK_ADAPTER_INFO, MaxReceiveQueueDepth) == 64);
NDWIN_ASSERT(offsetof(NDK_ADAPTER_INFO, AdapterFlags) == 92);

#endif
