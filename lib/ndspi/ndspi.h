/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndspi: NetworkDirect's interfaces over libndclient, for C and C++: version 2 here, version 1
 * in ndspi_v1.h, which this header includes. Interface ids, slots, structures and statuses are
 * NetworkDirect's, so a program that is written to them needs these headers, those of its platform
 * (ndwin.h, or its own) and a link line.
 *
 * What a method does, its parameters, statuses and rules (R-...) are libndclient's, whose call is
 * named at each; only what differs stands here. A method may be called by any thread at any time,
 * posts to one queue by one thread at a time. A pointer to an interface must be valid. An interface
 * that a method takes as IUnknown is one of this library, of the same adapter and of the kind that
 * the method wants, or the call fails with ND_INVALID_PARAMETER_k for the k-th parameter.
 *
 * Requests. A method that takes an OVERLAPPED begins a request. ND_PENDING: its outcome comes in
 * pOverlapped->Internal, by the event of hEvent, and by a packet in the port that the file handle
 * of the object is associated with (ndwin.h). Any other status is the outcome, and nothing follows
 * (R-OV-03). A NULL pOverlapped is ND_INVALID_PARAMETER (R-OV-02). Several requests may be under
 * way on one OVERLAPPED: each completes, as on Windows.
 *
 * Lifetimes. Objects hold what they rest on, so they may be released in any order (R-LIFE-01), and
 * the file handle may be closed early (R-LIFE-03). With its last Release an object's requests
 * complete with ND_CANCELED before Release returns (R-OV-13).
 */
#ifndef NDSPI_H
#define NDSPI_H

#include "ndcom.h"
#include "nddef.h"
#include "ndstatus.h"

/* Laid out by hand: clang-format takes these declarations for calls. */
/* clang-format off */

/* COM's interfaces have no destructors: Release() ends an object. */
#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif

#undef INTERFACE
#define INTERFACE IND2Overlapped
DEFINE_GUID(IID_IND2Overlapped, 0xabf72719, 0xb016, 0x4a40, 0xa6, 0xf7, 0x62, 0x27, 0x91, 0xa7,
	0x04, 0x4c);
DECLARE_INTERFACE_(IND2Overlapped, IUnknown)
{
	ND_INHERITED_UNKNOWN
	/* All requests of the object that are under way complete with ND_CANCELED, or with an
	 * outcome that was faster, before this returns (R-OV-10). ND_SUCCESS. */
	STDMETHOD(CancelOverlappedRequests)(THIS) PURE;
	/*
	 * The outcome of a request of this object or another of its kind. ND_PENDING: it is under
	 * way, and wait is FALSE. Changes nothing, however often it is called (R-OV-07); with wait,
	 * hEvent need not be set.
	 */
	STDMETHOD(GetOverlappedResult)(THIS_ OVERLAPPED *pOverlapped, BOOL wait) PURE;
};

#ifdef __cplusplus
#define ND_INHERITED_OVERLAPPED
#else
#define ND_INHERITED_OVERLAPPED                                                                    \
	ND_INHERITED_UNKNOWN                                                                       \
	STDMETHOD(CancelOverlappedRequests)(THIS) PURE;                                            \
	STDMETHOD(GetOverlappedResult)(THIS_ OVERLAPPED *pOverlapped, BOOL wait) PURE;
#endif

/* nd_cq_*() */
#undef INTERFACE
#define INTERFACE IND2CompletionQueue
DEFINE_GUID(IID_IND2CompletionQueue, 0x20cc445e, 0x64a0, 0x4cbb, 0xaa, 0x75, 0xf6, 0xa7, 0x25, 0x1f,
	0xda, 0x9e);
DECLARE_INTERFACE_(IND2CompletionQueue, IND2Overlapped)
{
	ND_INHERITED_OVERLAPPED
	/* nd_cq_get_affinity() */
	STDMETHOD(GetNotifyAffinity)(THIS_ USHORT *pGroup, KAFFINITY *pAffinity) PURE;
	/* nd_cq_resize() */
	STDMETHOD(Resize)(THIS_ ULONG queueDepth) PURE;
	/* nd_cq_notify(): always ND_PENDING if it succeeds (R-OV-04) */
	STDMETHOD(Notify)(THIS_ ULONG type, OVERLAPPED *pOverlapped) PURE;
	/* nd_cq_get_results(), but 0 from a queue that is dead and empty: Notify says why */
	STDMETHOD_(ULONG, GetResults)(THIS_ ND2_RESULT results[], ULONG nResults) PURE;
};

