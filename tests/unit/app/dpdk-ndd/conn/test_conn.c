/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections of the daemon without a peer: what events of the CM do to them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "conn/conn.h"
#include "conn/leave.h"
#include "conn/passive.h"
#include "object/qp.h"
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
	cr_expect(c->follower.deadline_ns >= before + 10000000 &&
		  c->follower.deadline_ns <= after + 10000000);
	ndd_followers_tick(&r->d, c->follower.deadline_ns - 1);
	cr_expect(eq(int, c->state, NDD_CONN_FLUSHING));
	ndd_followers_tick(&r->d, c->follower.deadline_ns);
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
	cr_expect(eq(long, ndd_rig_take(client, told, NULL), 0), "told once");
}

/* A connection with a queue pair that is in use; the lcore runs, so nothing may call it now. */
static struct ndd_conn *
in_use(struct ndd_rig *r, struct ndd_session *s, struct ndd_qp *qp)
{
	struct ndd_conn *c = ndd_conn_new(s, NDD_CONN_ESTABLISHED);

	cr_assert(ne(ptr, c, NULL));
	ndd_conn_take_qp(c, qp);
	c->brought_up = true;
	r->shard.running = 1;
	return c;
}

static enum ndsh_status
disconnect(const struct ndd_conn *c)
{
	const struct ndsh_id_msg m = {.h.type = NDSH_MSG_DISCONNECT, .id = c->id};
	struct ndd_reply reply = {.fd = -1};

	return ndd_conn_disconnect(c->session, &m, &reply);
}

/*
 * checks R-DISC-09[2], W-CM-51[1]: what has arrived is received before the flush, and the flush
 * comes before the DREQ. The control thread serves others until then.
 */
Test(conn, R_DISC_09_a_disconnect_waits_for_what_has_arrived_and_nobody_for_it)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct ndd_qp qp = {.failed = true}; /* so no engine is asked */
	struct ndd_conn *c;

	(void)ndd_rig_open(r, &s);
	c = in_use(r, s, &qp);
	cr_expect(eq(u64, r->d.leave_look_ns, UINT64_MAX));
	cr_expect(eq(int, disconnect(c), NDSH_OK), "it does not wait for the lcore");
	cr_expect(eq(int, c->state, NDD_CONN_LEAVING));
	cr_expect(eq(int, disconnect(c), NDSH_ERR_NOT_CONNECTED), "it does so once");
	for (unsigned round = 1; round <= 2; round++) {
		ndd_conn_leave_tick(&r->d, ndd_now_ns());
		cr_expect(eq(int, c->state, NDD_CONN_LEAVING), "round %u is not over", round);
		cr_expect(le(u64, r->d.leave_look_ns, ndd_now_ns() + 1000000));
		r->shard.rounds++;
	}
	c->peer_left = true; /* here without a CM that could send a DREQ */
	ndd_conn_leave_tick(&r->d, ndd_now_ns());
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
	cr_expect(eq(u64, r->d.leave_look_ns, UINT64_MAX));
}

/* checks R-DISC-03[1]: of two that disconnect at the same time both succeed. */
Test(conn, R_DISC_03_the_peers_disconnect_while_we_leave)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct ndd_qp qp = {.failed = true};
	struct roce_cm_event ev = {.type = ROCE_CM_EV_DISCONNECTED, .by_peer = true};
	uint8_t told[NDSH_MSG_BYTES];
	int client = ndd_rig_open(r, &s);
	struct ndd_conn *c = in_use(r, s, &qp);

	cr_assert(eq(int, disconnect(c), NDSH_OK));
	ev.owner = c;
	ndd_conn_on_disconnected(&r->d, &ev);
	cr_expect(eq(int, c->state, NDD_CONN_LEAVING), "what it sent before counts");
	cr_expect(eq(long, ndd_rig_take(client, told, NULL), 0));
	r->shard.rounds += 2;
	ndd_conn_leave_tick(&r->d, ndd_now_ns());
	expect_told(client, c, NDSH_EV_CONN_DISCONNECTED, NDSH_OK, NDD_CONN_OVER);
}

