/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A host: what the daemon's lcore and control thread do around the engine and the
 * CM, in the order that roce.h asks for. How much of each is done in one turn is
 * left to chance, within the budgets that a real host has.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define RX_BUDGET	32u
#define TX_SLOTS	16u
#define TURN_NS		(1 * SIM_US)
#define IDLE_TURNS	8u /* a host polls this often in vain before it rests */

const struct roce_gid *
sim_gid(const struct sim_host *h, bool v6)
{
	return v6 ? &h->gid6 : &h->gid4;
}

struct roce_path
sim_path(const struct sim_host *from, const struct sim_host *to, bool v6)
{
	struct roce_path p = { .sgid = *sim_gid(from, v6), .dgid = *sim_gid(to, v6), .ttl = 64 };

	memcpy(p.smac, from->mac, 6);
	memcpy(p.dmac, to->mac, 6);
	return p;
}

static struct roce_shard *
make_shard(struct sim_world *w, const struct sim_host *h, unsigned id)
{
	struct roce_shard_cfg cfg = w->shard_cfg;
	size_t bytes;

	cfg.shard_id = id;
	memcpy(cfg.secret, h->secret, sizeof(cfg.secret));
	bytes = roce_shard_bytes(&cfg);
	sim_check(w, bytes > 0, "roce_shard_bytes() refuses the configuration");
	return roce_shard_init(sim_alloc(w, bytes), &cfg);
}

static void
make_cm(struct sim_host *h)
{
	const struct roce_cm_cfg cfg = {
		.max_conns = 64,
		.max_listeners = 4,
		.secret = { h->secret[1], h->secret[0] },
		.ca_guid = UINT64_C(0x0200000000fffe00) + h->number,
		.req_first_retry_ns = 20 * SIM_MS,
		.give_up_ns = 60 * SIM_S,
		.max_retries = 30,
	};
	const struct roce_cm_addr any = { .port = SIM_PORT };

	h->cm = roce_cm_init(sim_alloc(h->w, roce_cm_bytes(&cfg)), &cfg);
	h->listener = roce_cm_listen(h->cm, &any, 0, h, NULL);
	sim_check(h->w, h->listener != NULL, "roce_cm_listen()");
}

void
sim_host_init(struct sim_world *w, unsigned number)
{
	struct sim_host *h = &w->hosts[number];

	h->w = w;
	h->number = number;
	h->n_shards = 1 + (unsigned)sim_below(w, SIM_SHARDS_MAX);
	h->secret[0] = sim_rand(w);
	h->secret[1] = sim_rand(w);
	memcpy(h->mac, (const uint8_t[6]){ 2, 0, 0, 0, (uint8_t)number, 1 }, 6);
	roce_gid_from_v4(&h->gid4, (const uint8_t[4]){ 192, 0, 2, (uint8_t)(number + 1) });
	h->gid6 = (struct roce_gid){ { 0x20, 0x01, 0x0d, 0xb8, [15] = (uint8_t)(number + 1) } };
	h->inbox_tail = &h->inbox;
	h->mad_psn = (uint32_t)sim_rand(w) & ROCE_PSN_MASK;
	for (unsigned i = 0; i < h->n_shards; i++) {
		h->shard[i].host = h;
		h->shard[i].s = make_shard(w, h, i);
		sim_client_init(w, &h->shard[i]);
	}
	make_cm(h);
	h->next_ns = SIM_NEVER;
}

void
sim_host_wake(struct sim_host *h, uint64_t at_ns)
{
	if (at_ns < h->next_ns)
		h->next_ns = at_ns;
	h->idle_turns = 0;
}

/* ---- receiving ---- */

static void
rx_frame(struct sim_host *h, const struct sim_frame *f)
{
	struct sim_world *w = h->w;
	struct roce_pkt pkt;
	uint32_t shard;

	if (roce_wire_parse(f->data, f->bytes, &pkt) != ROCE_WIRE_OK)
		return;
	if (w->verbose)
		sim_note(w, "host %u: rx %s qpn %06x psn %06x %u bytes syn %02x", h->number,
			roce_opcode_info[pkt.opcode].name, pkt.qpn, pkt.psn, pkt.payload_bytes,
			pkt.syndrome);
	if (pkt.qpn == ROCE_QPN_GSI) {
		if (roce_gsi_is_mad(&pkt) && roce_icrc_ok(&pkt))
			roce_cm_rx(h->cm, w->now_ns, &pkt, 0);
		return;
	}
	shard = roce_qpn_shard(h->secret, pkt.qpn);
	if (shard >= h->n_shards) /* no such lcore: only a corrupted frame names it */
		return;
	roce_shard_rx_prefetch(h->shard[shard].s, &pkt);
	roce_shard_rx(h->shard[shard].s, w->now_ns, &pkt);
}

static unsigned
rx(struct sim_host *h)
{
	unsigned budget = 1 + (unsigned)sim_below(h->w, RX_BUDGET), n = 0;

	for (; n < budget && h->inbox != NULL; n++) {
		struct sim_frame *f = h->inbox;

		h->inbox = f->next;
		if (h->inbox == NULL)
			h->inbox_tail = &h->inbox;
		rx_frame(h, f);
		free(f);
	}
	return n;
}

/* ---- doorbells and rings ---- */

static unsigned
doorbells(struct sim_shard *sh, uint64_t now_ns)
{
	struct sim_client *c = &sh->client;
	uint64_t summary = ndsh_doorbell_begin(c->session), bits;
	unsigned n = 0;
	uint32_t word;

	ndsh_doorbell_awake(c->session);
	while (ndsh_doorbell_take(c->session, &summary, &word, &bits)) {
		for (; bits != 0; bits &= bits - 1, n++) {
			struct sim_ep *ep = c->eps[word * 64 + (uint32_t)__builtin_ctzll(bits)];

			if (!ep->gone)
				roce_qp_doorbell(sh->s, ep->qp, now_ns);
		}
	}
	return n;
}