/* nd_srq_*() */
#undef INTERFACE
#define INTERFACE IND2SharedReceiveQueue
DEFINE_GUID(IID_IND2SharedReceiveQueue, 0xaabd67dc, 0x459a, 0x4db1, 0x82, 0x6b, 0x56, 0xcf, 0xcc,
	0x27, 0x88, 0x83);
DECLARE_INTERFACE_(IND2SharedReceiveQueue, IND2Overlapped)
{
	ND_INHERITED_OVERLAPPED
	/* nd_srq_get_affinity() */
	STDMETHOD(GetNotifyAffinity)(THIS_ USHORT *pGroup, KAFFINITY *pAffinity) PURE;
	/* nd_srq_modify() */
	STDMETHOD(Modify)(THIS_ ULONG queueDepth, ULONG notifyThreshold) PURE;
	/* nd_srq_notify() */
	STDMETHOD(Notify)(THIS_ OVERLAPPED *pOverlapped) PURE;
	/* nd_srq_receive() */
	STDMETHOD(Receive)(THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge) PURE;
};

#undef INTERFACE
#define INTERFACE IND2MemoryWindow
DEFINE_GUID(IID_IND2MemoryWindow, 0x070fe1f5, 0x0ab5, 0x4361, 0x88, 0xdb, 0x97, 0x4b, 0xa7, 0x04,
	0xd4, 0xb9);
DECLARE_INTERFACE_(IND2MemoryWindow, IUnknown)
{
	ND_INHERITED_UNKNOWN
	/* nd_mw_remote_token(): of the latest Bind */
	STDMETHOD_(UINT32, GetRemoteToken)(THIS) PURE;
};

/* nd_mr_*() */
#undef INTERFACE
#define INTERFACE IND2MemoryRegion
DEFINE_GUID(IID_IND2MemoryRegion, 0x55dfea2f, 0xbc56, 0x4982, 0x8a, 0x45, 0x03, 0x01, 0xbe, 0x46,
	0xc4, 0x13);
DECLARE_INTERFACE_(IND2MemoryRegion, IND2Overlapped)
{
	ND_INHERITED_OVERLAPPED
	/* nd_mr_register(): always ND_PENDING if it succeeds (R-OV-04) */
	STDMETHOD(Register)(THIS_ const VOID *pBuffer, SIZE_T cbBuffer, ULONG flags,
		OVERLAPPED *pOverlapped) PURE;
	/* nd_mr_deregister(); ND_DEVICE_BUSY at once: a window is bound to it */
	STDMETHOD(Deregister)(THIS_ OVERLAPPED *pOverlapped) PURE;
	STDMETHOD_(UINT32, GetLocalToken)(THIS) PURE;
	STDMETHOD_(UINT32, GetRemoteToken)(THIS) PURE;
};

/* nd_qp_*(). The contexts of completions are the queue pair's and the request's. */
#undef INTERFACE
#define INTERFACE IND2QueuePair
DEFINE_GUID(IID_IND2QueuePair, 0xeef2f332, 0xb75d, 0x4063, 0xbc, 0xe3, 0x3a, 0x0b, 0xad, 0x2d, 0x02,
	0xce);
DECLARE_INTERFACE_(IND2QueuePair, IUnknown)
{
	ND_INHERITED_UNKNOWN
	STDMETHOD(Flush)(THIS) PURE;
	STDMETHOD(Send)(THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge,
		ULONG flags) PURE;
	STDMETHOD(Receive)(THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge) PURE;
	/* pMemoryRegion: an IND2MemoryRegion; pMemoryWindow: an IND2MemoryWindow */
	STDMETHOD(Bind)(THIS_ VOID *requestContext, IUnknown *pMemoryRegion,
		IUnknown *pMemoryWindow, const VOID *pBuffer, SIZE_T cbBuffer, ULONG flags) PURE;
	STDMETHOD(Invalidate)(THIS_ VOID *requestContext, IUnknown *pMemoryWindow,
		ULONG flags) PURE;
	STDMETHOD(Read)(THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge,
		UINT64 remoteAddress, UINT32 remoteToken, ULONG flags) PURE;
	STDMETHOD(Write)(THIS_ VOID *requestContext, const ND2_SGE sge[], ULONG nSge,
		UINT64 remoteAddress, UINT32 remoteToken, ULONG flags) PURE;
};

