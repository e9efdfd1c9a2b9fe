/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a program meets that does nothing but read the counter, by the clock that lcores have for
 * their turns (own.h): how often it is away for longer than a turn may last, though no other thread
 * has the CPU. No lcore does better on this machine.
 *
 *	ndgaps SECONDS
 */
#include <stdio.h>
#include <stdlib.h>

#include "lcore/cycles.h"

static uint64_t
counter_hz(void)
{
	const struct timespec pause = {.tv_nsec = 100000000};
	struct timespec begin, end;
	uint64_t since;

	(void)clock_gettime(CLOCK_MONOTONIC, &begin);
	since = rte_rdtsc();
	(void)nanosleep(&pause, NULL);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	return (uint64_t)((double)(rte_rdtsc() - since) /
			  ((double)(end.tv_sec - begin.tv_sec) +
				  (double)(end.tv_nsec - begin.tv_nsec) / 1e9));
}

int
main(int argc, char **argv)
{
	const double seconds = argc == 2 ? atof(argv[1]) : 0;
	struct ndd_cycles cycles = {0};
	uint64_t end;

	if (seconds <= 0) {
		fprintf(stderr, "usage: ndgaps SECONDS\n");
		return 2;
	}
	ndd_cycles_start(&cycles, counter_hz());
	end = cycles.mark + (uint64_t)(seconds * (double)cycles.own.hz);
	while (cycles.mark < end) {
		ndd_cycles_mark(&cycles, NDD_STAGE_rx, 0);
		ndd_cycles_turn(&cycles, 0);
	}
	printf("%g\n", (double)cycles.total.overlong / seconds);
	return 0;
}
