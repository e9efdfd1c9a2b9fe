/* SPDX-License-Identifier: BSD-3-Clause */
/* When an lcore has handled what had been received at a moment. */
#include "lcore/caught_up.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <unistd.h>

#include "lcore/shard.h"
#include "lcore/turn.h"

static struct ndd_plane plane;
static struct ndd_shard shard[2];
static struct ndd_wakeup control;

static void
start(void)
{
	plane.shards = 2;
	plane.control_wakeup = &control;
	cr_assert(ndd_wakeup_init(&control));
	for (uint32_t i = 0; i < 2; i++) {
		shard[i] = (struct ndd_shard){.plane = &plane, .id = i, .running = 1};
		plane.shard[i] = &shard[i];
		cr_assert(ndd_wakeup_init(&shard[i].wakeup));
	}
}

TestSuite(caught_up, .init = start);

/* An empty poll shows that the sources hold nothing of before; the one that is under way may have
 * begun before the moment, and passed a source by. */
Test(caught_up, takes_a_round_of_polls_that_begins_behind_the_moment)
{
	struct ndd_moment m;

	(void)ndd_lcore_catches_up(&shard[0], 0);
	ndd_moment_begin(&m, &shard[0]);
	cr_expect(not(ndd_moment_is_past(&m, &shard[0])));
	cr_expect(ndd_lcore_catches_up(&shard[0], 0));
	cr_expect(not(ndd_moment_is_past(&m, &shard[0])), "it was under way");
	cr_expect(not(ndd_lcore_catches_up(&shard[0], 1)));
	cr_expect(not(ndd_moment_is_past(&m, &shard[0])), "there was more");
	cr_expect(ndd_lcore_catches_up(&shard[0], 0));
	cr_expect(ndd_moment_is_past(&m, &shard[0]));
}

/* A flood keeps the sources full for ever. */
Test(caught_up, takes_a_bounded_time)
{
	struct ndd_moment m;

	ndd_moment_begin(&m, &shard[0]);
	for (unsigned round = 0; round < 2; round++) {
		cr_expect(not(ndd_moment_is_past(&m, &shard[0])));
		for (unsigned n = 8; n < NDD_BEHIND_FRAMES; n += 8)
			cr_expect(not(ndd_lcore_catches_up(&shard[0], 8)));
		cr_expect(ndd_lcore_catches_up(&shard[0], 8));
	}
	cr_expect(ndd_moment_is_past(&m, &shard[0]));
}

/* Its frames come by the shard that has the ports. */
Test(caught_up, first_the_owner_of_the_ports_then_the_shard)
{
	struct ndd_moment m;

	ndd_moment_begin(&m, &shard[1]);
	for (unsigned i = 0; i < 5; i++)
		(void)ndd_lcore_catches_up(&shard[1], 0);
	cr_expect(not(ndd_moment_is_past(&m, &shard[1])), "the frame was not handed over yet");
	for (unsigned i = 0; i < 2; i++)
		(void)ndd_lcore_catches_up(&shard[0], 0);
	cr_expect(not(ndd_moment_is_past(&m, &shard[1])), "it lies in the ring");
	(void)ndd_lcore_catches_up(&shard[1], 0);
	cr_expect(not(ndd_moment_is_past(&m, &shard[1])));
	(void)ndd_lcore_catches_up(&shard[1], 0);
	cr_expect(ndd_moment_is_past(&m, &shard[1]));
}

Test(caught_up, an_lcore_that_sleeps_is_woken)
{
	struct ndd_moment m;
	uint64_t n;

	ndd_wakeup_before_sleep(&shard[0].wakeup);
	ndd_moment_begin(&m, &shard[0]);
	cr_expect(eq(long, read(shard[0].wakeup.fd, &n, sizeof(n)), (long)sizeof(n)));
}

Test(caught_up, the_control_thread_is_woken_when_it_is_past)
{
	struct ndd_moment m;
	uint64_t n;

	ndd_moment_begin(&m, &shard[0]);
	ndd_wakeup_before_sleep(&control);
	(void)ndd_lcore_catches_up(&shard[0], 0);
	cr_expect(eq(long, read(control.fd, &n, sizeof(n)), -1), "not yet");
	(void)ndd_lcore_catches_up(&shard[0], 0);
	cr_expect(eq(long, read(control.fd, &n, sizeof(n)), (long)sizeof(n)));
	(void)ndd_lcore_catches_up(&shard[0], 0);
	cr_expect(eq(long, read(control.fd, &n, sizeof(n)), -1), "once");
}

Test(caught_up, an_lcore_that_has_ended_holds_up_nothing)
{
	struct ndd_moment m;

	ndd_moment_begin(&m, &shard[1]);
	shard[0].running = shard[1].running = 0;
	cr_expect(ndd_moment_is_past(&m, &shard[1]));
}
