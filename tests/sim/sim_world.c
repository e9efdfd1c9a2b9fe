/* SPDX-License-Identifier: BSD-3-Clause */
/* One seed: set the world up, let it run until every connection is over, check what is left. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"
#include "sim_change.h"
#include "sim_kind.h"
#include "sim_impostor.h"

#define NO_PROGRESS_NS (200 * SIM_S) /* longer than all retries of transport and CM */
#define STEPS_MAX      UINT64_C(3000000)

struct roce_counters sim_counters;
struct roce_cm_counters sim_cm_counters;
struct sim_totals sim_totals;
static jmp_buf failed;
static void report(const struct sim_world *w);

/* The text without numbers; a reason at its end belongs to it. */
static void
note_kind(struct sim_outcome *o, const char *fmt)
{
	const char *reason = strrchr(o->line, ':');
	size_t n = strlen(fmt);

	if (n > 4 && strcmp(fmt + n - 4, ": %s") == 0 && reason != NULL)
		snprintf(o->kind, sizeof(o->kind), "%.*s%s", (int)(n - 4), fmt, reason);
	else
		snprintf(o->kind, sizeof(o->kind), "%s", fmt);
}

void
sim_fail(struct sim_world *w, const char *fmt, ...)
{
	struct sim_outcome *o = w->outcome;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(o->line, sizeof(o->line), fmt, ap);
	va_end(ap);
	note_kind(o, fmt);
	printf("seed %lu (%s): at %lu.%03lu us: %s\n", (unsigned long)w->seed, w->profile->name,
		(unsigned long)(w->now_ns / SIM_US), (unsigned long)(w->now_ns % SIM_US), o->line);
	if (w->run->verbose)
		report(w);
	longjmp(failed, 1);
}

void
sim_hash(struct sim_world *w, uint64_t v)
{
	w->hash = (w->hash ^ v ^ w->now_ns) * UINT64_C(0x9e3779b97f4a7c15);
	w->hash ^= w->hash >> 32;
}

void
sim_note(struct sim_world *w, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	if (!sim_is_noted(w))
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (unsigned i = 0; i < w->run->n_watch; i++)
		w->run->watch[i].seen |= strstr(text, w->run->watch[i].text) != NULL;
	if (w->run->verbose)
		printf("%10lu.%03lu  %s\n", (unsigned long)(w->now_ns / SIM_US),
			(unsigned long)(w->now_ns % SIM_US), text);
}

static void
setup(struct sim_world *w)
{
	w->next_va = UINT64_C(0x7f0000000000);
	w->shard_cfg = (struct roce_shard_cfg){
		.max_qps = 64,
		.max_cqs = 32,
		.max_pds = 8,
		.max_srqs = 1,
		.max_mrs = 256,
		/* Sometimes so few that queue pairs wait for each other. */
		.max_wqes = sim_chance(w, 3000) ? 16 + (uint32_t)sim_below(w, 32) : 1024,
		.rto_floor_ns = sim_chance(w, 5000) ? 10 * SIM_MS : 500 * SIM_US,
		/* Often so small that principals have their share of it under way. */
		.window = 16u << (sim_chance(w, 5000) ? 0 : sim_below(w, 6)),
	};
	sim_impostor_plan(w);
	w->sharing = (unsigned[]){0, 3000, 10000}[sim_below(w, 3)];
	w->net.ns_per_64_bytes = 5u << sim_below(w, 5); /* 100 to 6 Gb/s */
	w->ring_room = w->profile->tight ? 1u << sim_below(w, 4) : 256;
	w->n_hosts = 2 + (unsigned)sim_below(w, SIM_ADDRESSES - 1);
	for (unsigned i = 0; i < w->n_hosts; i++)
		sim_host_init(w, i, NULL);
	w->n_conns = 1 + (unsigned)sim_below(w, SIM_CONNS_MAX / (sim_chance(w, 2500) ? 1 : 2));
	w->conns = sim_alloc(w, w->n_conns * sizeof(*w->conns));
	for (unsigned i = 0; i < w->n_conns; i++)
		sim_conn_init(w, i);
	sim_ud_plan(w);
	sim_sidr_plan(w);
	sim_change_plan(w);
}

