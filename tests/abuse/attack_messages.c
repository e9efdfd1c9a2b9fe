/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: wrong ones, and right ones too often. */
#include <string.h>

#include "attack.h"

union message {
	struct ndsh_msg_hdr h;
	struct ndsh_id_msg id;
	struct ndsh_hello hello;
	uint8_t bytes[NDSH_MSG_BYTES * 2];
};

static uint16_t
random_type(void)
{
	return (uint16_t)(1 + raw_random(NDSH_MSG_TYPE_COUNT - 1));
}

/* Send it to a session of its own in the state given, and hear what comes. */
static void
one_message(struct target *t, enum ndsh_session_state state, union message *m, size_t bytes)
{
	char buf[NDSH_MSG_BYTES];
	struct raw r;
	int status = NDSH_OK;

	if (state == NDSH_ST_NEW)
		r = (struct raw){.fd = raw_dial(t->socket), .wake = -1};
	else
		status = (state == NDSH_ST_HELLO ? raw_hello : raw_open)(&r, t->socket);
	if (status == NDSH_OK && r.fd >= 0) {
		raw_say(r.fd, m, bytes);
		(void)raw_hear(r.fd, buf, sizeof(buf), NULL, 50);
	}
	raw_end(&r);
}

enum wrong {
	WRONG_MAGIC,
	WRONG_VERSION,
	WRONG_SIZE,
	WRONG_STATE,
	WRONG_HEADER,
	WRONG_TYPE,
	WRONG_REPLY,
	WRONG_LONG,
	WRONG_EMPTY,
	WRONG_ALL
};

static void
wrong(struct target *t, uint32_t what)
{
	union message m;

	while (attacking(t)) {
		uint16_t type = random_type();
		size_t bytes = ndsh_msg_table[type].bytes;
		enum ndsh_session_state state = NDSH_ST_OPEN;

		raw_fill(&m, sizeof(m));
		m.h = (struct ndsh_msg_hdr){.type = type, .cookie = 1};
		switch ((enum wrong)what) {
		case WRONG_MAGIC:
		case WRONG_VERSION:
			ndsh_hello_fill(&m.hello);
			bytes = sizeof(m.hello);
			m.hello.magic ^= what == WRONG_MAGIC;
			m.hello.abi_major ^= what == WRONG_VERSION;
			state = NDSH_ST_NEW;
			break;
		case WRONG_SIZE:
			bytes += raw_random(2) ? 1 : (size_t)-1;
			break;
		case WRONG_STATE:
			state = (enum ndsh_session_state)raw_random(NDSH_ST_OPEN);
			break;
		case WRONG_HEADER:
			m.h.reserved = 1;
			break;
		case WRONG_TYPE:
			m.h.type = (uint16_t)raw_random(65536);
			break;
		case WRONG_REPLY:
			m.h.type |= NDSH_REPLY;
			break;
		case WRONG_LONG:
			bytes = sizeof(m);
			break;
		case WRONG_EMPTY:
			bytes = 0;
			break;
		case WRONG_ALL:
			raw_fill(&m, bytes = raw_random(sizeof(m)));
			break;
		}
		one_message(t, state, &m, bytes);
	}
}

/* Right in form and state, with nonsense inside, on a session that has all kinds of objects. */
static void
nonsense(struct target *t, uint32_t types)
{
	struct raw_cq cq;
	struct raw_qp qp;
	struct raw r;
	union message m, reply;

	while (attacking(t)) {
		int status = NDSH_OK;

		raw_begin(&r, t->socket);
		(void)raw_cq(&r, 16, &cq);
		(void)raw_qp(&r, &cq, 16, &qp);
		while (attacking(t) && status != RAW_GONE && status != RAW_MUTE) {
			uint16_t type = types ? (uint16_t)types : random_type();

			raw_fill(&m, sizeof(m));
			m.h = (struct ndsh_msg_hdr){.type = type};
			if (raw_random(2)) /* the first word is an id, more often than not */
				m.id.id = raw_random(4);
			status = raw_ask(&r, &m, &reply, NULL);
		}
		raw_end(&r);
	}
}

