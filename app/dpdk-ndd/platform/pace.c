/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/pace.h"

#include <sys/prctl.h>
#include <time.h>

uint64_t
ndd_pace_rest_ns(struct ndd_pace *p, uint64_t now_ns, uint64_t used_ns, bool crowded)
{
	const uint64_t passed = now_ns - p->since_ns, due = (used_ns - p->used_ns) * NDD_PACE_SHARE;
	uint64_t rest = 0;

	if (passed < NDD_PACE_PIECE_NS)
		return 0;
	if (crowded && due > passed)
		rest = due - passed < NDD_PACE_REST_NS ? due - passed : NDD_PACE_REST_NS;
	p->since_ns = now_ns + rest;
	p->used_ns = used_ns;
	if (rest != 0)
		__atomic_store_n(&p->rests, p->rests + 1, __ATOMIC_RELAXED);
	return rest;
}

void
ndd_pace_sleep(uint64_t ns)
{
	const struct timespec rest = {.tv_nsec = (long)ns};

	if (ns != 0)
		(void)nanosleep(&rest, NULL);
}

void
ndd_pace(struct ndd_pace *p, const struct ndd_crowd *c)
{
	const uint64_t now_ns = ndd_now_ns();

	if (now_ns - p->since_ns >= NDD_PACE_PIECE_NS)
		ndd_pace_sleep(
			ndd_pace_rest_ns(p, now_ns, ndd_thread_used_ns(), ndd_crowd_is(c, now_ns)));
}

void
ndd_sleep_precisely(void)
{
	(void)prctl(PR_SET_TIMERSLACK, 1000ul, 0ul, 0ul, 0ul);
}
