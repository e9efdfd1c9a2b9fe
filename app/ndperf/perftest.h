/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndperf --peer perftest: the other end is one of perftest's programs, ib_{send,write,read,atomic}_
 * {bw,lat} of version 4.5. This end sends what that program expects, in its order, and moves the
 * bytes:
 *
 * perftest_wire   what the ends exchange, as bytes perftest_comm  how they exchange it: over TCP,
 * or (-R) by sends of a connection of its own perftest_qps        adapter, buffer, queue pairs;
 * brought up by numbers, or (-R) connected perftest_step, _bw, _lat  the tests perftest_run the
 * order of all of it
 *
 * This header has what they work on.
 */
#ifndef NDPERF_PERFTEST_H
#define NDPERF_PERFTEST_H

#include <ndclient.h>

#include "channel.h"
#include "common/clock.h"
#include "common/local.h"
#include "options.h"
#include "perftest_wire.h"
#include "report.h"

/* The connection by which the ends exchange messages. */
struct perftest_comm {
	int fd; /* TCP, or -1 */
	struct conn conn;
	struct nd_cq *cq;
	struct buffer buf;
	void *arrived; /* a message that was seen and not yet taken */
	uint32_t arrived_bytes;
	bool over; /* it failed */
};

struct perftest_qp {
	struct conn conn;
	struct perftest_dest ours, theirs;
	uint8_t *out, *in; /* what it sends, or reads into; what the peer reaches */
	/* of the step */
	uint64_t posted, completed;
	uint64_t receives, received; /* posted, come */
	uint32_t unsignaled;
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
	uint32_t cycle; /* an end uses so much of a buffer at least */
	struct nd_cq *cq;
	struct buffer buf;
	struct perftest_qp *qps;
	uint32_t depth, receives, inline_bytes;
	struct app_idle idle;
	uint64_t moved_ns; /* when something happened last */
};

#endif
