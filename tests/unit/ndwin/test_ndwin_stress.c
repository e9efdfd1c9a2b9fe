/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests between threads that begin them, that complete them, and that take their packets, while
 * events are closed, and memory is freed, as soon as the application may. Each packet must come out
 * once and each wait must end, and only then. A program of its own for a ThreadSanitizer build
 * (-Db_sanitize=thread), as test_arm_stress.c. The deadline only bounds a failure.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "ndwin/ndwin_provider.h"
#include "rigs/stress.h"

#define BEGINNERS  3u
#define COMPLETERS 2u
#define TAKERS	   2u
#define ROUNDS	   20000u
#define DEADLINE   (STRESS_DEADLINE_S * 1000u)

static const char owner;
static HANDLE work;		 /* requests on their way to the completers */
static HANDLE port;		 /* of the application */
static uint32_t sent, taken;	 /* packets; atomic */
static uint32_t opened, stopped; /* ports that were closed under their takers; atomic */

/* ---- requests ------------------------------------------------------------------------ */

static void *
complete(void *arg)
{
	OVERLAPPED *ov;
	ULONG_PTR key;
	DWORD bytes;

	(void)arg;
	for (;;) {
		STRESS_CHECK(GetQueuedCompletionStatus(work, &bytes, &key, &ov, DEADLINE),
			"error %u\n", GetLastError());
		if (key == 0)
			return NULL;
		ndwin_request_complete((struct ndwin_request *)key, bytes % 3 == 0 ? -1 : 0, bytes);
	}
}

/* By one call and the other. What the packet points to may be gone. */
static void *
take(void *arg)
{
	const bool several = arg != NULL;
	OVERLAPPED_ENTRY e[3];
	ULONG n = 1;
	BOOL ok;

	for (;;) {
		if (several) {
			ok = GetQueuedCompletionStatusEx(port, e, 3, &n, DEADLINE, FALSE);
			STRESS_CHECK(ok, "error %u\n", GetLastError());
		} else {
			ok = GetQueuedCompletionStatus(port, &e[0].dwNumberOfBytesTransferred,
				&e[0].lpCompletionKey, &e[0].lpOverlapped, DEADLINE);
			STRESS_CHECK(e[0].lpOverlapped != NULL || ok, "error %u\n", GetLastError());
			STRESS_CHECK(ok || GetLastError() == ERROR_MR_MID_NOT_FOUND, "not -1\n");
		}
		for (ULONG i = 0; i < n; i++) {
			if (e[i].lpCompletionKey == 0) {
				while (++i < n) /* the other takers' */
					PostQueuedCompletionStatus(port, 0, 0, NULL);
				return NULL;
			}
			STRESS_CHECK(e[i].lpCompletionKey == 7, "its key\n");
			__atomic_fetch_add(&taken, 1, __ATOMIC_RELAXED);
		}
	}
}

/* Wait in one of the ways in which an application does. */
static void
await(HANDLE file, OVERLAPPED *ov, uint32_t how, uint32_t bytes)
{
	const LONG status = bytes % 3 == 0 ? -1 : 0;
	DWORD got = 0;

	if (how == 0)
		while (!HasOverlappedIoCompleted(ov))
			sched_yield();
	else if (how == 1)
		STRESS_CHECK(WaitForSingleObject(ov->hEvent, DEADLINE) == WAIT_OBJECT_0, "event\n");
	else
		STRESS_CHECK(
			GetOverlappedResult(file, ov, &got, TRUE) == (status == 0), "result\n");
	STRESS_CHECK(ndwin_overlapped_status(ov, FALSE) == status, "its end\n");
	STRESS_CHECK(ov->InternalHigh == bytes, "its bytes\n");
	/* Whichever way it was: the event is set already, and belongs to this request. */
	if (how != 1)
		STRESS_CHECK(WaitForSingleObject(ov->hEvent, 0) == WAIT_OBJECT_0, "late event\n");
}

static void *
begin(void *arg)
{
	uint32_t seed = (uint32_t)(uintptr_t)arg;
	HANDLE file = ndwin_file_create(&owner), event = NULL;
	struct ndwin_file *f = ndwin_file_get(file, &owner);
	struct ndwin_request *q;

	STRESS_CHECK(CreateIoCompletionPort(file, port, 7, 0) == port, "associate\n");
	for (uint32_t i = 0; i < ROUNDS; i++) {
		OVERLAPPED *ov = malloc(sizeof(*ov)); /* not initialized, as some do */
		uint32_t mark;

		stress_pause(&seed);
		mark = seed >> 8 & 1;
		if (event == NULL)
			event = CreateEvent(NULL, FALSE, seed >> 9 & 1, NULL);
		ov->hEvent = (HANDLE)((ULONG_PTR)event | mark);
		if (mark == 0)
			__atomic_fetch_add(&sent, 1, __ATOMIC_RELAXED);
		STRESS_CHECK(ndwin_request_begin(f, ov, 16, &q) == 0, "begin\n");
		STRESS_CHECK(PostQueuedCompletionStatus(work, i, (ULONG_PTR)q, NULL), "post\n");
		await(file, ov, (seed >> 10) % 3, i);
		free(ov);
		if (seed >> 12 & 1) { /* or it is used again at once */
			STRESS_CHECK(CloseHandle(event), "close\n");
			event = NULL;
		}
	}
	ndwin_file_put(f);
	CloseHandle(event);
	STRESS_CHECK(CloseHandle(file), "close\n");
	return NULL;
}

/* ---- ports and handles that come and go ---------------------------------------------- */

