/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bursts: for the one lcore that owns the port. Slots are used in order, so a ring is its size,
 * the place where we are, and how far the peer says that it is; that number, and each descriptor,
 * is read once. A peer whose numbers can't be is told to the thread, and nothing moves any more.
 */
#include <string.h>

#include <rte_memcpy.h>

#include "memif/memif_own.h"

/* A slot's buffer, checked. */
struct memif_slot {
	struct memif_desc *desc;
	struct memif_desc says; /* as it was read */
	uint8_t *at;
	uint32_t bytes; /* of data, or of room */
};

/* ---- what the peer says ---- */

static void
port_breach(struct memif_port *m)
{
	__atomic_store_n(&m->wrong, MEMIF_BREACH, __ATOMIC_RELEASE);
	memif_thread_wake(m);
}

static bool
port_moves(const struct memif_port *m)
{
	return __atomic_load_n(&m->linked, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&m->wrong, __ATOMIC_RELAXED) == MEMIF_FINE;
}

/* How many slots are ours, from `at` on. More than there are is a breach. */
static uint32_t
ring_ready(struct memif_port *m, const struct memif_ring *r)
{
	uint16_t theirs = __atomic_load_n(r->theirs, __ATOMIC_ACQUIRE);
	uint16_t ready = (uint16_t)(theirs + r->theirs_ahead - r->at);

	if (likely(ready <= r->size))
		return ready;
	port_breach(m);
	return 0;
}

/* Slots up to there are the peer's. */
static void
ring_pass(struct memif_ring *r, uint16_t at)
{
	r->at = at;
	__atomic_store_n(r->ours, (uint16_t)(at + r->ours_ahead), __ATOMIC_RELEASE);
}

static struct memif_desc
desc_read(const struct memif_desc *at)
{
	struct memif_desc d;
	uint64_t word[2];

	word[0] = __atomic_load_n((const uint64_t *)at, __ATOMIC_RELAXED);
	word[1] = __atomic_load_n((const uint64_t *)at + 1, __ATOMIC_RELAXED);
	memcpy(&d, word, sizeof(d));
	return d;
}

static void
desc_write(struct memif_desc *at, const struct memif_desc *d)
{
	uint64_t word[2];

	memcpy(word, d, sizeof(word));
	__atomic_store_n((uint64_t *)at, word[0], __ATOMIC_RELAXED);
	__atomic_store_n((uint64_t *)at + 1, word[1], __ATOMIC_RELAXED);
}

/* Where a buffer of the peer's is. False: nowhere in its memory. */
static bool
region_find(const struct memif_port *m, const struct memif_desc *d, uint8_t **at)
{
	const struct memif_region *g = &m->region[d->region % MEMIF_REGIONS_MAX];

	if (d->region >= m->regions || d->offset > g->bytes || d->length > g->bytes - d->offset)
		return false;
	*at = (uint8_t *)g->base + d->offset;
	return true;
}

/* The slot of that number. False: what it says can't be. */
static bool
slot_open(const struct memif_port *m, const struct memif_ring *r, uint16_t number,
	struct memif_slot *s)
{
	const uint32_t k = number & (r->size - 1u);

	s->desc = &r->shared->desc[k];
	s->says = desc_read(s->desc);
	s->bytes = s->says.length;
	if (r->buffers == NULL)
		return region_find(m, &s->says, &s->at);
	s->at = r->buffers + (size_t)k * r->buffer_bytes;
	return s->bytes <= r->buffer_bytes;
}

/* ---- frames in ---- */

/* An empty buffer of ours, whatever the peer made of its descriptor. */
static void
slot_empty(const struct memif_ring *r, uint16_t number)
{
	const uint32_t k = number & (r->size - 1u);
	const struct memif_desc d = memif_desc_own(r, k);

	desc_write(&r->shared->desc[k], &d);
}

static void
slots_empty(const struct memif_ring *r, uint16_t from, uint16_t to)
{
	if (r->buffers == NULL)
		return;
	for (; from != to; from++)
		slot_empty(r, from);
}

/*
 * One frame from the slots at `at` on, of which `ready` are ours. Returns how many it has; 0: its
 * end is not there yet, or never will be. A frame that has no room in b is longer than any of ours:
 * its length is 0 then.
 */
static uint32_t
frame_read(struct memif_port *m, uint16_t at, uint32_t ready, struct rte_mbuf *b)
{
	const struct memif_ring *r = &m->rx;
	const uint32_t room = rte_pktmbuf_tailroom(b);
	uint8_t *to = rte_pktmbuf_mtod(b, uint8_t *);
	uint32_t bytes = 0, n = 0;
	struct memif_slot s;
	bool fits = true;

	do {
		if (unlikely(n == ready || !slot_open(m, r, (uint16_t)(at + n), &s))) {
			/* A slot that can't be, or a whole ring without an end. */
			if (n < ready || ready == r->size)
				port_breach(m);
			return 0;
		}
		n++;
		fits = fits && s.bytes <= room - bytes;
		if (fits) {
			rte_memcpy(to + bytes, s.at, s.bytes);
			bytes += s.bytes;
		}
	} while ((s.says.flags & MEMIF_DESC_NEXT) != 0);
	b->data_len = (uint16_t)(fits ? bytes : 0);
	b->pkt_len = b->data_len;
	return n;
}

/* Into buffers that are there, as long as frames are. Returns how many have come. */
static uint16_t
frames_read(struct memif_port *m, uint32_t ready, struct rte_mbuf **b, uint16_t n)
{
	const uint16_t first = m->rx.at;
	uint16_t at = first, got = 0;
	uint64_t bytes = 0;

	while (got < n && ready != 0) {
		uint32_t used = frame_read(m, at, ready, b[got]);

		if (used == 0)
			break;
		at = (uint16_t)(at + used);
		ready -= used;
		if (b[got]->data_len == 0) {
			m->count.rx_bad_length++;
			continue;
		}
		bytes += b[got++]->pkt_len;
	}
	slots_empty(&m->rx, first, at);
	if (at != first)
		ring_pass(&m->rx, at);
	m->count.rx_packets += got;
	m->count.rx_bytes += bytes;
	return got;
}

