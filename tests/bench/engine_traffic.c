/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages from the first side to the second: posted, carried across frame by frame, completed. */
#include <string.h>

#include "engine.h"
#include "shm/ndsh_msg.h"

#define POLL_RINGS 256u /* as the daemon's turn has them */
#define TIMERS	   64u

static void
post(struct bench_world *w, struct bench_end *e)
{
	struct bench_side *d = &w->side[0];
	const struct ndsh_sge sge = {.addr = VA, .len = w->c->bytes, .key = d->key};
	const struct ndsh_swr wr = {.raddr = VA + ARENA_BYTES / 2,
		.rkey = w->side[1].key,
		.ctrl = NDSH_CTRL(w->c->op, 1, 0, 0)};

	ndsh_sq_push(&e->sq, &wr, &sge, NULL);
	e->room--;
	if (e->page->sq_polled == 0)
		roce_qp_doorbell(d->shard, NULL, e->qp);
}

static void
post_requests(struct bench_world *w)
{
	const struct bench_case *c = w->c;

	for (uint32_t k = 0; k < c->qps; k++)
		while (w->side[0].end[k].room > c->ring - c->depth)
			post(w, &w->side[0].end[k]);
}

static uint32_t
random_below(struct bench_world *w, uint32_t n)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)((w->random >> 32) * n >> 32);
}

/* Choose the next sender. A client has a core, and caches, of its own: its state is cached when it
 * posts. */
static void
choose(struct bench_world *w)
{
	for (uint32_t i = 0; i < w->c->depth; i++) {
		w->chosen[i] = &w->side[0].end[random_below(w, w->c->qps)];
		__builtin_prefetch(w->chosen[i]);
	}
}

static void
post_random(struct bench_world *w)
{
	uint32_t n = w->c->depth - w->under_way;

	for (uint32_t i = 0; i < n; i++) {
		const struct bench_end *e = w->chosen[i];

		__builtin_prefetch(e->page);
		__builtin_prefetch(&e->sq.ring[e->sq.next & (w->c->ring - 1)]);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (w->chosen[i]->room == 0)
			continue;
		post(w, w->chosen[i]);
		w->under_way++;
	}
}

static void
post_receives(struct bench_world *w)
{
	struct bench_side *d = &w->side[1];
	const struct ndsh_sge sge = {.addr = VA, .len = 1u << 20, .key = d->key};

	if (d->srq != NULL) {
		uint32_t end = __atomic_load_n(&d->srq_page->taken, __ATOMIC_ACQUIRE) + w->c->ring;

		while (d->srq_ring.next != end)
			ndsh_rq_push(&d->srq_ring, 0, &sge, 1);
		return;
	}
	for (uint32_t k = 0; k < w->c->qps; k++)
		for (; d->end[k].recv_room > 0; d->end[k].recv_room--)
			ndsh_rq_push(&d->end[k].rq, k, &sge, 1);
}

static unsigned
reap(struct bench_side *d)
{
	struct ndsh_cqe c[BURST];
	unsigned requests = 0, n;

	do {
		n = ndsh_cq_poll(&d->reader, c, BURST);
		for (unsigned i = 0; i < n; i++) {
			bench_need(c[i].status == NDSH_WC_SUCCESS, "a request failed");
			if (c[i].op == NDSH_OP_RECV) {
				d->end[c[i].qp].recv_room++;
			} else {
				d->end[c[i].qp].room++;
				requests++;
			}
		}
	} while (n == BURST);
	return requests;
}

/* What a daemon's lcore does with frames that came (app/dpdk-ndd/lcore/rx.c). */
static void
receive(struct bench_side *to, const struct roce_tx_slot *slot, unsigned n, uint64_t now_ns)
{
	struct roce_pkt pkt[BURST];
	struct roce_qp *qp[BURST];

	for (unsigned i = 0; i < n; i++) {
		bench_need(roce_wire_parse(slot[i].buf, slot[i].len, &pkt[i]) == ROCE_WIRE_OK,
			"parse");
		qp[i] = roce_shard_rx_seek(
			to->shard, roce_qpn_place(&to->qpn_key, pkt[i].qpn), &pkt[i]);
	}
	for (unsigned i = 0; i < n; i++)
		roce_shard_rx(to->shard, now_ns, &pkt[i], qp[i]);
}

/* Frames go from one side's slots straight to the other side's receive path. */
static void
half_turn(struct bench_side *from, struct bench_side *to, uint64_t now_ns)
{
	unsigned n;

	roce_shard_poll_rings(from->shard, now_ns, POLL_RINGS);
	roce_shard_timers(from->shard, now_ns, TIMERS);
	do {
		n = roce_shard_tx(from->shard, now_ns, from->slot, BURST);
		receive(to, from->slot, n, now_ns);
	} while (n == BURST);
	roce_shard_publish(from->shard);
	roce_shard_publish(to->shard);
}

unsigned
bench_turn(struct bench_world *w)
{
	unsigned done;

	if (w->c->op == NDSH_OP_SEND)
		post_receives(w);
	if (w->c->kind == BENCH_RANDOM)
		post_random(w);
	else
		post_requests(w);
	half_turn(&w->side[0], &w->side[1], w->now_ns);
	if (w->c->kind == BENCH_RANDOM)
		choose(w);
	half_turn(&w->side[1], &w->side[0], w->now_ns);
	done = reap(&w->side[0]);
	w->under_way -= w->c->kind == BENCH_RANDOM ? done : 0;
	reap(&w->side[1]);
	return done;
}

/* In bursts of frames as the engine's: copy and CRC of one side, then CRC and copy of the other. */
unsigned
bench_floor(struct bench_world *w)
{
	static volatile uint32_t sink;
	/* Not a constant for the compiler: it would make an instruction of the copy, a slow one. */
	static volatile uint32_t mtu = 4096;
	const uint32_t hdr = 14 + 20 + 8 + 12 + 16, bytes = w->c->bytes;
	const uint32_t part = bytes < mtu ? bytes : mtu; /* all powers of two */
	struct bench_side *from = &w->side[0], *to = &w->side[1];
	const uint8_t *in = from->arena;
	uint8_t *out = to->arena + ARENA_BYTES / 2;
	uint32_t crc = 0;

	for (uint32_t at = 0; at < BURST * bytes; at += BURST * part) {
		for (unsigned i = 0; i < BURST; i++) {
			uint8_t *frame = from->slot[i].buf + hdr;

			memcpy(frame, in + ((at + i * part) & (bytes - 1)), part);
			crc ^= roce_crc32(0, frame, part);
		}
		for (unsigned i = 0; i < BURST; i++) {
			const uint8_t *frame = from->slot[i].buf + hdr;

			crc ^= roce_crc32(0, frame, part);
			memcpy(out + ((at + i * part) & (bytes - 1)), frame, part);
		}
	}
	sink = crc;
	(void)sink;
	return BURST;
}
