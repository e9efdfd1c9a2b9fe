/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a connected queue pair costs a daemon that has many of them and is asked for nothing: its
 * share of all that a shard has, by limits as the daemon makes them of limits.shard_qps
 * (ndd_start()), with one region and one request under way for each.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "engine.h"

static double
resident(const void *mem, size_t bytes)
{
	static unsigned char in[1 << 16];
	const size_t page = (size_t)sysconf(_SC_PAGESIZE), part = sizeof(in) * page;
	double pages = 0;

	for (size_t at = 0; at < bytes; at += part) {
		size_t some = bytes - at < part ? bytes - at : part;

		bench_need(mincore((char *)mem + at, some, in) == 0, "mincore");
		for (size_t i = 0; i < (some + page - 1) / page; i++)
			pages += in[i] & 1;
	}
	return pages * (double)page;
}

struct bench_memory
bench_memory(uint32_t qps)
{
	const struct roce_shard_cfg cfg = {.max_qps = qps,
		.max_cqs = 2 * qps,
		.max_pds = qps,
		.max_srqs = qps,
		.max_mrs = qps,
		.max_wqes = qps,
		.secret = {3, 4},
		.rto_floor_ns = 10000000,
		.window = 256};
	const struct bench_case c = {
		.name = "memory", .kind = BENCH_RANDOM, .qps = qps, .ring = 16};
	struct bench_world *w = bench_world_of(&c, &cfg);
	const size_t bytes = roce_shard_bytes(&cfg);
	struct bench_memory m = {.reserved = (double)bytes / qps,
		.resident = resident(w->side[0].shard, bytes) / qps};

	bench_world_free(w);
	return m;
}
