/* SPDX-License-Identifier: BSD-3-Clause */
/* Ways to end a call that has failed: the thread's last error, and the result. */
#ifndef NDWIN_ERROR_H
#define NDWIN_ERROR_H

#include "ndwin/ndwin.h"

static inline BOOL
ndwin_fail(DWORD error)
{
	SetLastError(error);
	return FALSE;
}

static inline void *
ndwin_fail_null(DWORD error)
{
	SetLastError(error);
	return NULL;
}

static inline DWORD
ndwin_fail_wait(DWORD error)
{
	SetLastError(error);
	return WAIT_FAILED;
}

#endif
