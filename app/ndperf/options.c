/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "common/number.h"
#include "common/tclass.h"
#include "help.h"
#include "perftest/options.h"

#define ALL_FIRST 2u
#define ALL_LAST  (8u << 20)

enum { /* long options without a letter */
	OPT_SIZE = 256,
	OPT_WARMUP,
	OPT_INLINE,
	OPT_CQ_MOD,
	OPT_VERIFY,
	OPT_JSON,
	OPT_SOCKET,
	OPT_POLL,
	OPT_EVENT,
	OPT_ONCE,
	OPT_LOOPBACK,
	OPT_SESSIONS,
	OPT_MEMORY,
	OPT_BIND,
	OPT_PEER,
	OPT_MTU,
	OPT_TCP,
	OPT_VERSION,
};

static const struct option longs[] = {
	{"server", no_argument, NULL, 's'},
	{"port", required_argument, NULL, 'p'},
	{"type", required_argument, NULL, 't'},
	{"mode", required_argument, NULL, 'm'},
	{"all", no_argument, NULL, 'a'},
	{"size", required_argument, NULL, OPT_SIZE},
	{"qps", required_argument, NULL, 'q'},
	{"depth", required_argument, NULL, 'd'},
	{"iterations", required_argument, NULL, 'n'},
	{"duration", required_argument, NULL, 'D'},
	{"tclass", required_argument, NULL, 'T'},
	{"warmup", required_argument, NULL, OPT_WARMUP},
	{"inline", required_argument, NULL, OPT_INLINE},
	{"cq-mod", required_argument, NULL, OPT_CQ_MOD},
	{"verify", no_argument, NULL, OPT_VERIFY},
	{"json", required_argument, NULL, OPT_JSON},
	{"socket", required_argument, NULL, OPT_SOCKET},
	{"poll", no_argument, NULL, OPT_POLL},
	{"event", no_argument, NULL, OPT_EVENT},
	{"once", no_argument, NULL, OPT_ONCE},
	{"sessions", required_argument, NULL, OPT_SESSIONS},
	{"memory", required_argument, NULL, OPT_MEMORY},
	{"bind", required_argument, NULL, OPT_BIND},
	{"peer", required_argument, NULL, OPT_PEER},
	{"rdma-cm", no_argument, NULL, 'R'},
	{"both", no_argument, NULL, 'b'},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"tcp", required_argument, NULL, OPT_TCP},
	{"loopback", no_argument, NULL, OPT_LOOPBACK},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

static bool
take_number(const char *name, const char *text, uint64_t min, uint64_t max, uint64_t *v)
{
	if (app_parse_size(text, min, max, v))
		return true;
	app_complain("%s %s: must be %llu..%llu", name, text, (unsigned long long)min,
		(unsigned long long)max);
	return false;
}

static bool
take_u32(const char *name, const char *text, uint32_t min, uint32_t max, uint32_t *v)
{
	uint64_t wide;

	if (!take_number(name, text, min, max, &wide))
		return false;
	*v = (uint32_t)wide;
	return true;
}

static bool
take_word(const char *name, const char *text, const char *const *words, uint32_t *v)
{
	for (uint32_t i = 1; words[i] != NULL; i++) {
		if (strcmp(text, words[i]) == 0) {
			*v = i;
			return true;
		}
	}
	app_complain("%s %s: no such choice; --help lists them", name, text);
	return false;
}

static bool
take_addr(const char *name, const char *text, uint16_t port, struct app_addr *a, bool *has)
{
	const char *wrong = app_addr_parse(text, port, a);

	if (wrong != NULL)
		app_complain("%s%s: %s", name, text, wrong);
	*has = wrong == NULL;
	return *has;
}

