/* SPDX-License-Identifier: BSD-3-Clause */
/* libndkpi: shared endpoints, connectors, listeners. Part of ndkpi.h. */
#ifndef NDKPI_CONNECTION_H
#define NDKPI_CONNECTION_H

#include "ndkpi_object.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Addresses: *pAddressLength is the room on the way in, and the size on the way out.
 * STATUS_BUFFER_TOO_SMALL: not enough room, and pAddress, which may be NULL then, is untouched. Any
 * level.
 */
/* nd_endpoint_local_address(). */
typedef NTSTATUS (*NDK_FN_GET_SHARED_ENDPOINT_LOCAL_ADDRESS)(
	NDK_SHARED_ENDPOINT *pNdkSharedEndpoint, PSOCKADDR pAddress, ULONG *pAddressLength);

typedef struct _NDK_SHARED_ENDPOINT_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkCloseSharedEndpoint;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_GET_SHARED_ENDPOINT_LOCAL_ADDRESS NdkGetLocalAddress;
} NDK_SHARED_ENDPOINT_DISPATCH;

struct _NDK_SHARED_ENDPOINT {
	NDK_OBJECT_HEADER Header;
	CONST NDK_SHARED_ENDPOINT_DISPATCH *Dispatch;
};

/* ---- connectors ------------------------------------------------------------------------- */

/*
 * nd_connector_bind() to pSrcAddress, then nd_connector_connect(); statuses are theirs. A connector
 * whose attempt failed may try again from the same address: STATUS_ADDRESS_ALREADY_ASSOCIATED: from
 * another one. Private data are copied; STATUS_INVALID_BUFFER_SIZE: more than MaxCallerData. Any
 * level.
 */
typedef NTSTATUS (*NDK_FN_CONNECT)(NDK_CONNECTOR *pNdkConnector, NDK_QP *pNdkQp,
	CONST SOCKADDR *pSrcAddress, ULONG SrcAddressLength, CONST SOCKADDR *pDestAddress,
	ULONG DestAddressLength, ULONG InboundReadLimit, ULONG OutboundReadLimit,
	CONST VOID *pPrivateData, ULONG PrivateDataLength,
	NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);
