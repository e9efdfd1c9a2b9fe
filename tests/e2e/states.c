/* SPDX-License-Identifier: BSD-3-Clause */
/* The state table of connectors, cell by cell: each brings a fresh connector there by real calls.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>

#include "meeting.h"
#include "scenarios.h"
#include "still.h"

enum { BIND, CONNECT, COMPLETE, ACCEPT, REJECT, NOTIFY, DISCONNECT, CALLS };
static const char *const call_names[CALLS] = {
	"bind", "connect", "complete", "accept", "reject", "notify", "disconnect"};

enum state {
	STAYS,
	IDLE,
	BOUND,
	RESOLVING,
	REQUEST_SENT,
	REPLY_RECEIVED,
	QUEUED,
	REQUEST_RECEIVED,
	REPLY_SENT,
	CONNECTED,
	PEER_DISCONNECTED,
	DISCONNECTING, /* needs a peer that is silent: its row is tried by scenario_silent_peer() */
	DISCONNECTED,
	REJECTED,
	REFUSED_AFTER_ACCEPT,
	CANCELED,
	STATES
};

/* What the connector under test is in its state with; a is the active side. */
static struct side *
idle(struct meeting *m)
{
	return &m->p->a;
}

static struct side *
bound(struct meeting *m)
{
	WANT(ND_SUCCESS, side_bind(&m->p->a, 0));
	return &m->p->a;
}

/* No host has that address, another one each time: the daemon asks for it for longer than a cell
 * takes, and then knows that it is in vain. */
static struct side *
resolving(struct meeting *m)
{
	static uint8_t host = 100;
	struct side *a = &m->p->a;
	struct sockaddr_storage nobody = m->where;

	set_last_byte(&nobody, host++);
	WANT(ND_PENDING, nd_connector_connect(a->connector, a->qp, (struct sockaddr *)&nobody,
				 a->addr_bytes, 1, 1, NULL, 0, &m->ask));
	return a;
}

static struct side *
connecting(struct meeting *m)
{
	meet_ask(m, 4, 4);
	return &m->p->a;
}

static struct side *
rep_received(struct meeting *m)
{
	meet_ask(m, 4, 4);
	meet_get(m);
	meet_accept(m, 4, 4);
	return &m->p->a;
}

static struct side *
queued(struct meeting *m)
{
	WANT(ND_PENDING, nd_listener_get_request(m->listener, m->p->b.connector, &m->get));
	return &m->p->b;
}

static struct side *
req_received(struct meeting *m)
{
	meet_ask(m, 4, 4);
	meet_get(m);
	return &m->p->b;
}

static struct side *
rep_sent(struct meeting *m)
{
	(void)rep_received(m);
	return &m->p->b;
}

static struct side *
connected(struct meeting *m)
{
	meet_connect(m);
	return &m->p->a;
}

static struct side *
passive_disconnect(struct meeting *m)
{
	struct nd_overlapped told = {0}, done = {0};

	meet_connect(m);
	WANT(ND_PENDING, nd_connector_notify_disconnect(m->p->b.connector, &told));
	WANT(ND_SUCCESS, finish(nd_connector_disconnect(m->p->a.connector, &done), &done));
	WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS));
	return &m->p->b;
}

static struct side *
disconnected(struct meeting *m)
{
	(void)passive_disconnect(m);
	return &m->p->a;
}

/* The ways that end before there was a connection. */
static struct side *
rejected(struct meeting *m)
{
	struct side *b = req_received(m);

	WANT(ND_SUCCESS, nd_connector_reject(b->connector, NULL, 0));
	return b;
}

static struct side *
refused_after_accept(struct meeting *m)
{
	struct side *b = rep_sent(m);

	WANT(ND_SUCCESS, nd_connector_reject(m->p->a.connector, NULL, 0));
	WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(&m->accept, PATIENCE_MS));
	return b;
}

static struct side *
canceled(struct meeting *m)
{
	struct side *a = connecting(m);

	WANT(ND_SUCCESS, nd_connector_cancel(a->connector));
	WANT(ND_CANCELED, nd_overlapped_status(&m->ask));
	return a;
}

