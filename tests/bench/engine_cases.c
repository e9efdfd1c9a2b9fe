/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"
#include "shm/ndsh_msg.h"

#define ONE(name, op, bytes, depth)                                                                \
	{                                                                                          \
		name, BENCH_MESSAGES, NDSH_OP_##op, bytes, 1, depth, 256                           \
	}
#define FLOOR(name, bytes)                                                                         \
	{                                                                                          \
		name, BENCH_FLOOR, 0, bytes, 1, 1, 256                                             \
	}
/* The same rings and as much under way in all, one for each of the fewest: with more, requests of
 * one queue pair share acknowledgements and turns, and the number is not all that differs. The deep
 * ones show that. */
#define RANDOM(name, qps, depth)                                                                   \
	{                                                                                          \
		name, BENCH_RANDOM, NDSH_OP_WRITE, 8, qps, depth, 8                                \
	}

/* What is judged by something stands behind it: such machines have quick and slow moments. */
const struct bench_case bench_cases[] = {
	FLOOR("floor-8", 8),
	ONE("write-8", WRITE, 8, 32),
	FLOOR("floor-64", 64),
	ONE("write-64", WRITE, 64, 32),
	FLOOR("floor-256", 256),
	ONE("write-256", WRITE, 256, 32),
	FLOOR("floor-4096", 4096),
	ONE("write-4096", WRITE, 4096, 32),
	FLOOR("floor-65536", 65536),
	ONE("write-65536", WRITE, 65536, 16),
	ONE("write-1M", WRITE, 1u << 20, 4),
	ONE("send-8", SEND, 8, 32),
	ONE("send-64", SEND, 64, 32),
	ONE("send-256", SEND, 256, 32),
	ONE("send-4096", SEND, 4096, 32),
	ONE("send-65536", SEND, 65536, 16),
	ONE("read-8", READ, 8, 32),
	ONE("read-64", READ, 64, 32),
	ONE("read-256", READ, 256, 32),
	ONE("read-4096", READ, 4096, 32),
	ONE("read-65536", READ, 65536, 16),
	ONE("read-1M", READ, 1u << 20, 4),
	ONE("atomic-8", FETCH_ADD, 8, 16),
	{"atomic-8-16qp", BENCH_MESSAGES, NDSH_OP_FETCH_ADD, 8, 16, 16, 256},
	ONE("write-8-alone", WRITE, 8, 1),
	{"write-8-64qp", BENCH_MESSAGES, NDSH_OP_WRITE, 8, 64, 16, 256},
	{"send-8-8qp", BENCH_MESSAGES, NDSH_OP_SEND, 8, 8, 4, 256},
	{"send-8-8qp-srq", BENCH_MESSAGES, NDSH_OP_SEND, 8, 8, 4, 256, .srq = true},
	{"write-8-sports", BENCH_MESSAGES, NDSH_OP_WRITE, 8, 1, 32, 256, .sports = true},
	{"write-8-alone-sports", BENCH_MESSAGES, NDSH_OP_WRITE, 8, 1, 1, 256, .sports = true},
	RANDOM("random-64", 64, 64),
	RANDOM("random-100000", 100000, 64),
	RANDOM("random-1000", 1000, 64),
	RANDOM("random-10000", 10000, 64),
	RANDOM("random-64-deep", 64, 256),
	RANDOM("random-100000-deep", 100000, 256),
	{"connect", BENCH_CM, 0, 0, 1, 16},
};
const unsigned bench_num_cases = sizeof(bench_cases) / sizeof(bench_cases[0]);
