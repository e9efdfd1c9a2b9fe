/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlapped requests. The status word is the futex: it changes exactly once, from ND_PENDING to
 * the outcome, and the wake-up needs only its address. So the application may free the structure as
 * soon as it has seen the outcome, even between the store and the wake-up. It is also the claim: a
 * request that is under way cannot be begun again, by whichever thread.
 */
#include <unistd.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/port.h"
#include "ndclient/session/verify.h"

/* Choose where the request's completion goes: to a port of its own, to the adapter's, or to none.
 * False: no memory. */
static bool
request_route(const struct nd_adapter *a, struct nd_overlapped *ov)
{
	struct nd_port *port = ov->port;
	void *key = ov->key;

	if (port == NULL) {
		port = __atomic_load_n(&a->port, __ATOMIC_ACQUIRE);
		key = port != NULL ? a->port_key : NULL;
	}
	ov->internal_ptr[1] = NULL;
	if (port == NULL || (ov->flags & ND_REQUEST_NOT_TO_PORT) != 0)
		return true;
	ov->internal_ptr[1] = nd_packet_make(port, key, ov);
	return ov->internal_ptr[1] != NULL;
}

static bool
request_claim(struct nd_overlapped *ov)
{
	nd_status before = nd_overlapped_status(ov);

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

/* After the store ov belongs to the application: only what was read before may be used. */
void
nd_overlapped_end(struct nd_overlapped *ov, nd_status st)
{
	const int event = ov->flags & ND_REQUEST_EVENT ? ov->event : -1;
	struct nd_packet *packet = ov->internal_ptr[1];
	const uint64_t one = 1;

	__atomic_store_n(&ov->status, st, __ATOMIC_RELEASE);
	if (event >= 0)
		(void)!write(event, &one, sizeof(one));
	if (packet != NULL)
		nd_packet_deliver(packet, st);
	nd_futex_wake(&ov->status);
}

nd_status
nd_overlapped_status(const struct nd_overlapped *ov)
{
	return __atomic_load_n(&ov->status, __ATOMIC_ACQUIRE);
}

nd_status
nd_overlapped_wait(struct nd_overlapped *ov, int timeout_ms)
{
	uint64_t deadline = timeout_ms < 0 ? UINT64_MAX : 0;
	bool in_time = timeout_ms != 0;
	nd_status st;

	for (;;) {
		st = nd_overlapped_status(ov);
		if (st != ND_PENDING)
			return st;
		if (!in_time)
			return ND_TIMEOUT;
		if (deadline == 0)
			deadline = nd_now_ns() + (uint64_t)timeout_ms * 1000000u;
		in_time = nd_futex_wait(&ov->status, (uint32_t)ND_PENDING, deadline);
	}
}