#define ASSOCIATED ND_ADDRESS_ALREADY_ASSOCIATED
#define ACTIVE	   ND_CONNECTION_ACTIVE
#define INVALID	   ND_CONNECTION_INVALID
#define ABORTED	   ND_CONNECTION_ABORTED
#define REFUSED	   ND_CONNECTION_REFUSED
#define STATE	   ND_INVALID_DEVICE_STATE
#define OVER	   ND_CONNECTION_DISCONNECTED
#define SPENT                                                                                      \
	{                                                                                          \
		ASSOCIATED, STATE, ABORTED, ABORTED, ABORTED, OVER, INVALID                        \
	}

/* Connect goes to a port without a listener: REFUSED is the outcome of a connect that was allowed.
 * PENDING: it waits for the peer. then: the state after a call that is not refused. */
static const struct row {
	const char *name;
	struct side *(*make)(struct meeting *m);
	nd_status want[CALLS];
	enum state then[CALLS];
} rows[STATES] = {
	[IDLE] = {"idle", idle, {ND_SUCCESS, REFUSED, INVALID, ACTIVE, INVALID, INVALID, INVALID},
		{[BIND] = BOUND}},
	[BOUND] = {"bound", bound,
		{ASSOCIATED, REFUSED, INVALID, ACTIVE, INVALID, INVALID, INVALID}, {0}},
	[RESOLVING] = {"resolving", resolving,
		{ASSOCIATED, ACTIVE, INVALID, ACTIVE, INVALID, INVALID, INVALID}, {0}},
	[REQUEST_SENT] = {"request sent", connecting,
		{ASSOCIATED, ACTIVE, INVALID, ACTIVE, INVALID, INVALID, INVALID}, {0}},
	[REPLY_RECEIVED] = {"reply received", rep_received,
		{ASSOCIATED, ACTIVE, ND_SUCCESS, ACTIVE, ND_SUCCESS, INVALID, INVALID},
		{[COMPLETE] = CONNECTED, [REJECT] = REJECTED}},
	[QUEUED] = {"queued", queued,
		{ASSOCIATED, STATE, INVALID, ACTIVE, INVALID, INVALID, INVALID}, {0}},
	[REQUEST_RECEIVED] = {"request received", req_received,
		{ASSOCIATED, ACTIVE, INVALID, ND_PENDING, ND_SUCCESS, INVALID, INVALID},
		{[ACCEPT] = REPLY_SENT, [REJECT] = REJECTED}},
	[REPLY_SENT] = {"reply sent", rep_sent,
		{ASSOCIATED, ACTIVE, INVALID, ACTIVE, INVALID, INVALID, INVALID}, {0}},
	[CONNECTED] = {"connected", connected,
		{ASSOCIATED, ACTIVE, INVALID, ACTIVE, INVALID, ND_PENDING, ND_SUCCESS},
		{[DISCONNECT] = DISCONNECTED}},
	[PEER_DISCONNECTED] = {"peer disconnected", passive_disconnect,
		{ASSOCIATED, ACTIVE, INVALID, ACTIVE, INVALID, ND_SUCCESS, ND_SUCCESS},
		{[DISCONNECT] = DISCONNECTED}},
	[DISCONNECTING] = {"disconnecting", NULL,
		{ASSOCIATED, ACTIVE, INVALID, ACTIVE, INVALID, OVER, STATE}, {0}},
	[DISCONNECTED] = {"disconnected", disconnected, SPENT, {0}},
	[REJECTED] = {"rejected", rejected, SPENT, {0}},
	[REFUSED_AFTER_ACCEPT] = {"refused after accept", refused_after_accept, SPENT, {0}},
	[CANCELED] = {"canceled", canceled, SPENT, {0}},
};

static nd_status
call(struct meeting *m, struct side *s, int which, struct nd_overlapped *ov)
{
	struct sockaddr_storage dest = m->where;

	set_port(&dest, SILENT_PORT);
	switch (which) {
	case BIND:
		return side_bind(s, 0);
	case CONNECT:
		return nd_connector_connect(s->connector, s->qp, (struct sockaddr *)&dest,
			s->addr_bytes, 1, 1, NULL, 0, ov);
	case COMPLETE:
		return nd_connector_complete_connect(s->connector, ov);
	case ACCEPT:
		return nd_connector_accept(s->connector, s->qp, 1, 1, NULL, 0, ov);
	case REJECT:
		return nd_connector_reject(s->connector, NULL, 0);
	case NOTIFY:
		return nd_connector_notify_disconnect(s->connector, ov);
	default:
		return nd_connector_disconnect(s->connector, ov);
	}
}

