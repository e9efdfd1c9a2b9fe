/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections: asked for, not answered, given up, and too many. */
#include "attack.h"

#define QPS 32u

enum where { WHERE_NOBODY, WHERE_CLOSED, WHERE_SELF, WHERE_NOWHERE, WHERE_STRANGE };

static struct ndsh_addr
address_of(const struct raw *r, enum where where)
{
	struct ndsh_addr a = r->addr;

	a.port = (uint16_t)(20000 + raw_random(20000));
	if (where == WHERE_NOBODY)
		a.ip[15] = (uint8_t)(16 + raw_random(200));
	else if (where == WHERE_NOWHERE)
		a.ip[12] = 203;
	else if (where == WHERE_CLOSED)
		a.ip[15] ^= 3; /* the other daemon's: .1 and .2 */
	else if (where == WHERE_STRANGE)
		raw_fill(a.ip, sizeof(a.ip));
	return a;
}

/* Connect, and perhaps give it up at once. */
static void
connects(struct target *t, uint32_t arg)
{
	enum where where = (enum where)(arg & 15);
	bool give_up = arg & 16;

	while (attacking(t)) {
		struct raw_qp qp[QPS];
		struct raw_cq cq;
		struct raw r;
		uint32_t n = 0, conn;

		raw_begin(&r, t->socket);
		if (raw_cq(&r, 64, &cq) != NDSH_OK)
			return;
		while (n < QPS && raw_qp(&r, &cq, 16, &qp[n]) == NDSH_OK)
			n++;
		for (uint32_t i = 0; attacking(t) && i < 4 * n; i++) {
			struct ndsh_addr to = address_of(&r, where);
			int status = raw_connect(&r, &qp[i % n], &to, &conn);

			if (status == RAW_GONE || status == RAW_MUTE)
				break;
			if (status == NDSH_OK && give_up)
				(void)raw_ask_id(&r, NDSH_MSG_CONN_DESTROY, conn, NULL);
		}
		raw_end(&r);
	}
}

enum answer { ANSWER_NONE, ANSWER_REJECT, ANSWER_DESTROY, ANSWER_DIE, ANSWER_TWICE };

static int
answer(struct raw *r, const struct raw_qp *qp, uint32_t conn, enum answer how)
{
	struct ndsh_reject reject = {.h.type = NDSH_MSG_REJECT, .conn = conn};

	switch (how) {
	case ANSWER_REJECT:
		return raw_ask(r, &reject, NULL, NULL);
	case ANSWER_DESTROY:
		return raw_ask_id(r, NDSH_MSG_CONN_DESTROY, conn, NULL);
	case ANSWER_TWICE:
		(void)raw_accept(r, qp, conn);
		return raw_accept(r, qp, conn);
	default:
		return NDSH_OK;
	}
}

/* The daemon that is attacked has the listener; the accomplice asks for connections. */
static void
listeners(struct target *t, uint32_t how)
{
	while (attacking(t)) {
		struct duo d;
		struct raw_qp qp[QPS];
		struct ndsh_addr where;
		struct ndsh_ev_conn asked;
		uint32_t listener, conn, n = 0;

		if (!duo_open(&d, t, RAW_SEGMENT_BYTES, 64) ||
			raw_qp(&d.r, &d.cq, 16, &d.qp) != NDSH_OK ||
			raw_listen(&d.r, &listener, &where) != NDSH_OK)
			return;
		while (n < QPS && raw_qp(&d.peer, &d.peer_cq, 16, &qp[n]) == NDSH_OK)
			n++;
		for (uint32_t i = 0; i < n && attacking(t); i++) {
			if (raw_connect(&d.peer, &qp[i], &where, &conn) != NDSH_OK ||
				raw_event(&d.r, NDSH_EV_CONN_REQUEST, &asked, 200) != NDSH_OK)
				break;
			if (how == ANSWER_DIE)
				break;
			(void)answer(&d.r, &d.qp, asked.conn, (enum answer)how);
		}
		duo_end(&d);
	}
}

/* A listener at a fixed port that answers no request: attacks on the network send them. */
static void
listener_stands(struct target *t, uint32_t port)
{
	struct ndsh_listener_create m = {.h.type = NDSH_MSG_LISTENER_CREATE};
	struct raw r;

	raw_begin(&r, t->socket);
	m.addr = r.addr;
	m.addr.port = (uint16_t)port;
	(void)raw_ask(&r, &m, NULL, NULL);
	attack_starts(t);
	attack_hold(t);
	raw_end(&r);
}

enum ending {
	ENDING_DISCONNECT,
	ENDING_DESTROY_QP,
	ENDING_DESTROY,
	ENDING_COMPLETE,
	ENDING_DIE,
};