static void *
take_until_closed(void *arg)
{
	OVERLAPPED *ov;
	ULONG_PTR key;
	DWORD bytes;

	while (GetQueuedCompletionStatus(arg, &bytes, &key, &ov, DEADLINE))
		;
	STRESS_CHECK(ov == NULL, "what is this?\n");
	STRESS_CHECK(
		GetLastError() == ERROR_ABANDONED_WAIT_0 || GetLastError() == ERROR_INVALID_HANDLE,
		"error %u\n", GetLastError());
	__atomic_fetch_add(&stopped, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Close it while one thread takes, this one posts, and a request ends. */
static void *
close_ports(void *arg)
{
	uint32_t seed = 99;

	(void)arg;
	for (; opened < ROUNDS / 50; opened++) {
		HANDLE file = ndwin_file_create(&owner);
		HANDLE p = CreateIoCompletionPort(file, NULL, 1, 0), stale = p;
		struct ndwin_file *f = ndwin_file_get(file, &owner);
		struct ndwin_request *q;
		OVERLAPPED ov = {0};
		pthread_t taker;

		STRESS_CHECK(ndwin_request_begin(f, &ov, 0, &q) == 0, "begin\n");
		STRESS_CHECK(pthread_create(&taker, NULL, take_until_closed, p) == 0, "thread\n");
		for (int i = 0; i < 5; i++)
			STRESS_CHECK(PostQueuedCompletionStatus(p, 0, 0, &ov), "post\n");
		STRESS_CHECK(PostQueuedCompletionStatus(work, 1, (ULONG_PTR)q, NULL), "post\n");
		stress_pause(&seed);
		STRESS_CHECK(CloseHandle(p), "close\n");
		STRESS_CHECK(!CloseHandle(stale), "closed twice\n");
		pthread_join(taker, NULL);
		STRESS_CHECK(ndwin_overlapped_status(&ov, TRUE) == 0, "its end\n");
		ndwin_file_put(f);
		CloseHandle(file);
	}
	return NULL;
}

/* ---- waits for one and for all ------------------------------------------------------- */

static HANDLE pair[2], done;

/* What is set is handed over to one of the two kinds of waits, and never to both. */
static void *
wait_for_both(void *arg)
{
	(void)arg;
	for (uint32_t i = 0; i < ROUNDS; i++) {
		STRESS_CHECK(WaitForMultipleObjects(2, pair, TRUE, DEADLINE) == 0, "all\n");
		STRESS_CHECK(SetEvent(done), "done\n");
	}
	return NULL;
}

static void *
wait_for_either(void *arg)
{
	uint32_t *ones = arg;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		const DWORD r = WaitForMultipleObjects(2, pair, FALSE, i % 2);

		STRESS_CHECK(r <= 1 || r == WAIT_TIMEOUT, "%u\n", r);
		if (r <= 1) {
			ones[r]++;
			STRESS_CHECK(SetEvent(pair[r]), "back\n");
		}
	}
	return NULL;
}

static void
set_pairs(void)
{
	for (uint32_t i = 0; i < ROUNDS; i++) {
		SetEvent(pair[i % 2]);
		SetEvent(pair[(i + 1) % 2]);
		STRESS_CHECK(WaitForSingleObject(done, DEADLINE) == WAIT_OBJECT_0, "pair %u\n", i);
	}
}

/* checks R-OV-03[1], R-OV-09, R-OV-06[4] */
int
main(void)
{
	pthread_t beginner[BEGINNERS], completer[COMPLETERS], taker[TAKERS], closer, both, either;
	uint32_t ones[2] = {0};

	work = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
	pair[0] = CreateEvent(NULL, FALSE, FALSE, NULL);
	pair[1] = CreateEvent(NULL, FALSE, FALSE, NULL);
	done = CreateEvent(NULL, FALSE, FALSE, NULL);
	for (uint32_t i = 0; i < COMPLETERS; i++)
		pthread_create(&completer[i], NULL, complete, NULL);
	for (uint32_t i = 0; i < TAKERS; i++)
		pthread_create(&taker[i], NULL, take, i % 2 ? &port : NULL);
	for (uint32_t i = 0; i < BEGINNERS; i++)
		pthread_create(&beginner[i], NULL, begin, (void *)(uintptr_t)(i * 7919 + 1));
	pthread_create(&closer, NULL, close_ports, NULL);
	pthread_create(&both, NULL, wait_for_both, NULL);
	pthread_create(&either, NULL, wait_for_either, ones);
	set_pairs();
	pthread_join(both, NULL);
	pthread_join(either, NULL);
	for (uint32_t i = 0; i < BEGINNERS; i++)
		pthread_join(beginner[i], NULL);
	pthread_join(closer, NULL);
	for (uint32_t i = 0; i < COMPLETERS; i++)
		PostQueuedCompletionStatus(work, 0, 0, NULL);
	for (uint32_t i = 0; i < COMPLETERS; i++)
		pthread_join(completer[i], NULL);
	for (uint32_t i = 0; i < TAKERS; i++)
		PostQueuedCompletionStatus(port, 0, 0, NULL);
	for (uint32_t i = 0; i < TAKERS; i++)
		pthread_join(taker[i], NULL);
	STRESS_CHECK(taken == sent, "%u of %u packets\n", taken, sent);
	STRESS_CHECK(stopped == opened, "%u of %u takers\n", stopped, opened);
	printf("%u packets, %u ports closed, %u waits for one\n", taken, opened, ones[0] + ones[1]);
	return 0;
}