/* A refusal changes nothing: these can be tried one after the other. */
static bool
refuses(const struct row *row, int which)
{
	return row->want[which] != ND_SUCCESS && row->want[which] != ND_PENDING &&
	       !(which == CONNECT && row->want[which] == REFUSED);
}

static void
is_in(struct meeting *m, struct side *s, const struct row *row, const char *after)
{
	for (int which = 0; which < CALLS; which++) {
		struct nd_overlapped ov = {0};
		char what[128];

		if (!refuses(row, which))
			continue;
		snprintf(what, sizeof(what), "state table, %s, which should have led to \"%s\": %s",
			after, row->name, call_names[which]);
		want_status(__FILE__, __LINE__, what, finish(call(m, s, which, &ov), &ov),
			row->want[which]);
	}
}

static void
cell(struct meeting *m, struct side *s, const struct row *row, int which)
{
	const struct row *then = row->then[which] == STAYS ? row : &rows[row->then[which]];
	struct nd_overlapped ov = {0};
	nd_status got = call(m, s, which, &ov);
	char where[64], what[96];

	if (got == ND_PENDING && row->want[which] == ND_PENDING)
		got = nd_overlapped_status(&ov);
	else
		got = finish(got, &ov);
	snprintf(where, sizeof(where), "cell (%s, %s)", row->name, call_names[which]);
	snprintf(what, sizeof(what), "state table, %s", where);
	want_status(__FILE__, __LINE__, what, got, row->want[which]);
	is_in(m, s, then, where);
	/* What is still pending must not outlive ov. */
	if (got == ND_PENDING)
		WANT(ND_SUCCESS, nd_connector_cancel(s->connector));
}

/* checks R-DISC-07[1,2], R-DISC-14[1-3]: each call in each state, and the state that it leads to */
void
scenario_states(struct pair *p)
{
	for (int r = STAYS + 1; r < STATES; r++) {
		for (int which = 0; which < CALLS && rows[r].make != NULL; which++) {
			struct meeting m;

			meet_open(&m, p);
			cell(&m, rows[r].make(&m), &rows[r], which);
			meet_close(&m);
		}
	}
}

/*
 * checks R-CONN-25[1], R-DISC-04[1,3], R-DISC-05[2], R-DISC-06[1]: daemon a answers nothing for
 * a while: the row of the table that needs a disconnect under way, and the time-outs. What the
 * status of a Connect says is a failure; that of a Disconnect is not.
 */
void
scenario_silent_peer(struct pair *p)
{
	struct nd_overlapped gone = {0}, ask = {0}, told = {0};
	struct sockaddr_storage dest = p->a.addr;
	struct side other;
	struct meeting m;

	meet_open(&m, p);
	meet_connect(&m);
	other = p->b;
	side_create_qp(&other, 4);
	WANT(ND_SUCCESS, nd_connector_create(other.adapter, &other.connector));
	set_port(&dest, SILENT_PORT);
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
	CHECK(process_stop(p->daemon_a));
	WANT(ND_PENDING, nd_connector_disconnect(p->b.connector, &gone));
	WANT(OVER, nd_overlapped_wait(&told, PATIENCE_MS));
	WANT(ND_PENDING, nd_connector_connect(other.connector, other.qp, (struct sockaddr *)&dest,
				 other.addr_bytes, 1, 1, NULL, 0, &ask));
	for (int which = 0; which < CALLS; which++)
		cell(&m, &p->b, &rows[DISCONNECTING], which);
	WANT(ND_TIMEOUT, nd_overlapped_wait(&gone, PATIENCE_MS));
	WANT(ND_IO_TIMEOUT, nd_overlapped_wait(&ask, PATIENCE_MS));
	CHECK(kill(p->daemon_a, SIGCONT) == 0);
	WANT(REFUSED, side_connect(&other, &dest)); /* it may try again (R-CONN-03) */
	meet_close(&m);
}