/* What happens next, of all that may. */
static uint64_t
next_event(const struct sim_world *w, uint64_t conns_ns)
{
	uint64_t t = sim_earlier(sim_earlier(conns_ns, sim_net_next(w)), w->dialect_ns);

	for (unsigned i = 0; i < w->n_hosts; i++)
		t = sim_earlier(t, sim_host_next(&w->hosts[i]));
	return t;
}

static void
step(struct sim_world *w)
{
	sim_net_deliver(w);
	sim_dialect_run(w);
	for (unsigned i = 0; i < w->n_hosts; i++)
		sim_host_run(&w->hosts[i]);
}

/* What is still there, for the reader of a failure. */
static void
report(const struct sim_world *w)
{
	for (unsigned i = 0; i < 2 * w->n_conns; i++) {
		const struct sim_ep *e = &w->conns[i / 2].ep[i % 2];

		if (e->conn->state == SIM_CONN_OVER || e->gone)
			continue;
		printf("  conn %u%s: state %d, qp state %d, requests %u of %u done (slots %u), "
		       "receives %u of %u (slots %u)%s%s%s%s%s\n",
			i / 2, e->name, e->conn->state,
			e->qp != NULL ? (int)roce_qp_state_get(e->qp) : -1, e->head, e->posted,
			e->page != NULL ? e->page->sq_done : 0, e->recv_head, e->recv_posted,
			e->page != NULL ? e->page->rq_done : 0, e->srq != NULL ? ", shared" : "",
			e->up ? ", up" : "", e->flushing ? ", flushing" : "",
			e->errored ? ", errored" : "", e->cm_over ? ", CM over" : "");
	}
}

static bool
all_over(const struct sim_world *w)
{
	for (unsigned i = 0; i < w->n_conns; i++)
		if (w->conns[i].state != SIM_CONN_OVER)
			return false;
	for (unsigned i = 0; i < w->n_uds; i++)
		if (w->uds[i].state != SIM_UD_OVER)
			return false;
	return sim_sidr_all_over(w);
}

static void
run(struct sim_world *w)
{
	uint64_t conns_ns = 0;

	while (!all_over(w)) {
		uint64_t next = next_event(w, conns_ns);

		w->now_ns = next > w->now_ns ? next : w->now_ns + 1;
		step(w);
		if (w->now_ns >= conns_ns) {
			conns_ns = SIM_NEVER;
			for (unsigned i = 0; i < w->n_conns; i++)
				conns_ns = sim_earlier(conns_ns, sim_conn_step(&w->conns[i]));
			for (unsigned i = 0; i < w->n_uds; i++)
				conns_ns = sim_earlier(conns_ns, sim_ud_step(&w->uds[i]));
			conns_ns = sim_earlier(conns_ns, sim_sidr_step(w));
			conns_ns = sim_earlier(conns_ns, sim_stranger_step(w));
			conns_ns = sim_earlier(conns_ns, sim_impostor_step(w));
			conns_ns = sim_earlier(conns_ns, sim_change_step(w));
		}
		sim_check(w, w->now_ns - w->progress_ns < NO_PROGRESS_NS, "no progress: a hang");
		sim_check(w, ++w->outcome->steps < STEPS_MAX, "too many steps: a livelock");
	}
}

/* Time-wait and the last frames on their way. */
static void
run_out(struct sim_world *w)
{
	/* A SIDR request that came late was answered, and the reply is kept for a while. */
	uint64_t until = w->now_ns + (w->n_asks > 0 ? 45 : 30) * SIM_S;

	for (unsigned i = 0; i < w->n_hosts; i++)
		sim_host_wake_all(&w->hosts[i]);
	for (;;) {
		uint64_t next = next_event(w, SIM_NEVER);

		if (next >= until)
			return;
		w->now_ns = next > w->now_ns ? next : w->now_ns + 1;
		step(w);
		sim_check(w, ++w->outcome->steps < STEPS_MAX, "too many steps: a livelock");
	}
}

