/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames in: from the shard's ports, from other shards, and our own to ourselves. */
#include "lcore/shard.h"
#include "lcore/turn.h"

/* One mbuf, one frame. NULL: it could not be made so, and is gone. */
static struct rte_mbuf *
in_one_piece(struct ndd_shard *s, struct rte_mbuf *m)
{
	if (likely(m->nb_segs == 1))
		return m;
	if (rte_pktmbuf_linearize(m) == 0) {
		s->count.rx_linearised++;
		return m;
	}
	s->count.rx_linearise_failed++;
	rte_pktmbuf_free(m);
	return NULL;
}

/* What roce_wire_parse() found wrong, one counter for each. */
static void
count_invalid(struct ndd_io_counters *c, enum roce_wire_err err)
{
	switch (err) {
	case ROCE_WIRE_TRUNCATED:
		c->rx_truncated++;
		break;
	case ROCE_WIRE_IP_HEADER:
		c->rx_ip_header++;
		break;
	case ROCE_WIRE_LENGTH:
		c->rx_length++;
		break;
	case ROCE_WIRE_TVER:
		c->rx_tver++;
		break;
	case ROCE_WIRE_OPCODE:
		c->rx_opcode++;
		break;
	case ROCE_WIRE_PKEY:
		c->rx_pkey++;
		break;
	case ROCE_WIRE_OK:
	case ROCE_WIRE_NOT_ROCE:
	case ROCE_WIRE_ERR_COUNT:
		break;
	}
}

/* Its ICRC is known to be right. */
static inline bool
icrc_is_checked(const struct ndd_shard *s, const struct rte_mbuf *m, const struct roce_pkt *pkt)
{
	return !pkt->v6 && m->port < CONFIG_PORTS_MAX &&
	       (s->plane->checks_icrc >> m->port & 1) != 0;
}

/* mad: NULL, if it is no RoCEv2. */
static void
pass_up(struct ndd_shard *s, struct rte_mbuf *m, const struct roce_pkt *mad, uint32_t *touched)
{
	struct ndd_up *up = &s->plane->rings.up[s->id];
	uint32_t lane = ndd_up_lane(up, rte_pktmbuf_mtod(m, uint8_t *), m->data_len, mad);

	s->count.rx_control++;
	if (ndd_up_put(up, lane, m)) {
		*touched |= 1u << NDD_SHARDS_MAX;
	} else {
		s->count.control_full++;
		rte_pktmbuf_free(m);
	}
}

static void
pass_on(struct ndd_shard *s, struct rte_mbuf *m, uint32_t to, uint32_t *touched)
{
	if (rte_ring_sp_enqueue(s->plane->rings.rx[s->id][to], m) == 0) {
		s->count.handed_over++;
		*touched |= 1u << to;
	} else {
		s->count.handover_full++; /* as a NIC's full queue: the peer's retry repairs it */
		rte_pktmbuf_free(m);
	}
}

void
ndd_lcore_wake(struct ndd_shard *s, uint32_t touched)
{
	for (uint32_t i = 0; i < s->plane->shards; i++)
		if (touched & 1u << i)
			ndd_wakeup_notify(&s->plane->shard[i]->wakeup);
	if (touched & 1u << NDD_SHARDS_MAX)
		ndd_wakeup_notify(s->plane->control_wakeup);
}

/* The engine's part of a burst. The counter is read where responses follow requests, or the other
 * way round: mostly once. */
static void
run_counted(struct ndd_shard *s, uint64_t now_ns, const struct roce_pkt *pkt,
	struct roce_qp *const *qp, unsigned n)
{
	unsigned first = 0;

	for (unsigned i = 0; i < n; i++) {
		uint8_t is = pkt[i].opflags & ROCE_OPF_RESPONSE;

		roce_shard_rx(s->engine, now_ns, &pkt[i], qp[i]);
		if (i + 1 == n || (pkt[i + 1].opflags & ROCE_OPF_RESPONSE) != is) {
			ndd_cycles_mark(s->cycles, is ? NDD_STAGE_completer : NDD_STAGE_responder,
				i + 1 - first);
			first = i + 1;
		}
	}
}

static void
rx_burst(struct ndd_shard *s, uint64_t now_ns, struct rte_mbuf **m, unsigned n)
{
	struct roce_pkt pkt[NDD_BURST];
	struct rte_mbuf *own[NDD_BURST];
	struct roce_qp *qp[NDD_BURST];
	uint32_t touched = 0, bytes = 0;
	unsigned owned = 0;

	s->count.rx_frames += n;
	ndd_cycles_mark(s->cycles, NDD_STAGE_rx, n);
	for (unsigned i = 0; i < n; i++) {
		struct rte_mbuf *f = in_one_piece(s, m[i]);
		enum roce_wire_err err;
		uint32_t place, to;

		if (f == NULL)
			continue;
		bytes += f->data_len;
		err = roce_wire_parse(rte_pktmbuf_mtod(f, uint8_t *), f->data_len, &pkt[owned]);
		if (unlikely(s->plane->checks_icrc != 0) && err == ROCE_WIRE_OK)
			pkt[owned].icrc_checked = icrc_is_checked(s, f, &pkt[owned]);
		place = roce_qpn_place(&s->plane->qpn_key, pkt[owned].qpn);
		to = ndd_route(s->plane->shards, err, &pkt[owned], place);
		if (to == s->id) {
			qp[owned] = roce_shard_rx_seek(s->engine, place, &pkt[owned]);
			own[owned++] = f;
		} else if (unlikely(to == NDD_ROUTE_DROP)) {
			count_invalid(&s->count, err);
			rte_pktmbuf_free(f);
		} else if (unlikely(to == NDD_ROUTE_GROUP)) {
			ndd_lcore_multicast(s, now_ns, f, &pkt[owned], &touched);
			rte_pktmbuf_free(f);
		} else if (to == NDD_ROUTE_CONTROL) {
			pass_up(s, f, err == ROCE_WIRE_OK ? &pkt[owned] : NULL, &touched);
		} else {
			pass_on(s, f, to, &touched);
		}
	}
	s->small_in = ndd_small_after(s->small_in, n, bytes);
	ndd_cycles_mark(s->cycles, NDD_STAGE_parse, n);
	if (unlikely(s->cycles != NULL))
		run_counted(s, now_ns, pkt, qp, owned);
	else
		for (unsigned i = 0; i < owned; i++)
			roce_shard_rx(s->engine, now_ns, &pkt[i], qp[i]);
	rte_pktmbuf_free_bulk(own, owned);
	if (touched != 0)
		ndd_lcore_wake(s, touched);
}

