/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndspi: NetworkDirect's interfaces, version 1, which ndspi.h includes. What ndspi.h says of
 * calls, requests and lifetimes holds here, and a method behaves as the call of libndclient that is
 * named at it; only what differs stands here. doc/porting-nd.md has the table of differences.
 *
 * Results. A request is known by its ND_RESULT, which stays in place, and is of no other request,
 * until GetResults gives it back (R-CR-03). It is written then. Its Status may be, besides
 * version 2's, ND_TIMEOUT for ND_IO_TIMEOUT; ND_REMOTE_ERROR stands for ND_DATA_ERROR, and of a
 * receive that is too short ND_BUFFER_OVERFLOW for ND_DATA_OVERRUN. BytesTransferred is that of
 * sends, receives, reads and writes that succeeded, else 0.
 *
 * Requests complete to the one file of the adapter (INDAdapter::GetFileHandle).
 */
#ifndef NDSPI_V1_H
#define NDSPI_V1_H

#include "ndcom.h"
#include "nddef.h"
#include "ndstatus.h"

/* Opaque: an INDAdapter's registered memory, or NULL (INDEndpoint). */
DECLARE_HANDLE(ND_MR_HANDLE);

typedef struct _ND_ADAPTER_INFO1 {
	UINT32 VendorId; /* PCI's; 0 for a device of software */
	UINT32 DeviceId;
	SIZE_T MaxInboundSge;
	SIZE_T MaxInboundRequests;
	SIZE_T MaxInboundLength;
	SIZE_T MaxOutboundSge;
	SIZE_T MaxOutboundRequests;
	SIZE_T MaxOutboundLength;
	SIZE_T MaxInlineData;
	SIZE_T MaxInboundReadLimit;
	SIZE_T MaxOutboundReadLimit;
	SIZE_T MaxCqEntries;
	SIZE_T MaxRegistrationSize;
	SIZE_T MaxWindowSize;
	SIZE_T LargeRequestThreshold;
	SIZE_T MaxCallerData;
	SIZE_T MaxCalleeData;
} ND_ADAPTER_INFO1;
#define ND_ADAPTER_INFO ND_ADAPTER_INFO1
ND_ASSERT(sizeof(ND_ADAPTER_INFO1) == 128);
ND_ASSERT(offsetof(ND_ADAPTER_INFO1, DeviceId) == 4);
ND_ASSERT(offsetof(ND_ADAPTER_INFO1, MaxInboundSge) == 8);
ND_ASSERT(offsetof(ND_ADAPTER_INFO1, MaxInlineData) == 56);
ND_ASSERT(offsetof(ND_ADAPTER_INFO1, MaxCalleeData) == 120);

typedef struct _ND_RESULT {
	HRESULT Status;
	SIZE_T BytesTransferred;
} ND_RESULT;
ND_ASSERT(sizeof(ND_RESULT) == 16);
ND_ASSERT(offsetof(ND_RESULT, BytesTransferred) == 8);

/* What INDEndpoint::Bind tells for the peer, in network order: it can be sent as it stands. */
#pragma pack(push, 1)
typedef struct _ND_MW_DESCRIPTOR {
	UINT64 Base;
	UINT64 Length;
	UINT32 Token;
} ND_MW_DESCRIPTOR;
#pragma pack(pop)
ND_ASSERT(sizeof(ND_MW_DESCRIPTOR) == 20);
ND_ASSERT(offsetof(ND_MW_DESCRIPTOR, Length) == 8);
ND_ASSERT(offsetof(ND_MW_DESCRIPTOR, Token) == 16);

typedef struct _ND_SGE {
	VOID *pAddr;
	SIZE_T Length;
	ND_MR_HANDLE hMr;
} ND_SGE;
ND_ASSERT(sizeof(ND_SGE) == 24);
ND_ASSERT(offsetof(ND_SGE, Length) == 8);
ND_ASSERT(offsetof(ND_SGE, hMr) == 16);

