/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapter, buffer and queue pairs. An int is enum app_exit; what is not APP_EXIT_OK has been said.
 */
#ifndef NDPERF_PERFTEST_QPS_H
#define NDPERF_PERFTEST_QPS_H

#include <stdbool.h>

struct conn;
struct perftest;

/* The adapter, before the peer is known. */
int perftest_open(struct perftest *p);
/* When the ends know each other's limits. */
int perftest_qps_create(struct perftest *p);
/* With the numbers that the peer has sent. */
int perftest_qps_bring_up(struct perftest *p);
int perftest_qps_connect(struct perftest *p);
void perftest_close(struct perftest *p);
/* Connect to the peer's port. patient: not the first connection, so try until the peer's server
 * listens again. */
int perftest_connect(struct perftest *p, struct conn *conn, bool patient);
int perftest_accept(struct perftest *p, struct conn *conn);

#endif