static bool
take_params(struct ndperf_options *o, struct ndperf_given *g, int c, const char *text)
{
	static const char *const ops[] = {[NDPERF_WRITE] = "write",
		[NDPERF_SEND] = "send",
		[NDPERF_READ] = "read",
		[NDPERF_ATOMIC] = "atomic",
		NULL};
	static const char *const modes[] = {[NDPERF_BW] = "bw", [NDPERF_LAT] = "lat", NULL};
	uint32_t v;

	switch (c) {
	case 't':
		if (!take_word("-t", text, ops, &v))
			return false;
		o->params.op = v;
		return true;
	case 'm':
		if (!take_word("-m", text, modes, &v))
			return false;
		o->params.mode = v;
		return true;
	case 'a':
		g->all = true;
		return true;
	case OPT_SIZE:
		g->size = true;
		return take_number("--size", text, 1, NDPERF_SIZE_MAX, &o->first_bytes);
	case 'q':
		return take_u32("-q", text, 1, NDPERF_QPS_MAX, &o->params.qps);
	case 'd':
		g->depth = true;
		return take_u32("-d", text, 1, NDPERF_DEPTH_MAX, &o->params.depth);
	case 'n':
		g->iterations = true;
		return take_number("-n", text, 1, 1ull << 40, &o->iterations);
	case 'D':
		g->seconds = true;
		if (app_parse_seconds(text, 0.01, 1e6, &o->seconds))
			return true;
		app_complain("-D %s: must be 0.01..1000000 seconds", text);
		return false;
	case OPT_WARMUP:
		g->warmup = true;
		return take_number("--warmup", text, 0, 1ull << 40, &o->warmup);
	case OPT_CQ_MOD:
		g->cq_mod = true;
		return take_u32("--cq-mod", text, 1, NDPERF_DEPTH_MAX, &o->cq_mod);
	case OPT_INLINE:
		return take_u32("--inline", text, 0, 1u << 16, &o->inline_bytes);
	case 'T':
		return app_parse_tclass("-T", text, &o->dscp);
	case OPT_VERIFY:
		o->params.verify = true;
		return true;
	default:
		return false; /* getopt has complained */
	}
}

static bool
take_perftest(struct ndperf_options *o, struct ndperf_given *g, int c, const char *text)
{
	switch (c) {
	case OPT_PEER:
		o->perftest = strcmp(text, "perftest") == 0;
		if (!o->perftest)
			app_complain("--peer %s: perftest is what there is", text);
		return o->perftest;
	case 'R':
		o->cm = true;
		return true;
	case 'b':
		o->both_ways = true;
		return true;
	case OPT_MTU:
		g->mtu = true;
		return take_u32("--mtu", text, 256, 4096, &o->mtu);
	case OPT_TCP:
		return take_addr("--tcp ", text, 0, &o->tcp, &o->has_tcp);
	default:
		return take_params(o, g, c, text);
	}
}

static bool
option_take(struct ndperf_options *o, struct ndperf_given *g, int c, const char *text)
{
	static const char *const memories[] = {[NDPERF_MEMORY_ARENA] = "arena",
		[NDPERF_MEMORY_HEAP] = "heap",
		[NDPERF_MEMORY_ADOPTED] = "adopted",
		NULL};
	uint32_t v;

	switch (c) {
	case 's':
		o->server = true;
		return true;
	case OPT_ONCE:
		o->once = true;
		return true;
	case OPT_LOOPBACK:
		o->loopback = true;
		return true;
	case OPT_POLL:
		o->wait = NDPERF_WAIT_POLL;
		return true;
	case OPT_EVENT:
		o->wait = NDPERF_WAIT_EVENT;
		return true;
	case OPT_MEMORY:
		if (!take_word("--memory", text, memories, &v))
			return false;
		o->memory = v;
		return true;
	case OPT_JSON:
		o->json_path = text;
		return true;
	case OPT_SOCKET:
		o->socket_path = text;
		return true;
	case OPT_BIND:
		return take_addr("--bind ", text, 0, &o->bind, &o->has_bind);
	case OPT_SESSIONS:
		g->sessions = true;
		return take_u32("--sessions", text, 1, 1024, &o->sessions);
	case 'p':
		if (!take_u32("-p", text, 1, 65535, &v))
			return false;
		o->port = (uint16_t)v;
		return true;
	default:
		return take_perftest(o, g, c, text);
	}
}

