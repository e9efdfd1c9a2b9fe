/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto.h"

#include <endian.h>
#include <string.h>

#define LINE 64u

/*
 * Without verify, messages of a queue pair share a region that stays in the cache, as perftest's
 * do: the figures are of the transport, not of the machine's DRAM. With verify, each message under
 * way needs a place of its own, which several of the largest shall have.
 */
#define REGION_BYTES	    (256u << 10)
#define REGION_BYTES_VERIFY (4u << 20)
#define SLOTS_VERIFY	    4u

static void
put16(uint8_t *p, uint16_t v)
{
	v = htole16(v);
	memcpy(p, &v, 2);
}

static void
put32(uint8_t *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, 4);
}

static void
put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, 8);
}

static uint16_t
get16(const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, 2);
	return le16toh(v);
}

static uint32_t
get32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return le32toh(v);
}

static uint64_t
get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return le64toh(v);
}

/* All three begin with magic and version. */
static void
head_encode(uint8_t *wire, size_t bytes)
{
	memset(wire, 0, bytes);
	put32(wire, NDPERF_MAGIC);
	put16(wire + 4, NDPERF_VERSION);
}

static bool
head_good(const uint8_t *wire, size_t bytes, size_t need)
{
	return bytes >= need && get32(wire) == NDPERF_MAGIC && get16(wire + 4) == NDPERF_VERSION;
}

void
ndperf_hello_encode(const struct ndperf_hello *h, uint8_t wire[NDPERF_HELLO_BYTES])
{
	head_encode(wire, NDPERF_HELLO_BYTES);
	wire[6] = (uint8_t)h->role;
	wire[7] = (uint8_t)h->params.op;
	wire[8] = (uint8_t)h->params.mode;
	wire[9] = h->params.verify;
	put32(wire + 12, h->params.qps);
	put32(wire + 16, h->params.depth);
	put32(wire + 20, h->index);
	put64(wire + 24, h->params.max_bytes);
	put64(wire + 32, h->session);
}

enum ndperf_refusal
ndperf_hello_decode(const uint8_t *wire, size_t bytes, struct ndperf_hello *h)
{
	struct ndperf_params *p = &h->params;

	if (!head_good(wire, bytes, NDPERF_HELLO_BYTES))
		return NDPERF_BAD_HELLO;
	h->role = wire[6];
	p->op = wire[7];
	p->mode = wire[8];
	p->verify = wire[9] != 0;
	p->qps = get32(wire + 12);
	p->depth = get32(wire + 16);
	h->index = get32(wire + 20);
	p->max_bytes = get64(wire + 24);
	h->session = get64(wire + 32);
	if (h->role < NDPERF_CONTROL || h->role > NDPERF_DATA)
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
	head_encode(wire, NDPERF_WELCOME_BYTES);
	put16(wire + 6, (uint16_t)w->refusal);
	put64(wire + 8, w->session);
	put64(wire + 16, w->address);
	memcpy(wire + 24, &w->token, 4);
	put32(wire + 28, w->receives);
}

bool
ndperf_welcome_decode(const uint8_t *wire, size_t bytes, struct ndperf_welcome *w)
{
	if (!head_good(wire, bytes, NDPERF_WELCOME_BYTES))
		return false;
	w->refusal = get16(wire + 6);
	w->session = get64(wire + 8);
	w->address = get64(wire + 16);
	memcpy(&w->token, wire + 24, 4);
	w->receives = get32(wire + 28);
	return true;
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
	head_encode(wire, NDPERF_MSG_BYTES);
	wire[6] = (uint8_t)m->type;
	wire[7] = m->bad;
	put32(wire + 8, m->step);
	memcpy(wire + 12, &m->token, 4);
	put64(wire + 16, m->address);
	put64(wire + 24, m->size);
	put64(wire + 32, m->count);
	put32(wire + 40, m->qp);
	put64(wire + 48, m->message);
	put64(wire + 56, m->offset);
}

bool
ndperf_msg_decode(const uint8_t *wire, size_t bytes, struct ndperf_msg *m)
{
	if (bytes != NDPERF_MSG_BYTES || !head_good(wire, bytes, NDPERF_MSG_BYTES) ||
		wire[6] < NDPERF_START || wire[6] > NDPERF_MSG_LAST || wire[7] > 1)
		return false;
	m->type = wire[6];
	m->bad = wire[7] != 0;
	m->step = get32(wire + 8);
	memcpy(&m->token, wire + 12, 4);
	m->address = get64(wire + 16);
	m->size = get64(wire + 24);
	m->count = get64(wire + 32);
	m->qp = get32(wire + 40);
	m->message = get64(wire + 48);
	m->offset = get64(wire + 56);
	return true;
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

	if (want > p->depth * largest) /* no more messages are under way */
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
