/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libndwin, for libraries that complete overlapped requests (providers). Applications do not
 * need this. A provider makes file handles, which applications associate with ports, and begins
 * and ends requests on them. Calls may be made by any thread, and under the provider's locks:
 * none waits, none calls back. Outcomes are NTSTATUS; negative is failure.
 *
 * A request's life:
 *
 *     ndwin_request_begin()        Internal is STATUS_PENDING, the event is reset
 *     ndwin_request_complete()     Internal is the outcome, the event set, the packet in the port
 *     or ndwin_request_return()    the call itself tells the outcome: no packet
 *
 * A thread that sees the outcome in Internal finds the event set and the packet in the port, and
 * may free the OVERLAPPED, begin another request on it, and close event, port and file at once:
 * none of them is touched any more. Completing allocates nothing and cannot fail.
 *
 * Several requests may be under way on one OVERLAPPED. Each has its own completion and packet;
 * Internal is the outcome of the one that ended last, whichever began last. An OVERLAPPED need
 * not be initialized, but for hEvent, so what Internal holds before does not tell whether it is
 * in use.
 */
#ifndef NDWIN_PROVIDER_H
#define NDWIN_PROVIDER_H

#include "ndwin.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ndwin_file;
struct ndwin_request;

/*
 * A file handle, for CreateIoCompletionPort() and ndwin_file_get(), which the application closes.
 * owner: whatever tells the provider that the file is its own. NULL: ERROR_NOT_ENOUGH_MEMORY.
 */
HANDLE ndwin_file_create(const void *owner);
/*
 * Refer to the file of a handle: to begin requests also after the application has closed the
 * handle. NULL: ERROR_INVALID_HANDLE, the handle is no file's, or one of another owner.
 */
struct ndwin_file *ndwin_file_get(HANDLE file, const void *owner);
/* Give up such a reference. Requests under way have their own. */
void ndwin_file_put(struct ndwin_file *file);

/*
 * Begin a request: Internal becomes STATUS_PENDING, and the event, if ov names one, is reset.
 * hEvent is read here only, and what it names is held until the request has ended, also if it is
 * closed. extra: bytes for the provider's own use, all zero (ndwin_request_extra()). *request is
 * to end once, by one of the two calls below. 0, or, with nothing changed: 0xC000000D
 * (STATUS_INVALID_PARAMETER): ov is NULL; 0xC0000008 (STATUS_INVALID_HANDLE): hEvent is no
 * event; 0xC0000017 (STATUS_NO_MEMORY).
 */
LONG ndwin_request_begin(
	struct ndwin_file *file, OVERLAPPED *ov, SIZE_T extra, struct ndwin_request **request);
/* The provider's own bytes, aligned for anything; they last as long as the request. */
void *ndwin_request_extra(struct ndwin_request *request);
/*
 * End a request that the provider's call has answered with STATUS_PENDING, or is going to: the
 * outcome and the number of bytes are stored, the event is set, and a packet goes to the port
 * that the file is associated with now, unless the lowest bit of hEvent was set. status is not
 * STATUS_PENDING.
 */
void ndwin_request_complete(struct ndwin_request *request, LONG status, SIZE_T bytes);
/*
 * End a request whose outcome the call itself returns: no packet. Success is stored and sets the
 * event. A failure does not set the event, and is stored only if Internal was not STATUS_PENDING
 * when the request began: another request might be under way on ov, whose outcome is to come.
 */
void ndwin_request_return(struct ndwin_request *request, LONG status);

/*
 * The outcome in ov, or STATUS_PENDING; with wait, only the outcome. For GetOverlappedResult
 * calls of a provider's objects.
 */
LONG ndwin_overlapped_status(const OVERLAPPED *ov, BOOL wait);
/*
 * The Win32 error that a failure of this status is, as GetLastError() tells it;
 * ERROR_MR_MID_NOT_FOUND for those without one. 0 for success.
 */
DWORD ndwin_error_of_status(LONG status);

#ifdef __cplusplus
}
#endif

#endif