/* A connection, and an end. */
static void
endings(struct target *t, uint32_t how)
{
	struct duo d;
	bool open = false;

	while (attacking(t)) {
		if (!open && !duo_open(&d, t, RAW_SEGMENT_BYTES, 64))
			return;
		d.r.carved = d.peer.carved = RAW_SEGMENT_BYTES / 2;
		open = duo_join(&d, 16);
		for (uint32_t id = 0; open && how == ENDING_DISCONNECT && id < 64; id++)
			(void)raw_ask_id(&d.r, NDSH_MSG_DISCONNECT, id, NULL);
		for (uint32_t id = 0; open && how == ENDING_COMPLETE && id < 64; id++)
			(void)raw_ask_id(&d.r, NDSH_MSG_COMPLETE_CONNECT, id, NULL);
		for (uint32_t id = 0; open && how == ENDING_DESTROY && id < 64; id++)
			(void)raw_ask_id(&d.r, NDSH_MSG_CONN_DESTROY, id, NULL);
		if (open && how != ENDING_DIE) {
			(void)raw_ask_id(&d.r, NDSH_MSG_QP_DESTROY, d.qp.id, NULL);
			(void)raw_ask_id(&d.peer, NDSH_MSG_QP_DESTROY, d.peer_qp.id, NULL);
			continue;
		}
		duo_end(&d);
		open = false;
	}
}

/* A queue pair brought up by hand towards queue pairs of other clients, by random numbers. */
static void
names_others(struct target *t, uint32_t arg)
{
	struct raw r;
	struct raw_cq cq;
	struct raw_qp qp;

	(void)arg;
	raw_begin(&r, t->socket);
	if (raw_cq(&r, 64, &cq) != NDSH_OK || raw_qp(&r, &cq, 64, &qp) != NDSH_OK)
		return;
	while (attacking(t)) {
		struct ndsh_addr to = address_of(&r, WHERE_CLOSED);
		struct ndsh_swr w = {
			.rkey = raw_random(UINT32_MAX), .ctrl = NDSH_CTRL(NDSH_OP_WRITE, 0, 0, 0)};

		if (raw_by_hand(&r, &qp, &to, raw_random(1u << 24), raw_random(1u << 24)) ==
			NDSH_OK) {
			raw_post(&r, &qp, &w);
			attack_pause_us(100);
		}
		if (raw_state(&r, &qp, NDSH_QPS_RESET) == RAW_GONE)
			break;
		qp.sq.next = qp.rq.next = 0;
	}
	raw_end(&r);
}

enum { PERMIT_GUESSED, PERMIT_OWN };

/* What speaks by numbers: a queue pair with its permit. */
struct speaker {
	struct raw r;
	struct raw_cq cq;
	struct raw_qp qp;
	struct ndsh_cm_permit permit;
};

static bool
speaker_begins(struct speaker *p, const struct target *t,
	int (*make_qp)(struct raw *, const struct raw_cq *, uint32_t, struct raw_qp *))
{
	struct ndsh_id_msg ask = {.h.type = NDSH_MSG_CM_PERMIT};
	struct ndsh_cm_permit_reply own;

	raw_begin(&p->r, t->socket);
	if (raw_cq(&p->r, 16, &p->cq) != NDSH_OK || make_qp(&p->r, &p->cq, 16, &p->qp) != NDSH_OK)
		return false;
	ask.id = p->qp.id;
	if (raw_ask(&p->r, &ask, &own, NULL) != NDSH_OK)
		return false;
	p->permit = own.permit;
	return true;
}

/* A port of that space at its address. */
static bool
speaker_binds(struct speaker *p, enum ndsh_msg_type space, struct ndsh_bind_reply *bound)
{
	struct ndsh_bind b = {.h.type = space, .addr = p->r.addr};

	b.addr.port = 0;
	return raw_ask(&p->r, &b, bound, NULL) == NDSH_OK;
}

/* Requests by numbers, for queue pairs of sessions that there may be, by keys that may be theirs;
 * or for one of its own. */