/* ---- what is left ---- */

static bool
planned(const struct sim_world *w, enum sim_poison poison)
{
	for (unsigned i = 0; i < w->n_conns; i++)
		if (w->conns[i].poison == poison)
			return true;
	return false;
}

/* How often keepalives asked whether a peer is there. */
static uint64_t
world_probes(const struct sim_world *w)
{
	uint64_t probes = 0;

	for (unsigned h = 0; h < w->n_hosts; h++)
		for (unsigned i = 0; i < w->hosts[h].n_shards; i++)
			probes += roce_shard_counters(w->hosts[h].shard[i].s)->keepalives;
	return probes;
}

static void
check_shard(struct sim_world *w, struct sim_shard *sh)
{
	struct roce_usage u;
	const struct roce_counters *c = roce_shard_counters(sh->s);

	for (unsigned i = 0; i < SIM_CQS; i++)
		sim_check(w, roce_cq_destroy(sh->s, sh->client.cqs[i].cq), "a CQ is still in use");
	sim_srq_destroy(&sh->client.srq);
	sim_mover_destroy(&sh->client.mover);
	sim_check(w, roce_pd_destroy(sh->s, sh->client.pd), "a PD is still in use");
	sim_hog_end(sh);
	roce_shard_usage(sh->s, &u);
	sim_check(w, u.qps + u.cqs + u.pds + u.mrs + u.srqs + u.wqes + u.timers == 0,
		"left over: %u qps, %u cqs, %u pds, %u mrs, %u srqs, %u wqes, %u timers", u.qps,
		u.cqs, u.pds, u.mrs, u.srqs, u.wqes, u.timers);
	sim_check(w,
		c->internal_errors == 0 &&
			(c->client_breaches == 0 || sh->hog.there ||
				planned(w, SIM_POISON_BREACH) || sim_ud_breach_planned(w)) &&
			(c->cq_overruns == 0 || sh->hog.there || planned(w, SIM_POISON_OVERRUN)),
		"counters: %lu internal errors, %lu breaches, %lu overruns",
		(unsigned long)c->internal_errors, (unsigned long)c->client_breaches,
		(unsigned long)c->cq_overruns);
	sim_check(w, w->net.corrupted > 0 || c->rx_icrc_error == 0,
		"%lu ICRC errors without corruption", (unsigned long)c->rx_icrc_error);
	sim_check(w, sim_impostor_explains(w, c->rx_wrong_source_port),
		"%lu packets from a wrong UDP port", (unsigned long)c->rx_wrong_source_port);
	if (strcmp(w->profile->name, "clean") == 0) {
		/* A response may be acknowledged twice while it is being placed. */
		uint64_t ghosts = w->far_used > 0 ? 0 : c->rx_ghost_response;
		/* A probe is a duplicate of what was executed (W-DUP-01). */
		uint64_t probes = world_probes(w);
		uint64_t duplicates = c->rx_duplicate > probes ? c->rx_duplicate - probes : 0;
		uint64_t repairs =
			c->retransmitted_packets + duplicates + c->tx_nak_sequence + ghosts;
		/* Datagrams may take the place of other packets. */
		bool excused =
			c->rx_rnr > 0 || w->n_uds > 0 || w->stalls + w->holds + w->net.dropped > 0;

		sim_check(w, repairs == 0 || excused,
			"clean network: %lu retransmissions, %lu duplicates, %lu NAKs, %lu ghosts",
			(unsigned long)c->retransmitted_packets, (unsigned long)c->rx_duplicate,
			(unsigned long)c->tx_nak_sequence, (unsigned long)c->rx_ghost_response);
	}
}

