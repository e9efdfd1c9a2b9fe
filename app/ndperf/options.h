/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of ndperf. */
#ifndef NDPERF_OPTIONS_H
#define NDPERF_OPTIONS_H

#include "common/addr.h"
#include "proto.h"

#define NDPERF_INLINE_AUTO UINT32_MAX

/* How to wait for completions. */
enum ndperf_wait {
	NDPERF_WAIT_ADAPTIVE, /* poll for a while, then sleep */
	NDPERF_WAIT_POLL,     /* poll, yielding in between */
	NDPERF_WAIT_EVENT,    /* sleep at once */
};

/* Where the messages lie. */
enum ndperf_memory { NDPERF_MEMORY_ARENA = 1, NDPERF_MEMORY_HEAP, NDPERF_MEMORY_ADOPTED };

struct ndperf_options {
	bool server, once;
	bool loopback; /* both ends in this process; its server listens at addr */
	enum ndperf_wait wait;
	enum ndperf_memory memory;
	bool has_addr;
	struct app_addr addr; /* client: the peer; unused by a server */
	bool has_bind;
	struct app_addr bind; /* local address */
	uint16_t port;
	uint32_t sessions; /* server: at most so many clients at once */
	const char *socket_path;

	/* client */
	struct ndperf_params params;	  /* max_bytes: last_bytes */
	uint64_t first_bytes, last_bytes; /* a step for each, doubling */
	uint64_t iterations;		  /* messages of each queue pair in a step; 0: by seconds */
	double seconds;
	uint64_t warmup; /* messages of each queue pair before the clock starts */
	uint32_t inline_bytes;
	uint32_t cq_mod; /* one of so many requests completes visibly */
	uint32_t dscp;
	const char *json_path;

	/* --peer perftest: one of perftest's programs is the other end */
	bool perftest;
	bool cm;	/* -R: rdma_cm makes all connections, also the one for exchanged values */
	bool both_ways; /* -b */
	uint32_t mtu;	/* 0: the port's */
	bool has_tcp;
	struct app_addr tcp; /* server: where it listens for the TCP connection */
};

/* Which options were given, of those whose defaults depend on other options. */
struct ndperf_given {
	bool size, all, iterations, seconds, warmup, cq_mod, depth, sessions, mtu;
};

/* Returns false if the program shall exit with *exit_code, since --help or --version or a complaint
 * was printed. */
bool ndperf_options_parse(struct ndperf_options *o, int argc, char **argv, int *exit_code);

#endif
