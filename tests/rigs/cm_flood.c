/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/cm_crowd.h"
#include "rigs/cm_flood.h"

void
flood_listen(struct flood *f, uint32_t backlog)
{
	const struct roce_cm_addr any = {.port = (uint16_t)(FLOOD_SERVICE + f->services)};
	struct roce_cm_listener *l = roce_cm_listen(f->cm, &any, FLOOD_NIC, backlog, NULL, NULL);

	cr_assert_not_null(l);
	roce_cm_listener_of(l, f->services);
	f->listener[f->services++] = l;
}

struct flood
flood_new_at(uint32_t capacity, uint32_t backlog)
{
	const struct roce_cm_cfg cfg = {
		.max_active = capacity,
		.max_passive = capacity,
		.max_listeners = FLOOD_SERVICES,
		.secret = {0x0123456789abcdef, 0xfedcba9876543210},
		.ca_guid = 0x0200,
		.max_retries = 15,
	};
	void *mem = calloc(1, (roce_cm_bytes(&cfg) + 63) & ~(size_t)63);
	struct flood f = {.cm = roce_cm_init(mem, &cfg), .now_ns = 1};

	roce_gid_from_v4(&f.gid, (const uint8_t[4]){192, 0, 2, 1});
	f.gid6 = (struct roce_gid){{0x20, 0x01, 0x0d, 0xb8, [15] = 1}};
	flood_listen(&f, backlog);
	return f;
}

struct flood
flood_new_wide(uint32_t capacity)
{
	struct flood f = flood_new_at(capacity, capacity);

	while (f.services < FLOOD_SERVICES)
		flood_listen(&f, capacity);
	return f;
}

struct flood
flood_new(uint32_t capacity)
{
	return flood_new_at(capacity, 0);
}

void
flood_free(struct flood *f)
{
	free(f->cm);
}

void
flood_turn(struct flood *f, bool reject)
{
	struct roce_cm_event ev;
	struct roce_cm_tx tx;

	do
		roce_cm_tick(f->cm, f->now_ns);
	while (roce_cm_next_deadline(f->cm) <= f->now_ns);
	while (roce_cm_event(f->cm, &ev)) {
		if (ev.type == ROCE_CM_EV_REQUEST && !reject)
			continue;
		if (ev.type == ROCE_CM_EV_REQUEST)
			(void)roce_cm_reject(f->cm, f->now_ns, ev.conn, 28, NULL, 0);
		roce_cm_destroy(f->cm, f->now_ns, ev.conn);
	}
	while (roce_cm_tx(f->cm, &tx))
		;
}

void
flood_req(struct flood *f, const struct roce_gid *from)
{
	const struct roce_gid *to = roce_gid_is_v4(from) ? &f->gid : &f->gid6;
	const uint16_t service = (uint16_t)(FLOOD_SERVICE + f->number % f->services);
	struct cm_mad m = cm_crowd_req(from, to, f->number++, service);

	m.ack_timeout = 31;
	cm_crowd_send(f->cm, f->now_ns, from, to, FLOOD_NIC, &m);
}
