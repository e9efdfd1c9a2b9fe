/* SPDX-License-Identifier: BSD-3-Clause */
/* The buffer and the queue pairs of a test, and how they get connected to the peer's. */
#ifndef NDPERF_PERFTEST_QPS_H
#define NDPERF_PERFTEST_QPS_H

struct perftest;

/* Create them, after the ends have exchanged their limits. */
int perftest_qps_create(struct perftest *p);
/* Without -R: bring them up with the values of the peer's queue pairs. */
int perftest_qps_bring_up(struct perftest *p);
/* With -R: connect them. */
int perftest_qps_connect(struct perftest *p);
/* Disconnect and close them. */
void perftest_qps_close(struct perftest *p);

#endif
