/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

#include <string.h>

#define LINE 64u

/*
 * Without verify, the messages of a queue pair share a region that stays in the cache, as
 * perftest's do: the figures are those of the transport, not of the machine's DRAM. With verify,
 * each message under way needs a slot of its own, and the region has slots for several of the
 * largest messages.
 */
#define REGION_BYTES	    (256u << 10)
#define REGION_BYTES_VERIFY (4u << 20)
#define SLOTS_VERIFY	    4u

/*
 * A field of a message, for encoding and decoding: the bytes of the message from off on hold the
 * member of the structure at offset member, which has member_bytes. If bytes is 0, the field is a
 * token, whose bytes are copied unchanged.
 */
struct field {
	uint8_t off, bytes, member_bytes, member;
};
#define FIELD(off, bytes, type, m)                                                                 \
	{                                                                                          \
		off, bytes, sizeof(((struct type *)0)->m), offsetof(struct type, m)                \
	}
#define TOKEN(off, type, m) FIELD(off, 0, type, m)
#define COUNT(fields)	    (sizeof(fields) / sizeof((fields)[0]))

static const struct field hello_fields[] = {
	FIELD(6, 1, ndperf_hello, role),
	FIELD(7, 1, ndperf_hello, params.op),
	FIELD(8, 1, ndperf_hello, params.mode),
	FIELD(9, 1, ndperf_hello, params.verify),
	FIELD(12, 4, ndperf_hello, params.qps),
	FIELD(16, 4, ndperf_hello, params.depth),
	FIELD(20, 4, ndperf_hello, index),
	FIELD(24, 8, ndperf_hello, params.max_bytes),
	FIELD(32, 8, ndperf_hello, session),
};

static const struct field welcome_fields[] = {
	FIELD(6, 2, ndperf_welcome, refusal),
	FIELD(8, 8, ndperf_welcome, session),
	FIELD(16, 8, ndperf_welcome, address),
	TOKEN(24, ndperf_welcome, token),
	FIELD(28, 4, ndperf_welcome, receives),
};

static const struct field msg_fields[] = {
	FIELD(6, 1, ndperf_msg, type),
	FIELD(7, 1, ndperf_msg, bad),
	FIELD(8, 4, ndperf_msg, step),
	TOKEN(12, ndperf_msg, token),
	FIELD(16, 8, ndperf_msg, address),
	FIELD(24, 8, ndperf_msg, size),
	FIELD(32, 8, ndperf_msg, count),
	FIELD(40, 4, ndperf_msg, qp),
	FIELD(48, 8, ndperf_msg, message),
	FIELD(56, 8, ndperf_msg, offset),
};

static void
member_put(uint8_t *wire, unsigned bytes, uint64_t v)
{
	for (unsigned i = 0; i < bytes; i++, v >>= 8)
		wire[i] = (uint8_t)v;
}

static uint64_t
member_get(const uint8_t *wire, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = bytes; i-- > 0;)
		v = v << 8 | wire[i];
	return v;
}

/* All messages begin with magic and version. */
static void
message_encode(
	uint8_t *wire, size_t bytes, const struct field *f, unsigned fields, const void *from)
{
	memset(wire, 0, bytes);
	member_put(wire, 4, NDPERF_MAGIC);
	member_put(wire + 4, 2, NDPERF_VERSION);
	for (; fields-- > 0; f++) {
		const void *member = (const uint8_t *)from + f->member;
		uint64_t v;

		if (f->bytes == 0) {
			memcpy(wire + f->off, member, f->member_bytes);
			continue;
		}
		if (f->member_bytes == sizeof(bool))
			v = *(const bool *)member;
		else if (f->member_bytes == sizeof(uint32_t)) /* enumerations too */
			v = *(const uint32_t *)member;
		else
			v = *(const uint64_t *)member;
		member_put(wire + f->off, f->bytes, v);
	}
}

static bool
message_decode(const uint8_t *wire, size_t bytes, size_t need, const struct field *f,
	unsigned fields, void *to)
{
	if (bytes < need || member_get(wire, 4) != NDPERF_MAGIC ||
		member_get(wire + 4, 2) != NDPERF_VERSION)
		return false;
	for (; fields-- > 0; f++) {
		void *member = (uint8_t *)to + f->member;
		uint64_t v = member_get(wire + f->off, f->bytes);

		if (f->bytes == 0)
			memcpy(member, wire + f->off, f->member_bytes);
		else if (f->member_bytes == sizeof(bool))
			*(bool *)member = v != 0;
		else if (f->member_bytes == sizeof(uint32_t))
			*(uint32_t *)member = (uint32_t)v;
		else
			*(uint64_t *)member = v;
	}
	return true;
}