/* Names of version 1 for statuses of version 2. */
#define ND_LOCAL_LENGTH	      ND_DATA_OVERRUN
#define ND_INVALIDATION_ERROR ND_INVALID_DEVICE_REQUEST

/* Laid out by hand, and without destructors: as ndspi.h. */
/* clang-format off */

#ifdef __cplusplus
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-virtual-dtor"
#endif

#undef INTERFACE
#define INTERFACE INDOverlapped
DEFINE_GUID(IID_INDOverlapped, 0xc859e15e, 0x75e2, 0x4fe3, 0x8d, 0x6d, 0x0d, 0xff, 0x36, 0xf0, 0x24,
	0x42);
DECLARE_INTERFACE_(INDOverlapped, IUnknown)
{
	ND_INHERITED_UNKNOWN
	/* As IND2Overlapped has them. The number of bytes means nothing; it may be NULL. */
	STDMETHOD(CancelOverlappedRequests)(THIS) PURE;
	STDMETHOD(GetOverlappedResult)(THIS_ OVERLAPPED *pOverlapped,
		SIZE_T *pNumberOfBytesTransferred, BOOL bWait) PURE;
};

#ifdef __cplusplus
#define ND_INHERITED_OVERLAPPED_V1
#else
#define ND_INHERITED_OVERLAPPED_V1                                                                 \
	ND_INHERITED_UNKNOWN                                                                       \
	STDMETHOD(CancelOverlappedRequests)(THIS) PURE;                                            \
	STDMETHOD(GetOverlappedResult)(THIS_ OVERLAPPED *pOverlapped,                              \
		SIZE_T *pNumberOfBytesTransferred, BOOL bWait) PURE;
#endif

/* nd_cq_*() */
#undef INTERFACE
#define INTERFACE INDCompletionQueue
DEFINE_GUID(IID_INDCompletionQueue, 0x1245a633, 0x2a32, 0x473a, 0x83, 0x0c, 0xe0, 0x5d, 0x1f, 0x86,
	0x9d, 0x02);
DECLARE_INTERFACE_(INDCompletionQueue, INDOverlapped)
{
	ND_INHERITED_OVERLAPPED_V1
	/* nd_cq_resize() */
	STDMETHOD(Resize)(THIS_ SIZE_T nEntries) PURE;
	/* nd_cq_notify(): always ND_PENDING if it succeeds (R-OV-04). Type: ND_CQ_NOTIFY_* */
	STDMETHOD(Notify)(THIS_ DWORD Type, OVERLAPPED *pOverlapped) PURE;
	/*
	 * nd_cq_get_results(), but results are pointers to those that were given with the requests,
	 * and 0 comes from a queue that is dead and empty: Notify says why. Right behind a Receive
	 * by which the peer has invalidated a window comes that window's own result (R-INV-13), in
	 * the next call if this one has no room for it.
	 */
	STDMETHOD_(SIZE_T, GetResults)(THIS_ ND_RESULT *pResults[], SIZE_T nResults) PURE;
};

/* Version 2's id: the two can't be told apart by QueryInterface. */
#undef INTERFACE
#define INTERFACE INDMemoryWindow
DEFINE_GUID(IID_INDMemoryWindow, 0x070fe1f5, 0x0ab5, 0x4361, 0x88, 0xdb, 0x97, 0x4b, 0xa7, 0x04,
	0xd4, 0xb9);
DECLARE_INTERFACE_(INDMemoryWindow, IUnknown)
{
	ND_INHERITED_UNKNOWN
};

/*
 * nd_qp_*(). pResult: of the request; ND_INVALID_PARAMETER_1: it is NULL. pSgl may be NULL with
 * nSge 0; ND_DATA_OVERRUN: more entries than the endpoint takes: what CreateEndpoint was asked for,
 * but at least two; ND_BUFFER_OVERFLOW: more bytes than MaxInboundLength or MaxOutboundLength.
 *
 * An entry of Send, SendAndInvalidate or Write whose hMr is NULL is inline: it may be of any
 * memory, and all buffers of the request are free when the call returns. Such a request has at most
 * as many bytes as CreateEndpoint told in pMaxInlineData, else it is ND_BUFFER_OVERFLOW. Elsewhere
 * NULL names no memory, and the result is ND_ACCESS_VIOLATION, as with memory that is deregistered.
 */