static uint16_t
rx_linked(struct memif_port *m, struct rte_mbuf **b, uint16_t n)
{
	uint32_t ready = ring_ready(m, &m->rx);
	uint16_t got;

	if (ready == 0)
		return 0;
	if (n > ready)
		n = (uint16_t)ready;
	if (rte_pktmbuf_alloc_bulk(m->cfg.pool, b, n) != 0) {
		m->count.rx_no_mbufs++;
		return 0;
	}
	got = frames_read(m, ready, b, n);
	if (got < n)
		rte_pktmbuf_free_bulk(b + got, n - got);
	return got;
}

uint16_t
memif_rx(struct port *p, struct rte_mbuf **b, uint16_t n)
{
	struct memif_port *m = memif_of(p);
	uint16_t got = 0;

	port_grace_edge(&m->grace);
	if (likely(port_moves(m)))
		got = rx_linked(m, b, n);
	port_grace_edge(&m->grace);
	return got;
}

/* ---- frames out ---- */

/* Of a frame, what is not written yet. */
struct rest {
	const struct rte_mbuf *segment;
	uint32_t from; /* in the segment */
	uint32_t bytes;
};

/* The next bytes of the frame. */
static void
rest_copy(struct rest *rest, uint8_t *to, uint32_t bytes)
{
	rest->bytes -= bytes;
	while (bytes != 0) {
		uint32_t here = RTE_MIN(bytes, rest->segment->data_len - rest->from);

		rte_memcpy(to, rte_pktmbuf_mtod_offset(rest->segment, uint8_t *, rest->from), here);
		to += here;
		bytes -= here;
		rest->from += here;
		if (rest->from == rest->segment->data_len) {
			rest->segment = rest->segment->next;
			rest->from = 0;
		}
	}
}

/* The room of a slot to send from. */
static bool
slot_open_empty(const struct memif_port *m, const struct memif_ring *r, uint16_t number,
	struct memif_slot *s)
{
	const uint32_t k = number & (r->size - 1u);

	if (r->buffers == NULL)
		return slot_open(m, r, number, s);
	s->desc = &r->shared->desc[k];
	s->says = memif_desc_own(r, k);
	s->at = r->buffers + (size_t)k * r->buffer_bytes;
	s->bytes = r->buffer_bytes;
	return true;
}

/* Of a buffer of the client's the server says only how much it has put there. */
static void
slot_fill(const struct memif_slot *s, uint32_t bytes, bool more)
{
	struct memif_desc d = s->says;

	d.flags = more ? MEMIF_DESC_NEXT : 0;
	d.length = bytes;
	desc_write(s->desc, &d);
}

/* One frame into the slots at `at`. Returns how many it took; 0: there is no room for it now, or
 * never will be. */
static uint32_t
frame_write(struct memif_port *m, uint16_t at, uint32_t ready, const struct rte_mbuf *b)
{
	struct rest rest = {b, 0, b->pkt_len};
	struct memif_slot s;
	uint32_t n = 0;

	do {
		uint32_t bytes;

		if (n == ready)
			return 0;
		if (unlikely(!slot_open_empty(m, &m->tx, (uint16_t)(at + n), &s))) {
			port_breach(m);
			return 0;
		}
		bytes = RTE_MIN(rest.bytes, s.bytes);
		rest_copy(&rest, s.at, bytes);
		slot_fill(&s, bytes, rest.bytes != 0);
		n++;
	} while (rest.bytes != 0);
	return n;
}

/* The peer polls, mostly; if not, it reads its ring again behind the change of its flag, as we
 * read the flag behind the change of the ring. */
static void
peer_interrupt(struct memif_port *m)
{
	const struct memif_shared_ring *shared = m->tx.shared;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (likely((__atomic_load_n(&shared->flags, __ATOMIC_RELAXED) & MEMIF_MASK_INT) != 0))
		return;
	if (!__atomic_exchange_n(&m->interrupt, true, __ATOMIC_ACQ_REL))
		memif_thread_wake(m);
}

static uint16_t
tx_linked(struct memif_port *m, struct rte_mbuf **b, uint16_t n)
{
	uint32_t ready = ring_ready(m, &m->tx);
	uint16_t at = m->tx.at, sent = 0;
	uint64_t bytes = 0;

	for (; sent < n; sent++) {
		uint32_t used = frame_write(m, at, ready, b[sent]);

		if (used == 0 && (ready < m->tx.size || m->wrong != MEMIF_FINE))
			break;
		if (used == 0) { /* all buffers of the ring together are too small */
			m->count.tx_too_long++;
			continue;
		}
		at = (uint16_t)(at + used);
		ready -= used;
		bytes += b[sent]->pkt_len;
		m->count.tx_packets++;
	}
	if (at != m->tx.at) {
		ring_pass(&m->tx, at);
		peer_interrupt(m);
	}
	m->count.tx_bytes += bytes;
	if (sent != 0)
		rte_pktmbuf_free_bulk(b, sent);
	return sent;
}

uint16_t
memif_tx(struct port *p, struct rte_mbuf **b, uint16_t n)
{
	struct memif_port *m = memif_of(p);
	uint16_t sent = 0;

	port_grace_edge(&m->grace);
	if (likely(port_moves(m)))
		sent = tx_linked(m, b, n);
	port_grace_edge(&m->grace);
	return sent;
}