/* Every id there could be, in every message that has nothing else. */
static void
ids_of_others(struct target *t, uint32_t arg)
{
	struct raw r;

	(void)arg;
	if (raw_open(&r, t->socket) != NDSH_OK)
		return;
	while (attacking(t)) {
		uint16_t type = random_type();
		int status = NDSH_OK;

		if (ndsh_msg_table[type].bytes == sizeof(struct ndsh_id_msg) &&
			type != NDSH_MSG_PD_CREATE)
			status = raw_ask_id(&r, type, raw_random(1u << raw_random(32)), NULL);
		if (status == RAW_GONE) {
			raw_end(&r);
			if (raw_open(&r, t->socket) != NDSH_OK)
				return;
		}
	}
	raw_end(&r);
}

/* One message again and again, as fast as answers come; ids: of objects that are there. */
static void
storm(struct target *t, uint32_t type)
{
	union message m = {.h.type = (uint16_t)type}, reply;
	struct raw_cq cq;
	struct raw_qp qp;
	struct raw r;
	uint32_t turn = 0;

	raw_begin(&r, t->socket);
	(void)raw_cq(&r, 16, &cq);
	(void)raw_qp(&r, &cq, 16, &qp);
	if (type == NDSH_MSG_CQ_AFFINITY)
		m.id.id = cq.id;
	else if (type == NDSH_MSG_QP_QUERY || type == NDSH_MSG_QP_FLUSH)
		m.id.id = qp.id;
	else if (type == NDSH_MSG_PD_TOKEN)
		m.id.id = r.pd;
	else if (type == NDSH_MSG_ROUTE)
		memcpy(m.bytes + sizeof(m.h), &r.addr, sizeof(r.addr));
	while (attacking(t)) {
		if (type == NDSH_MSG_EVENTS)
			m.id.id = turn++ & 1;
		if (raw_ask(&r, &m, &reply, NULL) == RAW_GONE)
			break;
	}
	raw_end(&r);
}

const struct attack message_attacks[] = {
	{"message-wrong-magic", wrong, WRONG_MAGIC},
	{"message-wrong-version", wrong, WRONG_VERSION},
	{"message-wrong-size", wrong, WRONG_SIZE},
	{"message-wrong-state", wrong, WRONG_STATE},
	{"message-wrong-header", wrong, WRONG_HEADER},
	{"message-unknown", wrong, WRONG_TYPE},
	{"message-is-a-reply", wrong, WRONG_REPLY},
	{"message-too-long", wrong, WRONG_LONG},
	{"message-empty", wrong, WRONG_EMPTY},
	{"message-random", wrong, WRONG_ALL},
	{"nonsense-in-all", nonsense, 0},
	{"nonsense-in-qp-create", nonsense, NDSH_MSG_QP_CREATE},
	{"nonsense-in-qp-modify", nonsense, NDSH_MSG_QP_MODIFY},
	{"nonsense-in-connect", nonsense, NDSH_MSG_CONNECT},
	{"nonsense-in-cq-resize", nonsense, NDSH_MSG_CQ_RESIZE},
	{"nonsense-in-mover-create", nonsense, NDSH_MSG_MOVER_CREATE},
	{"ids-of-others", ids_of_others, 0},
	{"address-storm", storm, NDSH_MSG_ADDRESS_LIST},
	{"route-storm", storm, NDSH_MSG_ROUTE},
	{"query-storm", storm, NDSH_MSG_QP_QUERY},
	{"flush-storm", storm, NDSH_MSG_QP_FLUSH},
	{"affinity-storm", storm, NDSH_MSG_CQ_AFFINITY},
	{"events-storm", storm, NDSH_MSG_EVENTS},
	{"token-storm", storm, NDSH_MSG_PD_TOKEN},
	{0},
};