static void
by_numbers(struct target *t, uint32_t permit)
{
	struct ndsh_cm_connect m = {.h.type = NDSH_MSG_CM_CONNECT};
	struct ndsh_bind_reply bound;
	struct ndsh_id_msg reply;
	struct speaker p;
	int st;

	if (!speaker_begins(&p, t, raw_qp) || !speaker_binds(&p, NDSH_MSG_LISTENER_BIND, &bound))
		return;
	m.listener = bound.id;
	do {
		m.permit = p.permit;
		if (permit == PERMIT_GUESSED) {
			m.permit.session = raw_random(64);
			m.permit.qp = raw_random(8);
			m.permit.key ^= 1u << raw_random(32);
		}
		raw_fill(&m.own, sizeof(m.own));
		m.own.psn &= 0xffffff;
		m.own.retries = m.own.rnr_retries = (uint8_t)raw_random(8);
		m.own.srq = (uint8_t)raw_random(2);
		m.remote = address_of(&p.r, raw_random(2) ? WHERE_CLOSED : WHERE_NOBODY);
		m.priv_bytes = raw_random(NDSH_CALLER_DATA_MAX + 2);
		st = raw_ask(&p.r, &m, &reply, NULL);
		if (st == NDSH_OK && raw_random(2))
			(void)raw_ask_id(&p.r, NDSH_MSG_CONN_DESTROY, reply.id, NULL);
	} while (attacking(t) && st != RAW_GONE);
	raw_end(&p.r);
}

/* Lookups, of services that there may be, some of them given up; answers to whatever is asked, by
 * permits that may be another's, also where nothing was asked. */
static void
services(struct target *t, uint32_t permit)
{
	struct ndsh_cm_look_up m = {.h.type = NDSH_MSG_CM_LOOK_UP};
	struct ndsh_cm_accept a = {.h.type = NDSH_MSG_CM_ACCEPT};
	struct ndsh_listener_listen l = {.h.type = NDSH_MSG_CM_LISTEN};
	struct ndsh_bind_reply source, service;
	struct ndsh_id_msg reply;
	struct speaker p;
	int st;

	if (!speaker_begins(&p, t, raw_ud_qp) || !speaker_binds(&p, NDSH_MSG_CM_UD_BIND, &source) ||
		!speaker_binds(&p, NDSH_MSG_CM_UD_BIND, &service))
		return;
	l.listener = service.id;
	if (raw_ask(&p.r, &l, NULL, NULL) != NDSH_OK)
		return;
	m.listener = source.id;
	do {
		m.remote = address_of(&p.r, raw_random(2) ? WHERE_CLOSED : WHERE_NOBODY);
		if (raw_random(2))
			m.remote = service.addr;
		m.priv_bytes = raw_random(NDSH_LOOKUP_DATA_MAX + 2);
		st = raw_ask(&p.r, &m, &reply, NULL);
		a.permit = p.permit;
		if (permit == PERMIT_GUESSED)
			a.permit.key ^= 1u << raw_random(32);
		raw_fill(&a.own, sizeof(a.own));
		a.conn = st == NDSH_OK ? reply.id + raw_random(2) : raw_random(64);
		a.priv_bytes = raw_random(NDSH_ANSWER_DATA_MAX + 2);
		(void)raw_ask(&p.r, &a, NULL, NULL);
		if (st == NDSH_OK && raw_random(2))
			st = raw_ask_id(&p.r, NDSH_MSG_CONN_DESTROY, reply.id, NULL);
	} while (attacking(t) && st != RAW_GONE);
	raw_end(&p.r);
}

const struct attack connection_attacks[] = {
	{"connect-nobody", connects, WHERE_NOBODY},
	{"connect-closed", connects, WHERE_CLOSED},
	{"connect-self", connects, WHERE_SELF},
	{"connect-nowhere", connects, WHERE_NOWHERE},
	{"connect-strange", connects, WHERE_STRANGE},
	{"connect-nobody-given-up", connects, WHERE_NOBODY | 16},
	{"connect-closed-given-up", connects, WHERE_CLOSED | 16},
	{"listener-deaf", listeners, ANSWER_NONE},
	{"listener-rejects", listeners, ANSWER_REJECT},
	{"listener-destroys", listeners, ANSWER_DESTROY},
	{"listener-dies", listeners, ANSWER_DIE},
	{"listener-accepts-twice", listeners, ANSWER_TWICE},
	{"listener-stands", listener_stands, 7007, true},
	{"end-disconnects", endings, ENDING_DISCONNECT},
	{"end-destroys-queue-pair", endings, ENDING_DESTROY_QP},
	{"end-destroys-connection", endings, ENDING_DESTROY},
	{"end-completes-again", endings, ENDING_COMPLETE},
	{"end-dies", endings, ENDING_DIE},
	{"names-queue-pairs-of-others", names_others, 0},
	{"by-numbers-of-others", by_numbers, PERMIT_GUESSED},
	{"by-numbers-of-its-own", by_numbers, PERMIT_OWN},
	{"services-by-permits-of-others", services, PERMIT_GUESSED},
	{"services-by-its-own-permits", services, PERMIT_OWN},
	{0},
};
