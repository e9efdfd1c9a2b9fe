/* SPDX-License-Identifier: BSD-3-Clause */
/* The client: one session with a server, a step for each message size. */
#ifndef NDPERF_CLIENT_H
#define NDPERF_CLIENT_H

#include "channel.h"
#include "common/clock.h"
#include "options.h"
#include "report.h"
#include "server.h"

/* Completions taken at a time; also how many empty polls of data go with one poll of control. */
#define CLIENT_BATCH	  32u
#define CLIENT_LOOK_EVERY 1024u
#define CLIENT_SLEEP_MS	  50 /* control is polled in between */

struct client_qp {
	struct conn conn;
	uint32_t index;
	uint8_t *region;	 /* of this queue pair in our buffer */
	uint64_t remote;	 /* and in the server's */
	const uint64_t *credits; /* SEND: receives the server has posted so far; it writes here */
	uint64_t sent;		 /* SEND: messages so far, of all steps */

	/* of the step */
	uint64_t posted, completed, limit; /* messages; to be posted up to limit */
	uint32_t slot;			   /* of the next message */
	uint32_t unsignaled;		   /* posted since the last that will complete visibly */
};

struct client {
	const struct ndperf_options *opt;
	struct ndperf_report *report;
	struct server *inside; /* --loopback: the other end, in this thread; else NULL */
	struct nd_adapter *adapter;
	struct nd_adapter_info info;
	struct app_addr local;
	struct nd_pd *pd;
	struct control control;
	struct nd_cq *cq;
	struct buffer buf;
	struct ndperf_layout layout;
	struct ndperf_welcome welcome;
	struct client_qp *qps;
	uint32_t inline_bytes;
	uint32_t step;
	uint32_t token; /* of our buffer, for SGEs */
	struct app_idle idle;
};

/* All of these return enum app_exit; what is not APP_EXIT_OK has been said. */
int client_run(const struct ndperf_options *opt);
int client_connect(struct client *c);
void client_disconnect(struct client *c);
int client_bandwidth(struct client *c, uint64_t size, struct ndperf_row *row);
int client_latency(struct client *c, uint64_t size, struct ndperf_row *row);

/* Ask the server and wait for its answer; a finding of differing contents is said here. */
int client_ask(struct client *c, struct ndperf_msg *msg, enum ndperf_msg_type answer);
/* Called wherever the client waits: in loopback the server may have to do something first. */
int client_serve(struct client *c);
/* Poll the control channel and check signals, now and then. */
int client_look(struct client *c);
/*
 * Take completions, up to CLIENT_BATCH; with nothing else to do, wait for them a while, as the user
 * wants that done. *n may be 0.
 */
int client_take(struct client *c, bool nothing_else, struct nd_result *r, int32_t *n);
/* A data request failed, or the queue did (n < 0). */
int client_failed(struct client *c, const struct nd_result *r, int32_t n);
/* Contents that differ at the client. */
int client_differs(struct client *c, uint32_t qp, uint64_t message, uint64_t size, uint64_t offset);

#endif
