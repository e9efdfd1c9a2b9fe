/* SPDX-License-Identifier: BSD-3-Clause */
/* A host: its control thread around the CM, as the daemon has it, and what is due when. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "cm/check.h"

const struct roce_gid *
sim_gid(const struct sim_host *h, bool v6)
{
	return v6 ? &h->gid6 : &h->gid4;
}

static void
name(unsigned address, uint8_t mac[6], struct roce_gid *gid, bool v6)
{
	memcpy(mac, (const uint8_t[6]){2, 0, 0, 0, (uint8_t)address, 1}, 6);
	if (v6)
		*gid = (struct roce_gid){{0x20, 0x01, 0x0d, 0xb8, [15] = (uint8_t)(address + 1)}};
	else
		roce_gid_from_v4(gid, (const uint8_t[4]){192, 0, 2, (uint8_t)(address + 1)});
}

/* To the host that has that address. */
struct roce_path
sim_path_to(const struct sim_host *from, unsigned address, bool v6)
{
	struct roce_path p = {.sgid = *sim_gid(from, v6), .ttl = 64};

	memcpy(p.smac, from->mac, 6);
	name(address, p.dmac, &p.dgid, v6);
	for (unsigned i = 0; i < from->w->n_hosts; i++)
		if (from->w->hosts[i].address == address)
			memcpy(p.dmac, from->w->hosts[i].mac, 6);
	return p;
}

struct roce_path
sim_path(const struct sim_host *from, const struct sim_host *to, bool v6)
{
	return sim_path_to(from, to->address, v6);
}

static void
make_cm(struct sim_host *h)
{
	const struct roce_cm_cfg cfg = {
		.max_active = h->max_conns,
		.max_passive = h->max_conns,
		.max_listeners = 4,
		.secret = {sim_unique(h->w), sim_unique(h->w)}, /* its ids are always new */
		.ca_guid = UINT64_C(0x0200000000fffe00) + h->address,
		.req_first_retry_ns = 20 * SIM_MS,
		.give_up_ns = 60 * SIM_S,
		.max_retries = 15,
	};
	const struct roce_cm_addr any = {.port = SIM_PORT};

	h->cm = roce_cm_init(sim_alloc(h->w, roce_cm_bytes(&cfg)), &cfg);
	h->listener = roce_cm_listen(h->cm, &any, 0, h->backlog, h, NULL);
	sim_check(h->w, h->listener != NULL, "roce_cm_listen()");
	h->lookups = roce_cm_sidr_listen(
		h->cm, &(struct roce_cm_addr){.port = SIM_UD_PORT}, 0, 0, h, NULL);
	sim_check(h->w, h->lookups != NULL, "roce_cm_sidr_listen()");
}

void
sim_host_init(struct sim_world *w, unsigned number, const struct sim_host *before)
{
	struct sim_host *h = &w->hosts[number];
	bool same = before != NULL && !sim_chance(w, 2000);
	unsigned a = before != NULL ? before->address : number;
	uint32_t was;

	h->w = w;
	h->number = number;
	h->n_shards = same ? before->n_shards
			   : 1 + (unsigned)sim_below(w, sim_chance(w, 5000) ? 2 : SIM_SHARDS_MAX);
	h->secret[0] = same ? before->secret[0] : sim_unique(w);
	h->secret[1] = same ? before->secret[1] : sim_unique(w);
	roce_qpn_key_init(&h->qpn_key, h->secret);
	h->address = a;
	name(a, h->mac, &h->gid4, false);
	name(a, h->mac, &h->gid6, true);
	h->die_ns = h->restart_ns = SIM_NEVER;
	sim_ring_init(&h->port, UINT_MAX);
	sim_ring_init(&h->control_rx, w->ring_room);
	sim_ring_init(&h->control_tx, w->ring_room);
	was = sim_actor_set(w, SIM_ACTOR_HOST(number));
	h->mad_psn = (uint32_t)sim_rand(w) & ROCE_PSN_MASK;
	for (unsigned i = 0; i < h->n_shards; i++)
		sim_shard_init(&h->shard[i], h, i);
	sim_full_plan(h);
	make_cm(h);
	h->next_ns = SIM_NEVER;
	sim_actor_set(w, was);
}

void
sim_host_free(struct sim_host *h)
{
	for (unsigned i = 0; i < h->n_shards; i++) {
		struct sim_shard *sh = &h->shard[i];

		for (unsigned from = 0; from < SIM_SHARDS_MAX; from++)
			sim_ring_free(&sh->rx[from]);
		sim_ring_free(&sh->tx);
		sim_ring_free(&sh->out);
	}
	sim_ring_free(&h->port);
	sim_ring_free(&h->control_rx);
	sim_ring_free(&h->control_tx);
}

