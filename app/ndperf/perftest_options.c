/* SPDX-License-Identifier: BSD-3-Clause */
/* What the options mean with perftest at the other end: its defaults, and its limits. */
#include "common/fail.h"
#include "options.h"

/* perftest's own. */
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
option_refuse(const char *why)
{
	app_complain("--peer perftest: %s", why);
	return false;
}

/* What this side does not do with perftest, or perftest does not do at all. */
static bool
options_possible(const struct ndperf_options *o, const struct ndperf_given *g)
{
	bool lat = o->params.mode == NDPERF_LAT;
	bool pings = o->params.op == NDPERF_SEND || o->params.op == NDPERF_WRITE;

	if (o->params.verify)
		return option_refuse("--verify: its programs don't say what they send");
	if (g->warmup)
		return option_refuse("--warmup: its programs would count those messages, too");
	if (g->sessions)
		return option_refuse("--sessions: its programs serve one client, and so does this");
	if (o->params.op == NDPERF_ATOMIC && (g->size || g->all))
		return option_refuse("--size, -a: an atomic has eight bytes");
	if (g->all && g->size)
		return option_refuse("-a and --size exclude each other");
	if (g->iterations && g->seconds)
		return option_refuse("-n and -D exclude each other");
	if (g->all && g->seconds)
		return option_refuse("-a goes by number of messages (-n), not by time (-D)");
	if (lat && (o->params.qps != 1 || o->both_ways))
		return option_refuse(
			"-m lat is one message at a time, on one queue pair: no -q, no -b");
	if (lat && pings && g->seconds)
		return option_refuse(
			"-m lat by time (-D): the ends of sends and writes would not stop at the "
			"same message; use -n");
	if (lat && o->params.op == NDPERF_WRITE && o->wait == NDPERF_WAIT_EVENT)
		return option_refuse("--event: -m lat -t write watches memory for the answer");
	if ((o->mtu & (o->mtu - 1)) != 0)
		return option_refuse("--mtu must be 256, 512, 1024, 2048 or 4096");
	if (o->cm && o->has_tcp)
		return option_refuse("--tcp: with -R there is no TCP connection");
	if (o->cm && g->mtu)
		return option_refuse("--mtu: with -R the path MTU is rdma_cm's");
	if (o->has_tcp && !o->server)
		return option_refuse("--tcp is the server's");
	return true;
}

static void
settle_sizes(struct ndperf_options *o, const struct ndperf_given *g)
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

	if (!options_possible(o, g))
		return false;
	settle_sizes(o, g);
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
