/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests. One is a packet to come, with what it takes to deliver it: all memory is there when
 * the request begins, and references see to it that event, file and port are there until it has
 * ended.
 *
 * Completing is one step for those that look: outcome, event and packet are stored under the
 * locks of the port and of the event, in this order (R-OV-06). A thread that has seen the
 * outcome, in Internal without a lock, then
 * - takes from the port, or looks at the event: it gets their lock behind the completion, so the
 *   packet is there, the event is set;
 * - begins another request with the same event: it resets the event behind the completion that
 *   sets it, so the second request does not begin with the first one's signal;
 * - frees the OVERLAPPED, closes the event, the port and the file: the OVERLAPPED is not touched
 *   behind the store, the others are referred to.
 */
#include <stdalign.h>
#include <stdlib.h>

#include "ndwin/file.h"
#include "ndwin/outcome.h"
#include "ndwin/waitable.h"

#define STATUS_INVALID_HANDLE	 ((LONG)0xC0000008)
#define STATUS_INVALID_PARAMETER ((LONG)0xC000000D)
#define STATUS_NO_MEMORY	 ((LONG)0xC0000017)

struct ndwin_request {
	struct ndwin_packet packet; /* first: the taker frees it */
	struct ndwin_file *file;
	struct ndwin_waitable *event; /* or NULL */
	bool to_port;
	bool was_pending; /* ov, when this one began */
	alignas(max_align_t) unsigned char extra[];
};

/* With the event's lock, if there is one, as completions are stored. */
static void
request_pend(struct ndwin_request *r)
{
	OVERLAPPED *ov = r->packet.ov;

	if (r->event != NULL) {
		pthread_mutex_lock(&r->event->lock);
		r->event->set = false;
	}
	__atomic_store_n(&ov->InternalHigh, 0, __ATOMIC_RELAXED);
	/* In one step: another request may be completing, whose outcome must not be taken for one
	 * that is to come. */
	r->was_pending = (DWORD)__atomic_exchange_n(
				 &ov->Internal, STATUS_PENDING, __ATOMIC_ACQ_REL) == STATUS_PENDING;
	if (r->event != NULL)
		pthread_mutex_unlock(&r->event->lock);
}

LONG
ndwin_request_begin(
	struct ndwin_file *file, OVERLAPPED *ov, SIZE_T extra, struct ndwin_request **request)
{
	struct ndwin_object *event = NULL;
	struct ndwin_request *r;
	uintptr_t value;

	if (ov == NULL)
		return STATUS_INVALID_PARAMETER;
	value = (uintptr_t)ov->hEvent;
	if ((value & ~(uintptr_t)3) != 0) {
		event = ndwin_handle_get(ov->hEvent, NDWIN_EVENT);
		if (event == NULL)
			return STATUS_INVALID_HANDLE;
	}
	r = extra <= SIZE_MAX - sizeof(*r) ? calloc(1, sizeof(*r) + extra) : NULL;
	if (r == NULL) {
		if (event != NULL)
			ndwin_object_put(event);
		return STATUS_NO_MEMORY;
	}
	r->packet.ov = ov;
	r->file = file;
	r->event = (struct ndwin_waitable *)event;
	r->to_port = (value & 1) == 0;
	ndwin_object_hold(&file->object);
	request_pend(r);
	*request = r;
	return 0;
}

void *
ndwin_request_extra(struct ndwin_request *request)
{
	return request->extra;
}

/* Store the outcome and set the event, in one step for those that look at the event. */
static void
request_settle(struct ndwin_waitable *event, OVERLAPPED *ov, LONG status, SIZE_T bytes,
	struct ndwin_wakes *wakes)
{
	if (event != NULL)
		pthread_mutex_lock(&event->lock);
	ndwin_outcome_store(ov, status, bytes);
	if (event != NULL) {
		ndwin_waitable_set_locked(event, wakes);
		pthread_mutex_unlock(&event->lock);
	}
}

/* The port is read here and not before: it may come while a request is under way. The packet, which
 * is the request, is the taker's once it is delivered. */
void
ndwin_request_complete(struct ndwin_request *r, LONG status, SIZE_T bytes)
{
	struct ndwin_waitable *event = r->event;
	struct ndwin_port *port = NULL;
	struct ndwin_file *file = r->file;
	OVERLAPPED *ov = r->packet.ov;
	struct ndwin_wakes wakes = {0};

	if (r->to_port)
		port = __atomic_load_n(&file->port, __ATOMIC_ACQUIRE);
	if (port != NULL) {
		r->packet.key = file->key;
		r->packet.status = status;
		r->packet.bytes = (DWORD)bytes;
		ndwin_port_lock(port);
	}
	request_settle(event, ov, status, bytes, &wakes);
	if (port != NULL) {
		ndwin_port_deliver_locked(port, &r->packet, &wakes);
		ndwin_port_unlock(port);
	} else {
		free(r);
	}
	ndwin_wakes_flush(&wakes);
	ndwin_outcome_wake(ov);
	if (event != NULL)
		ndwin_object_put(&event->object);
	ndwin_file_put(file);
}

void
ndwin_request_return(struct ndwin_request *r, LONG status)
{
	struct ndwin_wakes wakes = {0};

	if (SUCCEEDED(status))
		request_settle(r->event, r->packet.ov, status, 0, &wakes);
	else if (!r->was_pending)
		ndwin_outcome_store_if_pending(r->packet.ov, status);
	ndwin_wakes_flush(&wakes);
	ndwin_outcome_wake(r->packet.ov);
	if (r->event != NULL)
		ndwin_object_put(&r->event->object);
	ndwin_file_put(r->file);
	free(r);
}
