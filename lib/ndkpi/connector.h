/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors. */
#ifndef NDK_CONNECTOR_OBJECT_H
#define NDK_CONNECTOR_OBJECT_H

#include <stdbool.h>

#include "ndkpi/address.h"
#include "ndkpi/object.h"

struct ndk_connector {
	struct ndk_object object;
	/* Where it connects from, once bound; the worker's. */
	bool bound;
	struct ndk_address source;
	const void *endpoint; /* libndclient's, instead of source */
	/* Of the peer's disconnect. */
	NDK_FN_DISCONNECT_EVENT_CALLBACK event; /* or NULL */
	PVOID event_context;
	bool ending; /* atomic: the consumer disconnects or closes, and is told nothing any more */
	struct ndk_request notify;
};

/* NDK_ADAPTER_DISPATCH.NdkCreateConnector */
NTSTATUS ndk_create_connector(
	NDK_ADAPTER *self, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_CONNECTOR **out);
/* One that a listener filled. NULL: no memory, and nd is still the caller's. */
struct ndk_connector *ndk_connector_of(struct ndk_adapter *a, struct nd_connector *nd);

#endif
