/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it takes to wake a thread: by libndwin's completion port and event, and by an eventfd,
 * which is the least that Linux has with a handle to it. Two threads, each on a CPU of its own,
 * wake each other in turn; the ways change every few hundred rounds, so that they meet the same
 * machine. Prints the median of a wake-up, half a round, and what it costs more than the
 * eventfd's; then what the calls themselves cost, without anybody to wake.
 *
 *     ndwin_wakeups [ROUNDS]
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "ndwin/ndwin_provider.h"

#define BLOCK 500u

static const char owner;

/* One direction: what the one thread does to wake the other, and the other to sleep. */
struct side {
	int eventfd;
	HANDLE event, port, file;
	struct ndwin_file *f;
	OVERLAPPED ov;
	struct ndwin_request *request;
};

static struct side side[2];

static void
must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "ndwin_wakeups: %s\n", what);
		exit(1);
	}
}

/* ---- the ways ------------------------------------------------------------------------ */

static void
wake_eventfd(struct side *s)
{
	const uint64_t one = 1;

	must(write(s->eventfd, &one, sizeof(one)) == sizeof(one), "write");
}

static void
sleep_eventfd(struct side *s)
{
	uint64_t count;

	must(read(s->eventfd, &count, sizeof(count)) == sizeof(count), "read");
}

static void
wake_event(struct side *s)
{
	must(SetEvent(s->event), "SetEvent");
}

static void
sleep_event(struct side *s)
{
	must(WaitForSingleObject(s->event, INFINITE) == WAIT_OBJECT_0, "WaitForSingleObject");
}

static void
wake_port(struct side *s)
{
	must(PostQueuedCompletionStatus(s->port, 0, 0, NULL), "PostQueuedCompletionStatus");
}

static void
sleep_port(struct side *s)
{
	OVERLAPPED *ov;
	ULONG_PTR key;
	DWORD bytes;

	must(GetQueuedCompletionStatus(s->port, &bytes, &key, &ov, INFINITE), "a packet");
}

/* All that a notification takes: a request begins and ends. */
static void
wake_request(struct side *s)
{
	must(ndwin_request_begin(s->f, &s->ov, 64, &s->request) == 0, "begin");
	ndwin_request_complete(s->request, 0, 0);
}

static const struct way {
	const char *name;
	void (*wake)(struct side *s);
	void (*sleep)(struct side *s);
} ways[] = {
	{"eventfd", wake_eventfd, sleep_eventfd},
	{"event", wake_event, sleep_event},
	{"port, posted", wake_port, sleep_port},
	{"port, request", wake_request, sleep_port},
};
#define WAYS _countof(ways)

/* ---- measuring ----------------------------------------------------------------------- */

static void
pin(int nth)
{
	cpu_set_t all, one;

	must(sched_getaffinity(0, sizeof(all), &all) == 0, "sched_getaffinity");
	CPU_ZERO(&one);
	for (int cpu = 0, n = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all) && n++ == nth)
			CPU_SET(cpu, &one);
	if (CPU_COUNT(&one) == 1)
		(void)sched_setaffinity(0, sizeof(one), &one);
}

static void *
answer(void *arg)
{
	const uint32_t rounds = *(uint32_t *)arg;

	pin(1);
	for (uint32_t i = 0; i < rounds * WAYS; i++) {
		const struct way *w = &ways[i / BLOCK % WAYS];

		w->sleep(&side[0]);
		w->wake(&side[1]);
	}
	return NULL;
}

static uint64_t
now_ns(clockid_t of)
{
	struct timespec ts;

	clock_gettime(of, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int
by_number(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* ---- calls alone --------------------------------------------------------------------- */

static void
call_event(struct side *s)
{
	wake_event(s);
}

static void
call_port(struct side *s)
{
	wake_port(s);
	sleep_port(s);
}

static void
call_request(struct side *s)
{
	wake_request(s);
	sleep_port(s);
}

static void
call_open(struct side *s)
{
	(void)s;
	must(CloseHandle(CreateEvent(NULL, FALSE, FALSE, NULL)), "CloseHandle");
}

static const struct call {
	const char *name;
	void (*call)(struct side *s);
} calls[] = {
	{"SetEvent", call_event},
	{"post and take", call_port},
	{"begin, complete and take", call_request},
	{"create and close an event", call_open},
};

static void
calls_measure(uint32_t rounds)
{
	for (size_t c = 0; c < _countof(calls); c++) {
		const uint64_t from = now_ns(CLOCK_THREAD_CPUTIME_ID);
		uint64_t took;

		for (uint32_t i = 0; i < rounds; i++)
			calls[c].call(&side[0]);
		took = now_ns(CLOCK_THREAD_CPUTIME_ID) - from;
		printf("%-26s %4u ns\n", calls[c].name, (uint32_t)(took / rounds));
	}
}

static void
side_open(struct side *s)
{
	s->eventfd = eventfd(0, EFD_CLOEXEC);
	s->event = CreateEvent(NULL, FALSE, FALSE, NULL);
	s->file = ndwin_file_create(&owner);
	s->port = CreateIoCompletionPort(s->file, NULL, 0, 0);
	s->f = ndwin_file_get(s->file, &owner);
	must(s->eventfd >= 0 && s->event != NULL && s->port != NULL && s->f != NULL, "open");
}

int
main(int argc, char **argv)
{
	uint32_t rounds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
	uint64_t *took[WAYS], median[WAYS];
	uint32_t n[WAYS] = {0};
	pthread_t other;

	rounds = (rounds + BLOCK - 1) / BLOCK * BLOCK;
	must(rounds != 0, "ROUNDS is not a number above 0");
	for (size_t w = 0; w < WAYS; w++)
		must((took[w] = calloc(rounds, sizeof(*took[w]))) != NULL, "memory");
	side_open(&side[0]);
	side_open(&side[1]);
	pin(0);
	must(pthread_create(&other, NULL, answer, &rounds) == 0, "thread");
	for (uint32_t i = 0; i < rounds * WAYS; i++) {
		const size_t w = i / BLOCK % WAYS;
		const uint64_t from = now_ns(CLOCK_MONOTONIC);

		ways[w].wake(&side[0]);
		ways[w].sleep(&side[1]);
		took[w][n[w]++] = now_ns(CLOCK_MONOTONIC) - from;
	}
	pthread_join(other, NULL);
	for (size_t w = 0; w < WAYS; w++) {
		qsort(took[w], rounds, sizeof(*took[w]), by_number);
		median[w] = took[w][rounds / 2] / 2;
		printf("%-14s %6.2f us, %+.2f\n", ways[w].name, (double)median[w] / 1000,
			((double)median[w] - (double)median[0]) / 1000);
		free(took[w]);
	}
	calls_measure(rounds * 10);
	return 0;
}
