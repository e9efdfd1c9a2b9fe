/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A shard's turn: what the daemon's lcore does around the engine, in the order that roce.h asks
 * for. How much of each is done in one turn is left to chance, within the budgets that a real lcore
 * has. Shard 0 owns the port; the others receive and send through it, by rings that drop what finds
 * no room, as a NIC's queue would.
 */
#include <stdlib.h>
#include <string.h>

#include "roce/check.h"
#include "sim.h"
#include "sim_cc.h"
#include "sim_kind.h"
#include "sim_pair.h"

#define RX_BUDGET  32u
#define OUT_MAX	   32u
#define TURN_NS	   (1 * SIM_US)
#define STALL_MAX  (100 * SIM_US)
#define CHECK_ALL  64u /* steps from one check of everything in a shard to the next */
#define IDLE_TURNS 8u  /* a shard polls this often in vain before it rests */

void
sim_shard_init(struct sim_shard *sh, struct sim_host *h, unsigned number)
{
	struct sim_world *w = h->w;
	struct roce_shard_cfg cfg = w->shard_cfg;
	uint32_t was = sim_actor_set(w, SIM_ACTOR_SHARD(h->number, number));
	size_t bytes;

	sh->host = h;
	sh->number = number;
	for (unsigned i = 0; i < SIM_SHARDS_MAX; i++)
		sim_ring_init(&sh->rx[i], w->ring_room);
	sim_ring_init(&sh->tx, w->ring_room);
	sim_ring_init(&sh->out, OUT_MAX);
	cfg.shard_id = number;
	memcpy(cfg.secret, h->secret, sizeof(cfg.secret));
	bytes = roce_shard_bytes(&cfg);
	sim_check(w, bytes > 0, "roce_shard_bytes() refuses the configuration");
	sh->s = roce_shard_init(sim_alloc(w, bytes), &cfg);
	sim_client_init(w, sh);
	sim_hog_init(sh);
	sh->next_ns = SIM_NEVER;
	sim_actor_set(w, was);
}

void
sim_shard_wake(struct sim_shard *sh, uint64_t at_ns)
{
	if (at_ns < sh->stalled_ns)
		at_ns = sh->stalled_ns;
	if (at_ns < sh->next_ns)
		sh->next_ns = at_ns;
	sh->idle_turns = 0;
}

/* ---- receiving ---- */

/* A full ring drops: the peer's retry repairs it. */
static void
hand_over(struct sim_world *w, struct sim_ring *r, struct sim_frame *f)
{
	if (sim_ring_put(r, f)) {
		w->net.handed_over++;
		return;
	}
	w->net.dropped++;
	sim_note(w, "a frame between two shards finds no room");
	free(f);
}

static void
pass_on(struct sim_shard *sh, struct sim_frame *f, unsigned to)
{
	struct sim_shard *other = &sh->host->shard[to];

	hand_over(sh->host->w, &other->rx[sh->number], f);
	sim_shard_wake(other, sh->host->w->now_ns);
}

/* The port's owner has it first, and gives each other shard a copy. */
static void
rx_group(struct sim_shard *sh, const struct sim_frame *f, const struct roce_pkt *pkt)
{
	for (unsigned i = 0; sh->number == SIM_IO_OWNER && i < sh->host->n_shards; i++) {
		struct sim_frame *copy;

		if (i == SIM_IO_OWNER)
			continue;
		copy = sim_frame_new(f->data, f->bytes);
		copy->damaged = f->damaged;
		pass_on(sh, copy, i);
	}
	sim_group_rx(sh, f, pkt);
}

static void
rx_frame(struct sim_shard *sh, struct sim_frame *f)
{
	struct sim_host *h = sh->host;
	struct sim_world *w = h->w;
	struct roce_pkt pkt;
	uint32_t place, shard;
	struct roce_qp *qp;

	if (roce_wire_parse(f->data, f->bytes, &pkt) != ROCE_WIRE_OK) {
		free(f);
		return;
	}
	if (pkt.qpn == ROCE_QPN_GSI) {
		hand_over(w, &h->control_rx, f);
		sim_host_wake(h, w->now_ns);
		return;
	}
	if (pkt.qpn == ROCE_QPN_MULTICAST && w->profile->groups > 0) {
		rx_group(sh, f, &pkt);
		free(f);
		return;
	}
	place = roce_qpn_place(&h->qpn_key, pkt.qpn);
	shard = roce_place_shard(place);
	if (shard != sh->number && shard < h->n_shards) {
		pass_on(sh, f, shard);
		return;
	}
	if (shard == sh->number) { /* else: no such lcore, only a corrupted frame names it */
		if (sim_is_noted(w))
			sim_note(w, "host %u.%u: rx %s qpn %06x psn %06x %u bytes syn %02x",
				h->number, sh->number, roce_opcode_info[pkt.opcode].name, pkt.qpn,
				pkt.psn, pkt.payload_bytes, pkt.syndrome);
		if ((pkt.opflags & ROCE_OPF_RESPONSE) && (pkt.syndrome & 0xe0) == ROCE_SYN_RNR &&
			pkt.opcode == ROCE_ACK)
			sim_rnr_codes[pkt.syndrome & 31]++;
		qp = roce_shard_rx_seek(sh->s, place, &pkt);
		sim_pair_met(qp, &pkt);
		if (!sim_ud_rx(sh, &pkt, qp, f->damaged))
			sim_dialect_rx(sh, f, &pkt, qp);
	}
	free(f);
}

