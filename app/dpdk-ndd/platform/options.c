/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>

#include <rte_version.h>

#include "platform/options.h"
#include "version.h"

#define DEFAULT_CONFIG "/etc/dpdk-ndd/dpdk-ndd.json"

static const char usage_text[] =
	"usage: dpdk-ndd [options]\n"
	"RDMA for any machine with an Ethernet port: RoCEv2 over any DPDK port.\n"
	"\n"
	"  -c, --config FILE   configuration (default " DEFAULT_CONFIG ")\n"
	"      --udp           no configuration: the kernel's UDP sockets at all its addresses, "
	"and the\n"
	"                      control socket $XDG_RUNTIME_DIR/dpdk-ndd.sock\n"
	"      --check-config  read and check the configuration, then exit\n"
	"  -v, --verbose       more log lines; twice: still more; counters at the end\n"
	"  -V, --version       print versions and exit\n"
	"  -h, --help          print this and exit\n"
	"\n"
	"SIGUSR1 logs all counters; SIGHUP reads addresses, VLANs and routes of the configuration\n"
	"again; SIGTERM and SIGINT end the daemon and all its connections.\n";

int
ndd_options_parse(struct ndd_options *o, int argc, char **argv)
{
	enum { OPT_CHECK = 256, OPT_UDP };
	static const struct option longs[] = {
		{"config", required_argument, NULL, 'c'},
		{"check-config", no_argument, NULL, OPT_CHECK},
		{"udp", no_argument, NULL, OPT_UDP},
		{"verbose", no_argument, NULL, 'v'},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{NULL},
	};
	int opt;

	*o = (struct ndd_options){.config = NULL};
	while ((opt = getopt_long(argc, argv, "c:vVh", longs, NULL)) != -1) {
		switch (opt) {
		case 'c':
			o->config = optarg;
			break;
		case OPT_CHECK:
			o->check_config = true;
			break;
		case OPT_UDP:
			o->udp = true;
			break;
		case 'v':
			o->verbose++;
			break;
		case 'V':
			printf("dpdk-ndd %s (%s)\n", NDD_VERSION, rte_version());
			return 0;
		case 'h':
			fputs(usage_text, stdout);
			return 0;
		default:
			fputs(usage_text, stderr);
			return 2;
		}
	}
	if (optind != argc) {
		fprintf(stderr, "dpdk-ndd: unexpected argument \"%s\"\n", argv[optind]);
		return 2;
	}
	if (o->udp && o->config != NULL) {
		fprintf(stderr,
			"dpdk-ndd: --udp has no configuration: leave out --config, or --udp\n");
		return 2;
	}
	if (o->config == NULL)
		o->config = o->udp ? "--udp" : DEFAULT_CONFIG;
	return -1;
}