#undef INTERFACE
#define INTERFACE INDEndpoint
DEFINE_GUID(IID_INDEndpoint, 0xdbd00eab, 0xb679, 0x44a9, 0xbd, 0x65, 0xe8, 0x2f, 0x3d, 0xe1, 0x2d,
	0x1a);
DECLARE_INTERFACE_(INDEndpoint, IUnknown)
{
	ND_INHERITED_UNKNOWN
	STDMETHOD(Flush)(THIS) PURE;
	/* Hints without effect: requests are carried out as they are posted (R-POST-14). */
	STDMETHOD_(void, StartRequestBatch)(THIS) PURE;
	STDMETHOD_(void, SubmitRequestBatch)(THIS) PURE;
	/* ND_INVALID_PARAMETER_4: flags; legal are SILENT_SUCCESS, READ_FENCE, SOLICIT */
	STDMETHOD(Send)(THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge,
		DWORD Flags) PURE;
	/* The peer's window of that descriptor is invalidated when the peer can take its receive
	 * (R-INV-08). ND_INVALID_PARAMETER_4: no descriptor; _5: flags, as of Send */
	STDMETHOD(SendAndInvalidate)(THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge,
		const ND_MW_DESCRIPTOR *pRemoteMwDescriptor, DWORD Flags) PURE;
	STDMETHOD(Receive)(THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge) PURE;
	/* *pMwDescriptor is filled if the call succeeds, and good from then on (R-MW-12).
	 * ND_INVALID_PARAMETER_2: hMr is not registered; _3: pMw; _7: no descriptor */
	STDMETHOD(Bind)(THIS_ ND_RESULT *pResult, ND_MR_HANDLE hMr, INDMemoryWindow *pMw,
		const void *pBuffer, SIZE_T BufferSize, DWORD Flags,
		ND_MW_DESCRIPTOR *pMwDescriptor) PURE;
	STDMETHOD(Invalidate)(THIS_ ND_RESULT *pResult, INDMemoryWindow *pMw, DWORD Flags) PURE;
	/* Offset: in bytes, from the descriptor's base. ND_INVALID_PARAMETER_4: no descriptor; _6:
	 * flags; legal are SILENT_SUCCESS, READ_FENCE */
	STDMETHOD(Read)(THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge,
		const ND_MW_DESCRIPTOR *pRemoteMwDescriptor, ULONGLONG Offset, DWORD Flags) PURE;
	STDMETHOD(Write)(THIS_ ND_RESULT *pResult, const ND_SGE *pSgl, SIZE_T nSge,
		const ND_MW_DESCRIPTOR *pRemoteMwDescriptor, ULONGLONG Offset, DWORD Flags) PURE;
};

/* nd_connector_*() */
#undef INTERFACE
#define INTERFACE INDConnector
DEFINE_GUID(IID_INDConnector, 0x1bcaf2d1, 0xe274, 0x4aeb, 0xac, 0x57, 0xcd, 0x5d, 0x43, 0x76, 0xe0,
	0xb7);
