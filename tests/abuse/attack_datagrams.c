/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams: handles, lookups, groups, and sends to anywhere. */
#include "attack.h"

enum handle { HANDLE_NEIGHBOURS, HANDLE_ALL, HANDLE_LOOP, HANDLE_LOOKUPS, HANDLE_STRANGE };

static struct ndsh_ah_create
handle_request(const struct raw *r, enum handle what, uint32_t i)
{
	struct ndsh_ah_create m = {.h.type = NDSH_MSG_AH_CREATE, .remote = r->addr};

	m.remote.port = 0;
	if (what == HANDLE_NEIGHBOURS)
		m.remote.ip[15] = (uint8_t)(3 + i % 250);
	else
		m.remote.ip[15] ^= 3; /* the other daemon */
	if (what == HANDLE_LOOKUPS) {
		m.look_up = 1;
		m.remote.port = (uint16_t)(1 + raw_random(65535));
		m.priv_bytes = NDSH_LOOKUP_DATA_MAX;
	}
	if (what == HANDLE_STRANGE) {
		raw_fill(m.remote.ip, sizeof(m.remote.ip));
		m.look_up = raw_random(3);
		m.priv_bytes = raw_random(2 * NDSH_LOOKUP_DATA_MAX);
	}
	return m;
}

static void
handles(struct target *t, uint32_t what)
{
	struct raw r;

	raw_begin(&r, t->socket);
	for (uint32_t i = 0; attacking(t); i++) {
		struct ndsh_ah_create m = handle_request(&r, (enum handle)what, i);
		struct ndsh_id_msg reply = {.id = 0};
		int status = raw_ask(&r, &m, &reply, NULL);

		if (status == RAW_GONE)
			break;
		if (status == NDSH_ERR_NO_RESOURCES)
			attack_pause_us(10000);
		if (status == NDSH_OK && (what == HANDLE_LOOP || what == HANDLE_STRANGE))
			(void)raw_ask_id(&r, NDSH_MSG_AH_DESTROY, reply.id, NULL);
	}
	raw_end(&r);
}

static struct ndsh_addr
group_address(uint32_t i)
{
	struct ndsh_addr a = {.ip = {[10] = 0xff, [11] = 0xff, [12] = 239, [13] = 1}};

	a.ip[14] = (uint8_t)(i >> 8);
	a.ip[15] = (uint8_t)i;
	return a;
}

/* Into every group there is; loop: out again at once. */
static void
groups(struct target *t, uint32_t loop)
{
	struct raw r;
	struct raw_cq cq;
	struct raw_qp qp;

	raw_begin(&r, t->socket);
	if (raw_cq(&r, 64, &cq) != NDSH_OK || raw_ud_qp(&r, &cq, 64, &qp) != NDSH_OK)
		return;
	for (uint32_t i = 0; attacking(t); i++) {
		struct ndsh_ud_group m = {{.type = NDSH_MSG_UD_ATTACH}, qp.id, 0, group_address(i)};

		if (raw_ask(&r, &m, NULL, NULL) == RAW_GONE)
			break;
		m.h.type = NDSH_MSG_UD_DETACH;
		if (loop && raw_ask(&r, &m, NULL, NULL) == RAW_GONE)
			break;
	}
	raw_end(&r);
}

enum flood { FLOOD_PEER, FLOOD_SELF, FLOOD_GROUP, FLOOD_DEAD_HANDLE };

static struct ndsh_addr
flood_address(const struct raw *r, enum flood where)
{
	struct ndsh_addr a = where == FLOOD_GROUP ? group_address(0) : r->addr;

	a.port = 0;
	if (where == FLOOD_PEER)
		a.ip[15] ^= 3;
	return a;
}

/* Datagrams as fast as they leave, mostly to random queue pair numbers. */
static void
floods(struct target *t, uint32_t where)
{
	struct raw r;
	struct raw_cq cq;
	struct raw_qp qp;
	struct ndsh_ah_create h = {.h.type = NDSH_MSG_AH_CREATE};
	struct ndsh_id_msg handle = {.id = 0};
	struct ndsh_swr w;
	uint32_t room = 128;

	raw_begin(&r, t->socket);
	h.remote = flood_address(&r, (enum flood)where);
	w = (struct ndsh_swr){.sge0 = {(uintptr_t)r.base + r.bytes / 2, 1024, raw_region(&r)},
		.ctrl = NDSH_CTRL(NDSH_OP_SEND, 1, 0, 0)};
	if (raw_cq(&r, 512, &cq) != NDSH_OK || raw_ud_qp(&r, &cq, 256, &qp) != NDSH_OK ||
		raw_ask(&r, &h, &handle, NULL) != NDSH_OK)
		return;
	(void)raw_event(&r, NDSH_EV_AH, NULL, 1000);
	w.rkey = where == FLOOD_DEAD_HANDLE ? UINT32_MAX : handle.id;
	w.raddr = NDSH_UD_RADDR(where == FLOOD_SELF ? qp.qpn : raw_random(1u << 24), 0x11);
	while (attacking(t) && ndsh_load32(&qp.page->dead) == 0) {
		struct ndsh_cqe done[64];

		for (; room > 0; room--)
			raw_post(&r, &qp, &w);
		room += ndsh_cq_poll(&cq.reader, done, 64);
		if (room == 0)
			attack_pause_us(50);
	}
	attack_hold(t);
	raw_end(&r);
}

static void
answers(struct target *t, uint32_t arg)
{
	struct ndsh_ud_answer m = {.h.type = NDSH_MSG_UD_ANSWER};
	struct raw r;

	(void)arg;
	raw_begin(&r, t->socket);
	while (attacking(t)) {
		m.question = raw_random(1u << raw_random(32));
		m.accept = raw_random(3);
		m.qp = raw_random(4);
		m.priv_bytes = raw_random(2 * NDSH_ANSWER_DATA_MAX);
		if (raw_ask(&r, &m, NULL, NULL) == RAW_GONE)
			break;
	}
	raw_end(&r);
}

const struct attack datagram_attacks[] = {
	{"handles-of-neighbours", handles, HANDLE_NEIGHBOURS},
	{"handles-all", handles, HANDLE_ALL},
	{"handles-loop", handles, HANDLE_LOOP},
	{"handles-lookups", handles, HANDLE_LOOKUPS},
	{"handles-strange", handles, HANDLE_STRANGE},
	{"groups-all", groups, 0},
	{"groups-loop", groups, 1},
	{"datagrams-to-peer", floods, FLOOD_PEER},
	{"datagrams-to-self", floods, FLOOD_SELF},
	{"datagrams-to-group", floods, FLOOD_GROUP},
	{"datagrams-dead-handle", floods, FLOOD_DEAD_HANDLE},
	{"answers-of-others", answers, 0},
	{0},
};
