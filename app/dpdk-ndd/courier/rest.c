/* SPDX-License-Identifier: BSD-3-Clause */
#include "courier/rest.h"

#include <time.h>

#include "platform/clock.h"

#define LONG_ERRAND_NS (200 * NDD_US)
#define OWED_MOST_NS   (4 * NDD_MS) /* a machine may take the CPU away for a while */
#define SHARE_OF_TIME  100
#define PAID_MOST_NS   (OWED_MOST_NS * SHARE_OF_TIME)
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
arrears_add(struct ndd_arrears *a, uint64_t now_ns, uint64_t spent_ns)
{
	uint64_t old_ns = __atomic_load_n(&a->paid_ns, __ATOMIC_RELAXED), paid_ns;

	do {
		paid_ns = (old_ns > now_ns ? old_ns : now_ns) + spent_ns * SHARE_OF_TIME;
		if (paid_ns > now_ns + PAID_MOST_NS + REST_MOST_NS)
			paid_ns = now_ns + PAID_MOST_NS + REST_MOST_NS;
	} while (!__atomic_compare_exchange_n(
		&a->paid_ns, &old_ns, paid_ns, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void
ndd_arrears_forget(struct ndd_arrears *a)
{
	__atomic_store_n(&a->paid_ns, 0, __ATOMIC_RELAXED);
}

static uint64_t
rest_until_ns(const struct ndd_rest *r)
{
	const uint64_t paid_ns = __atomic_load_n(&r->arrears->paid_ns, __ATOMIC_RELAXED);
	const uint64_t until_ns = paid_ns > PAID_MOST_NS ? paid_ns - PAID_MOST_NS : 0;

	return until_ns > r->until_ns ? until_ns : r->until_ns;
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
	if (spent_ns >= LONG_ERRAND_NS)
		arrears_add(r->arrears, clock_ns(), spent_ns);
}

void
ndd_rest_for(struct ndd_rest *r, uint64_t ns)
{
	const uint64_t until_ns = clock_ns() + ns;

	if (until_ns > r->until_ns)
		r->until_ns = until_ns;
}

uint64_t
ndd_rest_left_ns(const struct ndd_rest *r)
{
	const uint64_t until_ns = rest_until_ns(r);
	uint64_t now_ns;

	if (until_ns == 0)
		return 0;
	now_ns = clock_ns();
	return now_ns < until_ns ? until_ns - now_ns : 0;
}