/* nd_connector_*(). CancelOverlappedRequests of a connector that waits at a listener cancels that
 * GetConnectionRequest, too. */
#undef INTERFACE
#define INTERFACE IND2Connector
DEFINE_GUID(IID_IND2Connector, 0x7dd615c4, 0x6b4c, 0x4866, 0x95, 0x0c, 0xf3, 0xb1, 0xd2, 0x5a, 0x53,
	0x02);
DECLARE_INTERFACE_(IND2Connector, IND2Overlapped)
{
	ND_INHERITED_OVERLAPPED
	STDMETHOD(Bind)(THIS_ const struct sockaddr *pAddress, ULONG cbAddress) PURE;
	STDMETHOD(Connect)(THIS_ IUnknown *pQueuePair, const struct sockaddr *pDestAddress,
		ULONG cbDestAddress, ULONG inboundReadLimit, ULONG outboundReadLimit,
		const VOID *pPrivateData, ULONG cbPrivateData, OVERLAPPED *pOverlapped) PURE;
	STDMETHOD(CompleteConnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
	STDMETHOD(Accept)(THIS_ IUnknown *pQueuePair, ULONG inboundReadLimit,
		ULONG outboundReadLimit, const VOID *pPrivateData, ULONG cbPrivateData,
		OVERLAPPED *pOverlapped) PURE;
	STDMETHOD(Reject)(THIS_ const VOID *pPrivateData, ULONG cbPrivateData) PURE;
	STDMETHOD(GetReadLimits)(THIS_ ULONG *pInboundReadLimit, ULONG *pOutboundReadLimit) PURE;
	STDMETHOD(GetPrivateData)(THIS_ VOID *pPrivateData, ULONG *pcbPrivateData) PURE;
	STDMETHOD(GetLocalAddress)(THIS_ struct sockaddr *pAddress, ULONG *pcbAddress) PURE;
	STDMETHOD(GetPeerAddress)(THIS_ struct sockaddr *pAddress, ULONG *pcbAddress) PURE;
	STDMETHOD(NotifyDisconnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
	STDMETHOD(Disconnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
};

/* nd_listener_*() */
#undef INTERFACE
#define INTERFACE IND2Listener
DEFINE_GUID(IID_IND2Listener, 0x65d23d83, 0x3a57, 0x4e02, 0x86, 0xa4, 0x35, 0x01, 0x65, 0xc2, 0xd1,
	0x30);
DECLARE_INTERFACE_(IND2Listener, IND2Overlapped)
{
	ND_INHERITED_OVERLAPPED
	STDMETHOD(Bind)(THIS_ const struct sockaddr *pAddress, ULONG cbAddress) PURE;
	STDMETHOD(Listen)(THIS_ ULONG backlog) PURE;
	STDMETHOD(GetLocalAddress)(THIS_ struct sockaddr *pAddress, ULONG *pcbAddress) PURE;
	/* pConnector: a fresh IND2Connector */
	STDMETHOD(GetConnectionRequest)(THIS_ IUnknown *pConnector, OVERLAPPED *pOverlapped) PURE;
};

/*
 * nd_adapter_*(). All objects of one adapter are of one protection domain. hOverlappedFile: a
 * handle of CreateOverlappedFile, or ND_INVALID_PARAMETER_2. Each Create* gives an interface with
 * one reference; iid: of the object that is made, of its base interface, or IID_IUnknown, else
 * E_NOINTERFACE, and *pp is NULL. group: 0 (ND_INVALID_PARAMETER_k); affinity: a wish without
 * effect.
 */
#undef INTERFACE
#define INTERFACE IND2Adapter
DEFINE_GUID(IID_IND2Adapter, 0xd89c798c, 0x4823, 0x4d69, 0x84, 0x6c, 0xdf, 0xdc, 0xcf, 0xf9, 0xe5,
	0xf3);
DECLARE_INTERFACE_(IND2Adapter, IUnknown)
{
	ND_INHERITED_UNKNOWN
	/* A handle that CreateIoCompletionPort() takes, and CloseHandle(). Any number of objects
	 * may use it. ND_NO_MEMORY. */
	STDMETHOD(CreateOverlappedFile)(THIS_ HANDLE *phOverlappedFile) PURE;
	/*
	 * pInfo->InfoVersion says which structure is wanted: 1 or ND_VERSION_2, else
	 * ND_INVALID_PARAMETER_1. *pcbInfo: in, the bytes of pInfo; out, those of the structure.
	 * ND_BUFFER_OVERFLOW: it is larger, pInfo is untouched, also for the size query with NULL.
	 */
	STDMETHOD(Query)(THIS_ ND2_ADAPTER_INFO *pInfo, ULONG *pcbInfo) PURE;
	/* The adapter's local addresses, which follow the list in the same buffer; sizes as above.
	 * Without any, ND_SUCCESS and 0 bytes. */
	STDMETHOD(QueryAddressList)(THIS_ SOCKET_ADDRESS_LIST *pAddressList,
		ULONG *pcbAddressList) PURE;
	STDMETHOD(CreateCompletionQueue)(THIS_ REFIID iid, HANDLE hOverlappedFile,
		ULONG queueDepth, USHORT group, KAFFINITY affinity, VOID **ppCompletionQueue) PURE;
	STDMETHOD(CreateMemoryRegion)(THIS_ REFIID iid, HANDLE hOverlappedFile,
		VOID **ppMemoryRegion) PURE;
	STDMETHOD(CreateMemoryWindow)(THIS_ REFIID iid, VOID **ppMemoryWindow) PURE;
	STDMETHOD(CreateSharedReceiveQueue)(THIS_ REFIID iid, HANDLE hOverlappedFile,
		ULONG queueDepth, ULONG maxRequestSge, ULONG notifyThreshold, USHORT group,
		KAFFINITY affinity, VOID **ppSharedReceiveQueue) PURE;
	STDMETHOD(CreateQueuePair)(THIS_ REFIID iid, IUnknown *pReceiveCompletionQueue,
		IUnknown *pInitiatorCompletionQueue, VOID *context, ULONG receiveQueueDepth,
		ULONG initiatorQueueDepth, ULONG maxReceiveRequestSge,
		ULONG maxInitiatorRequestSge, ULONG inlineDataSize, VOID **ppQueuePair) PURE;
	STDMETHOD(CreateQueuePairWithSrq)(THIS_ REFIID iid, IUnknown *pReceiveCompletionQueue,
		IUnknown *pInitiatorCompletionQueue, IUnknown *pSharedReceiveQueue, VOID *context,
		ULONG initiatorQueueDepth, ULONG maxInitiatorRequestSge, ULONG inlineDataSize,
		VOID **ppQueuePair) PURE;
	STDMETHOD(CreateConnector)(THIS_ REFIID iid, HANDLE hOverlappedFile,
		VOID **ppConnector) PURE;
	STDMETHOD(CreateListener)(THIS_ REFIID iid, HANDLE hOverlappedFile, VOID **ppListener) PURE;
};

/* One daemon: that of the environment's NDD_SOCKET, or of the default path. */
#undef INTERFACE
#define INTERFACE IND2Provider
DEFINE_GUID(IID_IND2Provider, 0x49eae6c1, 0x76c4, 0x46d0, 0x80, 0x03, 0x5c, 0x2e, 0xaa, 0x2c, 0x9a,
	0x8e);
DECLARE_INTERFACE_(IND2Provider, IUnknown)
{
	ND_INHERITED_UNKNOWN
	/* nd_query_addresses(); sizes as of IND2Adapter::Query */
	STDMETHOD(QueryAddressList)(THIS_ SOCKET_ADDRESS_LIST *pAddressList,
		ULONG *pcbAddressList) PURE;
	/* nd_resolve_adapter() */
	STDMETHOD(ResolveAddress)(THIS_ const struct sockaddr *pAddress, ULONG cbAddress,
		UINT64 *pAdapterId) PURE;
	/* nd_adapter_open_id(); the adapter's profile (ndclient.h) is the test profile, or, with
	 * NDD_PROFILE=doc in the environment, that of the pages */
	STDMETHOD(OpenAdapter)(THIS_ REFIID iid, UINT64 adapterId, VOID **ppAdapter) PURE;
};

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif
#undef INTERFACE
	/* clang-format on */

#include "ndspi_v1.h"

#endif
