/* SPDX-License-Identifier: BSD-3-Clause */
/* All counters to the log, in one line per kind, without the zeros (SIGUSR1, and at the end with
 * -v). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/daemon.h"
#include "lcore/party.h"
#include "platform/log.h"
#include "metrics/stats.h"

struct line {
	char text[900];
	size_t used;
};

static void
line_add(struct line *l, const char *name, uint64_t value)
{
	int n;

	if (value == 0 || l->used >= sizeof(l->text))
		return;
	n = snprintf(l->text + l->used, sizeof(l->text) - l->used, " %s=%" PRIu64, name, value);
	if (n > 0)
		l->used += (size_t)n;
}

/* The counter of that name in c to the line l. */
#define ADD(name) line_add(&l, #name, c->name);

static void
log_engine(uint32_t shard, const struct roce_counters *c)
{
	struct line l = {.used = 0};

	ROCE_COUNTERS(ADD)
	ndd_notice("shard %u engine:%s", shard, l.text);
}

static void
log_frames(uint32_t shard, const struct ndd_io_counters *c)
{
	struct line l = {.used = 0};

	NDD_IO_COUNTERS(ADD)
	ndd_notice("shard %u frames:%s", shard, l.text);
}

static void
log_usage(const struct ndd_shard *s)
{
	struct line l = {.used = 0};
	struct roce_usage u, *c = &u;

	roce_shard_usage(s->engine, &u);
	ADD(qps)
	ADD(cqs)
	ADD(pds)
	ADD(mrs)
	ADD(mws)
	ADD(srqs)
	ADD(wqes)
	ADD(timers)
	line_add(&l, "sessions", s->sessions);
	ndd_notice("shard %u in use:%s", s->id, l.text);
}

/* Turns with work by their lengths: c17 are those of 2^17 cycles, and less than twice as many. */
static void
add_lengths(struct line *l, const uint64_t *length)
{
	char name[8];

	for (unsigned k = 0; k < NDD_LENGTHS; k++) {
		snprintf(name, sizeof(name), "c%u", k);
		line_add(l, name, length[k]);
	}
}

static void
log_lengths(uint32_t shard, const struct ndd_cycles_copy *c)
{
	struct line l = {.used = 0}, own = {.used = 0};

	add_lengths(&l, c->length);
	ndd_notice("shard %u turns:%s", shard, l.text);
	add_lengths(&own, c->own_length);
	line_add(&own, "overlong", c->overlong);
	ndd_notice("shard %u own turns:%s", shard, own.text);
}

/* What made turns too long. */
static void
log_overlong(uint32_t shard, const struct ndd_cycles_copy *c)
{
	struct line l = {.used = 0};

	line_add(&l, "turns", c->overlong);
#define NDD_X(name, unit) line_add(&l, #name, c->overlong_cycles[NDD_STAGE_##name]);
	NDD_STAGES(NDD_X)
#undef NDD_X
	ndd_notice("shard %u overlong cycles:%s", shard, l.text);
}

/* Telemetry has the items of each stage, too. */
static void
log_cycles(const struct ndd_shard *s)
{
	struct line l = {.used = 0};
	struct ndd_cycles_copy c;

	if (s->cycles == NULL || !ndd_cycles_read(s->cycles, &c))
		return;
	line_add(&l, "turns", c.turns);
#define NDD_X(name, unit) line_add(&l, #name, c.stage[NDD_STAGE_##name].cycles);
	NDD_STAGES(NDD_X)
#undef NDD_X
	ndd_notice("shard %u cycles:%s", s->id, l.text);
	log_lengths(s->id, &c);
	log_overlong(s->id, &c);
}

static void
log_cm(const struct roce_cm *cm)
{
	const struct roce_cm_counters *c = roce_cm_counters(cm);
	struct line l = {.used = 0};
	struct roce_cm_usage u;

	ROCE_CM_COUNTERS(ADD)
	roce_cm_usage(cm, &u);
	line_add(&l, "connections", u.conns);
	line_add(&l, "active", u.active);
	line_add(&l, "timewait", u.timewait);
	line_add(&l, "listeners", u.listeners);
	ndd_notice("CM:%s", l.text);
}

static void
log_net(const struct net_counters *c)
{
	struct line l = {.used = 0};

	NET_COUNTERS(ADD)
	ndd_notice("network:%s", l.text);
}

static void
line_add_counter(void *line, const char *name, uint64_t value)
{
	line_add(line, name, value);
}

static void
log_port(const struct port *p)
{
	struct line l = {.used = 0};

	line_add(&l, "links_up", p->links_up);
	line_add(&l, "links_down", p->links_down);
	p->ops->counters(p, line_add_counter, &l);
	ndd_notice("port %s:%s", p->device, l.text);
}

/* Of its sessions that are there, and those that were since it had none. */
static uint64_t
wakeups_delayed(const struct ndd_principal *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < CONFIG_LCORES_MAX; i++)
		if (p->party[i] != NULL)
			n += p->party[i]->engine.wakeups.delayed;
	return n;
}

/* Of all shards together; what it does not have and was not refused is left out. */
static void
log_principal(const struct ndd_principal *p)
{
	char refused[48];
	struct line l = {.used = 0};

	for (enum config_share k = 0; k < CONFIG_SHARE_COUNT; k++) {
		uint64_t has = 0, not = 0;

		for (uint32_t i = 0; i < CONFIG_LCORES_MAX; i++) {
			has += p->share[i][k].used;
			not += p->share[i][k].refused;
		}
		line_add(&l, config_share_name(k), has / config_share_unit(k));
		(void)snprintf(refused, sizeof(refused), "%s_refused", config_share_name(k));
		line_add(&l, refused, not );
	}
	line_add(&l, "commands_delayed", p->commands_delayed);
	line_add(&l, "wakeups_delayed", wakeups_delayed(p));
	line_add(&l, "refused_sockets", p->strangers.used);
	ndd_notice("principal %s:%s", p->name, l.text);
}

/* Counters of other threads are read as they stand: each is one aligned word. */
void
ndd_stats_log(const struct ndd *d)
{
	const struct ndd_principal *p;

	for (uint32_t i = 0; i < d->plane.shards; i++) {
		const struct ndd_shard *s = d->plane.shard[i];

		log_engine(s->id, roce_shard_counters(s->engine));
		log_frames(s->id, &s->count);
		log_usage(s);
		log_cycles(s);
	}
	for (uint32_t i = 0; i < d->plane.ports; i++)
		log_port(&d->plane.port[i]);
	log_cm(d->cm);
	log_net(net_counters(d->net));
	TAILQ_FOREACH (p, &d->accounts.principals, next)
		log_principal(p);
	ndd_notice("sessions: %u", d->session_count);
}
