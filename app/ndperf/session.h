/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client at the server. All sessions are served by one thread in turns: session_tick() does what
 * there is to do and never waits.
 */
#ifndef NDPERF_SESSION_H
#define NDPERF_SESSION_H

#include "channel.h"
#include "common/clock.h"

struct session_qp {
	struct conn conn;
	bool up;
	uint8_t *region;
	uint32_t next_receive; /* slot of the next receive to be posted */
	uint64_t posted;       /* receives so far, of all steps */
	uint64_t credited;     /* of which the client knows */
	uint64_t seen;	       /* messages of this step */
};

enum session_state {
	SESSION_JOINING, /* connections are being made */
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
	uint32_t token;	       /* of buf, for SGEs */
	uint32_t inline_bytes; /* answers to pings up to so many go into the request itself */
	struct session_qp *qps;
	uint32_t up;		    /* data connections */
	uint32_t receives;	    /* SEND: posted at each queue pair */
	uint32_t slots_max;	    /* of messages of max_bytes */
	uint64_t heard_ns, told_ns; /* joining: last progress; ALIVE: last sent */
	uint32_t ticks;

	/* of the step */
	struct ndperf_msg start;
	uint32_t slots;
	uint64_t seen;		 /* SEND: messages of all queue pairs; latency: answers given */
	bool done;		 /* the client says that all is sent: */
	uint64_t total;		 /* so many */
	struct ndperf_msg found; /* the first difference, if .bad */
	uint32_t echoes;	 /* under way */
	bool credits_due;
};

/*
 * A session for the client in connector, which it owns from now on, or *refusal (the caller rejects
 * and keeps the connector).
 */
struct session *session_create(struct nd_adapter *adapter, struct nd_adapter_info *info,
	struct nd_connector *connector, const struct ndperf_hello *hello, enum ndperf_memory memory,
	enum ndperf_refusal *refusal);
/* A data connection of it. */
enum ndperf_refusal session_join(
	struct session *s, struct nd_connector *connector, const struct ndperf_hello *hello);
void session_destroy(struct session *s);

/* Returns whether there was something to do. */
bool session_tick(struct session *s);
/* How soon it must be looked at again. */
enum session_heat {
	SESSION_COLD, /* what comes next makes an event, and can wait for it */
	SESSION_WARM, /* messages come in: they make events too */
	SESSION_HOT,  /* what comes next makes no event */
};
enum session_heat session_heat(const struct session *s);

/* One of so many ticks of a busy session looks at connections, completions and clock. */
#define SESSION_LOOK_EVERY 256u
/* A step of latency of write: the next ping shows in memory alone. */
static inline bool
session_awaits_ping(const struct session *s)
{
	return s->state == SESSION_STEP && s->params.op == NDPERF_WRITE &&
	       s->params.mode == NDPERF_LAT;
}
/* Nothing else is looked at in this tick, as it would delay the sight of the ping: a new
 * completion, be it of an answer or of control, is a cache line of the daemon's to wait for. */
static inline bool
session_only_pings(const struct session *s)
{
	return session_awaits_ping(s) && s->ticks % SESSION_LOOK_EVERY != 0;
}

/* session_data.c: what a step's operation asks of the server. */
void session_data_start(struct session *s);
bool session_data_tick(struct session *s);
void session_data_check(struct session *s, const struct ndperf_msg *window);
nd_status session_data_post(struct session *s, struct session_qp *q);
/* Ends the session and says why. Of several causes the first gives the outcome. */
void session_fail(struct session *s, int outcome, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

#endif
