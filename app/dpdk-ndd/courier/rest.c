/* SPDX-License-Identifier: BSD-3-Clause */
#include "courier/rest.h"

#include <time.h>

#include "platform/clock.h"

#define LONG_ERRAND_NS (200 * NDD_US)
#define OWED_MOST_NS   (4 * NDD_MS) /* a machine may take the CPU away for a while */
#define SHARE_OF_TIME  100
#define REST_MOST_NS   (2 * NDD_S) /* whatever it owes then is forgotten */

/* As epoll_wait(), which waits for it. */
static uint64_t
clock_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NDD_S + (uint64_t)ts.tv_nsec;
}

/* It is forgotten at the rate at which it may be spent. */
static void
time_owed(struct ndd_rest *r, uint64_t now_ns, uint64_t spent_ns)
{
	const uint64_t earned_ns = ndd_elapsed_ns(now_ns, r->owed_at_ns) / SHARE_OF_TIME;

	r->owed_ns = spent_ns + (r->owed_ns > earned_ns ? r->owed_ns - earned_ns : 0);
	if (r->owed_ns > OWED_MOST_NS + REST_MOST_NS / SHARE_OF_TIME)
		r->owed_ns = OWED_MOST_NS + REST_MOST_NS / SHARE_OF_TIME;
	r->owed_at_ns = now_ns;
}

void
ndd_rest_begin_errand(struct ndd_rest *r)
{
	r->cpu_ns = ndd_thread_used_ns();
}

bool
ndd_rest_is_due(const struct ndd_rest *r)
{
	return ndd_thread_used_ns() - r->cpu_ns >= LONG_ERRAND_NS;
}

void
ndd_rest_end_errand(struct ndd_rest *r)
{
	const uint64_t began_ns = r->cpu_ns;
	uint64_t spent_ns;

	r->cpu_ns = ndd_thread_used_ns();
	spent_ns = r->cpu_ns - began_ns;
	if (spent_ns < LONG_ERRAND_NS)
		return;
	time_owed(r, clock_ns(), spent_ns);
	if (r->owed_ns > OWED_MOST_NS)
		ndd_rest_for(r, (r->owed_ns - OWED_MOST_NS) * SHARE_OF_TIME);
}

void
ndd_rest_for(struct ndd_rest *r, uint64_t ns)
{
	const uint64_t until_ns = clock_ns() + ns;

	if (until_ns > r->until_ns)
		r->until_ns = until_ns;
}

uint64_t
ndd_rest_left_ns(struct ndd_rest *r)
{
	uint64_t now_ns;

	if (r->until_ns == 0)
		return 0;
	now_ns = clock_ns();
	if (now_ns < r->until_ns)
		return r->until_ns - now_ns;
	r->until_ns = 0;
	return 0;
}
