/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "cm/check.h"
#include "cm/event.h"
#include "cm/manager.h"
#include "cm/retry.h"
#include "cm/stateless.h"

#define CM_CHECK_ALL  64u /* connections of a CM that cm_check_some() checks as a whole */
#define CM_CHECK_SOME 4u
/* What users and sources hold is counted over tables of thousands, so not at each call. */
#define CM_CHECK_COUNTS 128u

enum membership { OUT, IN, EITHER };

/* ---- tables ---- */

/* IN: connections of this state have to be in the table. */
static enum membership
table_wants(const struct roce_cm_conn *c, enum cm_table t)
{
	const enum cm_state state = (enum cm_state)c->state;
	/* The active side knows nothing of the peer before its REP. */
	const bool peer_known = !c->active || (state != CM_REQ_SENT && state != CM_MRA_REQ_RCVD);
	/* The passive side has no queue pair before its host accepts. */
	const bool qp_known = c->active || (state != CM_REQ_RCVD && state != CM_MRA_REQ_SENT);

	if (state == CM_FREE || state == CM_DEAD)
		return OUT;
	if (state == CM_SIDR_SENT || state == CM_SIDR_RCVD || state == CM_SIDR_ANSWERED)
		return t == CM_BY_SIDR_ID ? IN : OUT;
	switch (t) {
	case CM_BY_LOCAL_ID:
		return IN;
	case CM_BY_LOCAL_QPN: /* an accepted connection rests, a refused one never had a QPN */
		return state == CM_TIMEWAIT && !c->active ? EITHER : qp_known ? IN : OUT;
	case CM_BY_REMOTE_ID:
		return state == CM_TIMEWAIT && c->active ? EITHER : peer_known ? IN : OUT;
	case CM_BY_REMOTE_QPN: /* the peer may use it again at once */
		return state != CM_TIMEWAIT && peer_known ? IN : OUT;
	default:
		return OUT;
	}
}

static bool
table_has(const struct roce_cm *cm, const struct roce_cm_conn *c, enum cm_table t)
{
	const struct roce_cm_conn *other;

	LIST_FOREACH (other, cm_table_bucket(cm, c, t), link[t]) {
		if (other == c)
			return true;
	}
	return false;
}

static const char *
conn_check_tables(const struct roce_cm *cm, const struct roce_cm_conn *c)
{
	for (enum cm_table t = 0; t < CM_TABLES; t++) {
		const enum membership wants = table_wants(c, t);
		const bool linked = c->link[t].le_prev != NULL;

		if (linked && wants == OUT)
			return "a connection is in a table that its state does not ask for";
		if (!linked && wants == IN)
			return "a connection is missing from a table";
		if (linked && !table_has(cm, c, t))
			return "a connection is in the wrong bucket";
	}
	return NULL;
}

static const char *
conn_check_ids(const struct roce_cm *cm, const struct roce_cm_conn *c)
{
	const struct roce_cm_conn *other;

	if (c->local_id == 0)
		return "a connection has no id";
	if (c->link[CM_BY_LOCAL_ID].le_prev != NULL) {
		LIST_FOREACH (other, cm_table_bucket(cm, c, CM_BY_LOCAL_ID), link[CM_BY_LOCAL_ID]) {
			if (other != c && other->local_id == c->local_id)
				return "two connections have one id";
		}
	}
	if (c->link[CM_BY_REMOTE_QPN].le_prev != NULL) {
		LIST_FOREACH (
			other, cm_table_bucket(cm, c, CM_BY_REMOTE_QPN), link[CM_BY_REMOTE_QPN]) {
			if (other != c && other->peer.qpn == c->peer.qpn &&
				other->remote_guid == c->remote_guid &&
				roce_gid_equal(&other->remote.gid, &c->remote.gid))
				return "two connections have one queue pair of a peer";
		}
	}
	return NULL;
}

/* ---- one connection ---- */

static const char *
conn_check_timer(const struct roce_cm *cm, const struct roce_cm_conn *c)
{
	const uint32_t i = c->timer_pos - 1;

	if (c->timer_pos == 0)
		return cm_state_facts[c->state].waits ? "a connection waits without a deadline"
						      : NULL;
	if (!cm_state_facts[c->state].waits)
		return "a connection has a deadline that its state does not ask for";
	if (i >= cm->heap_n || cm->heap[i] != c)
		return "a deadline is not where its connection says";
	if (i > 0 && cm->heap[(i - 1) / 2]->deadline_ns > c->deadline_ns)
		return "the heap of deadlines is out of order";
	return NULL;
}

