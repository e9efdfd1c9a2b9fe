/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random walk: two connection managers, each in both roles, over a network that loses,
 * doubles and reorders, under hosts that do anything at any time. One seed decides all. Events
 * must come in an order that makes sense, both ends must mean the same connection, every
 * connection must come to an end on both sides, and the pools must be empty then.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cm/cm.h"
#include "rigs/mad_pkt.h"
#include "wire/gsi.h"
#include "wire/icrc.h"
#include "wire/packet.h"

#define MS(n)	((uint64_t)(n)*1000000u)
#define CONNS	512u
#define FRAMES	2048u
#define QPNS	4096u
#define STEPS	3000u
#define SERVICE 5000u
#define SEEDS	100u

enum phase { REQUESTED, ACCEPTED, REPLIED, UP, OVER };

/* What a host knows of one connection. */
struct end {
	struct roce_cm_conn *conn; /* NULL: unused */
	enum phase phase;
	bool active, ending; /* ending: the host asked for the end */
	uint32_t qpn, peer_qpn;
};

struct side {
	struct roce_cm *cm;
	void *mem;
	struct roce_cm_cfg cfg;
	struct roce_gid gid;
	struct end ends[CONNS];
	unsigned requests, established, over;
};

struct frame {
	uint64_t at_ns;
	unsigned to;
	struct roce_cm_tx tx;
};

struct walk {
	uint64_t random, now_ns;
	uint32_t seed, next_qpn, loss_percent;
	struct side side[2];
	struct frame frames[FRAMES];
	unsigned n_frames;
	/*
	 * Half of the walks: small tables and a network so slow that a REQ may outlive all memory
	 * of its connection. In the others, a REQ that makes a second request is a ghost.
	 */
	bool harsh;
	uint8_t seen[QPNS];	  /* by QPN: how often it was in a REQUEST */
	uint32_t answer_to[QPNS]; /* by QPN of an accept: the QPN of the REQ */
};

static uint32_t
draw(struct walk *w, uint32_t below)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)(w->random >> 32) % below;
}

static struct end *
end_new(struct side *s, struct roce_cm_conn *conn)
{
	for (unsigned i = 0; i < CONNS; i++) {
		if (s->ends[i].conn == NULL) {
			s->ends[i] = (struct end){.conn = conn};
			return &s->ends[i];
		}
	}
	cr_assert_fail("too many connections");
	return NULL;
}

static struct end *
end_of(struct side *s, const struct roce_cm_conn *conn)
{
	for (unsigned i = 0; i < CONNS; i++) {
		if (s->ends[i].conn == conn)
			return &s->ends[i];
	}
	return NULL;
}

static uint32_t
new_qpn(struct walk *w)
{
	cr_assert_lt(w->next_qpn, QPNS);
	return w->next_qpn++;
}

/* ---- what hosts do ---- */

static void
do_connect(struct walk *w, struct side *s)
{
	const struct side *to = s == &w->side[0] ? &w->side[1] : &w->side[0];
	const struct roce_cm_connect c = {
		.local = {s->gid, (uint16_t)draw(w, 65536)},
		.remote = {to->gid, (uint16_t)(SERVICE + (draw(w, 10) == 0))},
		.qp = {.qpn = new_qpn(w), .psn = draw(w, 1 << 24), .initiator_depth = 16},
		.mtu_code = 3,
		.ack_timeout = (uint8_t)(14 + draw(w, 6)),
	};
	struct roce_cm_conn *conn = roce_cm_connect(s->cm, w->now_ns, &c);
	struct end *e;

	if (conn == NULL)
		return; /* the table is full: fine */
	e = end_new(s, conn);
	e->active = true;
	e->qpn = c.qp.qpn;
}

static void
do_accept(struct walk *w, struct side *s, struct end *e)
{
	const struct roce_cm_qp_params qp = {.qpn = new_qpn(w), .psn = 5};

	if (!roce_cm_accept(s->cm, w->now_ns, e->conn, &qp, NULL, 0, e))
		return; /* its end is on the way */
	e->qpn = qp.qpn;
	e->phase = ACCEPTED;
	w->answer_to[qp.qpn] = e->peer_qpn;
}

static void
do_destroy(struct walk *w, struct side *s, struct end *e)
{
	roce_cm_destroy(s->cm, w->now_ns, e->conn);
	e->conn = NULL;
	s->over++;
}

static void
do_reject(struct walk *w, struct side *s, struct end *e)
{
	if (roce_cm_reject(s->cm, w->now_ns, e->conn, 28, "no", 2))
		do_destroy(w, s, e);
}