void
ndperf_hello_encode(const struct ndperf_hello *h, uint8_t wire[NDPERF_HELLO_BYTES])
{
	message_encode(wire, NDPERF_HELLO_BYTES, hello_fields, COUNT(hello_fields), h);
}

enum ndperf_refusal
ndperf_hello_decode(const uint8_t *wire, size_t bytes, struct ndperf_hello *h)
{
	const struct ndperf_params *p = &h->params;

	if (!message_decode(
		    wire, bytes, NDPERF_HELLO_BYTES, hello_fields, COUNT(hello_fields), h) ||
		h->role < NDPERF_CONTROL || h->role > NDPERF_DATA)
		return NDPERF_BAD_HELLO;
	if (p->op < NDPERF_WRITE || p->op > NDPERF_READ || p->mode < NDPERF_BW ||
		p->mode > NDPERF_LAT || wire[9] > 1)
		return NDPERF_BAD_PARAMS;
	if (p->qps == 0 || p->qps > NDPERF_QPS_MAX || (p->mode == NDPERF_LAT && p->qps != 1) ||
		p->depth == 0 || p->depth > NDPERF_DEPTH_MAX || h->index >= p->qps)
		return NDPERF_BAD_PARAMS;
	if (p->max_bytes == 0 || p->max_bytes > NDPERF_SIZE_MAX)
		return NDPERF_BAD_PARAMS;
	return NDPERF_WELCOME;
}

void
ndperf_welcome_encode(const struct ndperf_welcome *w, uint8_t wire[NDPERF_WELCOME_BYTES])
{
	message_encode(wire, NDPERF_WELCOME_BYTES, welcome_fields, COUNT(welcome_fields), w);
}

bool
ndperf_welcome_decode(const uint8_t *wire, size_t bytes, struct ndperf_welcome *w)
{
	return message_decode(
		wire, bytes, NDPERF_WELCOME_BYTES, welcome_fields, COUNT(welcome_fields), w);
}

const char *
ndperf_refusal_text(enum ndperf_refusal refusal)
{
	switch (refusal) {
	case NDPERF_WELCOME:
		return "nothing is wrong";
	case NDPERF_BAD_HELLO:
		return "it is no ndperf server, or one of another version";
	case NDPERF_BAD_PARAMS:
		return "the server's limits don't allow these parameters";
	case NDPERF_BUSY:
		return "the server has as many clients as it takes; try later";
	case NDPERF_NO_RESOURCES:
		return "the server has no memory or queue pairs for this; ask for less";
	case NDPERF_NO_SESSION:
		return "the server no longer knows this session";
	}
	return "for a reason this version does not know";
}

void
ndperf_msg_encode(const struct ndperf_msg *m, uint8_t wire[NDPERF_MSG_BYTES])
{
	message_encode(wire, NDPERF_MSG_BYTES, msg_fields, COUNT(msg_fields), m);
}

bool
ndperf_msg_decode(const uint8_t *wire, size_t bytes, struct ndperf_msg *m)
{
	return bytes == NDPERF_MSG_BYTES &&
	       message_decode(wire, bytes, NDPERF_MSG_BYTES, msg_fields, COUNT(msg_fields), m) &&
	       m->type >= NDPERF_START && m->type <= NDPERF_MSG_LAST && wire[7] <= 1;
}

uint64_t
ndperf_stride(uint64_t size)
{
	return (size + LINE - 1) / LINE * LINE;
}

void
ndperf_layout(const struct ndperf_params *p, struct ndperf_layout *l)
{
	uint64_t largest = ndperf_stride(p->max_bytes);
	uint64_t least = (p->verify ? SLOTS_VERIFY : 1) * largest;
	uint64_t want = p->verify ? REGION_BYTES_VERIFY : REGION_BYTES;

	if (want > p->depth * largest) /* more messages are never under way */
		want = p->depth * largest;
	l->region = want > least ? want : least;
	l->echo = p->qps * l->region;
	l->credits = l->echo + largest;
	l->bytes = l->credits + ndperf_stride(8ull * p->qps);
}

uint32_t
ndperf_slots(const struct ndperf_params *p, const struct ndperf_layout *l, uint64_t size)
{
	uint64_t slots = l->region / ndperf_stride(size);

	return slots < p->depth ? (uint32_t)slots : p->depth;
}