/* The same from a shared endpoint: nd_connector_bind_shared(). Any level. */
typedef NTSTATUS (*NDK_FN_CONNECT_WITH_SHARED_ENDPOINT)(NDK_CONNECTOR *pNdkConnector,
	NDK_QP *pNdkQp, NDK_SHARED_ENDPOINT *pNdkSharedEndpoint, CONST SOCKADDR *pDestAddress,
	ULONG DestAddressLength, ULONG InboundReadLimit, ULONG OutboundReadLimit,
	CONST VOID *pPrivateData, ULONG PrivateDataLength,
	NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

/* The peer has disconnected, or the connection broke: once, not before the callback of the request
 * that named it was called, and not after NdkDisconnect or the close was called. */
typedef VOID (*NDK_FN_DISCONNECT_EVENT_CALLBACK)(PVOID DisconnectEventContext);

/* nd_connector_complete_connect(). DisconnectEvent may be NULL. Any level. */
typedef NTSTATUS (*NDK_FN_COMPLETE_CONNECT)(NDK_CONNECTOR *pNdkConnector,
	NDK_FN_DISCONNECT_EVENT_CALLBACK DisconnectEvent, PVOID DisconnectEventContext,
	NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);
/* nd_connector_accept(). DisconnectEvent may be NULL. Any level. */
typedef NTSTATUS (*NDK_FN_ACCEPT)(NDK_CONNECTOR *pNdkConnector, NDK_QP *pNdkQp,
	ULONG InboundReadLimit, ULONG OutboundReadLimit, CONST VOID *pPrivateData,
	ULONG PrivateDataLength, NDK_FN_DISCONNECT_EVENT_CALLBACK DisconnectEvent,
	PVOID DisconnectEventContext, NDK_FN_REQUEST_COMPLETION RequestCompletion,
	PVOID RequestContext);
/* nd_connector_reject(). A round trip. */
typedef NTSTATUS (*NDK_FN_REJECT)(
	NDK_CONNECTOR *pNdkConnector, CONST VOID *pPrivateData, ULONG PrivateDataLength);
/*
 * nd_connector_read_limits(), either may be NULL, and nd_connector_private_data(). pPrivateData
 * NULL with *pPrivateDataLength 0 asks for the size: STATUS_SUCCESS; NULL with more:
 * STATUS_INVALID_PARAMETER. STATUS_BUFFER_TOO_SMALL: a part was copied, the size is stored
 * (R-CONN-08). Any level.
 */
typedef NTSTATUS (*NDK_FN_GET_CONNECTION_DATA)(NDK_CONNECTOR *pNdkConnector,
	ULONG *pInboundReadLimit, ULONG *pOutboundReadLimit, PVOID pPrivateData,
	ULONG *pPrivateDataLength);
/* nd_connector_local_address(), nd_connector_peer_address(). */
typedef NTSTATUS (*NDK_FN_GET_LOCAL_ADDRESS)(
	NDK_CONNECTOR *pNdkConnector, PSOCKADDR pAddress, ULONG *pAddressLength);
typedef NTSTATUS (*NDK_FN_GET_PEER_ADDRESS)(
	NDK_CONNECTOR *pNdkConnector, PSOCKADDR pAddress, ULONG *pAddressLength);
/* nd_connector_disconnect(). STATUS_IO_TIMEOUT: the peer did not answer (R-DISC-04). Any level. */
typedef NTSTATUS (*NDK_FN_DISCONNECT)(NDK_CONNECTOR *pNdkConnector,
	NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);

typedef struct _NDK_CONNECTOR_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkCloseConnector;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_CONNECT NdkConnect;
	NDK_FN_CONNECT_WITH_SHARED_ENDPOINT NdkConnectWithSharedEndpoint;
	NDK_FN_COMPLETE_CONNECT NdkCompleteConnect;
	NDK_FN_ACCEPT NdkAccept;
	NDK_FN_REJECT NdkReject;
	NDK_FN_GET_CONNECTION_DATA NdkGetConnectionData;
	NDK_FN_GET_LOCAL_ADDRESS NdkGetLocalAddress;
	NDK_FN_GET_PEER_ADDRESS NdkGetPeerAddress;
	NDK_FN_DISCONNECT NdkDisconnect;
} NDK_CONNECTOR_DISPATCH;

struct _NDK_CONNECTOR {
	NDK_OBJECT_HEADER Header;
	CONST NDK_CONNECTOR_DISPATCH *Dispatch;
};

/* ---- listeners -------------------------------------------------------------------------- */

/* A peer asks for a connection: the connector is the consumer's, to accept or reject and to close.
 */
typedef VOID (*NDK_FN_CONNECT_EVENT_CALLBACK)(
	PVOID ConnectEventContext, NDK_CONNECTOR *pNdkConnector);

/* nd_listener_listen(). Any level. */
typedef NTSTATUS (*NDK_FN_LISTEN)(NDK_LISTENER *pNdkListener, CONST SOCKADDR *pAddress,
	ULONG AddressLength, NDK_FN_REQUEST_COMPLETION RequestCompletion, PVOID RequestContext);
/* nd_listener_local_address(). */
typedef NTSTATUS (*NDK_FN_GET_LISTENER_LOCAL_ADDRESS)(
	NDK_LISTENER *pNdkListener, PSOCKADDR pAddress, ULONG *pAddressLength);
/* nd_listener_pause() or nd_listener_resume(), of one that listens: in effect when this returns,
 * but that requests which came before are still told. A round trip. */
typedef VOID (*NDK_FN_CONTROL_CONNECT_EVENTS)(NDK_LISTENER *pNdkListener, BOOLEAN Pause);

typedef struct _NDK_LISTENER_DISPATCH {
	NDK_FN_CLOSE_OBJECT NdkCloseListener;
	NDK_FN_QUERY_EXTENSION_INTERFACE NdkQueryExtension;
	NDK_FN_LISTEN NdkListen;
	NDK_FN_GET_LISTENER_LOCAL_ADDRESS NdkGetLocalAddress;
	NDK_FN_CONTROL_CONNECT_EVENTS NdkControlConnectEvents;
} NDK_LISTENER_DISPATCH;

struct _NDK_LISTENER {
	NDK_OBJECT_HEADER Header;
	CONST NDK_LISTENER_DISPATCH *Dispatch;
};

#ifdef __cplusplus
}
#endif
#endif