/* The first request can arrive only from a peer that completed. */
static bool
peer_sends(const struct walk *w, const struct side *s, const struct end *e)
{
	const struct side *to = s == &w->side[0] ? &w->side[1] : &w->side[0];

	for (unsigned i = 0; i < CONNS; i++) {
		if (to->ends[i].conn != NULL && to->ends[i].active &&
			to->ends[i].qpn == e->peer_qpn)
			return to->ends[i].phase == UP;
	}
	return false;
}

static void
do_something(struct walk *w, struct side *s)
{
	struct end *e = &s->ends[draw(w, 48)];
	const uint32_t dice = draw(w, 100);

	if (e->conn == NULL)
		return;
	if (dice < 2)
		do_destroy(w, s, e);
	else if (e->phase == OVER)
		do_destroy(w, s, e);
	else if (dice < 5 && !e->ending) {
		e->ending = true;
		roce_cm_disconnect(s->cm, w->now_ns, e->conn);
	} else if (!e->active && e->phase == REQUESTED)
		dice < 80 ? do_accept(w, s, e) : do_reject(w, s, e);
	else if (!e->active && e->phase == ACCEPTED && dice < 20 && peer_sends(w, s, e))
		roce_cm_established(s->cm, w->now_ns, e->conn);
	else if (e->active && e->phase == REPLIED) {
		if (dice >= 90)
			do_reject(w, s, e);
		else if (roce_cm_complete(s->cm, w->now_ns, e->conn))
			e->phase = UP;
	}
}

/* ---- what hosts hear ---- */

static void
on_request(struct walk *w, struct side *s, const struct roce_cm_event *ev)
{
	struct end *e;

	cr_assert_null(end_of(s, ev->conn));
	cr_assert_lt(ev->peer.qpn, w->next_qpn);
	cr_assert(++w->seen[ev->peer.qpn] == 1 || w->harsh, "seed %u: a ghost", w->seed);
	e = end_new(s, ev->conn);
	e->peer_qpn = ev->peer.qpn;
	s->requests++;
}

static void
on_event(struct walk *w, struct side *s, const struct roce_cm_event *ev)
{
	struct end *e = end_of(s, ev->conn);

	if (ev->type == ROCE_CM_EV_REQUEST) {
		on_request(w, s, ev);
		return;
	}
	cr_assert_not_null(e, "seed %u: event %d of a connection that is gone", w->seed, ev->type);
	cr_assert_neq(e->phase, OVER, "seed %u: event %d after the end", w->seed, ev->type);
	switch (ev->type) {
	case ROCE_CM_EV_REPLY:
		cr_assert(e->active && e->phase == REQUESTED && !e->ending);
		cr_assert_eq(w->answer_to[ev->peer.qpn], e->qpn, "seed %u: whose REP?", w->seed);
		e->phase = REPLIED;
		break;
	case ROCE_CM_EV_ESTABLISHED:
		cr_assert(!e->active && e->phase == ACCEPTED);
		e->phase = UP;
		s->established++;
		break;
	case ROCE_CM_EV_DISCONNECTED:
		cr_assert(e->phase == UP || e->ending, "seed %u", w->seed);
		e->phase = OVER;
		break;
	case ROCE_CM_EV_REJECTED:
		cr_assert_neq(e->phase, UP);
		e->phase = OVER;
		break;
	default:
		cr_assert(e->phase == REQUESTED || e->phase == ACCEPTED);
		cr_assert(e->active || e->phase == ACCEPTED);
		e->phase = OVER;
		break;
	}
}

/* ---- network and time ---- */

static void
transmit(struct walk *w, unsigned from, const struct roce_cm_tx *tx)
{
	const unsigned copies = draw(w, 100) < w->loss_percent ? 0 : 1 + (draw(w, 20) == 0);

	for (unsigned i = 0; i < copies; i++) {
		struct frame *f = &w->frames[w->n_frames];

		cr_assert_lt(w->n_frames, FRAMES);
		w->n_frames++;
		f->to = !from;
		f->tx = *tx;
		/* Mostly quick, sometimes after the retransmissions. */
		f->at_ns = w->now_ns +
			   MS(draw(w, 10) > 0 ? draw(w, 5) : draw(w, w->harsh ? 1500 : 200));
	}
}

static void
deliver(struct walk *w, const struct frame *f)
{
	uint8_t l3[ROCE_IPV4_BYTES];
	const struct roce_pkt pkt = mad_pkt(f->tx.mad, &f->tx.sgid, &f->tx.dgid, l3);

	roce_cm_rx(w->side[f->to].cm, w->now_ns, &pkt, 0);
}

