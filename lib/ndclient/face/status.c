/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of ND's statuses. */
#include <stddef.h>

#include "ndclient/ndclient.h"

#define NAME(s)                                                                                    \
	{                                                                                          \
		ND_##s, "ND_" #s                                                                   \
	}

static const struct {
	nd_status status;
	const char *name;
} names[] = {
	NAME(SUCCESS),
	NAME(TIMEOUT),
	NAME(PENDING),
	NAME(BUFFER_OVERFLOW),
	NAME(DEVICE_BUSY),
	NAME(NO_MORE_ENTRIES),
	NAME(UNSUCCESSFUL),
	NAME(ACCESS_VIOLATION),
	NAME(INVALID_HANDLE),
	NAME(INVALID_PARAMETER),
	NAME(INVALID_DEVICE_REQUEST),
	NAME(NO_MEMORY),
	NAME(INVALID_PARAMETER_MIX),
	NAME(DATA_OVERRUN),
	NAME(DATA_ERROR),
	NAME(SHARING_VIOLATION),
	NAME(INSUFFICIENT_RESOURCES),
	NAME(DEVICE_NOT_READY),
	NAME(IO_TIMEOUT),
	NAME(NOT_SUPPORTED),
	NAME(BAD_NETWORK_NAME),
	NAME(INTERNAL_ERROR),
	NAME(INVALID_PARAMETER_1),
	NAME(INVALID_PARAMETER_2),
	NAME(INVALID_PARAMETER_3),
	NAME(INVALID_PARAMETER_4),
	NAME(INVALID_PARAMETER_5),
	NAME(INVALID_PARAMETER_6),
	NAME(INVALID_PARAMETER_7),
	NAME(INVALID_PARAMETER_8),
	NAME(INVALID_PARAMETER_9),
	NAME(INVALID_PARAMETER_10),
	NAME(CANCELED),
	NAME(REMOTE_ERROR),
	NAME(INVALID_ADDRESS),
	NAME(INVALID_DEVICE_STATE),
	NAME(INVALID_BUFFER_SIZE),
	NAME(TOO_MANY_ADDRESSES),
	NAME(ADDRESS_ALREADY_EXISTS),
	NAME(CONNECTION_DISCONNECTED),
	NAME(CONNECTION_REFUSED),
	NAME(ADDRESS_ALREADY_ASSOCIATED),
	NAME(ADDRESS_NOT_ASSOCIATED),
	NAME(CONNECTION_INVALID),
	NAME(CONNECTION_ACTIVE),
	NAME(NETWORK_UNREACHABLE),
	NAME(HOST_UNREACHABLE),
	NAME(CONNECTION_ABORTED),
	NAME(DEVICE_REMOVED),
	NAME(IMPLEMENTATION_LIMIT),
};

const char *
nd_status_name(nd_status status)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i].status == status)
			return names[i].name;
	return "unknown ND status";
}
