/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDDPING_OPTIONS_H
#define NDDPING_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/addr.h"

struct ping_options {
	bool server, persistent;
	bool has_addr, has_source;
	bool print, validate, debug;
	struct app_addr addr;	/* client: the peer; server: where to listen */
	struct app_addr source; /* client: local address */
	uint16_t port;
	uint32_t count; /* 0: for ever */
	uint32_t bytes;
	uint32_t dscp;	/* client */
	int timeout_ms; /* of one step; -1: no limit */
	const char *socket_path;
};

/* Returns 0 if the program shall go on. Otherwise it exits with *exit_code, since --help or
 * --version or a complaint was printed. */
int ping_options_parse(struct ping_options *o, int argc, char **argv, int *exit_code);

#endif