static void
step(struct walk *w, uint64_t ns)
{
	struct roce_cm_event ev;
	struct roce_cm_tx tx;

	w->now_ns += ns;
	for (unsigned i = 0; i < w->n_frames;) {
		const struct frame f = w->frames[i];

		if (f.at_ns > w->now_ns) {
			i++;
			continue;
		}
		w->frames[i] = w->frames[--w->n_frames];
		deliver(w, &f);
	}
	for (unsigned i = 0; i < 2; i++) {
		struct side *s = &w->side[i];

		roce_cm_tick(s->cm, w->now_ns);
		/* Hosts do not always look at once. */
		for (unsigned n = draw(w, 4); n > 0 && roce_cm_event(s->cm, &ev); n--)
			on_event(w, s, &ev);
		for (unsigned n = draw(w, 6); n > 0 && roce_cm_tx(s->cm, &tx); n--)
			transmit(w, i, &tx);
	}
}

static void
side_start(struct walk *w, struct side *s, unsigned i)
{
	const struct roce_cm_addr any = {.port = SERVICE};
	const uint8_t v4[4] = {10, 0, 0, (uint8_t)(i + 1)};

	s->cfg = (struct roce_cm_cfg){
		.max_active = w->harsh ? 24 : 150,
		.max_passive = w->harsh ? 24 : 150,
		.max_listeners = 1,
		.secret = {w->random + i, w->seed},
		.ca_guid = 0xabc0 + i,
		.max_retries = 15,
	};
	s->mem = aligned_alloc(64, (roce_cm_bytes(&s->cfg) + 63) & ~(size_t)63);
	memset(s->mem, 0, roce_cm_bytes(&s->cfg));
	s->cm = roce_cm_init(s->mem, &s->cfg);
	roce_gid_from_v4(&s->gid, v4);
	cr_assert_not_null(roce_cm_listen(s->cm, &any, 0, draw(w, 2) * 8, NULL, NULL));
}

/* ---- the walk ---- */

static void
finish(struct walk *w, struct side *s)
{
	for (unsigned i = 0; i < CONNS; i++) {
		struct end *e = &s->ends[i];

		if (e->conn == NULL)
			continue;
		if (e->phase == OVER) {
			do_destroy(w, s, e);
		} else if (!e->ending) {
			e->ending = true;
			roce_cm_disconnect(s->cm, w->now_ns, e->conn);
		}
	}
}

static void
assert_over(const struct walk *w, const struct side *s)
{
	struct roce_cm_usage u;

	for (unsigned i = 0; i < CONNS; i++)
		cr_assert_null(s->ends[i].conn, "seed %u: a connection that never ends", w->seed);
	roce_cm_usage(s->cm, &u);
	cr_assert_eq(u.conns, 0, "seed %u: %u connections left", w->seed, u.conns);
	cr_assert_eq(u.timewait, 0);
	cr_assert_eq(roce_cm_next_deadline(s->cm), UINT64_MAX);
}

static unsigned
walk(uint32_t seed)
{
	struct walk *w = calloc(1, sizeof(*w));
	unsigned established;

	w->seed = seed;
	w->random = 0x9e3779b97f4a7c15ull * (seed + 1);
	w->next_qpn = 2;
	w->harsh = seed % 2 == 1;
	w->loss_percent = draw(w, 4) * 12;
	for (unsigned i = 0; i < 2; i++)
		side_start(w, &w->side[i], i);
	for (unsigned n = 0; n < STEPS; n++) {
		struct side *s = &w->side[draw(w, 2)];

		if (draw(w, 8) == 0)
			do_connect(w, s);
		for (unsigned i = 0; i < 24; i++)
			do_something(w, s);
		step(w, draw(w, 50) > 0 ? MS(draw(w, 60)) : MS(draw(w, 3000)));
	}
	/* Both hosts want to go home. A minute is enough for every retry and every time-wait. */
	for (unsigned n = 0; n < 1500; n++) {
		if (n % 10 == 0 && n < 700) {
			finish(w, &w->side[0]);
			finish(w, &w->side[1]);
		}
		step(w, MS(80));
	}
	assert_over(w, &w->side[0]);
	assert_over(w, &w->side[1]);
	cr_assert_eq(w->n_frames, 0);
	established = w->side[0].established + w->side[1].established;
	free(w->side[0].mem);
	free(w->side[1].mem);
	free(w);
	return established;
}

Test(cm_walk, every_connection_ends_and_nothing_is_left)
{
	unsigned established = 0;

	for (uint32_t seed = 0; seed < SEEDS; seed++)
		established += walk(seed);
	/* The walk is about something only if connections came up at all. */
	cr_expect_gt(established, SEEDS * 20, "only %u connections were established", established);
}
