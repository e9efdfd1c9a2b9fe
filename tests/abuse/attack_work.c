/* SPDX-License-Identifier: BSD-3-Clause */
/* Work that a client may ask for, and more of it than one lcore can do. */
#include <stdlib.h>
#include <string.h>

#include "attack.h"

#define CQ_DEPTH   32768u
#define SLOTS_EACH 512u
#define SLOTS_QPS  128u

/* As many connections by hand as are wanted, and as there can be in the time. */
struct bundle {
	struct duo d;
	struct raw_qp *qp, *peer_qp;
	uint32_t count;
};

static bool
bundle_begin(struct bundle *b, struct target *t, uint32_t count, uint32_t depth)
{
	b->qp = calloc(count, sizeof(*b->qp));
	b->peer_qp = calloc(count, sizeof(*b->peer_qp));
	b->count = 0;
	if (!duo_open(&b->d, t, RAW_LARGE_BYTES, CQ_DEPTH))
		return false;
	while (b->count < count && attacking(t) &&
		duo_by_hand(&b->d, &b->qp[b->count], &b->peer_qp[b->count], depth,
			raw_random(1u << 24)))
		b->count++;
	attack_starts(t);
	return b->count > 0;
}

static void
bundle_end(struct bundle *b)
{
	duo_end(&b->d);
	free(b->qp);
	free(b->peer_qp);
}

/* Slots of requests that are done are free again. */
static uint32_t
refill(struct raw_cq *cq, uint32_t *free_slots)
{
	struct ndsh_cqe done[64];
	uint32_t n = ndsh_cq_poll(&cq->reader, done, 64);

	*free_slots += n;
	return n;
}

/* Writes over many queue pairs at once, each of which wants its turn. */
static void
many_queue_pairs(struct target *t, uint32_t count)
{
	struct bundle b;
	struct ndsh_swr w;
	uint32_t next = 0, room;

	if (bundle_begin(&b, t, count, 4)) {
		w = duo_request(&b.d, NDSH_OP_WRITE, 32768);
		room = b.count * 2;
		while (attacking(t)) {
			for (; room > 0; room--)
				raw_post(&b.d.r, &b.qp[next++ % b.count], &w);
			if (refill(&b.d.cq, &room) == 0)
				attack_pause_us(100);
		}
	}
	bundle_end(&b);
}

/* All slots of requests in flight, by requests that can not be completed: no receive is there. */
static void
all_slots(struct target *t, uint32_t arg)
{
	struct bundle b;
	struct ndsh_swr w;

	(void)arg;
	if (bundle_begin(&b, t, SLOTS_QPS, SLOTS_EACH)) {
		w = duo_request(&b.d, NDSH_OP_SEND, 8);
		for (uint32_t i = 0; i < b.count; i++) {
			for (uint32_t n = 1; n < SLOTS_EACH; n++)
				ndsh_sq_push(&b.qp[i].sq, &w, &w.sge0, NULL);
			raw_ring(&b.d.r, &b.qp[i]);
		}
		attack_hold(t);
	}
	bundle_end(&b);
}

enum pumped { PUMP_SMALL, PUMP_LARGE, PUMP_LOCAL, PUMP_FENCED, PUMP_READ, PUMP_ATOMIC };

static struct ndsh_swr
pumped_request(const struct duo *d, enum pumped what)
{
	struct ndsh_swr w = duo_request(d, NDSH_OP_WRITE, what == PUMP_LARGE ? 1u << 20 : 8);

	switch (what) {
	case PUMP_LOCAL: /* of no token: done, or failed, on the spot */
		return (struct ndsh_swr){
			.rkey = d->key, .ctrl = NDSH_CTRL(NDSH_OP_INVALIDATE, 0, 0, 0)};
	case PUMP_FENCED:
		w.ctrl = NDSH_CTRL(NDSH_OP_WRITE, 1, NDSH_WRF_FENCE, 0);
		return w;
	case PUMP_READ:
		return duo_request(d, NDSH_OP_READ, 1u << 20);
	case PUMP_ATOMIC:
		return duo_request(d, NDSH_OP_FETCH_ADD, 8);
	default:
		return w;
	}
}

/* One request again and again over one connection, as fast as it goes. */
static void
pumps(struct target *t, uint32_t what)
{
	struct duo d;
	struct ndsh_swr w;
	uint32_t room = 128;

	if (!duo_begin(&d, t, 256))
		return;
	w = pumped_request(&d, (enum pumped)what);
	while (attacking(t) && !duo_over(&d)) {
		for (; room > 0; room--)
			raw_post(&d.r, &d.qp, &w);
		if (refill(&d.cq, &room) == 0)
			attack_pause_us(50);
	}
	attack_hold(t);
	duo_end(&d);
}

