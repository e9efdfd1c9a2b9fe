/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of deadlines against a plain array, at random. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cm/manager.h"
#include "cm/timer.h"

#define N 200u

static uint64_t
first_deadline(const struct roce_cm_conn *conns)
{
	uint64_t first = UINT64_MAX;

	for (unsigned i = 0; i < N; i++) {
		if (conns[i].timer_pos != 0 && conns[i].deadline_ns < first)
			first = conns[i].deadline_ns;
	}
	return first;
}

/* span: how far apart deadlines are at most; a short one has them equal, and next to each other. */
static void
run_random(uint32_t span)
{
	struct roce_cm_cfg cfg = {.max_active = N, .max_listeners = 1};
	void *mem = aligned_alloc(64, (roce_cm_bytes(&cfg) + 63) & ~(size_t)63);
	struct roce_cm_conn *conns = calloc(N, sizeof(*conns));
	uint32_t random = 1;
	struct roce_cm *cm;

	memset(mem, 0, roce_cm_bytes(&cfg));
	cm = roce_cm_init(mem, &cfg);
	for (unsigned n = 0; n < 20000; n++) {
		struct roce_cm_conn *c;

		random = random * 1664525 + 1013904223;
		c = &conns[(random >> 8) % N];
		if (random >> 29 < 3)
			cm_timer_cancel(cm, c);
		else
			cm_timer_set(cm, c, (random >> 12) % span);
		cr_assert_eq(roce_cm_next_deadline(cm), first_deadline(conns), "step %u", n);
	}
	for (unsigned i = 0; i < N; i++)
		cm_timer_cancel(cm, &conns[i]);
	cr_assert_eq(roce_cm_next_deadline(cm), UINT64_MAX);
	free(conns);
	free(mem);
}

Test(cm_timer, the_next_deadline_is_the_first_of_all)
{
	run_random(UINT32_MAX);
	run_random(16);
	run_random(2);
}

/* checks W-CM-52[1,3]: the code is the peer's, so it is kept within reason. */
Test(cm_timer, w_cm_52_length_of_time_wait)
{
	for (uint8_t code = 0; code < 32; code++) {
		const unsigned kept = code < 16 ? 16 : code > 20 ? 20 : code;

		cr_expect_eq(cm_timewait_ns(code), (1u << (kept - 8)) * CM_MS, "code %u", code);
	}
}
