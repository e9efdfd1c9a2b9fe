/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndperf --peer perftest: the other end is one of perftest's programs, ib_{send,write,read,atomic}_
 * {bw,lat} of version 4.5. We say what it wants to hear, in its order, and move the bytes:
 *
 *	perftest_wire	what is told, as bytes
 *	perftest_comm	how it is told: over TCP, or (-R) by sends of a connection of its own
 *	perftest_qps	adapter, buffer, queue pairs; brought up by numbers, or (-R) connected
 *	perftest_step, _bw, _lat  the tests
 *	perftest_run	the order of all of it
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

/* The connection by which the ends talk. */
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

/* All of these return enum app_exit; what is not APP_EXIT_OK has been said. */
int perftest_run(const struct ndperf_options *opt);

int perftest_comm_open(struct perftest *p);
void perftest_comm_close(struct perftest *p);
/* Both tell bytes, the client first. */
int perftest_exchange(struct perftest *p, const void *ours, void *theirs, uint32_t bytes);
/* Both tell a queue pair; so all of perftest's steps are kept together. */
int perftest_shake(
	struct perftest *p, const struct perftest_dest *ours, struct perftest_dest *theirs);
/* The peer has said something that was not yet taken, or has left. */
bool perftest_stirs(struct perftest *p);
/* TCP: the last word. */
void perftest_comm_done(struct perftest *p);
/* Connect to the peer's port: the first of our connections waits for no one, the others until its
 * server listens again. */
int perftest_connect(struct perftest *p, struct conn *conn, bool patient);
int perftest_accept(struct perftest *p, struct conn *conn);
/* A request failed. */
int perftest_failed(struct perftest *p, const struct nd_result *r);

/* The adapter, before the peer is known. */
int perftest_open(struct perftest *p);
/* When the ends know each other's limits. */
int perftest_qps_create(struct perftest *p);
/* With what the peer told. */
int perftest_qps_bring_up(struct perftest *p);
int perftest_qps_connect(struct perftest *p);
void perftest_close(struct perftest *p);

/* ---- perftest_step.c: what both tests do ---------------------------------------------- */

#define PERFTEST_BATCH 32u

/* Counters of a step, and its first receives. */
int perftest_step(struct perftest *p, uint64_t bytes);
/* A request of the step. */
int perftest_post(struct perftest *p, struct perftest_qp *q, uint64_t bytes, bool visible);
/* Take results, up to PERFTEST_BATCH, and count them: a send's context is how many it completes. If
 * there are none, wait a while as the user wants that done; *n may be 0. Ends when for too long
 * nothing happens at all. */
int perftest_take(struct perftest *p, uint64_t bytes, int32_t *n);

int perftest_bandwidth(struct perftest *p, uint64_t bytes, struct ndperf_row *row);
int perftest_latency(struct perftest *p, uint64_t bytes, struct ndperf_row *row);

#endif
