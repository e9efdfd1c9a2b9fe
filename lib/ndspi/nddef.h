/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndspi: flags and structures of version 2, laid out as NetworkDirect's nddef.h has them for
 * 64-bit programs. Flags are those of libndclient, where ndclient.h was included before.
 */
#ifndef NDDEF_H
#define NDDEF_H

#ifdef NDSPI_PLATFORM
#include NDSPI_PLATFORM
#else
#include "ndwin.h"
#endif

#ifdef __cplusplus
#define ND_ASSERT(condition) static_assert(condition, #condition)
#else
#define ND_ASSERT(condition) _Static_assert(condition, #condition)
#endif

#define ND_VERSION_1 0x1
#define ND_VERSION_2 0x20000
#ifndef NDVER
#define NDVER ND_VERSION_2
#endif

#define ND_ADAPTER_FLAG_IN_ORDER_DMA_SUPPORTED		  0x00000001
#define ND_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED 0x00000004
#define ND_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED		  0x00000008
#define ND_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED		  0x00000100
#define ND_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED	  0x00010000

#ifndef NDCLIENT_H
/* IND2CompletionQueue::Notify */
#define ND_CQ_NOTIFY_ERRORS    0
#define ND_CQ_NOTIFY_ANY       1
#define ND_CQ_NOTIFY_SOLICITED 2

/* IND2MemoryRegion::Register */
#define ND_MR_FLAG_ALLOW_LOCAL_WRITE  0x00000001
#define ND_MR_FLAG_ALLOW_REMOTE_READ  0x00000002
#define ND_MR_FLAG_ALLOW_REMOTE_WRITE 0x00000005
#define ND_MR_FLAG_RDMA_READ_SINK     0x00000008
#define ND_MR_FLAG_DO_NOT_SECURE_VM   0x80000000

/* Requests */
#define ND_OP_FLAG_SILENT_SUCCESS	  0x00000001
#define ND_OP_FLAG_READ_FENCE		  0x00000002
#define ND_OP_FLAG_SEND_AND_SOLICIT_EVENT 0x00000004
#define ND_OP_FLAG_ALLOW_READ		  0x00000008
#define ND_OP_FLAG_ALLOW_WRITE		  0x00000010
#if NDVER >= ND_VERSION_2
#define ND_OP_FLAG_INLINE 0x00000020
#endif
#endif

/* What IND2Adapter::Query tells. InfoVersion is set by the caller: 1, or ND_VERSION_2. */
typedef struct _ND2_ADAPTER_INFO {
	ULONG InfoVersion;
	UINT16 VendorId; /* PCI's; 0 for a device of software */
	UINT16 DeviceId;
	UINT64 AdapterId;
	SIZE_T MaxRegistrationSize;
	SIZE_T MaxWindowSize;
	ULONG MaxInitiatorSge;
	ULONG MaxReceiveSge;
	ULONG MaxReadSge;
	ULONG MaxTransferLength;
	ULONG MaxInlineDataSize;
	ULONG MaxInboundReadLimit;
	ULONG MaxOutboundReadLimit;
	ULONG MaxReceiveQueueDepth;
	ULONG MaxInitiatorQueueDepth;
	ULONG MaxSharedReceiveQueueDepth;
	ULONG MaxCompletionQueueDepth;
	ULONG InlineRequestThreshold;
	ULONG LargeRequestThreshold;
	ULONG MaxCallerData;
	ULONG MaxCalleeData;
	ULONG AdapterFlags;
} ND2_ADAPTER_INFO;
ND_ASSERT(sizeof(ND2_ADAPTER_INFO) == 96);
ND_ASSERT(offsetof(ND2_ADAPTER_INFO, AdapterId) == 8);
ND_ASSERT(offsetof(ND2_ADAPTER_INFO, MaxInitiatorSge) == 32);
ND_ASSERT(offsetof(ND2_ADAPTER_INFO, MaxReceiveQueueDepth) == 60);
ND_ASSERT(offsetof(ND2_ADAPTER_INFO, AdapterFlags) == 92);

typedef enum _ND2_REQUEST_TYPE {
	Nd2RequestTypeReceive,
	Nd2RequestTypeSend,
	Nd2RequestTypeBind,
	Nd2RequestTypeInvalidate,
	Nd2RequestTypeRead,
	Nd2RequestTypeWrite
} ND2_REQUEST_TYPE;

typedef struct _ND2_RESULT {
	HRESULT Status;
	ULONG BytesTransferred;
	VOID *QueuePairContext;
	VOID *RequestContext;
	ND2_REQUEST_TYPE RequestType;
} ND2_RESULT;
ND_ASSERT(sizeof(ND2_RESULT) == 32);
ND_ASSERT(offsetof(ND2_RESULT, BytesTransferred) == 4);
ND_ASSERT(offsetof(ND2_RESULT, QueuePairContext) == 8);
ND_ASSERT(offsetof(ND2_RESULT, RequestContext) == 16);
ND_ASSERT(offsetof(ND2_RESULT, RequestType) == 24);

typedef struct _ND2_SGE {
	VOID *Buffer;
	ULONG BufferLength;
	UINT32 MemoryRegionToken; /* not looked at with ND_OP_FLAG_INLINE */
} ND2_SGE;
ND_ASSERT(sizeof(ND2_SGE) == 16);
ND_ASSERT(offsetof(ND2_SGE, BufferLength) == 8);
ND_ASSERT(offsetof(ND2_SGE, MemoryRegionToken) == 12);

#endif