/* However many leave, each is looked at; and one that ends otherwise is among the others again. */
Test(conn, a_crowd_leaves)
{
	enum { CROWD = 150 };
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct ndd_qp qp[CROWD] = {0};
	struct ndd_conn *c[CROWD];
	const struct ndd_conn_list *leaving;

	r->cfg.max_qps = r->cfg.shard_qps = CROWD;
	ndd_rig_principals(r);
	(void)ndd_rig_open(r, &s);
	leaving = &s->account.principal->leaving_conns;
	for (unsigned i = 0; i < CROWD; i++) {
		qp[i].failed = true;
		c[i] = in_use(r, s, &qp[i]);
		c[i]->peer_left = true;
		cr_assert(eq(int, disconnect(c[i]), NDSH_OK));
	}
	ndd_conn_free(s, c[0]);
	r->shard.rounds += 2;
	for (unsigned i = 0; i < 3; i++) {
		cr_assert(ne(ptr, TAILQ_FIRST(leaving), NULL));
		ndd_accounts_turn(&r->d.accounts);
		ndd_conn_leave_tick(&r->d, ndd_now_ns());
	}
	for (unsigned i = 1; i < CROWD; i++)
		cr_expect(eq(int, c[i]->state, NDD_CONN_OVER), "%u", i);
	cr_assert(eq(ptr, TAILQ_FIRST(leaving), NULL));
	cr_expect(eq(ptr, TAILQ_FIRST(&r->d.followers.all), &c[1]->follower));
}

/* Those of a principal that has more of them than are looked at in a turn, or no time, hold up
 * nobody else's: that one's end is at the first look after its moment. */
static void
leave_behind_a_crowd(int64_t credit_ns, unsigned looked_at)
{
	static const struct config_principal red, blue;
	enum { CROWD = 150 };
	struct ndd_rig *r = ndd_rig_red_and_blue(&red, &blue, true);
	struct ndd_session *s, *other;
	struct ndd_qp qp[CROWD + 1] = {0};
	struct ndd_conn *c = NULL;
	unsigned left = 0;

	r->cfg.max_qps = CROWD + 1;
	r->d.accounts.pool[0][CONFIG_SHARE_connections].total = 4 * CROWD;
	ndd_rig_connect_by(r, "red");
	(void)ndd_rig_open(r, &s);
	ndd_rig_connect_by(r, "blue");
	(void)ndd_rig_open(r, &other);
	for (unsigned i = 0; i <= CROWD; i++) {
		qp[i].failed = true;
		c = in_use(r, i < CROWD ? s : other, &qp[i]);
		c->peer_left = true;
		cr_assert(eq(int, disconnect(c), NDSH_OK));
	}
	s->account.principal->credit_ns = credit_ns;
	r->shard.rounds += 2;
	ndd_conn_leave_tick(&r->d, ndd_now_ns());
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
	TAILQ_FOREACH (c, &s->account.principal->leaving_conns, next_leaving)
		left++;
	cr_expect(eq(u32, left, CROWD - looked_at));
	cr_expect(ne(u64, r->d.leave_look_ns, UINT64_MAX));
}

Test(conn, a_crowd_that_leaves_holds_up_nobody)
{
	leave_behind_a_crowd(NDD_S, 64);
	leave_behind_a_crowd(0, 0);
}

/*
 * checks R-CONN-13[1]: the peer's first request completes the Accept before any other event is
 * looked at, as the next one may be the end of the queue pair.
 */
Test(conn, R_CONN_13_the_first_request_completes_accept_at_once)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	struct ndd_conn *c = ndd_conn_new(s, NDD_CONN_ACCEPTED);
	struct roce_cm_event ev = {.type = ROCE_CM_EV_ESTABLISHED, .owner = c};
	uint8_t told[NDSH_MSG_BYTES];

	ndd_conn_on_first_request(c);
	expect_told(client, c, NDSH_EV_CONN_ESTABLISHED, NDSH_OK, NDD_CONN_ESTABLISHED);
	ndd_conn_on_established(&r->d, &ev);
	cr_expect(eq(long, ndd_rig_take(client, told, NULL), 0), "the RTU adds nothing");
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

/* The client's Reject and the news that the active side has gone cross: it is told what its Accept
 * would be. */
Test(conn, a_reject_that_crosses_the_end_of_its_request)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	struct roce_cm_event ev = {.type = ROCE_CM_EV_REJECTED, .reason = 4};
	struct ndsh_reject m = {.h.type = NDSH_MSG_REJECT};

	(void)ndd_rig_open(r, &s);
	ev.owner = ndd_conn_new(s, NDD_CONN_OFFERED);
	m.conn = ((struct ndd_conn *)ev.owner)->id;
	ndd_conn_on_rejected(&r->d, &ev);
	cr_expect(eq(int, ndd_conn_reject(s, &m, NULL), NDSH_ERR_ABORTED));
}
