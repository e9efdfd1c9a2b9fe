/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "cm/private.h"

#define CM_MAX_CONNS	 (1u << 22)
#define CM_MAX_LISTENERS (1u << 16)

/* ---- memory ---- */

/* Where the arrays lie behind struct roce_cm. */
struct layout {
	size_t conns, listeners, heap, stateless, buckets[CM_TABLES], total;
	uint32_t n_buckets;
};

static size_t
carve(size_t *used, size_t n, size_t bytes)
{
	const size_t at = (*used + 63) & ~(size_t)63;

	*used = at + n * bytes;
	return at;
}

static bool
layout_of(struct layout *l, const struct roce_cm_cfg *cfg)
{
	size_t used = sizeof(struct roce_cm);

	if (cfg->max_conns == 0 || cfg->max_conns > CM_MAX_CONNS || cfg->max_listeners == 0 ||
		cfg->max_listeners > CM_MAX_LISTENERS)
		return false;
	for (l->n_buckets = 16; l->n_buckets < cfg->max_conns; l->n_buckets *= 2)
		;
	l->conns = carve(&used, cfg->max_conns, sizeof(struct roce_cm_conn));
	l->listeners = carve(&used, cfg->max_listeners, sizeof(struct roce_cm_listener));
	l->heap = carve(&used, cfg->max_conns, sizeof(struct roce_cm_conn *));
	l->stateless = carve(&used, CM_STATELESS, sizeof(struct roce_cm_tx));
	for (unsigned t = 0; t < CM_TABLES; t++)
		l->buckets[t] = carve(&used, l->n_buckets, sizeof(struct cm_bucket));
	l->total = used;
	return true;
}

size_t
roce_cm_bytes(const struct roce_cm_cfg *cfg)
{
	struct layout l;

	return layout_of(&l, cfg) ? l.total : 0;
}