static void
check_host(struct sim_world *w, struct sim_host *h)
{
	struct roce_cm_usage u;

	roce_cm_unlisten(h->cm, w->now_ns, h->listener);
	roce_cm_unlisten(h->cm, w->now_ns, h->lookups);
	roce_cm_usage(h->cm, &u);
	sim_check(w, u.conns + u.timewait + u.listeners == 0,
		"CM of host %u: left over: %u connections, %u in time-wait, %u listeners",
		h->number, u.conns, u.timewait, u.listeners);
	for (unsigned i = 0; i < h->n_shards; i++) {
		const struct sim_shard *sh = &h->shard[i];
		uint64_t tx = roce_shard_counters(sh->s)->tx_packets;

		sim_check(w, tx == sh->tx_frames,
			"host %u.%u: tx_packets says %lu, %lu frames left", h->number, i,
			(unsigned long)tx, (unsigned long)sh->tx_frames);
		check_shard(w, &h->shard[i]);
	}
}

static void
sum_up(const struct sim_world *w)
{
	sim_totals.packets += w->net.sent;
	sim_totals.handed_over += w->net.handed_over;
	sim_totals.dropped += w->net.dropped;
	sim_totals.completions += w->completions;
	sim_totals.deaths += w->deaths;
	sim_totals.datagrams += w->n_dgrams;
	sim_totals.asks += w->n_asks;
	for (unsigned i = 0; i < SIM_CM_STEPS * SIM_FATES; i++)
		sim_totals.cm_faults[i / SIM_FATES][i % SIM_FATES] +=
			w->cm_faults[i / SIM_FATES][i % SIM_FATES];
}

static void
sum_counters(const struct sim_host *h)
{
	const struct roce_cm_counters *cm;

	if (h->cm == NULL) /* it was not set up */
		return;
	cm = roce_cm_counters(h->cm);

#define ROCE_X(name) sim_cm_counters.name += cm->name;
	ROCE_CM_COUNTERS(ROCE_X)
#undef ROCE_X
	for (unsigned i = 0; i < h->n_shards; i++) {
		const struct roce_counters *c = roce_shard_counters(h->shard[i].s);

#define ROCE_X(name) sim_counters.name += c->name;
		ROCE_COUNTERS(ROCE_X)
#undef ROCE_X
		sim_kinds[SIM_KIND_held] += c->tx_held;
	}
}

static void
print_end(const struct sim_world *w)
{
	printf("seed %lu (%s): %s, %lu steps, %lu completions, %lu frames: %lu lost, %lu twice, "
	       "%lu late, %lu damaged; %lu ms; hash %016lx\n",
		(unsigned long)w->seed, w->profile->name, w->outcome->passed ? "passed" : "failed",
		(unsigned long)w->outcome->steps, (unsigned long)w->completions,
		(unsigned long)w->net.sent, (unsigned long)w->net.lost,
		(unsigned long)w->net.duplicated, (unsigned long)w->net.reordered,
		(unsigned long)w->net.corrupted, (unsigned long)(w->now_ns / SIM_MS),
		(unsigned long)w->hash);
}

bool
sim_run(const struct sim_case *c, struct sim_outcome *o)
{
	/* Static: it outlives the jump from sim_fail(). */
	static struct sim_world w;

	w = (struct sim_world){.seed = c->seed,
		.profile = c->profile,
		.run = c,
		.outcome = o,
		.dialect_ns = SIM_NEVER};
	*o = (struct sim_outcome){.passed = false};
	sim_draws_begin(&w.draws, c->seed, c->script);
	if (setjmp(failed) == 0) {
		setup(&w);
		run(&w);
		run_out(&w);
		for (unsigned i = 0; i < w.n_hosts; i++)
			if (!w.hosts[i].dead)
				check_host(&w, &w.hosts[i]);
		o->passed = true;
	}
	for (unsigned i = 0; i < w.n_hosts; i++)
		sum_counters(&w.hosts[i]);
	sum_up(&w);
	o->hash = w.hash;
	o->packets = w.net.sent;
	o->completions = w.completions;
	o->ns = w.now_ns;
	if (c->verbose)
		print_end(&w);
	for (unsigned i = 0; i < w.n_hosts; i++)
		sim_host_free(&w.hosts[i]);
	sim_net_free(&w);
	sim_free_all(&w);
	return o->passed;
}
