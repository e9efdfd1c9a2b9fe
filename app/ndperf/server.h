/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_SERVER_H
#define NDPERF_SERVER_H

#include "options.h"

/* Returns the program's exit code. */
int server_run(const struct ndperf_options *opt);

/* The same at where for a program that does other things besides. NULL: a failure, which has been
 * said. */
struct server;
struct server *server_open(const struct ndperf_options *opt, const struct app_addr *where);
/* What there is to do, without waiting. False: it can't serve any longer, and has said why. */
bool server_turn(struct server *sv);
void server_close(struct server *sv);

#endif
