/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client's session with a server, and what all its phases (setup, bandwidth, latency) use: the
 * control connection, the completion queue and the words of a failure.
 *
 * Functions that return int return an enum app_exit; they have printed the reason for whatever is
 * not APP_EXIT_OK.
 */
#ifndef NDPERF_CLIENT_CLIENT_H
#define NDPERF_CLIENT_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ndclient.h>

#include "common/addr.h"
#include "common/idle.h"
#include "ndperf/buffer.h"
#include "ndperf/conn.h"
#include "ndperf/control.h"
#include "ndperf/options.h"
#include "ndperf/proto.h"
#include "ndperf/report.h"

#define CLIENT_BATCH	   32u	 /* completions taken at a time */
#define CLIENT_POLLS_EVERY 1024u /* empty polls of data for one of the control connection */
#define CLIENT_SLEEP_MS	   50	 /* longest sleep between two polls of the control connection */

struct server;

struct client_qp {
	struct conn conn;
	uint32_t index;
	uint8_t *region;	 /* of this queue pair in the client's buffer */
	uint64_t remote;	 /* address of its region in the server's buffer */
	const uint64_t *credits; /* SEND: receives posted so far; written by the server */
	uint64_t sent;		 /* SEND: messages sent so far, in all steps */

	/* of the step */
	uint64_t posted, completed, limit; /* messages; the client posts up to limit */
	uint32_t slot;			   /* of the next message */
	uint32_t unsignaled;		   /* posted since the last that will complete visibly */
};

struct client {
	const struct ndperf_options *opt;
	struct ndperf_report *report;
	struct server *own_server; /* --loopback: the other end, served by this thread; else NULL */
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
	uint32_t token; /* local token of buf */
	struct app_idle idle;
};

/* Send msg to the server and wait for its answer, which replaces msg. If the answer says that
 * contents differ, this is printed and returned as APP_EXIT_VERIFY. */
int client_ask(struct client *c, struct ndperf_msg *msg, enum ndperf_msg_type answer);
/* With --loopback, let the server do what there is to do. Every loop of the client that waits calls
 * this, since the server may have to act before the wait can end. */
int client_run_own_server(struct client *c);
/* Check the control connection and the signals; the loops do so now and then. */
int client_poll_control(struct client *c);
/*
 * Take up to CLIENT_BATCH completions. If there are none and the caller has nothing else to do,
 * wait for some in the way that the user chose; *n may still be 0.
 */
int client_take(struct client *c, bool nothing_else, struct nd_result *r, int32_t *n);
/* Print that a data request failed, or, with n < 0, that the completion queue failed with n. */
int client_failed(struct client *c, const struct nd_result *r, int32_t n);
/* Print that contents differ in the client's memory. */
int client_differs(struct client *c, uint32_t qp, uint64_t message, uint64_t size, uint64_t offset);

#endif
