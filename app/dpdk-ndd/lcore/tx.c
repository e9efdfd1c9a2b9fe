/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames out. The engine fills empty mbufs as long as the ports (or, for those that the shard has
 * no queue of, the ring to their owner) take them; what they don't take waits in out[], and a full
 * out[] is the engine's back-pressure.
 */
#include <string.h>

#include "lcore/shard.h"
#include "lcore/turn.h"

static bool
is_io_owner(const struct ndd_shard *s)
{
	return s->id == NDD_IO_OWNER;
}

static bool
is_ring(const struct ndd_shard *s, const struct ndd_out *o)
{
	return o == &s->out[s->plane->ports];
}

/*
 * A port without a peer takes nothing. Its frames are dropped after a while, as on a cable, and
 * from then on at once, until it takes one.
 */
static void
out_stalled(struct ndd_shard *s, struct ndd_out *o, uint64_t now_ns)
{
	s->count.tx_stalled++;
	if (o->stuck_since_ns == 0) {
		o->stuck_since_ns = now_ns;
	} else if (now_ns - o->stuck_since_ns > NDD_STALL_NS) {
		s->count.tx_link_dropped += o->n;
		rte_pktmbuf_free_bulk(o->m, o->n);
		o->n = 0;
	}
}

/* It holds up the other ports no longer. One that is alone holds up none: its queue pairs wait. */
static bool
out_is_passed_by(const struct ndd_shard *s, const struct ndd_out *o, uint64_t now_ns)
{
	return o->stuck_since_ns != 0 && now_ns - o->stuck_since_ns > NDD_HOLD_NS &&
	       s->plane->ports > 1 && !is_ring(s, o);
}

static uint32_t
out_to_owner(struct ndd_shard *s, struct ndd_out *o)
{
	uint32_t sent =
		rte_ring_sp_enqueue_burst(s->plane->rings.tx[s->id], (void **)o->m, o->n, NULL);

	if (sent != 0)
		ndd_wakeup_notify(&s->plane->shard[NDD_IO_OWNER]->wakeup);
	return sent;
}

/* How many of its frames are to leave now. If others follow, a port that sends runs has whole ones
 * first, and the rest when they have come: in the next turn at the latest. */
static uint32_t
out_due(const struct ndd_out *o, const struct port *p, bool more)
{
	uint32_t whole;

	if (!more || p == NULL)
		return o->n;
	whole = port_tx_whole(p, o->m, (uint16_t)o->n);
	return whole < o->old ? o->n : whole;
}

/* left: the bytes that wait for others to follow are added to it. */
static unsigned
out_flush(struct ndd_shard *s, uint32_t i, uint64_t now_ns, bool more, uint32_t *left)
{
	struct ndd_out *o = &s->out[i];
	struct port *p = is_ring(s, o) ? NULL : ndd_shard_port(s, i);
	uint32_t due = out_due(o, p, more), sent;

	if (due != o->n) /* mostly they are alike */
		*left += (o->n - due) * o->m[o->n - 1]->pkt_len;
	if (due == 0)
		return 0;
	if (p != NULL)
		sent = port_tx_burst(p, o->m, (uint16_t)due);
	else
		sent = out_to_owner(s, o);
	if (sent == 0) {
		out_stalled(s, o, now_ns);
		return 0;
	}
	o->stuck_since_ns = 0;
	ndd_out_advance(o, sent);
	s->count.tx_frames += sent;
	return sent;
}

/* Source and destination MAC are equal: two queue pairs of this daemon are connected. */
static bool
to_ourselves(const struct rte_mbuf *m)
{
	const uint8_t *f = rte_pktmbuf_mtod(m, const uint8_t *);

	return memcmp(f, f + 6, 6) == 0;
}

static bool
is_to_group(const struct rte_mbuf *m)
{
	return (*rte_pktmbuf_mtod(m, const uint8_t *) & 1) != 0;
}

/* All that leaves for groups passes the I/O owner, whose groups are those of all shards. */
static void
group_frame_loop(struct ndd_shard *s, struct rte_mbuf *m)
{
	if (is_io_owner(s) && s->groups != NULL)
		ndd_lcore_loop(s, m);
}