/* What a client asks for that may take as long as its rings are deep. */
enum drained { DRAIN_RESET, DRAIN_FLUSH, DRAIN_DESTROY };
#define DEEPEST	   65536u
#define DEEP_BYTES (32u << 20)
#define PAUSE_EACH 4096u

struct deep {
	struct raw r;
	struct raw_cq cq;
	struct raw_qp qp;
	uint32_t start; /* of the memory that the next queue pair gets, too */
};

static bool
deep_qp(struct deep *d, uint32_t depth)
{
	d->r.carved = d->start;
	return raw_qp(&d->r, &d->cq, depth, &d->qp) == NDSH_OK;
}

/* The client's words in front of the rings are the daemon's to clear; the rings are its own. */
static bool
deep_again(struct deep *d, enum drained how, uint32_t depth)
{
	struct ndsh_qp_layout layout;

	(void)ndsh_qp_layout(&d->qp.dims, &layout);
	if (how == DRAIN_FLUSH && raw_ask_id(&d->r, NDSH_MSG_QP_FLUSH, d->qp.id, NULL) != NDSH_OK)
		return false;
	if (how != DRAIN_DESTROY)
		return raw_state(&d->r, &d->qp, NDSH_QPS_RESET) == NDSH_OK;
	if (raw_ask_id(&d->r, NDSH_MSG_QP_DESTROY, d->qp.id, NULL) != NDSH_OK)
		return false;
	memset(d->qp.page, 0, layout.total_bytes);
	return deep_qp(d, depth);
}

/* Full rings, as deep as arg says, and a step of the queue pair that makes the daemon go through
 * them; again and again. */
static void
drains_of(struct target *t, enum drained how, uint32_t depth)
{
	struct deep d;

	raw_begin_with(&d.r, t->socket, DEEP_BYTES);
	if (raw_cq(&d.r, 4 * depth, &d.cq) != NDSH_OK)
		return;
	d.start = d.r.carved;
	if (!deep_qp(&d, depth))
		return;
	while (attacking(t)) {
		struct ndsh_swr w = {.ctrl = NDSH_CTRL(NDSH_OP_SEND, 0, 0, 0)};
		struct ndsh_cqe done[256];

		for (uint32_t i = 0; i < depth; i++) {
			ndsh_sq_push(&d.qp.sq, &w, NULL, NULL);
			ndsh_rq_push(&d.qp.rq, 0, NULL, 0);
			if (i % PAUSE_EACH == 0) /* the CPU is not what it is after */
				attack_pause_us(50);
		}
		if (!deep_again(&d, how, depth))
			break;
		while (ndsh_cq_poll(&d.cq.reader, done, 256) > 0)
			;
	}
	raw_end(&d.r);
}

static void
drains(struct target *t, uint32_t how)
{
	drains_of(t, (enum drained)how, 4096);
}

static void
deep_drains(struct target *t, uint32_t how)
{
	drains_of(t, (enum drained)how, DEEPEST);
}

/* The daemon notifies for each message; its wake-ups are never read. */
static void
notified(struct target *t, uint32_t arg)
{
	struct duo d;
	struct ndsh_swr w;
	uint32_t room = 64;

	(void)arg;
	if (!duo_begin(&d, t, 256))
		return;
	w = duo_request(&d, NDSH_OP_WRITE, 8);
	while (attacking(t) && !duo_over(&d)) {
		for (; room > 0; room--)
			raw_post(&d.r, &d.qp, &w);
		(void)ndsh_cq_arm(&d.cq.reader, NDSH_ARM_ANY, NULL);
		if (refill(&d.cq, &room) == 0)
			attack_pause_us(1);
	}
	duo_end(&d);
}

const struct attack work_attacks[] = {
	{"queue-pairs-50", many_queue_pairs, 50, true},
	{"queue-pairs-1000", many_queue_pairs, 1000, true},
	{"all-request-slots", all_slots, 0, true},
	{"write-small", pumps, PUMP_SMALL},
	{"write-large", pumps, PUMP_LARGE},
	{"write-fenced", pumps, PUMP_FENCED},
	{"read-large", pumps, PUMP_READ},
	{"atomic-storm", pumps, PUMP_ATOMIC},
	{"invalidate-storm", pumps, PUMP_LOCAL},
	{"reset-loop", drains, DRAIN_RESET},
	{"flush-loop", drains, DRAIN_FLUSH},
	{"destroy-loop", drains, DRAIN_DESTROY},
	{"reset-deep-loop", deep_drains, DRAIN_RESET},
	{"flush-deep-loop", deep_drains, DRAIN_FLUSH},
	{"destroy-deep-loop", deep_drains, DRAIN_DESTROY},
	{"notify-storm", notified, 0},
	{0},
};
