/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a connection manager, and what it counts. */
#include "cm/manager.h"
#include "cm/retry.h"
#include "cm/stateless.h"
#include "cm/timer.h"

#define CM_FIRST_RETRY_DEFAULT_NS (200 * CM_MS)
#define CM_GIVE_UP_DEFAULT_NS	  (10000 * CM_MS)
#define CM_MAX_CONNS		  (1u << 22)
#define CM_MAX_LISTENERS	  (1u << 16)
/* A job on one host connects its thousands at once; a flood is what goes on at this rate. */
#define CM_RATE_DEFAULT	 4000u
#define CM_BURST_DEFAULT 8000u
#define CM_MAX_RATE	 1000000u

/* Where the arrays lie behind struct roce_cm. */
struct cm_layout {
	size_t conns, listeners, by_port, heap, stateless, sources, buckets[CM_TABLES], total;
	uint32_t n_buckets, n_ports;
};

static size_t
layout_carve(size_t *used, size_t n, size_t bytes)
{
	const size_t at = (*used + 63) & ~(size_t)63;

	*used = at + n * bytes;
	return at;
}

static uint32_t
power_of_two(uint32_t least)
{
	uint32_t n = 16;

	while (n < least)
		n *= 2;
	return n;
}

static bool
cm_layout_of(struct cm_layout *l, const struct roce_cm_cfg *cfg)
{
	const uint32_t conns = cfg->max_active + cfg->max_passive;
	size_t used = sizeof(struct roce_cm);

	if (cfg->max_active > CM_MAX_CONNS || cfg->max_passive > CM_MAX_CONNS - cfg->max_active ||
		conns == 0 || cfg->max_listeners == 0 || cfg->max_listeners > CM_MAX_LISTENERS ||
		cfg->max_retries > CM_RETRIES_MAX || cfg->source_rate > CM_MAX_RATE ||
		cfg->source_burst > CM_MAX_RATE)
		return false;
	l->n_buckets = power_of_two(conns);
	l->n_ports = power_of_two(cfg->max_listeners);
	l->conns = layout_carve(&used, conns, sizeof(struct roce_cm_conn));
	l->listeners = layout_carve(&used, cfg->max_listeners, sizeof(struct roce_cm_listener));
	l->by_port = layout_carve(&used, l->n_ports, sizeof(struct cm_listener_list));
	l->heap = layout_carve(&used, conns, sizeof(struct roce_cm_conn *));
	l->stateless = layout_carve(&used, CM_STATELESS, sizeof(struct cm_answer));
	l->sources = layout_carve(&used, CM_SCOPES * CM_SOURCES, sizeof(struct cm_source));
	for (unsigned t = 0; t < CM_TABLES; t++)
		l->buckets[t] = layout_carve(&used, l->n_buckets, sizeof(struct cm_bucket));
	l->total = used;
	return true;
}

size_t
roce_cm_bytes(const struct roce_cm_cfg *cfg)
{
	struct cm_layout l;

	return cm_layout_of(&l, cfg) ? l.total : 0;
}

struct roce_cm *
roce_cm_init(void *mem, const struct roce_cm_cfg *cfg)
{
	struct roce_cm_listener *listeners;
	struct roce_cm *cm = mem;
	struct cm_layout l;

	if (!cm_layout_of(&l, cfg))
		return NULL;
	cm->cfg = *cfg;
	if (cm->cfg.req_first_retry_ns == 0)
		cm->cfg.req_first_retry_ns = CM_FIRST_RETRY_DEFAULT_NS;
	if (cm->cfg.give_up_ns == 0)
		cm->cfg.give_up_ns = CM_GIVE_UP_DEFAULT_NS;
	if (cm->cfg.source_rate == 0)
		cm->cfg.source_rate = CM_RATE_DEFAULT;
	if (cm->cfg.source_burst == 0)
		cm->cfg.source_burst = CM_BURST_DEFAULT;
	cm->conns = (void *)((uint8_t *)mem + l.conns);
	listeners = (void *)((uint8_t *)mem + l.listeners);
	cm->listeners = (void *)((uint8_t *)mem + l.by_port);
	cm->listener_mask = l.n_ports - 1;
	cm->heap = (void *)((uint8_t *)mem + l.heap);
	cm->stateless = (void *)((uint8_t *)mem + l.stateless);
	cm->sources = (void *)((uint8_t *)mem + l.sources);
	for (unsigned t = 0; t < CM_TABLES; t++)
		cm->buckets[t] = (void *)((uint8_t *)mem + l.buckets[t]);
	cm->bucket_mask = l.n_buckets - 1;
	TAILQ_INIT(&cm->tx_queue);
	TAILQ_INIT(&cm->ev_queue);
	cm_room_init(cm);
	for (uint32_t i = cfg->max_listeners; i-- > 0;)
		LIST_INSERT_HEAD(&cm->free_listeners, &listeners[i], entry);
	return cm;
}

const struct roce_cm_counters *
roce_cm_counters(const struct roce_cm *cm)
{
	return &cm->counters;
}

void
roce_cm_usage(const struct roce_cm *cm, struct roce_cm_usage *u)
{
	*u = cm->usage;
}