/* ---- sending ---- */

static void
tx(struct sim_shard *sh)
{
	static uint8_t frames[TX_SLOTS][ROCE_FRAME_MAX];
	struct sim_host *h = sh->host;
	struct sim_world *w = h->w;
	unsigned asked, filled;

	do {
		struct roce_tx_slot slots[TX_SLOTS];

		asked = 1 + (unsigned)sim_below(w, TX_SLOTS);
		for (unsigned i = 0; i < asked; i++)
			slots[i] = (struct roce_tx_slot){ .buf = frames[i], .port = UINT32_MAX };
		filled = roce_shard_tx(sh->s, w->now_ns, slots, asked);
		sim_check(w, filled <= asked, "roce_shard_tx() filled %u of %u", filled, asked);
		for (unsigned i = 0; i < filled; i++) {
			sim_check(w, slots[i].port == h->number && slots[i].len <= ROCE_FRAME_MAX,
				"bad slot: port %u, %u bytes", slots[i].port, slots[i].len);
			h->tx_frames++;
			sim_net_send(w, h->number, slots[i].buf, slots[i].len);
		}
	} while (filled == asked && !sim_chance(w, 1000)); /* now and then the port is full */
}

static struct sim_host *
host_of_gid(struct sim_world *w, const struct roce_gid *gid)
{
	for (unsigned i = 0; i < w->n_hosts; i++)
		if (roce_gid_equal(gid, &w->hosts[i].gid4) ||
			roce_gid_equal(gid, &w->hosts[i].gid6))
			return &w->hosts[i];
	return NULL;
}

static bool
cm_turn(struct sim_host *h)
{
	struct sim_world *w = h->w;
	uint8_t frame[ROCE_GSI_FRAME_MAX];
	struct roce_cm_event ev;
	struct roce_cm_tx mad;
	bool any = false;

	while (roce_cm_event(h->cm, &ev)) {
		sim_conn_cm_event(h, &ev);
		any = true;
	}
	while (roce_cm_tx(h->cm, &mad)) {
		struct sim_host *to = host_of_gid(w, &mad.dgid);
		struct roce_path path;

		sim_check(w, to != NULL, "host %u: MAD to nowhere", h->number);
		path = sim_path(h, to, !roce_gid_is_v4(&mad.dgid));
		h->tx_mads++;
		sim_net_send(w, h->number, frame,
			roce_gsi_build(frame, &path, h->mad_psn++ & ROCE_PSN_MASK, mad.mad));
		any = true;
	}
	return any;
}

/* ---- the turn ---- */

static void
wakeups(struct sim_shard *sh)
{
	struct roce_cq *cq;

	roce_shard_publish(sh->s);
	while ((cq = roce_shard_fired_cq(sh->s)) != NULL)
		if (roce_cq_owner(cq) == &sh->client.mover)
			sim_mover_wake(&sh->client.mover);
		else
			sim_client_wake(roce_cq_owner(cq));
	sim_mover_check(&sh->client.mover);
	sim_model_wakeups(&sh->client);
}

static bool
shard_turn(struct sim_shard *sh, bool rx_empty)
{
	struct sim_world *w = sh->host->w;
	struct roce_event ev;
	bool busy = roce_shard_movers(sh->s, w->now_ns) > 0;

	busy |= doorbells(sh, w->now_ns) > 0;
	busy |= roce_shard_poll_rings(sh->s, w->now_ns, 1 + (unsigned)sim_below(w, 16)) > 0;
	if (rx_empty)
		busy |= roce_shard_timers(sh->s, w->now_ns, 1 + (unsigned)sim_below(w, 16)) > 0;
	tx(sh);
	wakeups(sh);
	while (roce_shard_event(sh->s, &ev)) {
		sim_conn_shard_event(sh, &ev);
		busy = true;
	}
	sim_srq_check(&sh->client.srq);
	return busy || roce_shard_tx_pending(sh->s);
}

/* Nothing to do: fall back to doorbells, unless somebody rang or posted meanwhile. */
static bool
rest(struct sim_host *h, uint64_t *deadline)
{
	*deadline = roce_cm_next_deadline(h->cm);
	for (unsigned i = 0; i < h->n_shards; i++) {
		struct sim_shard *sh = &h->shard[i];
		uint64_t d = roce_shard_next_deadline(sh->s);

		if (!roce_shard_rest(sh->s) || !ndsh_doorbell_sleep(sh->client.session) ||
			!roce_shard_movers_rest(sh->s))
			return false;
		if (d < *deadline)
			*deadline = d;
	}
	return true;
}

void
sim_host_turn(struct sim_host *h)
{
	struct sim_world *w = h->w;
	bool rx_empty = rx(h) == 0, busy = h->inbox != NULL;
	uint64_t deadline;

	for (unsigned i = 0; i < h->n_shards; i++)
		busy |= shard_turn(&h->shard[i], rx_empty);
	roce_cm_tick(h->cm, w->now_ns);
	busy |= cm_turn(h);
	if (busy || !rx_empty) {
		h->idle_turns = 0;
		h->next_ns = w->now_ns + TURN_NS / 2 + sim_below(w, TURN_NS);
		return;
	}
	if (++h->idle_turns >= IDLE_TURNS && rest(h, &deadline))
		h->next_ns = deadline > w->now_ns + TURN_NS ? deadline : w->now_ns + TURN_NS;
	else /* a ring that must wait keeps the host awake; it looks ever less often */
		h->next_ns = w->now_ns +
			(TURN_NS << (h->idle_turns < IDLE_TURNS ? h->idle_turns : 6));
}
