/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "common/idle.h"

/* The first empty polls must not even read the clock. */
Test(app_idle, first_polls_are_free)
{
	struct app_idle idle = {0};

	for (uint32_t i = 1; i < APP_IDLE_FREE_POLLS; i++) {
		app_idle_wait(&idle);
		cr_assert_eq(idle.empty, i);
		cr_assert_eq(idle.since_ns, 0);
	}
	app_idle_wait(&idle);
	cr_assert_neq(idle.since_ns, 0);
	app_idle_reset(&idle);
	cr_assert(idle.empty == 0 && idle.since_ns == 0 && !idle.yielding);
}

Test(app_idle, a_loop_that_may_sleep_does_so_in_time)
{
	struct app_idle idle = {0};
	uint64_t start = app_now_ns();

	while (app_idle_stay(&idle))
		;
	cr_assert_geq(app_now_ns() - start, APP_IDLE_STAY_NS);
}

/* Yields that let no other thread run make the loop poll longer before the next one. */
Test(app_idle, time_before_a_yield_stays_in_its_bounds)
{
	struct app_idle idle = {0};

	for (int i = 0; i < 1000; i++) {
		app_idle_yield(&idle);
		cr_assert_geq(idle.spin_ns, APP_IDLE_SPIN_NS);
		cr_assert_leq(idle.spin_ns, APP_IDLE_SPIN_MAX_NS);
	}
}