/* A peer is given up in time, however often it has heard the message, but not before it heard it a
 * few times. */
static const char *
conn_check_retries(const struct roce_cm_conn *c)
{
	if (c->retries > c->max_retries)
		return "a message was sent more often than the REQ allows";
	if (cm_state_facts[c->state].repeats != 0 && c->retries > CM_RETRIES_LEAST &&
		c->deadline_ns > c->give_up_ns)
		return "a peer is waited for beyond the end";
	return NULL;
}

/* The host holds each connection that goes on: without the host's handle there are only requests
 * that it has not taken, and exchanges that are over. */
static const char *
conn_check_host(const struct roce_cm_conn *c)
{
	const uint32_t asks =
		CM_EVENT_BIT(ROCE_CM_EV_REQUEST) | CM_EVENT_BIT(ROCE_CM_EV_SIDR_REQUEST);
	const uint32_t ends = c->events & CM_EVENT_ENDS;
	const struct cm_state_facts *facts = &cm_state_facts[c->state];

	if ((ends & (ends - 1)) != 0)
		return "a connection ends twice";
	if (ends != 0 && (c->events & CM_EVENT_BIT(ROCE_CM_EV_REPLY)) != 0)
		return "a connection that ended still has its reply";
	if ((c->events & asks) != 0)
		return c->host_holds || !facts->undecided || c->listener == NULL ||
				       c->events != (c->events & asks)
			       ? "a request that the host has not seen is in another state"
			       : NULL;
	if (c->host_holds)
		return NULL;
	if (c->events != 0)
		return "an event is for a host that holds no handle";
	if (!facts->rests && c->state != CM_DREQ_SENT && c->state != CM_DEAD)
		return "a connection goes on without its host";
	return NULL;
}

static const char *
conn_check(const struct roce_cm *cm, const struct roce_cm_conn *c)
{
	const struct cm_state_facts *facts = &cm_state_facts[c->state];
	const char *why;

	if (c->state >= CM_STATES)
		return "a connection has no such state";
	why = conn_check_tables(cm, c);
	if (why == NULL)
		why = conn_check_timer(cm, c);
	if (why == NULL)
		why = conn_check_retries(c);
	if (why != NULL)
		return why;
	if ((c->tx & ~facts->tx) != 0)
		return "a message is to be sent that its state does not have";
	if (c->listener != NULL && !facts->undecided)
		return "a listener has a request that is decided";
	if (c->refused && c->state != CM_TIMEWAIT)
		return "a refusal is held outside of time-wait";
	if (c->rej_copies != 0 && !c->refused)
		return "a refusal is repeated that is not held";
	if (c->state == CM_FREE)
		return c->events != 0 ? "free memory has an event" : NULL;
	if (c->state == CM_DEAD && !c->host_holds && c->tx == 0)
		return "a dead connection was not given back";
	why = conn_check_ids(cm, c);
	return why != NULL ? why : conn_check_host(c);
}

/* ---- the whole ---- */

/* What the connections add up to. */
struct sums {
	uint32_t free, active, rest, refused, sidr_requests, timers, tx, events, requests;
};

static const char *
conns_check(const struct roce_cm *cm, struct sums *sums)
{
	for (uint32_t i = 0; i < cm->fresh_conns; i++) {
		const struct roce_cm_conn *c = &cm->conns[i];
		const char *why = conn_check(cm, c);

		if (why != NULL)
			return why;
		sums->free += c->state == CM_FREE;
		sums->active += c->state != CM_FREE && c->active;
		sums->rest += cm_state_facts[c->state].rests;
		sums->refused += c->refused;
		sums->sidr_requests += cm_state_facts[c->state].sidr_request;
		sums->timers += c->timer_pos != 0;
		sums->tx += c->tx != 0;
		sums->events += c->events != 0;
		sums->requests += c->listener != NULL;
	}
	return NULL;
}

static const char *
queues_check(const struct roce_cm *cm, struct sums sums)
{
	const struct roce_cm_conn *c;

	TAILQ_FOREACH (c, &cm->tx_queue, tx_entry) {
		if (c->tx == 0 || sums.tx-- == 0)
			return "a connection is to send nothing";
	}
	TAILQ_FOREACH (c, &cm->ev_queue, ev_entry) {
		if (c->events == 0 || sums.events-- == 0)
			return "a connection has no event to take";
	}
	LIST_FOREACH (c, &cm->free_conns, list_entry) {
		if (c->state != CM_FREE || sums.free-- == 0)
			return "memory in use counts as free";
	}
	if (sums.tx != 0 || sums.events != 0 || sums.free != 0)
		return "a connection is missing from its queue";
	return NULL;
}

