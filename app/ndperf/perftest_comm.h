/* SPDX-License-Identifier: BSD-3-Clause */
/* How the two ends exchange messages. An int is enum app_exit; what is not APP_EXIT_OK has been
 * said. */
#ifndef NDPERF_PERFTEST_COMM_H
#define NDPERF_PERFTEST_COMM_H

#include <stdbool.h>
#include <stdint.h>

struct perftest;
struct perftest_dest;

int perftest_comm_open(struct perftest *p);
void perftest_comm_close(struct perftest *p);
/* Each end sends bytes and receives the other's, the client first. */
int perftest_exchange(struct perftest *p, const void *ours, void *theirs, uint32_t bytes);
/* The same with a queue pair; all of perftest's steps are kept together by it. */
int perftest_shake(
	struct perftest *p, const struct perftest_dest *ours, struct perftest_dest *theirs);
/* Has the peer sent something that was not yet taken, or has it left? */
bool perftest_has_news(struct perftest *p);
/* TCP: the last message. */
void perftest_comm_done(struct perftest *p);

#endif
