/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of the daemon without a peer: what events of the CM do to them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "conn/conn.h"
#include "conn/tick.h"
#include "platform/clock.h"
#include "rigs/ndd_rig.h"

/* The client is told this of c, and no more; c is in that state then. */
static void
expect_told(int client, const struct ndd_conn *c, uint16_t type, int32_t status, int state)
{
	union {
		struct ndsh_ev_conn conn;
		uint8_t bytes[NDSH_MSG_BYTES];
	} told;

	cr_assert_gt(ndd_rig_take(client, &told, NULL), 0);
	cr_expect(eq(u16, told.conn.h.type, type));
	cr_expect(eq(i32, told.conn.h.status, status));
	cr_expect(eq(u32, told.conn.conn, c->id));
	cr_expect(eq(int, c->state, state));
	cr_expect(eq(long, ndd_rig_take(client, &told, NULL), 0), "told once");
}

/*
 * checks R-DISC-08[1], R-DISC-17[2], W-CM-51[5]: the client is told at once, and the flush
 * follows 10 ms later, which late acknowledgements have.
 */
Test(conn, R_DISC_17_the_flush_waits_ten_milliseconds)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct roce_cm_event ev = {.type = ROCE_CM_EV_DISCONNECTED, .by_peer = true};
	uint8_t told[NDSH_MSG_BYTES];
	int client = ndd_rig_open(r, &s);
	struct ndd_conn *c = ndd_conn_new(s, NDD_CONN_ESTABLISHED);
	uint64_t before, after;

	cr_assert(ne(ptr, c, NULL));
	ev.owner = c;
	before = ndd_now_ns();
	ndd_conn_on_disconnected(&r->d, &ev);
	after = ndd_now_ns();
	expect_told(client, c, NDSH_EV_CONN_DISCONNECTED, NDSH_OK, NDD_CONN_FLUSHING);
	cr_expect(c->deadline_ns >= before + 10000000 && c->deadline_ns <= after + 10000000);
	ndd_conn_tick(&r->d, c->deadline_ns - 1);
	cr_expect(eq(int, c->state, NDD_CONN_FLUSHING));
	ndd_conn_tick(&r->d, c->deadline_ns);
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
	cr_expect(eq(long, ndd_rig_take(client, told, NULL), 0), "told once");
}

/*
 * checks R-CONN-14[2]: that the active side had gone was not known when the client accepted: the
 * Accept is told the refusal that R-CONN-12 has a word for.
 */
Test(conn, R_CONN_14_the_end_of_a_request_that_was_accepted)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct roce_cm_event ev = {.type = ROCE_CM_EV_REJECTED, .reason = 4};
	int client = ndd_rig_open(r, &s);

	for (int sent = 0; sent < 2; sent++) {
		struct ndd_conn *c = ndd_conn_new(s, sent ? NDD_CONN_ACCEPTED : NDD_CONN_ACCEPTING);

		ev.owner = c;
		ndd_conn_on_rejected(&r->d, &ev);
		expect_told(client, c, NDSH_EV_CONN_ESTABLISHED, NDSH_ERR_REFUSED, NDD_CONN_OVER);
	}
}

/* checks R-CONN-21[3]: a request that was offered and is given up is told of, once. */
Test(conn, R_CONN_21_the_end_of_a_request_is_told)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct roce_cm_event ev = {.type = ROCE_CM_EV_REJECTED, .reason = 4};
	int client = ndd_rig_open(r, &s);
	struct ndd_conn *c = ndd_conn_new(s, NDD_CONN_OFFERED);

	ev.owner = c;
	ndd_conn_on_rejected(&r->d, &ev);
	expect_told(client, c, NDSH_EV_CONN_DISCONNECTED, NDSH_ERR_ABORTED, NDD_CONN_OVER);
}