static const char *
listeners_check(const struct roce_cm *cm, struct sums sums)
{
	uint32_t listeners = 0;

	for (unsigned b = 0; b <= cm->listener_mask; b++) {
		const struct roce_cm_listener *l;

		LIST_FOREACH (l, &cm->listeners[b], entry) {
			const struct roce_cm_conn *c;
			uint32_t pending = 0;

			LIST_FOREACH (c, &l->requests, list_entry) {
				if (c->listener != l || pending++ == l->pending)
					return "a listener has a request that is not its own";
			}
			if (pending != l->pending || pending > l->held)
				return "a listener counts its requests wrong";
			sums.requests -= pending;
			listeners++;
		}
	}
	if (sums.requests != 0)
		return "a request is missing from its listener";
	return listeners != cm->usage.listeners ? "listeners are counted wrong" : NULL;
}

static const char *
users_check(const struct roce_cm *cm)
{
	uint64_t active = 0, passive = 0, promised = 0, sidr_requests = 0;

	for (uint32_t i = 0; i < CM_USERS; i++) {
		active += cm->users[i].active.used;
		passive += cm->users[i].passive;
		sidr_requests += cm->users[i].sidr_requests;
		promised += base_share_promised(&cm->users[i].active, cm->users[i].active.used);
	}
	if (active != cm->usage.active || passive != cm->usage.conns - cm->usage.active ||
		sidr_requests != cm->sidr_requests)
		return "what users hold is counted wrong";
	return promised != cm->active_room.promised ? "what users may have is counted wrong" : NULL;
}

/* Each connection that a peer asked for, and each answer, counts once in each scope. */
static const char *
sources_check(const struct roce_cm *cm)
{
	for (unsigned scope = 0; scope < CM_SCOPES; scope++) {
		const struct cm_source *s = cm->sources + scope * CM_SOURCES;
		uint32_t conns = 0, answers = 0;

		for (uint32_t i = 0; i < CM_SOURCES; i++) {
			conns += s[i].held[CM_CONNS];
			answers += s[i].held[CM_ANSWERS];
		}
		if (conns != cm->usage.conns - cm->usage.active || answers != cm->stateless_n)
			return "what sources hold is counted wrong";
	}
	return NULL;
}

static const char *
conns_and_queues_check(const struct roce_cm *cm)
{
	struct sums sums = {0};
	const char *why = conns_check(cm, &sums);

	if (why == NULL)
		why = queues_check(cm, sums);
	if (why == NULL)
		why = listeners_check(cm, sums);
	if (why != NULL)
		return why;
	if (cm->usage.conns != cm->fresh_conns - sums.free || cm->usage.active != sums.active)
		return "connections are counted wrong";
	if (sums.active > cm->cfg.max_active || cm->usage.conns - sums.active > cm->cfg.max_passive)
		return "a part of the table is too full";
	if (cm->usage.timewait != sums.rest)
		return "connections in time-wait are counted wrong";
	if (cm->refused != sums.refused || cm->refused > cm->cfg.max_passive / 4)
		return "held refusals are counted wrong";
	if (cm->sidr_requests != sums.sidr_requests)
		return "SIDR requests are counted wrong";
	if (cm->heap_n != sums.timers)
		return "deadlines are counted wrong";
	if (cm->stateless_n > CM_STATELESS || cm->stateless_head >= CM_STATELESS)
		return "the ring of answers is out of bounds";
	return NULL;
}

const char *
roce_cm_check(const struct roce_cm *cm)
{
	const char *why = conns_and_queues_check(cm);

	if (why == NULL)
		why = users_check(cm);
	return why != NULL ? why : sources_check(cm);
}

const char *
cm_check_some(struct roce_cm *cm)
{
	if (cm->fresh_conns <= CM_CHECK_ALL)
		return cm->check_next++ % CM_CHECK_COUNTS == 0 ? roce_cm_check(cm)
							       : conns_and_queues_check(cm);
	for (unsigned i = 0; i < CM_CHECK_SOME; i++) {
		const char *why;

		cm->check_next = (cm->check_next + 1) % cm->fresh_conns;
		why = conn_check(cm, &cm->conns[cm->check_next]);
		if (why != NULL)
			return why;
	}
	return NULL;
}
