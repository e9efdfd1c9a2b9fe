/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlapped requests. The status word is the futex: it changes exactly once, from ND_PENDING to
 * the outcome, and the wake-up needs only its address. So the application may free the structure as
 * soon as it has seen the outcome, even between the store and the wake-up. It is also the claim: a
 * request that is under way cannot be begun again, by whichever thread.
 *
 * The event is set before the outcome is stored, so that a thread that has seen the outcome may
 * close it. A thread that the event woke may be faster than that store: it finds the mark (ending)
 * that stands beside ND_PENDING then, and waits for the few instructions that are left.
 */
#include <unistd.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/port.h"
#include "ndclient/session/verify.h"

#define ENDING	       0x656e6421u /* not what a structure that was never zeroed holds */
#define ENDING_LOOK_NS 50000u /* a request that begins anew takes its mark away without a wake-up */

/* Choose where the request's completion goes: to a port of its own, to the adapter's, or to none.
 * False: no memory. */
static bool
request_route(const struct nd_adapter *a, struct nd_overlapped *ov)
{
	struct nd_port *port;
	void *key = ov->key;

	ov->internal_ptr[1] = NULL;
	if ((ov->flags & (ND_REQUEST_NOT_TO_PORT | ND_REQUEST_CALLBACK)) != 0)
		return true;
	port = ov->port;
	if (port == NULL) {
		port = __atomic_load_n(&a->port, __ATOMIC_ACQUIRE);
		key = port != NULL ? a->port_key : NULL;
	}
	if (port == NULL)
		return true;
	ov->internal_ptr[1] = nd_packet_make(port, key, ov);
	return ov->internal_ptr[1] != NULL;
}

static bool
request_claim(struct nd_overlapped *ov)
{
	nd_status before = nd_overlapped_status(ov); /* its event may have told already */

	while (before != ND_PENDING)
		if (__atomic_compare_exchange_n(&ov->status, &before, ND_PENDING, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
	return false;
}

nd_status
nd_overlapped_begin(const struct nd_adapter *a, struct nd_overlapped *ov, const char *call)
{
	uint64_t count;

	if (!request_claim(ov)) {
		if (nd_verifying())
			nd_breach("R-OV-02",
				"%s: the request at %p is still under way (or was never zeroed)",
				call, (void *)ov);
		return ND_INVALID_PARAMETER;
	}
	__atomic_store_n(&ov->ending, 0, __ATOMIC_RELAXED);
	if (!request_route(a, ov)) {
		nd_overlapped_refuse(ov, ND_NO_MEMORY);
		return ND_NO_MEMORY;
	}
	if (ov->flags & ND_REQUEST_EVENT) /* R-OV-06 */
		(void)!read(ov->event, &count, sizeof(count));
	return ND_SUCCESS;
}

void
nd_overlapped_refuse(struct nd_overlapped *ov, nd_status st)
{
	struct nd_packet *packet = ov->internal_ptr[1];

	__atomic_store_n(&ov->status, st, __ATOMIC_RELEASE);
	if (packet != NULL)
		nd_packet_drop(packet);
	nd_futex_wake(&ov->status);
}

/* After the store of the outcome ov belongs to the application: only what was read before may be
 * used. */
void
nd_overlapped_end(struct nd_overlapped *ov, nd_status st)
{
	struct nd_packet *packet = ov->internal_ptr[1];
	const uint64_t one = 1;

	if (ov->flags & ND_REQUEST_CALLBACK) {
		const nd_request_callback done = ov->done;

		__atomic_store_n(&ov->status, st, __ATOMIC_RELEASE);
		done(ov, st);
		return;
	}
	if (ov->flags & ND_REQUEST_EVENT) {
		__atomic_store_n(&ov->ending, ENDING, __ATOMIC_RELEASE);
		(void)!write(ov->event, &one, sizeof(one));
	}
	__atomic_store_n(&ov->status, st, __ATOMIC_RELEASE);
	if (packet != NULL)
		nd_packet_deliver(packet, st);
	nd_futex_wake(&ov->status);
}

static nd_status
overlapped_word(const struct nd_overlapped *ov)
{
	return __atomic_load_n(&ov->status, __ATOMIC_ACQUIRE);
}

nd_status
nd_overlapped_status(const struct nd_overlapped *ov)
{
	nd_status st;

	while ((st = overlapped_word(ov)) == ND_PENDING &&
		__atomic_load_n(&ov->ending, __ATOMIC_ACQUIRE) == ENDING)
		nd_futex_wait(&ov->status, (uint32_t)ND_PENDING, nd_now_ns() + ENDING_LOOK_NS);
	return st;
}

nd_status
nd_overlapped_wait(struct nd_overlapped *ov, int timeout_ms)
{
	uint64_t deadline = timeout_ms < 0 ? UINT64_MAX : 0;
	bool in_time = timeout_ms != 0;
	nd_status st;

	for (;;) {
		st = timeout_ms == 0 ? nd_overlapped_status(ov) : overlapped_word(ov);
		if (st != ND_PENDING)
			return st;
		if (!in_time)
			return ND_TIMEOUT;
		if (deadline == 0)
			deadline = nd_now_ns() + (uint64_t)timeout_ms * 1000000u;
		in_time = nd_futex_wait(&ov->status, (uint32_t)ND_PENDING, deadline);
	}
}