DECLARE_INTERFACE_(INDConnector, INDOverlapped)
{
	ND_INHERITED_OVERLAPPED_V1
	/*
	 * nd_qp_create(). The read limits are those of Connect or Accept, lowered to what adapter
	 * and peer grant (R-CONN-09). *pMaxInlineData, if it is not NULL: the longest inline
	 * request. ND_INVALID_PARAMETER_k: pInboundCq 1, pOutboundCq 2, nInboundEntries 3,
	 * nOutboundEntries 4, nInboundSge 5, nOutboundSge 6.
	 */
	STDMETHOD(CreateEndpoint)(THIS_ INDCompletionQueue *pInboundCq,
		INDCompletionQueue *pOutboundCq, SIZE_T nInboundEntries, SIZE_T nOutboundEntries,
		SIZE_T nInboundSge, SIZE_T nOutboundSge, SIZE_T InboundReadLimit,
		SIZE_T OutboundReadLimit, SIZE_T *pMaxInlineData, INDEndpoint **ppEndpoint) PURE;
	/*
	 * The port is that of pAddress. Protocol: a number of IANA, 0 to 255, else
	 * ND_INVALID_PARAMETER_4; all have the same ports. LocalPort: in network order, 0: any.
	 * ND_ADDRESS_ALREADY_EXISTS: it is in use; ND_ADDRESS_ALREADY_ASSOCIATED: an earlier
	 * attempt of this connector had another one. ND_TIMEOUT, which SUCCEEDED() takes for a
	 * success: the peer has not answered; the connector may try again (R-CONN-25).
	 */
	STDMETHOD(Connect)(THIS_ INDEndpoint *pEndpoint, const struct sockaddr *pAddress,
		SIZE_T AddressLength, INT Protocol, USHORT LocalPort, const void *pPrivateData,
		SIZE_T PrivateDataLength, OVERLAPPED *pOverlapped) PURE;
	STDMETHOD(CompleteConnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
	STDMETHOD(Accept)(THIS_ INDEndpoint *pEndpoint, const void *pPrivateData,
		SIZE_T PrivateDataLength, OVERLAPPED *pOverlapped) PURE;
	STDMETHOD(Reject)(THIS_ const void *pPrivateData, SIZE_T PrivateDataLength) PURE;
	/* nd_connector_read_limits() and nd_connector_private_data(). Each pointer may be NULL;
	 * without pPrivateDataLength there is no data. Limits are told also with
	 * ND_BUFFER_OVERFLOW, and are 0 with the data of a reject. */
	STDMETHOD(GetConnectionData)(THIS_ SIZE_T *pInboundReadLimit, SIZE_T *pOutboundReadLimit,
		void *pPrivateData, SIZE_T *pPrivateDataLength) PURE;
	STDMETHOD(GetLocalAddress)(THIS_ struct sockaddr *pAddress, SIZE_T *pAddressLength) PURE;
	STDMETHOD(GetPeerAddress)(THIS_ struct sockaddr *pAddress, SIZE_T *pAddressLength) PURE;
	/* ND_CANCELED, not ND_CONNECTION_DISCONNECTED: this side has disconnected (R-DISC-06) */
	STDMETHOD(NotifyDisconnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
	STDMETHOD(Disconnect)(THIS_ OVERLAPPED *pOverlapped) PURE;
};

/* nd_listener_*(); it listens from INDAdapter::Listen to its last Release. */
#undef INTERFACE
#define INTERFACE INDListen
DEFINE_GUID(IID_INDListen, 0xbb902588, 0xba3f, 0x4441, 0x9f, 0xe1, 0x3b, 0x67, 0x95, 0xe4, 0xe6,
	0x68);
DECLARE_INTERFACE_(INDListen, INDOverlapped)
{
	ND_INHERITED_OVERLAPPED_V1
	STDMETHOD(GetConnectionRequest)(THIS_ INDConnector *pConnector,
		OVERLAPPED *pOverlapped) PURE;
};

/* nd_adapter_*(). Its own requests are those of RegisterMemory and DeregisterMemory. */
#undef INTERFACE
#define INTERFACE INDAdapter
DEFINE_GUID(IID_INDAdapter, 0xa023c5a0, 0x5b73, 0x43bc, 0x8d, 0x20, 0x33, 0xaa, 0x07, 0xe9, 0x51,
	0x0f);
DECLARE_INTERFACE_(INDAdapter, INDOverlapped)
{
	ND_INHERITED_OVERLAPPED_V1
	/* What CreateIoCompletionPort() takes for all objects of the adapter; the same one each
	 * time. It is the adapter's to close. */
	STDMETHOD_(HANDLE, GetFileHandle)(THIS) PURE;
	/*
	 * VersionRequested: 1, else ND_NOT_SUPPORTED. *pBufferSize: in, the bytes of pInfo; out,
	 * those of the structure; NULL: there is room. ND_BUFFER_OVERFLOW: it is larger, pInfo is
	 * untouched, also for the size query with NULL.
	 */
	STDMETHOD(Query)(THIS_ DWORD VersionRequested, ND_ADAPTER_INFO *pInfo,
		SIZE_T *pBufferSize) PURE;
	/* For requests of a vendor's own: there are none here. ND_NOT_SUPPORTED */
	STDMETHOD(Control)(THIS_ DWORD IoControlCode, const void *pInBuffer, SIZE_T InBufferSize,
		void *pOutBuffer, SIZE_T OutBufferSize, SIZE_T *pBytesReturned,
		OVERLAPPED *pOverlapped) PURE;
	/* nd_cq_create(); ND_INVALID_PARAMETER_1: nEntries */
	STDMETHOD(CreateCompletionQueue)(THIS_ SIZE_T nEntries, INDCompletionQueue **ppCq) PURE;
	/*
	 * nd_mr_register(), with the right of local write: the peer's rights are those of windows.
	 * Always ND_PENDING if it succeeds. *phMr must stay in place, and counts, once the request
	 * has completed with ND_SUCCESS. The memory is deregistered with the last object of the
	 * adapter at the latest.
	 */
	STDMETHOD(RegisterMemory)(THIS_ const void *pBuffer, SIZE_T BufferSize,
		OVERLAPPED *pOverlapped, ND_MR_HANDLE *phMr) PURE;
	/* nd_mr_deregister(). ND_INVALID_HANDLE: it is NULL, of another adapter, or not registered;
	 * any other value must be one of RegisterMemory. ND_DEVICE_BUSY: a window is bound to it */
	STDMETHOD(DeregisterMemory)(THIS_ ND_MR_HANDLE hMr, OVERLAPPED *pOverlapped) PURE;
	/* nd_mw_create(). pInvalidateResult, if it is not NULL, comes out of the receiving queue
	 * each time when the peer has invalidated the window (R-INV-13), with ND_SUCCESS, and not
	 * after the window's last Release. */
	STDMETHOD(CreateMemoryWindow)(THIS_ ND_RESULT *pInvalidateResult,
		INDMemoryWindow **ppMw) PURE;
	STDMETHOD(CreateConnector)(THIS_ INDConnector **ppConnector) PURE;
	/*
	 * nd_listener_listen() at the address that the adapter was opened by. Backlog: 0: no limit
	 * but the daemon's. Port and *pAssignedPort: in network order; 0: any, which needs
	 * pAssignedPort, else ND_INVALID_PARAMETER_MIX. ND_INVALID_PARAMETER_2: Protocol, as of
	 * Connect; ND_ADDRESS_ALREADY_EXISTS: the port is in use.
	 */
	STDMETHOD(Listen)(THIS_ SIZE_T Backlog, INT Protocol, USHORT Port, USHORT *pAssignedPort,
		INDListen **ppListen) PURE;
};

/* As IND2Provider; an adapter is opened by one of its local addresses. */
#undef INTERFACE
#define INTERFACE INDProvider
DEFINE_GUID(IID_INDProvider, 0x0c5dd316, 0x5fdf, 0x47e6, 0xb2, 0xd0, 0x2a, 0x6e, 0xda, 0x8d, 0x39,
	0xdd);
DECLARE_INTERFACE_(INDProvider, IUnknown)
{
	ND_INHERITED_UNKNOWN
	STDMETHOD(QueryAddressList)(THIS_ SOCKET_ADDRESS_LIST *pAddressList,
		SIZE_T *pBufferSize) PURE;
	STDMETHOD(OpenAdapter)(THIS_ const struct sockaddr *pAddress, SIZE_T AddressLength,
		INDAdapter **ppAdapter) PURE;
};

#ifdef __cplusplus
#pragma GCC diagnostic pop
#endif
#undef INTERFACE
/* clang-format on */
#endif
