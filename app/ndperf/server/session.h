/* SPDX-License-Identifier: BSD-3-Clause */
/* A client's session at the server: its connections, its buffer and the step that runs. */
#ifndef NDPERF_SERVER_SESSION_H
#define NDPERF_SERVER_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <ndclient.h>

#include "common/addr.h"
#include "ndperf/buffer.h"
#include "ndperf/conn.h"
#include "ndperf/control.h"
#include "ndperf/options.h"
#include "ndperf/proto.h"

#define SESSION_ECHO_DEPTH 16u /* initiator queue of a data connection: answers to pings */

struct session_qp {
	struct conn conn;
	bool up;
	uint8_t *region;
	uint32_t next_receive; /* slot of the next receive to be posted */
	uint64_t posted;       /* receives posted so far, in all steps */
	uint64_t credited;     /* of these, the ones that the client knows of */
	uint64_t seen;	       /* messages of this step */
};

enum session_state {
	SESSION_JOINING, /* the client is making its connections */
	SESSION_IDLE,	 /* between steps */
	SESSION_STEP,
	SESSION_ENDED,
};

struct session {
	struct session *next;
	enum session_state state;
	int outcome; /* enum app_exit, of an ended session */
	uint64_t id;
	char peer[APP_ADDR_TEXT];
	struct ndperf_params params;
	enum ndperf_memory memory;
	struct ndperf_layout layout;
	struct nd_adapter *adapter;
	struct nd_adapter_info *info;
	struct nd_pd *pd;
	struct nd_cq *cq;
	struct control control;
	bool control_up;
	struct nd_overlapped gone; /* the client's disconnect */
	struct buffer buf;
	uint32_t token;	       /* local token of buf */
	uint32_t inline_bytes; /* an answer of at most so many bytes is sent inline */
	struct session_qp *qps;
	uint32_t up;	    /* data connections that are established */
	uint32_t receives;  /* SEND: receives posted at each queue pair */
	uint32_t slots_max; /* slots of a region for messages of max_bytes */
	uint64_t heard_ns;  /* joining: time of the last progress */
	uint64_t told_ns;   /* time of the last ALIVE */
	uint32_t ticks;

	/* of the step */
	struct ndperf_msg start;
	uint32_t slots;
	uint64_t seen;		 /* SEND: messages of all queue pairs; latency: answers sent */
	bool done;		 /* the client has said that all messages are sent, ... */
	uint64_t total;		 /* ... and that they are so many */
	struct ndperf_msg found; /* the first difference, if .bad */
	uint32_t echoes;	 /* answers under way */
	bool credits_due;
};

/* Close whatever the session has, also if it was made in part only. */
void session_destroy(struct session *s);
/* End the session and print why. The first of several causes decides the outcome. */
void session_fail(struct session *s, int outcome, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* How soon the server must poll the session again. */
enum session_heat {
	SESSION_COLD, /* what comes next makes an event, and may wait until the server has woken */
	SESSION_WARM, /* messages come in; they make events too */
	SESSION_HOT,  /* what comes next makes no event */
};
enum session_heat session_heat(const struct session *s);

/* A busy session polls connections, completions and the clock at one of so many ticks. */
#define SESSION_POLL_EVERY 256u
/* A step of latency of write: the next ping shows in memory alone. */
static inline bool
session_awaits_ping(const struct session *s)
{
	return s->state == SESSION_STEP && s->params.op == NDPERF_WRITE &&
	       s->params.mode == NDPERF_LAT;
}
/* This tick polls for the ping and nothing else. Polling a completion queue would delay the sight
 * of the ping: each new completion, of an answer or of the control connection, is in a cache line
 * that the daemon has just written and that the poll has to wait for. */
static inline bool
session_only_pings(const struct session *s)
{
	return session_awaits_ping(s) && s->ticks % SESSION_POLL_EVERY != 0;
}

#endif
