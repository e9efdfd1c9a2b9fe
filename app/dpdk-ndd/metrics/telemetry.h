/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters for programs that ask DPDK's telemetry socket (doc/telemetry.md): the commands below
 * /ndd. They are answered by threads of DPDK's, which only read.
 */
#ifndef NDD_TELEMETRY_H
#define NDD_TELEMETRY_H

#include <stdbool.h>

struct ndd;

/* Answer from now on, if the configuration wants it. False, and logged: others than this user could
 * reach the socket, or DPDK refuses. */
bool ndd_telemetry_start(struct ndd *d);
/* No answer is under way any more, and none will come. */
void ndd_telemetry_stop(void);

#endif
