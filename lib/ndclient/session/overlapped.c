/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlapped requests. The status word is the futex: it changes exactly once, from ND_PENDING to
 * the outcome, and the wake-up needs only its address. So the owner may free the structure as soon
 * as he has seen the outcome, even between our store and our wake. It is also the claim: a request
 * that is under way cannot be begun again, by whichever thread.
 */
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ndclient/nd_int.h"

#define NS_PER_S 1000000000ull

bool
nd_futex_wait(const void *word, uint32_t value, uint64_t deadline_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(deadline_ns / NS_PER_S),
		.tv_nsec = (long)(deadline_ns % NS_PER_S)};
	long rc = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, value,
		deadline_ns == UINT64_MAX ? NULL : &ts, NULL, FUTEX_BITSET_MATCH_ANY);

	return rc == 0 || errno != ETIMEDOUT;
}

void
nd_futex_wake(const void *word)
{
	(void)syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT32_MAX, NULL, NULL, 0);
}

/* Oversubscribed cores are normal: the holder may be off its core. */
void
nd_spin_wait(struct nd_spin *s)
{
	do {
		for (int i = 0; i < 64 && __atomic_load_n(&s->held, __ATOMIC_RELAXED) != 0; i++)
			__asm__ volatile("" ::: "memory");
		if (__atomic_load_n(&s->held, __ATOMIC_RELAXED) != 0)
			sched_yield();
	} while (__atomic_exchange_n(&s->held, 1, __ATOMIC_ACQUIRE) != 0);
}

/* ---- a request's life ---------------------------------------------------------------- */

/* Where it will go: a port of its own, the adapter's, or none. False: no memory. */
static bool
route(const struct nd_adapter *a, struct nd_overlapped *ov)
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
claim(struct nd_overlapped *ov)
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

	if (!claim(ov)) {
		if (nd_verifying())
			nd_breach("R-OV-02",
				"%s: the request at %p is still under way (or was never zeroed)",
				call, (void *)ov);
		return ND_INVALID_PARAMETER;
	}
	if (!route(a, ov)) {
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

/* Behind the store ov is not ours: only what was read before may be used. */
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

uint64_t
nd_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
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

/* ---- lists: internal_ptr[0] is the link ---------------------------------------------- */

void
nd_waiters_add(struct nd_waiters *w, struct nd_overlapped *ov)
{
	ov->internal_ptr[0] = NULL;
	if (w->first == NULL)
		w->first = ov;
	else
		w->last->internal_ptr[0] = ov;
	w->last = ov;
	w->count++;
}

void
nd_waiters_move(struct nd_waiters *to, struct nd_waiters *from)
{
	if (from->first == NULL)
		return;
	if (to->first == NULL)
		to->first = from->first;
	else
		to->last->internal_ptr[0] = from->first;
	to->last = from->last;
	to->count += from->count;
	*from = (struct nd_waiters){0};
}

void
nd_waiters_end(struct nd_waiters *w, nd_status st)
{
	struct nd_overlapped *ov = w->first;

	w->first = w->last = NULL;
	w->count = 0;
	while (ov != NULL) {
		struct nd_overlapped *next = ov->internal_ptr[0];

		nd_overlapped_end(ov, st);
		ov = next;
	}
}