/* Where frames for the port go, of a shard that does not own it. */
static uint32_t
out_of_queue(const struct ndd_shard *s, const struct rte_mbuf *m, uint32_t port)
{
	return s->queue[port] != NULL && !is_to_group(m) ? port : s->plane->ports;
}

static void
out_put(struct ndd_shard *s, struct rte_mbuf *m, uint32_t port)
{
	struct ndd_out *o = &s->out[is_io_owner(s) ? port : out_of_queue(s, m, port)];

	if (to_ourselves(m))
		o = &s->inner;
	else if (unlikely(is_to_group(m)))
		group_frame_loop(s, m);
	if (unlikely(o->n == NDD_OUT_MAX)) { /* of a port that is passed by */
		s->count.tx_link_dropped++;
		rte_pktmbuf_free(m);
		return;
	}
	o->m[o->n++] = m;
}

/* As many frames fit, whichever of the ports they are for. */
static uint32_t
outs_room(const struct ndd_shard *s, uint64_t now_ns)
{
	uint32_t least = NDD_OUT_MAX - s->inner.n;

	for (uint32_t i = 0; i < ndd_shard_outs(s); i++)
		if (NDD_OUT_MAX - s->out[i].n < least && !out_is_passed_by(s, &s->out[i], now_ns))
			least = NDD_OUT_MAX - s->out[i].n;
	return least < NDD_BURST ? least : NDD_BURST;
}

/* Frames of the other shards and of the control thread, for the ports. */
static unsigned
ring_take_over(struct ndd_shard *s, struct rte_ring *ring, uint64_t now_ns, uint32_t *held)
{
	struct rte_mbuf *m[NDD_BURST];
	uint32_t fits = RTE_MIN(outs_room(s, now_ns), ndd_burst_of(s->small_out)), bytes = 0;
	unsigned n;

	if (fits == 0)
		return 0;
	n = rte_ring_sc_dequeue_burst(ring, (void **)m, fits, NULL);
	for (unsigned i = 0; i < n; i++) {
		bytes += m[i]->pkt_len;
		out_put(s, m[i], m[i]->port);
	}
	s->small_out = ndd_small_after(s->small_out, n, bytes);
	*held += bytes;
	return n;
}

