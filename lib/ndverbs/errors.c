/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>

#include "ndverbs/errors.h"

static const struct {
	nd_status status;
	int error;
} errors[] = {
	{ND_SUCCESS, 0},
	{ND_NO_MEMORY, ENOMEM},
	{ND_INSUFFICIENT_RESOURCES, ENOMEM},
	{ND_NO_MORE_ENTRIES, ENOMEM},
	{ND_NOT_SUPPORTED, EOPNOTSUPP},
	{ND_DEVICE_NOT_READY, ENODEV},
	{ND_DEVICE_REMOVED, EIO},
	{ND_INTERNAL_ERROR, EIO},
	{ND_DEVICE_BUSY, EBUSY},
	{ND_ACCESS_VIOLATION, EACCES},
	{ND_IO_TIMEOUT, ETIMEDOUT},
	{ND_INVALID_ADDRESS, EADDRNOTAVAIL},
	{ND_BAD_NETWORK_NAME, EADDRNOTAVAIL},
	{ND_ADDRESS_ALREADY_EXISTS, EADDRINUSE},
	{ND_NETWORK_UNREACHABLE, ENETUNREACH},
	{ND_HOST_UNREACHABLE, EHOSTUNREACH},
	{ND_CANCELED, ECANCELED},
};

int
ndv_errno(nd_status st)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].status == st)
			return errors[i].error;
	return EINVAL;
}

void *
ndv_null(int error)
{
	errno = error;
	return NULL;
}

int
ndv_no_daemon(nd_status st)
{
	static bool said;

	if (!__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		fprintf(stderr, "libibverbs of dpdk-ndd: %s\n",
			*nd_last_error() != 0 ? nd_last_error() : nd_status_name(st));
	return ndv_errno(st);
}

nd_status
ndv_outcome(nd_status st, struct nd_overlapped *ov)
{
	return st == ND_PENDING ? nd_overlapped_wait(ov, -1) : st;
}