/* Frames of one source in this turn. */
struct rx_source {
	unsigned frames;      /* so far */
	unsigned asked, last; /* the last burst: of so many at most, and what it brought */
};

/* A first burst always; another if the last was full, and it is early. */
static bool
rx_asks(const struct ndd_shard *s, uint64_t now_ns, struct rx_source *from)
{
	const bool again = from->asked != 0;

	if (again && (from->last < from->asked || from->frames >= NDD_RX_FRAMES ||
			     !ndd_turn_is_within(now_ns, NDD_RX_MORE_NS)))
		return false;
	from->asked = ndd_burst_of(s->small_in);
	return true;
}

static void
rx_brought(struct ndd_shard *s, uint64_t now_ns, struct rx_source *from, struct rte_mbuf **m,
	unsigned n)
{
	from->last = n;
	from->frames += n;
	if (n != 0)
		rx_burst(s, now_ns, m, n);
}

static unsigned
rx_ends(const struct rx_source *from, unsigned *advance)
{
	if (from->last == from->asked && (*advance == 0 || from->frames < *advance))
		*advance = from->frames;
	return from->frames;
}

static unsigned
rx_port(struct ndd_shard *s, uint64_t now_ns, struct port *p, uint32_t port, unsigned *advance)
{
	struct rx_source from = {0};
	struct rte_mbuf *m[NDD_BURST];

	while (rx_asks(s, now_ns, &from)) {
		unsigned n = port_rx_burst(p, m, (uint16_t)from.asked);

		for (unsigned i = 0; i < n; i++)
			m[i]->port = (uint16_t)port; /* our number, not ethdev's */
		rx_brought(s, now_ns, &from, m, n);
	}
	return rx_ends(&from, advance);
}

static unsigned
rx_ring(struct ndd_shard *s, uint64_t now_ns, struct rte_ring *ring, unsigned *advance)
{
	struct rx_source from = {0};
	struct rte_mbuf *m[NDD_BURST];

	while (rx_asks(s, now_ns, &from))
		rx_brought(s, now_ns, &from, m,
			rte_ring_sc_dequeue_burst(ring, (void **)m, from.asked, NULL));
	return rx_ends(&from, advance);
}

static unsigned
rx_inner(struct ndd_shard *s, uint64_t now_ns)
{
	struct ndd_out *in = &s->inner;
	unsigned n = 0;

	while (in->n != 0 && n < NDD_BURST &&
		(n == 0 || ndd_turn_is_within(now_ns, NDD_INNER_MORE_NS))) {
		unsigned burst = RTE_MIN(in->n, ndd_burst_of(s->small_in));

		rx_burst(s, now_ns, in->m, burst);
		ndd_out_advance(in, burst);
		n += burst;
	}
	s->count.loopback += n;
	return n;
}

unsigned
ndd_lcore_inner(struct ndd_shard *s, uint64_t now_ns)
{
	unsigned n = rx_inner(s, now_ns);

	if (s->looped_n != 0)
		n += ndd_lcore_looped(s, now_ns);
	if (n != 0)
		ndd_cycles_mark(s->cycles, NDD_STAGE_rx, 0);
	return n;
}

/* Of a shard that owns no port. */
static unsigned
rx_queues(struct ndd_shard *s, uint64_t now_ns, unsigned *advance)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < s->plane->ports; i++)
		if (s->queue[i] != NULL)
			n += rx_port(s, now_ns, s->queue[i], i, advance);
	return n;
}

unsigned
ndd_lcore_rx(struct ndd_shard *s, uint64_t now_ns, unsigned *advance)
{
	const struct ndd_plane *p = s->plane;
	unsigned n = 0;

	*advance = 0;
	if (s->id == NDD_IO_OWNER)
		for (uint32_t i = 0; i < p->ports; i++)
			n += rx_port(s, now_ns, &s->plane->port[i], i, advance);
	else
		n = rx_queues(s, now_ns, advance);
	for (uint32_t from = 0; from < p->shards; from++)
		if (from != s->id)
			n += rx_ring(s, now_ns, p->rings.rx[from][s->id], advance);
	ndd_cycles_mark(s->cycles, NDD_STAGE_rx, 0);
	return n;
}
