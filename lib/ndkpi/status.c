/* SPDX-License-Identifier: BSD-3-Clause */
#include "ndkpi/status.h"

NTSTATUS
ndk_status(nd_status st)
{
	return st >= ND_INVALID_PARAMETER_1 && st <= ND_INVALID_PARAMETER_10
		       ? STATUS_INVALID_PARAMETER
		       : st;
}

NTSTATUS
ndk_status_of_size(nd_status st)
{
	return st == ND_BUFFER_OVERFLOW ? STATUS_BUFFER_TOO_SMALL : ndk_status(st);
}

NTSTATUS
ndk_status_of_disconnect(nd_status st)
{
	return st == ND_TIMEOUT ? STATUS_IO_TIMEOUT : ndk_status(st);
}