/* Set the defaults that follow from other options, and refuse options that exclude each other. */
static bool
options_settle_client(struct ndperf_options *o, const struct ndperf_given *g)
{
	struct ndperf_params *p = &o->params;
	bool lat = p->mode == NDPERF_LAT;

	if (g->all && g->size) {
		app_complain("-a and --size exclude each other");
		return false;
	}
	if (g->iterations && g->seconds) {
		app_complain("-n and -D exclude each other");
		return false;
	}
	if (lat && p->qps != 1) {
		app_complain("-m lat measures one message at a time: -q 1");
		return false;
	}
	if (lat && p->op == NDPERF_WRITE && o->wait == NDPERF_WAIT_EVENT) {
		app_complain("-m lat -t write watches memory for the answer: there is no event "
			     "(--event)");
		return false;
	}
	if (g->all)
		o->first_bytes = ALL_FIRST;
	else if (!g->size)
		o->first_bytes = lat ? 8 : 64u << 10;
	o->last_bytes = g->all ? ALL_LAST : o->first_bytes;
	p->max_bytes = o->last_bytes;
	if (lat && !g->depth)
		p->depth = 16; /* room for requests that have completed but are not taken yet */
	if (!g->cq_mod)
		o->cq_mod = lat ? 1 : p->depth < 16 ? p->depth : 16;
	if (o->cq_mod > p->depth) {
		app_complain("--cq-mod %u with -d %u: requests under way would never complete",
			o->cq_mod, p->depth);
		return false;
	}
	if (!g->warmup)
		o->warmup = lat ? 100 : p->depth;
	if (!g->warmup && g->iterations && o->warmup > o->iterations)
		o->warmup = o->iterations;
	if (!g->iterations && !g->seconds) {
		if (lat)
			o->iterations = 1000;
		else
			o->seconds = 1.0;
	}
	return true;
}

/* One thread is both ends: it may not sleep for a completion that only itself can cause. */
static bool
options_settle_loopback(struct ndperf_options *o, const struct ndperf_given *g)
{
	if (o->server || o->once || g->sessions || o->has_bind) {
		app_complain("--loopback is client and server, at the address that it is given: "
			     "no -s, --once, --sessions, --bind");
		return false;
	}
	if (o->perftest) {
		app_complain("--loopback has no other program at its other end: no --peer");
		return false;
	}
	if (o->wait == NDPERF_WAIT_EVENT) {
		app_complain("--loopback polls, as one thread is both ends: no --event");
		return false;
	}
	o->wait = NDPERF_WAIT_POLL;
	return true;
}

static bool
options_settle(struct ndperf_options *o, const struct ndperf_given *g, int argc, char **argv)
{
	if (o->has_bind && app_addr_port(&o->bind) == 0 && o->server)
		app_addr_set_port(&o->bind, o->port);
	if (o->server && optind < argc) {
		app_complain("-s takes no '%s'; --bind says where to serve", argv[optind]);
		return false;
	}
	if (!o->server && optind + 1 != argc) {
		app_complain(
			"say -s (serve), the one server to measure against, or --loopback and an "
			"address of this daemon; --help explains");
		return false;
	}
	if (!o->server && !take_addr("", argv[optind], o->port, &o->addr, &o->has_addr))
		return false;
	if (o->loopback && !options_settle_loopback(o, g))
		return false;
	if (o->perftest)
		return perftest_options_settle(o, g);
	return perftest_options_absent(o, g) && (o->server || options_settle_client(o, g));
}

bool
ndperf_options_parse(struct ndperf_options *o, int argc, char **argv, int *exit_code)
{
	struct ndperf_given g = {0};
	int c;

	*o = (struct ndperf_options){.port = NDPERF_PORT,
		.sessions = 16,
		.memory = NDPERF_MEMORY_ARENA,
		.inline_bytes = NDPERF_INLINE_AUTO,
		.params = {.op = NDPERF_WRITE, .mode = NDPERF_BW, .qps = 1, .depth = 128}};
	while ((c = getopt_long(argc, argv, "sp:t:m:aq:d:n:D:T:Rbh", longs, NULL)) != -1) {
		*exit_code = APP_EXIT_OK;
		if (c == 'h') {
			fputs(ndperf_help, stdout);
			return false;
		}
		if (c == OPT_VERSION) {
			printf("ndperf %s\n", APP_VERSION);
			return false;
		}
		*exit_code = APP_EXIT_USAGE;
		if (!option_take(o, &g, c, optarg))
			return false;
	}
	*exit_code = APP_EXIT_USAGE;
	return options_settle(o, &g, argc, argv);
}
