/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <signal.h>

#include "common/clock.h"
#include "common/wait.h"

Test(app_wait, a_request_that_never_completes_times_out)
{
	struct nd_overlapped never = {.status = ND_PENDING};
	uint64_t start = app_now_ns();

	cr_assert_eq(app_wait(&never, 0), ND_TIMEOUT);
	cr_assert_eq(app_wait(&never, 120), ND_TIMEOUT); /* longer than one slice */
	cr_assert_geq(app_now_ns() - start, 120 * APP_NS_PER_MS);
}

Test(app_wait, a_completed_request_gives_its_status)
{
	struct nd_overlapped done = {.status = ND_CONNECTION_REFUSED};

	cr_assert_eq(app_wait(&done, -1), ND_CONNECTION_REFUSED);
}

Test(app_wait, a_signal_ends_a_wait_for_ever)
{
	struct nd_overlapped never = {.status = ND_PENDING};

	app_catch_signals();
	cr_assert_not(app_stopping());
	raise(SIGTERM);
	cr_assert(app_stopping());
	cr_assert_eq(app_wait(&never, -1), ND_CANCELED);
}