static unsigned
rx_ring(struct sim_shard *sh, struct sim_ring *r)
{
	unsigned budget = 1 + (unsigned)sim_below(sh->host->w, RX_BUDGET), n = 0;
	struct sim_frame *f;

	for (; n < budget && (f = sim_ring_take(r)) != NULL; n++)
		rx_frame(sh, f);
	return n;
}

static unsigned
rx(struct sim_shard *sh)
{
	unsigned n = 0;

	if (sh->number == SIM_IO_OWNER)
		n += rx_ring(sh, &sh->host->port);
	for (unsigned i = 0; i < sh->host->n_shards; i++)
		if (sh->rx[i].count > 0)
			n += rx_ring(sh, &sh->rx[i]);
	return n;
}

bool
sim_shard_has_frames(const struct sim_shard *sh)
{
	const struct sim_host *h = sh->host;

	for (unsigned i = 0; i < h->n_shards; i++)
		if (sh->rx[i].count > 0)
			return true;
	if (sh->out.count > 0)
		return true;
	if (sh->number != SIM_IO_OWNER)
		return false;
	for (unsigned i = 0; i < h->n_shards; i++)
		if (h->shard[i].tx.count > 0)
			return true;
	return h->port.count + h->control_tx.count > 0;
}

/* ---- doorbells and rings ---- */

static struct roce_qp *
rung(const struct sim_client *c, uint32_t index)
{
	if (index < SIM_UD_HANDLES)
		return c->eps[index]->gone ? NULL : c->eps[index]->qp;
	index -= SIM_UD_HANDLES;
	return c->uds[index]->state == SIM_UD_OVER ? NULL : c->uds[index]->qp;
}

static unsigned
doorbells(struct sim_shard *sh)
{
	struct sim_client *c = &sh->client;
	uint64_t summary = ndsh_doorbell_begin(c->session), bits;
	unsigned n = 0;
	uint32_t word;

	ndsh_doorbell_awake(c->session);
	while (ndsh_doorbell_take(c->session, &summary, &word, &bits)) {
		for (; bits != 0; bits &= bits - 1, n++) {
			struct roce_qp *qp = rung(c, word * 64 + (uint32_t)__builtin_ctzll(bits));

			if (qp != NULL)
				roce_qp_doorbell(sh->s, &c->engine, qp);
		}
	}
	return n;
}

/* ---- sending ---- */

static bool
to_ourselves(const struct sim_frame *f)
{
	return memcmp(f->data, f->data + 6, 6) == 0;
}

static void
put(struct sim_shard *sh, struct sim_frame *f)
{
	struct sim_world *w = sh->host->w;

	if (to_ourselves(f)) {
		sim_hash(w, (uint64_t)roce_crc32(0, f->data, f->bytes));
		hand_over(w, &sh->rx[sh->number], f);
	} else {
		sim_check(w, sim_ring_put(&sh->out, f), "more frames than there is room for");
	}
}

static unsigned
room(const struct sim_shard *sh)
{
	const struct sim_ring *own = &sh->rx[sh->number];
	unsigned a = own->room - own->count, b = sh->out.room - sh->out.count;

	return a < b ? a : b;
}

/* Frames of another shard or of the control thread, for the port. */
static unsigned
take_over(struct sim_shard *sh, struct sim_ring *r)
{
	unsigned n = 0;

	for (; r->count > 0 && room(sh) > 0; n++)
		put(sh, sim_ring_take(r));
	return n;
}

/* New frames of the engine, as many as there is room for. */
static unsigned
pull(struct sim_shard *sh)
{
	static uint8_t frames[OUT_MAX][ROCE_FRAME_MAX];
	struct sim_world *w = sh->host->w;
	struct roce_tx_slot slots[OUT_MAX];
	unsigned asked = room(sh), filled;

	if (asked == 0)
		return 0;
	asked = 1 + (unsigned)sim_below(w, asked);
	for (unsigned i = 0; i < asked; i++)
		slots[i] = (struct roce_tx_slot){.buf = frames[i], .port = UINT32_MAX};
	filled = roce_shard_tx(sh->s, w->now_ns, slots, asked);
	sim_check(w, filled <= asked, "roce_shard_tx() filled %u of %u", filled, asked);
	for (unsigned i = 0; i < filled; i++) {
		sim_check(w, slots[i].port == sh->host->number && slots[i].len <= ROCE_FRAME_MAX,
			"bad slot: port %u, %u bytes", slots[i].port, slots[i].len);
		sh->tx_frames++;
		if (sim_hog_frame(slots[i].buf))
			continue;
		sim_wire_check(sh, slots[i].buf, slots[i].len);
		sim_ud_left(&sh->client, slots[i].buf, slots[i].len);
		sim_cc_left(sh, slots[i].buf, slots[i].len);
		put(sh, sim_frame_new(slots[i].buf, slots[i].len));
	}
	return filled;
}

