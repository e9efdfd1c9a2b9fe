/* SPDX-License-Identifier: BSD-3-Clause */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "common/number.h"
#include "common/tclass.h"
#include "ping_proto.h"

static const char usage[] =
	"nddping - RDMA ping through dpdk-ndd; speaks the protocol of rdma-core's rping\n"
	"\n"
	"usage: nddping -c -a ADDR [options]    ping the nddping -s or rping -s at ADDR\n"
	"       nddping -s [options]            answer pings of nddping -c or rping -c\n"
	"\n"
	"Each ping moves its data by an RDMA READ of the server from the client and an RDMA\n"
	"WRITE back, with SENDs in between; the client compares every byte that comes back.\n"
	"\n"
	"  -c             client\n"
	"  -s             server: serves one client, then ends with that client's outcome\n"
	"  -P             server: go on, and serve any number of clients, also at once\n"
	"  -a ADDR        client: the peer's IPv4 or IPv6 address or name; server: listen\n"
	"                 at this local address (default: all of the daemon's first port)\n"
	"  -p PORT        port (default 7174)\n"
	"  -I ADDR        client: local address (default: the one that reaches the peer)\n"
	"  -C COUNT       client: number of pings (default 0: until interrupted)\n"
	"  -S SIZE        client: bytes of a ping, 26..65535 (default 64). A Linux rping -s\n"
	"                 takes only what its own -S allows\n"
	"  -T TCLASS      client: traffic class of both directions, 4 times the DSCP\n"
	"                 (default 0)\n"
	"  -w SECONDS     give up when the peer takes longer for a step (default 10;\n"
	"                 0: never)\n"
	"  -v             print the contents of every ping\n"
	"  -V             server: check contents against rping's pattern, too (a client\n"
	"                 always checks)\n"
	"  -d             tell on standard error what is done\n"
	"  --socket PATH  control socket of the daemon (default: NDD_SOCKET, else the\n"
	"                 built-in path)\n"
	"  -h, --help     this text\n"
	"  --version      version\n"
	"\n"
	"Exit codes: 0 all pings right; 1 bad options; 2 no daemon or no local resources;\n"
	"3 no connection (no route, no neighbour, no answer, refused: the message says\n"
	"which); 4 the connection broke or a request failed; 5 contents differ;\n"
	"130 interrupted before the end.\n"
	"\n"
	"  nddping -s -P                       # on one machine\n"
	"  nddping -c -a 10.0.0.1 -C 10 -v     # on the other\n"
	"  nddping -c -a fd00::1 -S 4096 -C 1000\n";

static bool
take_addr(const char *option, const char *text, struct app_addr *a, bool *has)
{
	const char *wrong = app_addr_parse(text, 0, a);

	if (wrong != NULL)
		app_complain("%s %s: %s", option, text, wrong);
	*has = wrong == NULL;
	return *has;
}

static bool
take_number(const char *option, const char *text, uint64_t min, uint64_t max, uint64_t *v)
{
	if (app_parse_u64(text, min, max, v))
		return true;
	app_complain("%s %s: must be %llu..%llu", option, text, (unsigned long long)min,
		(unsigned long long)max);
	return false;
}

static bool
option_take(struct ping_options *o, int c, const char *text, bool *client)
{
	uint64_t v;

	switch (c) {
	case 'c':
		*client = true;
		return true;
	case 's':
		o->server = true;
		return true;
	case 'P':
		o->persistent = true;
		return true;
	case 'v':
		o->print = true;
		return true;
	case 'V':
		o->validate = true;
		return true;
	case 'd':
		o->debug = true;
		return true;
	case 'a':
		return take_addr("-a", text, &o->addr, &o->has_addr);
	case 'I':
		return take_addr("-I", text, &o->source, &o->has_source);
	case 'K':
		o->socket_path = text;
		return true;
	case 'p':
		if (!take_number("-p", text, 1, 65535, &v))
			return false;
		o->port = (uint16_t)v;
		return true;
	case 'C':
		if (!take_number("-C", text, 0, INT_MAX, &v))
			return false;
		o->count = (uint32_t)v;
		return true;
	case 'S':
		if (!take_number("-S", text, PING_BYTES_MIN, PING_BYTES_MAX, &v))
			return false;
		o->bytes = (uint32_t)v;
		return true;
	case 'T':
		return app_parse_tclass("-T", text, &o->dscp);
	case 'w':
		if (!take_number("-w", text, 0, INT_MAX / 1000, &v))
			return false;
		o->timeout_ms = v == 0 ? -1 : (int)v * 1000;
		return true;
	default:
		return false; /* getopt has complained */
	}
}

static bool
option_fits(struct ping_options *o, bool client)
{
	if (o->server == client) {
		app_complain("say either -c (client) or -s (server); --help explains");
		return false;
	}
	if (client && !o->has_addr) {
		app_complain("-c needs the peer's address: -a ADDR");
		return false;
	}
	if (client && o->persistent) {
		app_complain("-P is for the server (-s)");
		return false;
	}
	if (o->has_addr && app_addr_port(&o->addr) == 0)
		app_addr_set_port(&o->addr, o->port);
	return true;
}

int
ping_options_parse(struct ping_options *o, int argc, char **argv, int *exit_code)
{
	static const struct option longs[] = {{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'x'}, {"socket", required_argument, NULL, 'K'},
		{NULL, 0, NULL, 0}};
	bool client = false;
	int c;

	*o = (struct ping_options){.port = PING_PORT, .bytes = PING_BYTES, .timeout_ms = 10000};
	*exit_code = APP_EXIT_OK;
	while ((c = getopt_long(argc, argv, "csPa:p:I:C:S:T:w:vVdh", longs, NULL)) != -1) {
		if (c == 'h') {
			fputs(usage, stdout);
			return 1;
		}
		if (c == 'x') {
			printf("nddping %s\n", APP_VERSION);
			return 1;
		}
		*exit_code = APP_EXIT_USAGE;
		if (!option_take(o, c, optarg, &client))
			return 1;
	}
	*exit_code = APP_EXIT_USAGE;
	if (optind < argc) {
		app_complain("'%s' is not an option; the address goes with -a", argv[optind]);
		return 1;
	}
	return option_fits(o, client) ? 0 : 1;
}
