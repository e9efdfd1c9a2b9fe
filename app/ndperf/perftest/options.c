/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <sys/socket.h>

#include "common/fail.h"

/* perftest's defaults. */
#define SIZE_BW		 65536u
#define SIZE_LAT	 2u
#define SIZE_ATOMIC	 8u
#define ALL_FIRST	 2u
#define ALL_LAST	 (8u << 20)
#define ITERATIONS	 1000u
#define ITERATIONS_WRITE 5000u /* bandwidth of writes */
#define CQ_MOD		 16u
#define DEPTH_LAT	 16u

bool
perftest_options_absent(const struct ndperf_options *o, const struct ndperf_given *g)
{
	const char *what = o->cm			   ? "-R"
			   : o->both_ways		   ? "-b"
			   : g->mtu			   ? "--mtu"
			   : o->has_tcp			   ? "--tcp"
			   : o->params.op == NDPERF_ATOMIC ? "-t atomic"
							   : NULL;

	if (what != NULL)
		app_complain("%s goes with --peer perftest alone", what);
	return what == NULL;
}

static bool
options_refuse(const char *why)
{
	app_complain("--peer perftest: %s", why);
	return false;
}

/* Refuse what ndperf does not do with perftest, and what perftest does not do at all. */
static bool
options_are_possible(const struct ndperf_options *o, const struct ndperf_given *g)
{
	bool lat = o->params.mode == NDPERF_LAT;
	bool pings = o->params.op == NDPERF_SEND || o->params.op == NDPERF_WRITE;

	if (o->params.verify)
		return options_refuse("--verify: its programs don't say what they send");
	if (g->warmup)
		return options_refuse("--warmup: its programs would count those messages, too");
	if (g->sessions)
		return options_refuse(
			"--sessions: its programs serve one client, and so does this");
	if (o->params.op == NDPERF_ATOMIC && (g->size || g->all))
		return options_refuse("--size, -a: an atomic has eight bytes");
	if (g->all && g->size)
		return options_refuse("-a and --size exclude each other");
	if (g->iterations && g->seconds)
		return options_refuse("-n and -D exclude each other");
	if (g->all && g->seconds)
		return options_refuse("-a goes by number of messages (-n), not by time (-D)");
	if (lat && (o->params.qps != 1 || o->both_ways))
		return options_refuse(
			"-m lat is one message at a time, on one queue pair: no -q, no -b");
	if (lat && pings && g->seconds)
		return options_refuse(
			"-m lat by time (-D): the ends of sends and writes would not stop at the "
			"same message; use -n");
	if (lat && o->params.op == NDPERF_WRITE && o->wait == NDPERF_WAIT_EVENT)
		return options_refuse("--event: -m lat -t write watches memory for the answer");
	if ((o->mtu & (o->mtu - 1)) != 0)
		return options_refuse("--mtu must be 256, 512, 1024, 2048 or 4096");
	if (o->cm && o->has_tcp)
		return options_refuse("--tcp: with -R there is no TCP connection");
	if (o->cm && g->mtu)
		return options_refuse("--mtu: with -R the path MTU is rdma_cm's");
	if (o->has_tcp && !o->server)
		return options_refuse("--tcp is the server's");
	return true;
}

static void
options_settle_sizes(struct ndperf_options *o, const struct ndperf_given *g)
{
	if (g->all)
		o->first_bytes = ALL_FIRST;
	else if (o->params.op == NDPERF_ATOMIC)
		o->first_bytes = SIZE_ATOMIC;
	else if (!g->size)
		o->first_bytes = o->params.mode == NDPERF_LAT ? SIZE_LAT : SIZE_BW;
	o->last_bytes = g->all ? ALL_LAST : o->first_bytes;
	o->params.max_bytes = o->last_bytes;
}

bool
perftest_options_settle(struct ndperf_options *o, const struct ndperf_given *g)
{
	bool lat = o->params.mode == NDPERF_LAT;

	if (!options_are_possible(o, g))
		return false;
	options_settle_sizes(o, g);
	if (!g->iterations && !g->seconds)
		o->iterations =
			!lat && o->params.op == NDPERF_WRITE ? ITERATIONS_WRITE : ITERATIONS;
	if (lat && !g->depth)
		o->params.depth = DEPTH_LAT;
	if (!g->cq_mod)
		o->cq_mod = lat ? 1 : o->params.depth < CQ_MOD ? o->params.depth : CQ_MOD;
	if (!o->has_tcp)
		app_addr_any(AF_INET, o->port, &o->tcp);
	else if (app_addr_port(&o->tcp) == 0)
		app_addr_set_port(&o->tcp, o->port);
	return true;
}
