/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ndperf's client and server send each other. Version 1; all integers little-endian.
 *
 * The first connection is for control: its Connect carries a hello with role CONTROL and all
 * parameters, its Accept a welcome with the session's number and the server's buffer. Then the
 * client makes one data connection for each queue pair; its hello names session and index. A
 * server that can't or won't rejects with a welcome that holds the reason.
 *
 * On the control connection go messages of NDPERF_MSG_BYTES by SEND and RECEIVE:
 *
 * START   client  a step begins: size of its messages; where the client's buffer is READY server
 * the server is ready for it CHECK        client  write with verify: a window of messages is in
 * place CHECKED     server  what it found DONE      client  all messages of the step are
 * acknowledged: how many RESULT      server  it has seen them all: what it found ALIVE       server
 * every few seconds, so that the server notices a dead client: without it, its silence looks like
 * one-sided traffic
 *
 * The client ends the session by disconnecting. Message numbers begin at 0 with each step.
 */
#ifndef NDPERF_PROTO_H
#define NDPERF_PROTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NDPERF_PORT    18515	   /* perftest's */
#define NDPERF_MAGIC   0x4650444eu /* "NDPF" */
#define NDPERF_VERSION 1u

#define NDPERF_HELLO_BYTES   40u /* fits Connect's private data */
#define NDPERF_WELCOME_BYTES 40u
#define NDPERF_MSG_BYTES     64u

#define NDPERF_QPS_MAX	 256u
#define NDPERF_DEPTH_MAX 4096u
#define NDPERF_SIZE_MAX	 (1ull << 30)

/* Atomics are not part of this protocol: only tests with perftest have them. */
enum ndperf_op { NDPERF_WRITE = 1, NDPERF_SEND = 2, NDPERF_READ = 3, NDPERF_ATOMIC = 4 };
enum ndperf_mode { NDPERF_BW = 1, NDPERF_LAT = 2 };
enum ndperf_role { NDPERF_CONTROL = 1, NDPERF_DATA = 2 };

/* What both sides must agree on. */
struct ndperf_params {
	enum ndperf_op op;
	enum ndperf_mode mode;
	bool verify;
	uint32_t qps;
	uint32_t depth;
	uint64_t max_bytes; /* largest message of the session */
};

struct ndperf_hello {
	enum ndperf_role role;
	struct ndperf_params params;
	uint32_t index;	  /* DATA: which queue pair */
	uint64_t session; /* DATA: as welcomed */
};

enum ndperf_refusal {
	NDPERF_WELCOME = 0,
	NDPERF_BAD_HELLO,    /* not a hello, or of another version */
	NDPERF_BAD_PARAMS,   /* out of range for this server */
	NDPERF_BUSY,	     /* as many sessions as it takes */
	NDPERF_NO_RESOURCES, /* queue pairs, memory */
	NDPERF_NO_SESSION,   /* data connection of an unknown session */
};

struct ndperf_welcome {
	enum ndperf_refusal refusal;
	uint64_t session;
	uint64_t address; /* of the server's buffer */
	uint32_t token;
	uint32_t receives; /* SEND: receives that are posted at each queue pair */
};

enum ndperf_msg_type {
	NDPERF_START = 1,
	NDPERF_READY,
	NDPERF_CHECK,
	NDPERF_CHECKED,
	NDPERF_DONE,
	NDPERF_RESULT,
	NDPERF_ALIVE,
};
#define NDPERF_MSG_LAST NDPERF_ALIVE

struct ndperf_msg {
	enum ndperf_msg_type type;
	bool bad;	  /* CHECKED, RESULT: contents differ, at the place below */
	uint32_t step;	  /* START counts; the others echo it */
	uint32_t token;	  /* START: of the client's buffer */
	uint64_t address; /* START: the client's buffer */
	uint64_t size;	  /* START: bytes of a message */
	uint64_t count; /* CHECK: messages in the window, of each queue pair; DONE: all of the step
			 */
	uint32_t qp;	/* where they differ: queue pair, */
	uint64_t message; /* message number (CHECK: the first of the window), */
	uint64_t offset;  /* offset in it */
};

void ndperf_hello_encode(const struct ndperf_hello *h, uint8_t wire[NDPERF_HELLO_BYTES]);
/* Checks everything against the limits above. */
enum ndperf_refusal ndperf_hello_decode(const uint8_t *wire, size_t bytes, struct ndperf_hello *h);
void ndperf_welcome_encode(const struct ndperf_welcome *w, uint8_t wire[NDPERF_WELCOME_BYTES]);
bool ndperf_welcome_decode(const uint8_t *wire, size_t bytes, struct ndperf_welcome *w);
const char *ndperf_refusal_text(enum ndperf_refusal refusal);
void ndperf_msg_encode(const struct ndperf_msg *m, uint8_t wire[NDPERF_MSG_BYTES]);
bool ndperf_msg_decode(const uint8_t *wire, size_t bytes, struct ndperf_msg *m);

/*
 * Where messages lie; both sides reckon the same. Each queue pair has a region of region bytes in
 * the buffer; message n of it is at slot n % slots. Behind the regions lies one place for a
 * message in the other direction (latency), then one 8-byte count for each queue pair (credits).
 */
struct ndperf_layout {
	uint64_t region;
	uint64_t echo;	  /* offset of the place for the other direction */
	uint64_t credits; /* offset of the counts */
	uint64_t bytes;	  /* of all */
};
void ndperf_layout(const struct ndperf_params *p, struct ndperf_layout *l);
/* Distance of messages of that size, and how many of them a region holds (1..depth). */
uint64_t ndperf_stride(uint64_t size);
uint32_t ndperf_slots(const struct ndperf_params *p, const struct ndperf_layout *l, uint64_t size);

#endif
