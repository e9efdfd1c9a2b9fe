/* SPDX-License-Identifier: BSD-3-Clause */
/* Statuses of ND: their names, and what the daemon's answers become. */
#include <stddef.h>

#include "ndclient/face/status.h"
#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"
#include "shm/ndsh_status.h"

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

nd_status
nd_status_of_daemon(int32_t status)
{
	switch (status) {
	case NDSH_OK:
		return ND_SUCCESS;
	case NDSH_UNANSWERED:
		return ND_TIMEOUT;
	case NDSH_PENDING:
		return ND_PENDING;
	case NDSH_ERR_OVERFLOW:
		return ND_BUFFER_OVERFLOW;
	case NDSH_ERR_BUSY:
		return ND_DEVICE_BUSY;
	case NDSH_ERR_ACCESS:
		return ND_ACCESS_VIOLATION;
	case NDSH_ERR_INVALID_ID:
		return ND_INVALID_HANDLE;
	case NDSH_ERR_INVALID_PARAMETER:
		return ND_INVALID_PARAMETER;
	case NDSH_ERR_INVALID_REQUEST:
		return ND_INVALID_DEVICE_REQUEST;
	case NDSH_ERR_ATTRIBUTE_MASK:
		return ND_INVALID_PARAMETER_MIX;
	case NDSH_ERR_PORT_IN_USE:
		return ND_SHARING_VIOLATION;
	case NDSH_ERR_NO_RESOURCES:
		return ND_INSUFFICIENT_RESOURCES;
	case NDSH_ERR_TIMEOUT:
		return ND_IO_TIMEOUT;
	case NDSH_ERR_NOT_SUPPORTED:
		return ND_NOT_SUPPORTED;
	case NDSH_ERR_BAD_DESTINATION:
		return ND_BAD_NETWORK_NAME;
	case NDSH_ERR_INTERNAL:
		return ND_INTERNAL_ERROR;
	case NDSH_ERR_ADDRESS_NOT_LOCAL:
		return ND_INVALID_ADDRESS;
	case NDSH_ERR_INVALID_STATE:
		return ND_INVALID_DEVICE_STATE;
	case NDSH_ERR_PRIVATE_DATA_SIZE:
		return ND_INVALID_BUFFER_SIZE;
	case NDSH_ERR_NO_FREE_PORT:
		return ND_TOO_MANY_ADDRESSES;
	case NDSH_ERR_ADDRESS_IN_USE:
		return ND_ADDRESS_ALREADY_EXISTS;
	case NDSH_ERR_REFUSED:
		return ND_CONNECTION_REFUSED;
	case NDSH_ERR_NOT_CONNECTED:
		return ND_CONNECTION_INVALID;
	case NDSH_ERR_CONNECTED:
		return ND_CONNECTION_ACTIVE;
	case NDSH_ERR_NETWORK_UNREACHABLE:
		return ND_NETWORK_UNREACHABLE;
	case NDSH_ERR_HOST_UNREACHABLE:
		return ND_HOST_UNREACHABLE;
	case NDSH_ERR_ABORTED:
		return ND_CONNECTION_ABORTED;
	case NDSH_ERR_SESSION_ENDED:
		return ND_DEVICE_REMOVED;
	default:
		return status;
	}
}

nd_status
nd_status_of_admin(uint8_t answer)
{
	switch (answer) {
	case NDSH_ADMIN_OK:
		return ND_SUCCESS;
	case NDSH_ADMIN_BUSY:
		return ND_DEVICE_BUSY;
	case NDSH_ADMIN_FULL:
		return ND_INSUFFICIENT_RESOURCES;
	case NDSH_ADMIN_RANGE:
		return ND_ACCESS_VIOLATION;
	default:
		return ND_INTERNAL_ERROR;
	}
}

nd_status
nd_status_of_fault(uint32_t fault)
{
	switch (fault) {
	case NDSH_CQ_OK:
		return ND_SUCCESS;
	case NDSH_CQ_OVERRUN:
		return ND_BUFFER_OVERFLOW;
	default:
		return ND_INTERNAL_ERROR;
	}
}
