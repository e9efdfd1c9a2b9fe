/* SPDX-License-Identifier: BSD-3-Clause */
/* All counters to the log, in one line per kind, without the zeros (SIGUSR1, and at the end with
 * -v). */
#include <inttypes.h>
#include <stdio.h>

#include "daemon.h"
#include "log.h"

struct line {
	char text[900];
	size_t used;
};

static void
add(struct line *l, const char *name, uint64_t value)
{
	int n;

	if (value == 0 || l->used >= sizeof(l->text))
		return;
	n = snprintf(l->text + l->used, sizeof(l->text) - l->used, " %s=%" PRIu64, name, value);
	if (n > 0)
		l->used += (size_t)n;
}

static void
log_shard(const struct ndd_shard *s)
{
	const struct roce_counters *e = roce_shard_counters(s->engine);
	const struct ndd_io_counters *io = &s->count;
	struct line engine = {.used = 0}, frames = {.used = 0}, objects = {.used = 0};
	struct roce_usage u;

#define X(n) add(&engine, #n, e->n);
	ROCE_COUNTERS(X)
#undef X
#define X(n) add(&frames, #n, io->n);
	NDD_IO_COUNTERS(X)
#undef X
	roce_shard_usage(s->engine, &u);
	add(&objects, "qps", u.qps);
	add(&objects, "cqs", u.cqs);
	add(&objects, "pds", u.pds);
	add(&objects, "mrs", u.mrs);
	add(&objects, "mws", u.mws);
	add(&objects, "wqes", u.wqes);
	add(&objects, "timers", u.timers);
	add(&objects, "sessions", s->sessions);
	ndd_notice("shard %u engine:%s", s->id, engine.text);
	ndd_notice("shard %u frames:%s", s->id, frames.text);
	ndd_notice("shard %u in use:%s", s->id, objects.text);
}

static void
log_port(const struct port *p)
{
	struct rte_eth_stats st = {0};
	struct line l = {.used = 0};

	if (rte_eth_stats_get(p->id, &st) != 0)
		return;
	add(&l, "rx_packets", st.ipackets);
	add(&l, "rx_bytes", st.ibytes);
	add(&l, "rx_missed", st.imissed);
	add(&l, "rx_errors", st.ierrors);
	add(&l, "rx_no_mbufs", st.rx_nombuf);
	add(&l, "tx_packets", st.opackets);
	add(&l, "tx_bytes", st.obytes);
	add(&l, "tx_errors", st.oerrors);
	ndd_notice("port %s:%s", p->device, l.text);
}

/* Counters of other threads are read as they stand: each is one aligned word. */
void
ndd_stats_log(const struct ndd *d)
{
	const struct roce_cm_counters *cm = roce_cm_counters(d->cm);
	const struct net_counters *net = net_counters(d->net);
	struct line cm_line = {.used = 0}, net_line = {.used = 0};
	struct roce_cm_usage u;

	for (uint32_t i = 0; i < d->plane.shards; i++)
		log_shard(d->plane.shard[i]);
	for (uint32_t i = 0; i < d->plane.ports; i++)
		log_port(&d->plane.port[i]);
#define X(n) add(&cm_line, #n, cm->n);
	ROCE_CM_COUNTERS(X)
#undef X
	roce_cm_usage(d->cm, &u);
	add(&cm_line, "connections", u.conns);
	add(&cm_line, "timewait", u.timewait);
	add(&cm_line, "listeners", u.listeners);
#define X(n) add(&net_line, #n, net->n);
	NET_COUNTERS(X)
#undef X
	ndd_notice("CM:%s", cm_line.text);
	ndd_notice("network:%s", net_line.text);
	ndd_notice("sessions: %u", d->session_count);
}
