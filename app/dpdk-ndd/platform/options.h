/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_OPTIONS_H
#define NDD_OPTIONS_H

#include <stdbool.h>

struct ndd_options {
	const char *config;
	bool check_config;
	bool udp;    /* no configuration: the kernel's sockets */
	int verbose; /* number of -v */
};

/* -1: go on; else exit with that status (help, version, wrong usage). */
int ndd_options_parse(struct ndd_options *o, int argc, char **argv);

#endif
