/* SPDX-License-Identifier: BSD-3-Clause */
/* The server, as a program (ndperf -s) or as one end of ndperf --loopback. */
#ifndef NDPERF_SERVER_SERVER_H
#define NDPERF_SERVER_SERVER_H

#include <stdbool.h>

#include "ndperf/options.h"

/* Serve until the end. Returns the program's exit code. */
int server_run(const struct ndperf_options *opt);

/* A server at the address where, for a caller that does other things besides. NULL: it failed, and
 * has printed why. */
struct server;
struct server *server_open(const struct ndperf_options *opt, const struct app_addr *where);
/* Do what there is to do, without waiting. False: the server can't go on, and has printed why. */
bool server_turn(struct server *sv);
void server_close(struct server *sv);

#endif
