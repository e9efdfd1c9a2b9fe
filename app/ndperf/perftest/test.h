/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A test with one of perftest's programs at the other end (ndperf --peer perftest), and what all
 * its parts share: the adapter, the objects and the words of a failure. The programs are
 * ib_{send,write,read,atomic}_{bw,lat} of version 4.5. ndperf exchanges the values that they
 * expect, in their order, and transfers the messages. The parts, from the bottom up:
 *
 *	wire		the exchanged values as bytes
 *	cm		connections made by rdma_cm (-R)
 *	comm		how the values are exchanged: over TCP, or (-R) by sends on a connection
 *	qps		the buffer and the queue pairs, brought up by hand or (-R) connected
 *	step, bw, lat	the measurement
 *	run		the order of it all
 *
 * Functions of this folder that return int return an enum app_exit; they have printed the reason
 * for whatever is not APP_EXIT_OK.
 */
#ifndef NDPERF_PERFTEST_TEST_H
#define NDPERF_PERFTEST_TEST_H

#include <stdint.h>

#include <ndclient.h>

#include "comm.h"
#include "common/addr.h"
#include "common/idle.h"
#include "common/local.h"
#include "ndperf/buffer.h"
#include "ndperf/conn.h"
#include "ndperf/options.h"
#include "ndperf/report.h"
#include "wire.h"

struct perftest_qp {
	struct conn conn;
	struct perftest_dest ours, theirs;
	uint8_t *out; /* buffer that this end sends from, or reads into */
	uint8_t *in;  /* buffer that the peer accesses, and that receives fill */
	/* of the step */
	uint64_t posted, completed;  /* messages */
	uint64_t receives, received; /* receives posted, and completed */
	uint32_t unsignaled;	     /* posted since the last that will complete visibly */
};

struct perftest {
	const struct ndperf_options *opt;
	struct ndperf_report report;
	struct app_acceptor acceptor; /* server with -R: has the adapter */
	struct nd_adapter *adapter;
	struct nd_adapter_info info;
	struct app_addr local;
	struct nd_pd *pd;
	struct perftest_comm comm;
	uint32_t path_mtu;
	uint32_t cycle; /* each end's buffers have at least so many bytes: the larger page size */
	struct nd_cq *cq;
	struct buffer buf;
	struct perftest_qp *qps;
	uint32_t depth, receives, inline_bytes;
	struct app_idle idle;
	uint64_t moved_ns; /* when something happened last: begin of the step or a result */
};

/* Open the adapter; the peer is not known yet. */
int perftest_open(struct perftest *p);
/* Close the adapter and what is left of its objects. The queue pairs and the exchange (comm) must
 * be closed before. */
void perftest_close(struct perftest *p);
/* Print that a request failed. */
int perftest_failed(struct perftest *p, const struct nd_result *r);

#endif
