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
 *	START	client	begins a step: size of its messages, place of the client's buffer
 *	READY	server	is ready for it
 *	CHECK	client	write with verify: a window of messages is in place
 *	CHECKED	server	what it found in the window
 *	DONE	client	all messages of the step are acknowledged: their number
 *	RESULT	server	has seen all messages of the step: what it found
 *	ALIVE	server	sent every few seconds
 *
 * ALIVE makes the server notice a dead client, since the send fails. Without it the server could
 * not tell a dead client from one that writes or reads, which it does not see either.
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
	uint64_t session; /* DATA: as in the welcome of the control connection */
};

enum ndperf_refusal {
	NDPERF_WELCOME = 0,
	NDPERF_BAD_HELLO,    /* not a hello, or of another version */
	NDPERF_BAD_PARAMS,   /* out of range for this server */
	NDPERF_BUSY,	     /* the server has as many sessions as it takes */
	NDPERF_NO_RESOURCES, /* queue pairs, memory */
	NDPERF_NO_SESSION,   /* the session of a data connection is unknown */
};

struct ndperf_welcome {
	enum ndperf_refusal refusal;
	uint64_t session;
	uint64_t address; /* of the server's buffer */
	uint32_t token;
	uint32_t receives; /* SEND: number of receives posted at each queue pair */
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
	bool bad;	  /* CHECKED, RESULT: contents differ at qp, message, offset */
	uint32_t step;	  /* START: number of the step; the others repeat it */
	uint32_t token;	  /* START: of the client's buffer */
	uint64_t address; /* START: the client's buffer */
	uint64_t size;	  /* START: bytes of a message */
	uint64_t count;	  /* CHECK: messages of each queue pair in the window; DONE: all messages */
	uint32_t qp;	  /* of the difference: queue pair */
	uint64_t message; /* of the difference: message number; CHECK: first of the window */
	uint64_t offset;  /* of the difference: offset in the message */
};

void ndperf_hello_encode(const struct ndperf_hello *h, uint8_t wire[NDPERF_HELLO_BYTES]);
/* Also checks each value against the limits above. */
enum ndperf_refusal ndperf_hello_decode(const uint8_t *wire, size_t bytes, struct ndperf_hello *h);
void ndperf_welcome_encode(const struct ndperf_welcome *w, uint8_t wire[NDPERF_WELCOME_BYTES]);
bool ndperf_welcome_decode(const uint8_t *wire, size_t bytes, struct ndperf_welcome *w);
const char *ndperf_refusal_text(enum ndperf_refusal refusal);
void ndperf_msg_encode(const struct ndperf_msg *m, uint8_t wire[NDPERF_MSG_BYTES]);
bool ndperf_msg_decode(const uint8_t *wire, size_t bytes, struct ndperf_msg *m);

/*
 * The layout of the buffer, which both ends compute in the same way. Each queue pair has a region
 * of region bytes, and its message n lies in slot n % slots of the region. The regions are followed
 * by a place for one message in the other direction (latency), and that by an 8-byte count for each
 * queue pair (credits).
 */
struct ndperf_layout {
	uint64_t region;
	uint64_t echo;	  /* offset of the place for the other direction */
	uint64_t credits; /* offset of the counts */
	uint64_t bytes;	  /* of the whole buffer */
};
void ndperf_layout(const struct ndperf_params *p, struct ndperf_layout *l);
/* Distance of two slots for messages of that size. */
uint64_t ndperf_stride(uint64_t size);
/* Number of slots that a region has for messages of that size: 1..depth. */
uint32_t ndperf_slots(const struct ndperf_params *p, const struct ndperf_layout *l, uint64_t size);

#endif
