/* SPDX-License-Identifier: BSD-3-Clause */
/* How the two ends exchange values: over TCP, or with -R by sends on a connection of its own. */
#ifndef NDPERF_PERFTEST_COMM_H
#define NDPERF_PERFTEST_COMM_H

#include <stdbool.h>
#include <stdint.h>

#include <ndclient.h>

#include "ndperf/buffer.h"
#include "ndperf/conn.h"
#include "wire.h"

struct perftest;

struct perftest_comm {
	int fd; /* TCP, or -1 */
	struct conn conn;
	struct nd_cq *cq;
	struct buffer buf;
	void *arrived; /* a message of the peer's that is not taken yet, or NULL */
	uint32_t arrived_bytes;
	bool over; /* the connection failed */
};

int perftest_comm_open(struct perftest *p);
void perftest_comm_close(struct perftest *p);
/* Both ends send bytes, the client first. */
int perftest_exchange(struct perftest *p, const void *ours, void *theirs, uint32_t bytes);
/* Both ends send a queue pair. perftest also keeps its ends in step by exchanging queue pairs. */
int perftest_shake(
	struct perftest *p, const struct perftest_dest *ours, struct perftest_dest *theirs);
/* Has the peer sent something that is not taken yet, or left? */
bool perftest_peer_went_on(struct perftest *p);
/* Over TCP: send perftest's last message. */
void perftest_comm_done(struct perftest *p);

#endif
