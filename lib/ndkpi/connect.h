/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of connectors: NDK_CONNECTOR_DISPATCH's calls of these names. */
#ifndef NDK_CONNECT_H
#define NDK_CONNECT_H

#include "ndkpi/ndkpi.h"

NTSTATUS ndk_connect(NDK_CONNECTOR *self, NDK_QP *qp, CONST SOCKADDR *source, ULONG source_bytes,
	CONST SOCKADDR *dest, ULONG dest_bytes, ULONG inbound, ULONG outbound, CONST VOID *data,
	ULONG data_bytes, NDK_FN_REQUEST_COMPLETION completion, PVOID context);
NTSTATUS ndk_connect_with_shared_endpoint(NDK_CONNECTOR *self, NDK_QP *qp,
	NDK_SHARED_ENDPOINT *endpoint, CONST SOCKADDR *dest, ULONG dest_bytes, ULONG inbound,
	ULONG outbound, CONST VOID *data, ULONG data_bytes, NDK_FN_REQUEST_COMPLETION completion,
	PVOID context);
NTSTATUS ndk_complete_connect(NDK_CONNECTOR *self, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
	PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context);
NTSTATUS ndk_accept(NDK_CONNECTOR *self, NDK_QP *qp, ULONG inbound, ULONG outbound,
	CONST VOID *data, ULONG data_bytes, NDK_FN_DISCONNECT_EVENT_CALLBACK event,
	PVOID event_context, NDK_FN_REQUEST_COMPLETION completion, PVOID context);
NTSTATUS ndk_disconnect(NDK_CONNECTOR *self, NDK_FN_REQUEST_COMPLETION completion, PVOID context);

/* The consumer is told of no disconnect of the peer's any more. */
void ndk_connector_ends(NDK_CONNECTOR *self);

#endif