struct roce_cm *
roce_cm_init(void *mem, const struct roce_cm_cfg *cfg)
{
	struct roce_cm_listener *listeners;
	struct roce_cm *cm = mem;
	struct layout l;

	if (!layout_of(&l, cfg))
		return NULL;
	cm->cfg = *cfg;
	if (cm->cfg.req_first_retry_ns == 0)
		cm->cfg.req_first_retry_ns = CM_FIRST_RETRY_DEFAULT_NS;
	if (cm->cfg.give_up_ns == 0)
		cm->cfg.give_up_ns = CM_GIVE_UP_DEFAULT_NS;
	cm->conns = (void *)((uint8_t *)mem + l.conns);
	listeners = (void *)((uint8_t *)mem + l.listeners);
	cm->heap = (void *)((uint8_t *)mem + l.heap);
	cm->stateless = (void *)((uint8_t *)mem + l.stateless);
	for (unsigned t = 0; t < CM_TABLES; t++)
		cm->buckets[t] = (void *)((uint8_t *)mem + l.buckets[t]);
	cm->bucket_mask = l.n_buckets - 1;
	cm->next_tid = (uint32_t)cfg->secret[1];
	TAILQ_INIT(&cm->tx_queue);
	TAILQ_INIT(&cm->ev_queue);
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

/* ---- life and end of a connection ---- */

struct roce_cm_conn *
cm_conn_new(struct roce_cm *cm, enum cm_state state)
{
	struct roce_cm_conn *c = LIST_FIRST(&cm->free_conns);

	if (c != NULL) {
		LIST_REMOVE(c, list_entry);
	} else if (cm->fresh_conns < cm->cfg.max_conns) {
		/* Memory that a large table never needs is never touched. */
		c = &cm->conns[cm->fresh_conns++];
	} else {
		cm->counters.no_resources++;
		return NULL;
	}
	memset(c, 0, sizeof(*c));
	c->state = (uint8_t)state;
	c->local_id = cm_new_id(cm);
	cm_table_link(cm, c, CM_BY_LOCAL_ID);
	cm->usage.conns++;
	return c;
}

/* What may still be waiting to be sent in each state. */
static const uint8_t tx_allowed[CM_STATES] = {
	[CM_REQ_SENT] = CM_TX_REQ,
	[CM_MRA_REQ_RCVD] = CM_TX_REQ,
	[CM_REP_RCVD] = CM_TX_MRA,
	[CM_MRA_REP_SENT] = CM_TX_MRA,
	[CM_REQ_RCVD] = CM_TX_MRA,
	[CM_MRA_REQ_SENT] = CM_TX_MRA,
	[CM_REP_SENT] = CM_TX_REP,
	[CM_MRA_REP_RCVD] = CM_TX_REP,
	[CM_ESTABLISHED] = CM_TX_RTU,
	[CM_DREQ_SENT] = CM_TX_RTU | CM_TX_DREQ,
	[CM_TIMEWAIT] = CM_TX_DREP | CM_TX_REJ,
	[CM_DEAD] = CM_TX_DREP | CM_TX_REJ | CM_TX_SIDR,
	[CM_SIDR_SENT] = CM_TX_SIDR,
	[CM_SIDR_ANSWERED] = CM_TX_SIDR,
};

static bool
is_request(enum cm_state state)
{
	return state == CM_REQ_RCVD || state == CM_MRA_REQ_SENT || state == CM_SIDR_RCVD;
}

/* Over, but its ids are kept for a while. */
static bool
rests(enum cm_state state)
{
	return state == CM_TIMEWAIT || state == CM_SIDR_ANSWERED;
}

static bool
is_question(enum cm_state state)
{
	return state == CM_SIDR_RCVD || state == CM_SIDR_ANSWERED;
}

void
cm_conn_state(struct roce_cm *cm, struct roce_cm_conn *c, enum cm_state state)
{
	if (c->listener != NULL && !is_request(state)) {
		LIST_REMOVE(c, list_entry);
		c->listener->pending--;
		c->listener = NULL;
	}
	if (c->state == CM_TIMEWAIT) {
		cm->refused -= c->refused;
		c->refused = false;
	}
	cm->sidr_requests -= is_question(c->state) && !is_question(state);
	cm->usage.timewait -= rests(c->state);
	cm->usage.timewait += rests(state);
	c->state = (uint8_t)state;
	cm_tx_set(cm, c, c->tx & tx_allowed[state]);
	cm_timer_cancel(cm, c);
}

void
cm_conn_timewait(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c)
{
	cm_conn_state(cm, c, CM_TIMEWAIT);
	cm_table_unlink(c, CM_BY_REMOTE_QPN);
	cm_timer_set(cm, c, now_ns + cm_timewait_ns(c->ack_timeout));
}

/* Give the memory back as soon as nobody needs it any more. */
void
cm_conn_put(struct roce_cm *cm, struct roce_cm_conn *c)
{
	if (c->state != CM_DEAD || c->host_holds || c->tx != 0)
		return;
	c->state = CM_FREE;
	LIST_INSERT_HEAD(&cm->free_conns, c, list_entry);
	cm->usage.conns--;
}

void
cm_conn_dead(struct roce_cm *cm, struct roce_cm_conn *c)
{
	cm_conn_state(cm, c, CM_DEAD);
	for (enum cm_table t = 0; t < CM_TABLES; t++)
		cm_table_unlink(c, t);
	cm_conn_put(cm, c);
}

/* ---- private data ---- */

void
cm_set_in_priv(struct roce_cm_conn *c, const uint8_t *priv, uint32_t bytes)
{
	memcpy(c->in_priv, priv, bytes);
	c->in_priv_bytes = (uint16_t)bytes;
}

bool
cm_set_out_priv(struct roce_cm_conn *c, const void *priv, uint32_t bytes, uint32_t room)
{
	if (bytes > room)
		return false;
	memset(c->out_priv, 0, sizeof(c->out_priv));
	if (bytes > 0)
		memcpy(c->out_priv, priv, bytes);
	c->out_priv_bytes = (uint16_t)bytes;
	return true;
}

/* ---- events ---- */

#define EV_BIT(type) (1u << (type))

/* Events that end what the host knows of the connection; they come last and once. */
#define EV_ENDS                                                                                    \
	(EV_BIT(ROCE_CM_EV_REJECTED) | EV_BIT(ROCE_CM_EV_UNREACHABLE) |                            \
		EV_BIT(ROCE_CM_EV_DISCONNECTED))

static void
event_queue(struct roce_cm *cm, struct roce_cm_conn *c, uint32_t events)
{
	if (c->events == 0 && events != 0)
		TAILQ_INSERT_TAIL(&cm->ev_queue, c, ev_entry);
	if (c->events != 0 && events == 0)
		TAILQ_REMOVE(&cm->ev_queue, c, ev_entry);
	c->events = (uint16_t)events;
}

/* A request that the host has not seen: it takes the handle together with the event. */
void
cm_event_request(struct roce_cm *cm, struct roce_cm_conn *c, enum roce_cm_event_type type)
{
	event_queue(cm, c, EV_BIT(type));
}

void
cm_event_forget(struct roce_cm *cm, struct roce_cm_conn *c)
{
	event_queue(cm, c, 0);
}

void
cm_event_raise(struct roce_cm *cm, struct roce_cm_conn *c, enum roce_cm_event_type type)
{
	uint32_t events = c->events;

	if (!c->host_holds) {
		/* Destroyed, or a request that ended before the host saw it: nobody to tell. */
		cm_event_forget(cm, c);
		return;
	}
	if ((EV_BIT(type) & EV_ENDS) != 0)
		events &= ~EV_BIT(ROCE_CM_EV_REPLY); /* too late to complete */
	event_queue(cm, c, events | EV_BIT(type));
}

static bool
asks(enum roce_cm_event_type type)
{
	return type == ROCE_CM_EV_REQUEST || type == ROCE_CM_EV_SIDR_REQUEST;
}

static void
event_fill(struct roce_cm_event *ev, enum roce_cm_event_type type, struct roce_cm_conn *c)
{
	memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->conn = c;
	ev->owner = asks(type) ? c->listener->owner : c->owner;
	ev->local = c->local;
	ev->remote = c->remote;
	ev->port = c->port;
	ev->tos = c->tos;
	ev->hop_limit = c->hop_limit;
	ev->flow_label = c->flow_label;
	ev->mtu_code = c->mtu_code;
	ev->peer = c->peer;
	ev->ack_timeout = type == ROCE_CM_EV_REPLY ? c->reply_ack_timeout : c->ack_timeout;
	ev->q_key = c->q_key;
	if (type == ROCE_CM_EV_REJECTED || type == ROCE_CM_EV_SIDR_REPLY)
		ev->reason = c->ev_reason;
	if (type == ROCE_CM_EV_DISCONNECTED || type == ROCE_CM_EV_SIDR_REPLY) {
		ev->by_peer = c->ev_by_peer;
		ev->timed_out = c->ev_timed_out;
	}
	if (asks(type) || type == ROCE_CM_EV_REPLY || type == ROCE_CM_EV_REJECTED ||
		type == ROCE_CM_EV_SIDR_REPLY) {
		memcpy(ev->priv, c->in_priv, c->in_priv_bytes);
		ev->priv_bytes = c->in_priv_bytes;
	}
}

bool
roce_cm_event(struct roce_cm *cm, struct roce_cm_event *ev)
{
	struct roce_cm_conn *c = TAILQ_FIRST(&cm->ev_queue);
	enum roce_cm_event_type type = ROCE_CM_EV_REQUEST;

	if (c == NULL)
		return false;
	/* A connection's events in the order in which they can happen. */
	while ((c->events & EV_BIT(type)) == 0)
		type++;
	event_fill(ev, type, c);
	event_queue(cm, c, c->events & ~EV_BIT(type));
	if (asks(type))
		c->host_holds = true;
	return true;
}

void
roce_cm_set_owner(struct roce_cm_conn *conn, void *owner)
{
	conn->owner = owner;
}