/* New empty frames in place of the first n; without memory for them those behind move up. */
static void
blanks_refill(struct ndd_shard *s, uint32_t n)
{
	if (n == 0)
		return;
	if (unlikely(rte_pktmbuf_alloc_bulk(s->plane->pool, s->blank, n) != 0)) {
		s->count.no_mbufs++;
		s->blanks -= n;
		memmove(s->blank, s->blank + n, s->blanks * sizeof(s->blank[0]));
		memmove(s->slot, s->slot + n, s->blanks * sizeof(s->slot[0]));
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		s->slot[i].buf = rte_pktmbuf_mtod(s->blank[i], uint8_t *);
}

/* The frames of which there were too few, as far as the pool has them again. */
static void
blanks_replenish(struct ndd_shard *s)
{
	uint32_t want = NDD_BURST - s->blanks;

	if (rte_pktmbuf_alloc_bulk(s->plane->pool, s->blank + s->blanks, want) != 0) {
		s->count.no_mbufs++;
		return;
	}
	for (uint32_t i = s->blanks; i < NDD_BURST; i++)
		s->slot[i].buf = rte_pktmbuf_mtod(s->blank[i], uint8_t *);
	s->blanks = NDD_BURST;
}

/* Acknowledgements are counted apart from what queue pairs send in their turns. */
static unsigned
engine_fill_blanks(struct ndd_shard *s, uint64_t now_ns, unsigned n)
{
	unsigned acks = 0, got;

	if (unlikely(s->cycles != NULL)) {
		acks = roce_shard_tx_acks(s->engine, now_ns, s->slot, n);
		ndd_cycles_mark(s->cycles, NDD_STAGE_answers, acks);
	}
	got = roce_shard_tx(s->engine, now_ns, s->slot + acks, n - acks);
	ndd_cycles_mark(s->cycles, NDD_STAGE_requester, got);
	return acks + got;
}

/* The engine's empty frames stay prepared from pull to pull: one acknowledgement touches one of
 * them. */
static unsigned
engine_pull(struct ndd_shard *s, uint64_t now_ns, uint32_t *held)
{
	uint32_t n = RTE_MIN(outs_room(s, now_ns), ndd_burst_of(s->small_out)), bytes = 0;
	unsigned got;

	if (unlikely(s->blanks < n))
		blanks_replenish(s);
	if (s->blanks < n)
		n = s->blanks;
	if (n == 0)
		return 0;
	ndd_cycles_mark(s->cycles, NDD_STAGE_tx, 0);
	got = engine_fill_blanks(s, now_ns, n);
	for (unsigned i = 0; i < got; i++) {
		struct rte_mbuf *m = s->blank[i];

		m->data_len = (uint16_t)s->slot[i].len;
		m->pkt_len = s->slot[i].len;
		m->port = (uint16_t)s->slot[i].port;
		bytes += m->pkt_len;
		out_put(s, m, s->slot[i].port);
	}
	blanks_refill(s, got);
	s->small_out = ndd_small_after(s->small_out, got, bytes);
	*held += bytes;
	return got;
}

/* What is to leave: a burst of each of the others, and one of the engine's. held: their bytes are
 * added to it. */
static unsigned
frames_collect(struct ndd_shard *s, uint64_t now_ns, uint32_t *held)
{
	const struct ndd_handover *h = &s->plane->rings;
	unsigned n = 0;

	if (is_io_owner(s)) {
		n += ring_take_over(s, h->control_tx, now_ns, held);
		for (uint32_t i = NDD_IO_OWNER + 1; i < h->shards; i++)
			n += ring_take_over(s, h->tx[i], now_ns, held);
	}
	if (roce_shard_tx_pending(s->engine, now_ns))
		n += engine_pull(s, now_ns, held);
	return n;
}

/* more: others follow at once. Returns the bytes that wait for them. */
static uint32_t
outs_flush(struct ndd_shard *s, uint64_t now_ns, bool more)
{
	unsigned sent = 0;
	uint32_t left = 0;

	for (uint32_t i = 0; i < ndd_shard_outs(s); i++)
		sent += out_flush(s, i, now_ns, more, &left);
	ndd_cycles_mark(s->cycles, NDD_STAGE_tx, sent);
	return left;
}

static void
outs_age(struct ndd_shard *s)
{
	for (uint32_t i = 0; i < ndd_shard_outs(s); i++)
		s->out[i].old = s->out[i].n;
}

/* Large frames are collected by few between two looks at the clock, but ports get NDD_TX_BYTES of
 * them at once all the same, as some make one system call of each burst. */
unsigned
ndd_lcore_tx(struct ndd_shard *s, uint64_t now_ns)
{
	unsigned work = 0, most = NDD_BURST, n;
	uint32_t held = 0, bytes = 0;

	outs_age(s);
	do {
		if (bytes >= NDD_TX_BYTES || (held >= NDD_TX_BURST && most == NDD_BURST)) {
			bytes = outs_flush(s, now_ns, true);
			held = 0;
		}
		most = ndd_burst_of(s->small_out);
		n = frames_collect(s, now_ns, &bytes);
		work += n;
		held += n;
	} while (n >= most && work < NDD_TX_FRAMES && ndd_turn_is_within(now_ns, NDD_TX_MORE_NS));
	(void)outs_flush(s, now_ns, n >= most);
	return work;
}

/* Are there frames in rings for this shard? Then it must not sleep. */
bool
ndd_lcore_frames_waiting(const struct ndd_shard *s)
{
	const struct ndd_handover *h = &s->plane->rings;

	for (uint32_t i = 0; i < h->shards; i++) {
		if (i != s->id && !rte_ring_empty(h->rx[i][s->id]))
			return true;
		if (is_io_owner(s) && i != NDD_IO_OWNER && !rte_ring_empty(h->tx[i]))
			return true;
	}
	return is_io_owner(s) && !rte_ring_empty(h->control_tx);
}

void
ndd_lcore_tx_drop(struct ndd_shard *s)
{
	rte_pktmbuf_free_bulk(s->blank, s->blanks);
	s->blanks = 0;
	rte_pktmbuf_free_bulk(s->inner.m, s->inner.n);
	s->inner.n = 0;
	rte_pktmbuf_free_bulk(s->looped, s->looped_n);
	s->looped_n = 0;
	for (uint32_t i = 0; i < RTE_DIM(s->out); i++) {
		rte_pktmbuf_free_bulk(s->out[i].m, s->out[i].n);
		s->out[i].n = 0;
	}
}