void
sim_host_wake(struct sim_host *h, uint64_t at_ns)
{
	if (at_ns < h->next_ns)
		h->next_ns = at_ns;
}

void
sim_host_wake_all(struct sim_host *h)
{
	sim_host_wake(h, h->w->now_ns);
	for (unsigned i = 0; i < h->n_shards; i++)
		sim_shard_wake(&h->shard[i], h->w->now_ns);
}

/* ---- the control thread ---- */

static void
control_rx(struct sim_host *h)
{
	struct sim_frame *f;
	struct roce_pkt pkt;

	while ((f = sim_ring_take(&h->control_rx)) != NULL) {
		if (roce_wire_parse(f->data, f->bytes, &pkt) == ROCE_WIRE_OK &&
			roce_gsi_is_mad(&pkt) && roce_icrc_ok(&pkt))
			sim_full_rx(h, &pkt);
		free(f);
	}
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

/* A full ring drops it; the CM sends again. */
static void
control_tx(struct sim_host *h, const struct roce_cm_tx *mad)
{
	struct sim_host *to = host_of_gid(h->w, &mad->dgid);
	struct sim_frame *f;
	struct roce_path path;

	if (to == NULL) {
		sim_check(h->w, h->floods > 0, "host %u: MAD to nowhere", h->number);
		return;
	}
	f = sim_frame_new(NULL, ROCE_GSI_FRAME_MAX);
	path = sim_path(h, to, !roce_gid_is_v4(&mad->dgid));
	f->bytes = roce_gsi_build(f->data, &path, h->mad_psn++ & ROCE_PSN_MASK, mad->mad);
	if (!sim_cm_passes(h, to, mad->mad, f)) {
		free(f);
		return;
	}
	if (!sim_ring_put(&h->control_tx, f)) {
		h->w->net.dropped++;
		free(f);
	}
	sim_shard_wake(&h->shard[SIM_IO_OWNER], h->w->now_ns);
}

static void
control_turn(struct sim_host *h)
{
	struct roce_cm_event ev;
	struct roce_cm_tx mad;
	const char *why;

	sim_flood(h);
	control_rx(h);
	roce_cm_tick(h->cm, h->w->now_ns);
	while (roce_cm_event(h->cm, &ev))
		sim_conn_cm_event(h, &ev);
	while (roce_cm_tx(h->cm, &mad))
		control_tx(h, &mad);
	why = roce_cm_check(h->cm);
	sim_check(h->w, why == NULL, "host %u: CM: %s", h->number, why);
	/* What the events called for may have raised others. */
	h->next_ns = roce_cm_next_deadline(h->cm);
	if (h->next_ns <= h->w->now_ns)
		h->next_ns = h->w->now_ns + SIM_US;
}

/* ---- time ---- */

uint64_t
sim_host_next(const struct sim_host *h)
{
	uint64_t t = sim_earlier(h->die_ns, h->restart_ns);

	if (h->dead)
		return t;
	t = sim_earlier(t, h->next_ns);
	for (unsigned i = 0; i < h->n_shards; i++) {
		const struct sim_shard *sh = &h->shard[i];

		t = sim_earlier(t, sh->next_ns);
		t = sim_earlier(t, sh->client.next_ns);
		t = sim_earlier(t, sh->client.mover.next_ns);
	}
	return t;
}

void
sim_host_run(struct sim_host *h)
{
	uint64_t now_ns = h->w->now_ns;

	sim_actor_set(h->w, SIM_ACTOR_HOST(h->number));
	sim_death_run(h);
	for (unsigned i = 0; i < h->n_shards && !h->dead; i++) {
		struct sim_shard *sh = &h->shard[i];

		sim_actor_set(h->w, SIM_ACTOR_SHARD(h->number, i));
		if (sh->client.mover.next_ns <= now_ns)
			sim_mover_run(&sh->client.mover);
		if (sh->client.next_ns <= now_ns)
			sim_client_run(&sh->client);
		if (sh->next_ns <= now_ns)
			sim_shard_turn(sh);
	}
	sim_actor_set(h->w, SIM_ACTOR_HOST(h->number));
	if (h->next_ns <= now_ns && !h->dead)
		control_turn(h);
	sim_actor_set(h->w, SIM_ACTOR_WORLD);
}