/* Now and then the port, or the ring to its owner, takes nothing. */
static void
flush(struct sim_shard *sh)
{
	struct sim_host *h = sh->host;
	struct sim_frame *f;

	if (sim_chance(h->w, 10))
		return;
	if (sh->number != SIM_IO_OWNER) {
		while (sh->out.count > 0 && sh->tx.count < sh->tx.room)
			(void)sim_ring_put(&sh->tx, sim_ring_take(&sh->out));
		if (sh->tx.count > 0)
			sim_shard_wake(&h->shard[SIM_IO_OWNER], h->w->now_ns);
		return;
	}
	while ((f = sim_ring_take(&sh->out)) != NULL) {
		sim_dialect_send(h, f->data, f->bytes);
		if (sim_group_frame(f->data)) /* to its own members */
			hand_over(h->w, &sh->rx[SIM_IO_OWNER], f);
		else
			free(f);
	}
}

static void
tx(struct sim_shard *sh)
{
	struct sim_host *h = sh->host;
	unsigned n;

	do {
		n = 0;
		if (sh->number == SIM_IO_OWNER) {
			n += take_over(sh, &h->control_tx);
			for (unsigned i = SIM_IO_OWNER + 1; i < h->n_shards; i++)
				n += take_over(sh, &h->shard[i].tx);
		}
		n += pull(sh);
		flush(sh);
	} while (n > OUT_MAX / 2 && !sim_chance(h->w, 1000));
}

/* ---- the turn ---- */

static void
wakeups(struct sim_shard *sh)
{
	struct roce_cq *cq;

	roce_shard_publish(sh->s);
	while ((cq = roce_shard_fired_cq(sh->s, sh->host->w->now_ns)) != NULL) {
		sim_wakeups_count(&sh->client);
		if (roce_cq_owner(cq) == &sh->client.mover)
			sim_mover_wake(&sh->client.mover);
		else
			sim_client_wake(roce_cq_owner(cq));
	}
	sim_mover_check(&sh->client.mover);
	sim_model_wakeups(&sh->client);
}

/* Nothing to do: fall back to doorbells, unless a client rang or posted meanwhile. */
static bool
rest(struct sim_shard *sh)
{
	return roce_shard_rest(sh->s) && ndsh_doorbell_sleep(sh->client.session) &&
	       roce_shard_movers_rest(sh->s);
}

/* Is every queue pair as its invariants say, and now and then all else in the shard? */
static void
check_invariants(const struct sim_shard *sh)
{
	struct sim_world *w = sh->host->w;
	bool all = w->outcome->steps % CHECK_ALL == 0;
	const char *wrong = all ? roce_shard_check(sh->s) : roce_shard_check_qps(sh->s);

	sim_check(w, wrong == NULL, "host %u.%u: %s", sh->host->number, sh->number, wrong);
}

static bool
work(struct sim_shard *sh)
{
	struct sim_world *w = sh->host->w;
	bool rx_empty = rx(sh) == 0, busy = !rx_empty;
	struct roce_event ev;

	busy |= roce_shard_movers(sh->s, w->now_ns) > 0;
	sim_hog_run(sh);
	busy |= doorbells(sh) > 0;
	busy |= roce_shard_poll_rings(sh->s, w->now_ns, 1 + (unsigned)sim_below(w, 16)) > 0;
	if (rx_empty)
		busy |= roce_shard_timers(sh->s, w->now_ns, 1 + (unsigned)sim_below(w, 16)) > 0;
	tx(sh);
	wakeups(sh);
	while (roce_shard_event(sh->s, &ev)) {
		if (!sim_hog_owns(sh, ev.owner))
			sim_conn_shard_event(sh, &ev);
		busy = true;
	}
	sim_srq_check(&sh->client.srq);
	check_invariants(sh);
	return busy || sim_shard_has_frames(sh) || roce_shard_tx_pending(sh->s, w->now_ns);
}

void
sim_shard_turn(struct sim_shard *sh)
{
	struct sim_world *w = sh->host->w;
	uint64_t deadline;

	sh->next_ns = SIM_NEVER;
	if (work(sh)) {
		sh->idle_turns = 0;
		sh->next_ns = w->now_ns + TURN_NS / 2 + sim_below(w, TURN_NS);
		if (sim_chance(w, w->profile->stalls)) /* rings fill up meanwhile */
			sh->stalled_ns = sh->next_ns += sim_below(w, STALL_MAX);
		return;
	}
	if (++sh->idle_turns >= IDLE_TURNS && rest(sh)) {
		deadline = roce_shard_next_deadline(sh->s);
		sh->next_ns = deadline > w->now_ns + TURN_NS ? deadline : w->now_ns + TURN_NS;
	} else { /* a ring that must wait keeps it awake; it polls ever less often */
		sh->next_ns =
			w->now_ns + (TURN_NS << (sh->idle_turns < IDLE_TURNS ? sh->idle_turns : 6));
	}
}
