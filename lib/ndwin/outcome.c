/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting for the outcome itself, not for the event: another thread may take the event from
 * under a wait, and a request may have none. The lower half of Internal is the futex.
 *
 * Hardly ever does a thread sleep there, so a completion asks first whether one does, of the
 * whole process: it stores the outcome, then reads the number of sleepers; a sleeper counts
 * itself, then reads the outcome, here and once more in the kernel. Both pairs are sequentially
 * consistent, so one of the two sees the other.
 */
#include "ndwin/outcome.h"

#include "ndwin/error.h"
#include "ndwin/futex.h"
#include "ndwin/handle.h"
#include "ndwin/ndwin_provider.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the lower half comes first");

static uint32_t sleepers; /* atomic */

void
ndwin_outcome_store(OVERLAPPED *ov, LONG status, SIZE_T bytes)
{
	__atomic_store_n(&ov->InternalHigh, bytes, __ATOMIC_RELAXED);
	__atomic_exchange_n(&ov->Internal, (uint32_t)status, __ATOMIC_SEQ_CST);
}

void
ndwin_outcome_store_if_pending(OVERLAPPED *ov, LONG status)
{
	ULONG_PTR pending = STATUS_PENDING;

	(void)__atomic_compare_exchange_n(&ov->Internal, &pending, (uint32_t)status, false,
		__ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

void
ndwin_outcome_wake(const OVERLAPPED *ov)
{
	if (__atomic_load_n(&sleepers, __ATOMIC_SEQ_CST) != 0)
		ndwin_futex_wake(&ov->Internal);
}

static LONG
outcome_read(const OVERLAPPED *ov)
{
	return (LONG)(uint32_t)__atomic_load_n(&ov->Internal, __ATOMIC_SEQ_CST);
}

LONG
ndwin_overlapped_status(const OVERLAPPED *ov, BOOL wait)
{
	LONG status = outcome_read(ov);

	if (!wait || status != (LONG)STATUS_PENDING)
		return status;
	__atomic_fetch_add(&sleepers, 1, __ATOMIC_SEQ_CST);
	while ((status = outcome_read(ov)) == (LONG)STATUS_PENDING)
		ndwin_futex_wait(
			(const uint32_t *)&ov->Internal, (uint32_t)STATUS_PENDING, NDWIN_NEVER);
	__atomic_fetch_sub(&sleepers, 1, __ATOMIC_SEQ_CST);
	return status;
}

BOOL WINAPI
GetOverlappedResult(HANDLE file, LPOVERLAPPED ov, LPDWORD bytes, BOOL wait)
{
	struct ndwin_object *o;
	LONG status;

	if (ov == NULL || bytes == NULL)
		return ndwin_fail(ERROR_INVALID_PARAMETER);
	status = ndwin_overlapped_status(ov, FALSE);
	if (status == (LONG)STATUS_PENDING && wait) {
		o = ndwin_handle_get(file, NDWIN_FILE);
		if (o == NULL)
			return FALSE;
		status = ndwin_overlapped_status(ov, TRUE);
		ndwin_object_put(o);
	}
	if (status == (LONG)STATUS_PENDING)
		return ndwin_fail(ERROR_IO_INCOMPLETE);
	*bytes = (DWORD)__atomic_load_n(&ov->InternalHigh, __ATOMIC_RELAXED);
	return SUCCEEDED(status) || ndwin_fail(ndwin_error_of_status(status));
}
