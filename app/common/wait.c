/* SPDX-License-Identifier: BSD-3-Clause */
#include "wait.h"

#include <poll.h>
#include <signal.h>

#include "clock.h"

/* Waits go in slices, so that they see a signal within this time even if the library repeats calls
 * that the signal interrupted. */
#define SLICE_MS 100

static volatile sig_atomic_t stopping;

static void
on_signal(int sig)
{
	(void)sig;
	stopping = 1;
}

void
app_catch_signals(void)
{
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESETHAND};

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

bool
app_stopping(void)
{
	return stopping != 0;
}

/* Milliseconds of the next slice; 0 if the time is over. */
static int
wait_slice_ms(int timeout_ms, uint64_t start_ns)
{
	uint64_t spent_ms;

	if (timeout_ms < 0)
		return SLICE_MS;
	spent_ms = (app_now_ns() - start_ns) / APP_NS_PER_MS;
	if (spent_ms >= (uint64_t)timeout_ms)
		return 0;
	spent_ms = (uint64_t)timeout_ms - spent_ms;
	return spent_ms < SLICE_MS ? (int)spent_ms : SLICE_MS;
}

nd_status
app_wait(struct nd_overlapped *ov, int timeout_ms)
{
	uint64_t start = app_now_ns();
	int ms;
	nd_status st;

	do {
		ms = wait_slice_ms(timeout_ms, start);
		st = nd_overlapped_wait(ov, ms);
		if (st != ND_TIMEOUT && st != ND_PENDING)
			return st;
		if (stopping)
			return ND_CANCELED;
	} while (ms > 0);
	return ND_TIMEOUT;
}

void
app_cq_sleep(struct nd_cq *cq, int timeout_ms)
{
	struct pollfd pfd = {.fd = nd_cq_fd(cq), .events = POLLIN};

	/* A result that came since the caller last polled makes the fd readable at once
	 * (R-CQ-15). */
	nd_cq_arm(cq, ND_CQ_NOTIFY_ANY);
	if (poll(&pfd, 1, timeout_ms) > 0)
		nd_cq_ack(cq);
}

int32_t
app_cq_wait(struct nd_cq *cq, struct nd_result *results, uint32_t n, int timeout_ms)
{
	uint64_t start = app_now_ns();
	int32_t got;
	int ms;

	for (;;) {
		got = nd_cq_get_results(cq, results, n);
		if (got != 0)
			return got;
		ms = wait_slice_ms(timeout_ms, start);
		if (ms == 0 || stopping)
			return 0;
		app_cq_sleep(cq, ms);
	}
}
