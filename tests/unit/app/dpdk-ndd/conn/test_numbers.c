/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections by numbers: what leaves, what the client is told, and whose numbers it may name. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

#include "conn/active.h"
#include "conn/conn.h"
#include "conn/passive.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "rigs/cm_crowd.h"
#include "rigs/net_rig.h"
#include "rigs/numbers_bench.h"

#define PEER_QPN 0x5678u
#define PEER_PSN 0xfedcbau
#define OWN_PSN	 0x123456u

static uint32_t
bound(const struct numbers_bench *b, uint16_t port)
{
	return numbers_bound(b, NDSH_MSG_LISTENER_BIND, port);
}

static struct ndsh_cm_connect
connect_message(const struct numbers_bench *b, uint32_t listener)
{
	struct ndsh_cm_connect m = {.h.type = NDSH_MSG_CM_CONNECT,
		.permit = b->permit,
		.own = {.psn = OWN_PSN,
			.inbound_reads = 7,
			.outbound_reads = 5,
			.retries = 6,
			.rnr_retries = 4,
			.srq = 1},
		.remote.port = NUMBERS_SERVICE,
		.listener = listener,
		.priv_bytes = 3,
		.priv = "abc"};

	memcpy(m.remote.ip, net_rig_gid(NUMBERS_PEER_IP).raw, 16);
	return m;
}

static struct ndd_conn *
connected(const struct numbers_bench *b)
{
	const struct ndsh_cm_connect m = connect_message(b, bound(b, 0));
	struct ndd_conn *c = ndd_slots_get(&b->s->conns, numbers_made(b, &m));

	cr_assert(ne(ptr, c, NULL));
	c->hop = numbers_next_hop;
	ndd_conn_send_request(c, ndd_now_ns());
	return c;
}

static void
expect_untouched(const struct numbers_bench *b)
{
	cr_expect(eq(int, roce_qp_state_get(b->qp->engine), ROCE_QPS_INIT));
	cr_expect(eq(ptr, b->qp->conn, NULL));
	cr_expect(not(b->qp->failed));
}

/* ---- the exchange -------------------------------------------------------------------------- */

static struct cm_mad
reply_to(const struct cm_mad *req)
{
	return (struct cm_mad){.attr = CM_ATTR_REP,
		.local_id = 0x99,
		.remote_id = req->local_id,
		.qpn = PEER_QPN,
		.psn = PEER_PSN,
		.responder_resources = 4,
		.initiator_depth = 3,
		.target_ack_delay = 17,
		.rnr_retry = 2};
}

Test(numbers, active_side_to_the_end)
{
	struct numbers_bench b = numbers_bench_in(ndd_rig_new());
	struct ndd_conn *c = connected(&b);
	const struct cm_mad req = numbers_mad(&b), rep = reply_to(&req);
	struct cm_mad m;
	struct ndsh_ev_cm ev;
	struct roce_cm_event e;

	cr_expect(eq(u32, req.qpn, b.qp->qpn));
	cr_expect(eq(u32, req.psn, OWN_PSN));
	cr_expect(eq(u32, req.responder_resources, 7));
	cr_expect(eq(u32, req.initiator_depth, 5));
	cr_expect(eq(u32, req.retry_count, 6));
	cr_expect(eq(u32, req.rnr_retry, 4));
	cr_expect(eq(u32, req.srq, 1));
	e = numbers_hear(&b, &rep);
	ndd_conn_on_reply(&b.r->d, &e);
	ev = numbers_told(&b, NDSH_EV_CONN_REPLY);
	cr_expect(eq(i32, ev.h.status, NDSH_OK));
	cr_expect(eq(u32, ev.peer.qpn, PEER_QPN));
	cr_expect(eq(u32, ev.peer.psn, PEER_PSN));
	cr_expect(eq(u8, ev.peer.inbound_reads, 3));
	cr_expect(eq(u8, ev.peer.outbound_reads, 4));
	cr_expect(eq(u8, ev.peer.retries, 6), "what the REQ said");
	cr_expect(eq(u8, ev.peer.rnr_retries, 2));
	cr_expect(eq(u32, ev.mtu_bytes, 1024));
	(void)numbers_made(
		&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_COMPLETE_CONNECT, .id = c->id});
	cr_expect(eq(u32, numbers_mad(&b).attr, CM_ATTR_RTU));
	expect_untouched(&b);
	m = (struct cm_mad){.attr = CM_ATTR_DREQ,
		.local_id = 0x99,
		.remote_id = req.local_id,
		.qpn = b.qp->qpn};
	e = numbers_hear(&b, &m);
	ndd_conn_on_disconnected(&b.r->d, &e);
	cr_expect(eq(i32, numbers_told(&b, NDSH_EV_CONN_DISCONNECTED).h.status, NDSH_OK));
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
	(void)numbers_made(&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_DISCONNECT, .id = c->id});
	expect_untouched(&b);
}

/* The request that a peer sends to a listener of the bench, as its client is told of it. */
static struct ndsh_ev_cm
requested(const struct numbers_bench *b, uint16_t port)
{
	const struct roce_gid from = net_rig_gid(NUMBERS_PEER_IP), to = net_rig_gid(NDD_RIG_IP);
	struct cm_mad m = cm_crowd_req(&from, &to, 4000, port);
	struct roce_cm_event e;

	m.local_id = 0x77;
	m.qpn = PEER_QPN;
	m.psn = PEER_PSN;
	m.responder_resources = 9;
	m.initiator_depth = 2;
	m.retry_count = 3;
	m.rnr_retry = 1;
	m.srq = 1;
	m.mtu = 2;
	m.ack_timeout = 19;
	e = numbers_hear(b, &m);
	cr_assert(eq(int, e.type, ROCE_CM_EV_REQUEST));
	ndd_conn_on_request(&b->r->d, &e);
	return numbers_told(b, NDSH_EV_CONN_REQUEST);
}

static uint32_t
listening(const struct numbers_bench *b, uint16_t port)
{
	const struct ndsh_listener_listen m = {
		.h.type = NDSH_MSG_CM_LISTEN, .listener = bound(b, port), .backlog = 4};

	return numbers_made(b, &m);
}

static struct ndsh_cm_accept
accept_message(const struct numbers_bench *b, uint32_t conn)
{
	return (struct ndsh_cm_accept){.h.type = NDSH_MSG_CM_ACCEPT,
		.permit = b->permit,
		.own = {.psn = OWN_PSN, .inbound_reads = 16, .outbound_reads = 16},
		.conn = conn};
}

Test(numbers, passive_side_holds_no_port)
{
	struct numbers_bench b = numbers_bench_in(ndd_rig_new());
	const uint32_t listener = listening(&b, NUMBERS_SERVICE);
	const struct ndsh_ev_cm ev = requested(&b, NUMBERS_SERVICE);
	const struct ndsh_cm_accept m = accept_message(&b, ev.conn);
	struct ndd_conn *c = ndd_slots_get(&b.s->conns, ev.conn);
	struct cm_mad rep, rtu;
	struct roce_cm_event e;

	cr_expect(eq(u32, ev.listener, listener));
	cr_expect(eq(u32, ev.peer.qpn, PEER_QPN));
	cr_expect(eq(u32, ev.peer.psn, PEER_PSN));
	cr_expect(eq(u8, ev.peer.inbound_reads, 2));
	cr_expect(eq(u8, ev.peer.outbound_reads, 9));
	cr_expect(eq(u8, ev.peer.retries, 3));
	cr_expect(eq(u8, ev.peer.rnr_retries, 1));
	cr_expect(eq(u8, ev.peer.srq, 1));
	cr_expect(eq(u32, ev.mtu_bytes, 512));
	(void)numbers_made(&b, &m);
	c->hop = numbers_next_hop;
	ndd_conn_send_reply(c, ndd_now_ns());
	rep = numbers_mad(&b);
	cr_expect(eq(u32, rep.attr, CM_ATTR_REP));
	cr_expect(eq(u32, rep.qpn, b.qp->qpn));
	cr_expect(eq(u32, rep.psn, OWN_PSN));
	cr_expect(eq(u32, rep.responder_resources, 2));
	cr_expect(eq(u32, rep.initiator_depth, 9));
	rtu = (struct cm_mad){
		.attr = CM_ATTR_RTU, .tid = 1, .local_id = 0x77, .remote_id = rep.local_id};
	e = numbers_hear(&b, &rtu);
	ndd_conn_on_established(&b.r->d, &e);
	cr_expect(eq(i32, numbers_told(&b, NDSH_EV_CONN_ESTABLISHED).h.status, NDSH_OK));
	(void)numbers_made(
		&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_LISTENER_DESTROY, .id = listener});
	(void)listening(&b, NUMBERS_SERVICE);
	(void)numbers_made(&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_DISCONNECT, .id = c->id});
	cr_expect(eq(u32, numbers_mad(&b).attr, CM_ATTR_DREQ));
	expect_untouched(&b);
}

static enum ndsh_status
connect_by(const struct numbers_bench *b, const struct ndsh_cm_permit *permit)
{
	struct ndsh_cm_connect m = connect_message(b, bound(b, 0));
	union numbers_reply reply;

	m.permit = *permit;
	return numbers_ask(b, &m, &reply);
}

/* ND's messages are for ND's connections, and the other way round. */
Test(numbers, kinds_are_not_mixed)
{
	struct numbers_bench b = numbers_bench_in(ndd_rig_new());
	const uint32_t listener = listening(&b, NUMBERS_SERVICE);
	const struct ndsh_ev_cm ev = requested(&b, NUMBERS_SERVICE);
	const struct ndsh_accept m = {
		.h.type = NDSH_MSG_ACCEPT, .conn = ev.conn, .qp = b.permit.qp};
	const struct ndsh_cm_connect c = connect_message(&b, listener);
	union numbers_reply reply;

	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_INVALID_REQUEST));
	cr_expect(
		eq(i32, numbers_ask(&b, &c, &reply), NDSH_ERR_INVALID_STATE), "a listener listens");
	cr_expect(eq(ptr, b.qp->conn, NULL));
	b.qp->unreliable = true; /* the CM's messages say RC */
	cr_expect(eq(i32, connect_by(&b, &b.permit), NDSH_ERR_INVALID_REQUEST));
}

/* ---- whose numbers ------------------------------------------------------------------------- */

Test(numbers, of_other_sessions_by_a_permit_alone)
{
	struct ndd_rig *r = ndd_rig_new();
	struct numbers_bench mine = numbers_bench_in(r), other = numbers_bench_in(r);
	struct ndsh_cm_permit guess = mine.permit;

	cr_expect(eq(i32, connect_by(&other, &mine.permit), NDSH_OK));
	guess.key ^= 1;
	cr_expect(eq(i32, connect_by(&other, &guess), NDSH_ERR_ACCESS), "another key");
	cr_expect(eq(i32, connect_by(&mine, &guess), NDSH_ERR_ACCESS), "in its own session, too");
	guess = mine.permit;
	guess.session = other.permit.session;
	cr_expect(eq(i32, connect_by(&other, &guess), NDSH_ERR_ACCESS), "another's key");
	guess.session = 1u << 20;
	cr_expect(eq(i32, connect_by(&other, &guess), NDSH_ERR_ACCESS), "no session");
	guess = mine.permit;
	guess.qp = 77;
	cr_expect(eq(i32, connect_by(&other, &guess), NDSH_ERR_ACCESS), "no queue pair");
}

Test(numbers, not_of_another_principal)
{
	struct ndd_rig *r = ndd_rig_new();
	struct numbers_bench mine, other;

	r->cfg.principals = 1;
	strcpy(r->cfg.principal[0].name, "red");
	strcpy(r->cfg.principal[0].label, "red");
	r->cfg.principal[0].weight = 1;
	r->cfg.principal[0].allow = true;
	ndd_rig_principals(r);
	mine = numbers_bench_in(r);
	ndd_rig_connect_by(r, "red");
	other = numbers_bench_in(r);
	cr_assert(ne(ptr, mine.s->account.principal, other.s->account.principal));
	cr_expect(eq(i32, connect_by(&other, &other.permit), NDSH_OK));
	cr_expect(eq(i32, connect_by(&other, &mine.permit), NDSH_ERR_ACCESS));
}

Test(numbers, not_of_a_queue_pair_that_is_gone)
{
	struct ndd_rig *r = ndd_rig_new();
	struct numbers_bench mine = numbers_bench_in(r), other = numbers_bench_in(r);

	(void)numbers_made(
		&mine, &(struct ndsh_id_msg){.h.type = NDSH_MSG_QP_DESTROY, .id = mine.permit.qp});
	ndd_rig_settle(r);
	cr_expect(eq(i32, connect_by(&other, &mine.permit), NDSH_ERR_ACCESS));
	close(mine.client);
	ndd_rig_settle(r);
	cr_expect(eq(i32, connect_by(&other, &mine.permit), NDSH_ERR_ACCESS));
}

static void
destroy_qp(const struct numbers_bench *b)
{
	(void)numbers_made(
		b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_QP_DESTROY, .id = b->permit.qp});
	ndd_rig_settle(b->r);
}

/* The queue pair ends while the next hop is resolved: another client's may have its number by then,
 * so no peer is told it. The client that asked hears of the end, and so does a peer that waits. */
Test(numbers, not_of_a_queue_pair_that_ends_meanwhile)
{
	struct numbers_bench b = numbers_bench_in(ndd_rig_new());
	const struct ndsh_cm_connect m = connect_message(&b, bound(&b, 0));
	struct ndd_conn *c = ndd_slots_get(&b.s->conns, numbers_made(&b, &m));

	c->hop = numbers_next_hop;
	destroy_qp(&b);
	ndd_conn_send_request(c, ndd_now_ns());
	cr_expect(not(roce_cm_has_work(b.r->d.cm)), "no REQ");
	cr_expect(eq(i32, numbers_told(&b, NDSH_EV_CONN_REPLY).h.status, NDSH_ERR_ABORTED));
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
}

/* Its client connects it in ND's way meanwhile: the number is that connection's then. */
Test(numbers, not_of_a_queue_pair_that_is_connected_meanwhile)
{
	struct numbers_bench b = numbers_bench_in(ndd_rig_new());
	const struct ndsh_cm_connect m = connect_message(&b, bound(&b, 0));
	struct ndd_conn *c = ndd_slots_get(&b.s->conns, numbers_made(&b, &m));

	c->hop = numbers_next_hop;
	ndd_conn_take_qp(ndd_conn_new(b.s, NDD_CONN_RESOLVING), b.qp);
	ndd_conn_send_request(c, ndd_now_ns());
	cr_expect(not(roce_cm_has_work(b.r->d.cm)), "no REQ");
	cr_expect(eq(i32, numbers_told(&b, NDSH_EV_CONN_REPLY).h.status, NDSH_ERR_ABORTED));
}

Test(numbers, not_of_a_queue_pair_that_ends_after_accept)
{
	struct numbers_bench b = numbers_bench_in(ndd_rig_new());
	struct ndsh_cm_accept m;
	struct ndd_conn *c;

	(void)listening(&b, NUMBERS_SERVICE);
	m = accept_message(&b, requested(&b, NUMBERS_SERVICE).conn);
	c = ndd_slots_get(&b.s->conns, m.conn);
	(void)numbers_made(&b, &m);
	c->hop = numbers_next_hop;
	destroy_qp(&b);
	ndd_conn_send_reply(c, ndd_now_ns());
	cr_expect(eq(u32, numbers_mad(&b).attr, CM_ATTR_REJ));
	cr_expect(eq(i32, numbers_told(&b, NDSH_EV_CONN_ESTABLISHED).h.status, NDSH_ERR_ABORTED));
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
}

Test(numbers, values_are_judged)
{
	struct numbers_bench b = numbers_bench_in(ndd_rig_new());
	struct ndsh_cm_connect m = connect_message(&b, bound(&b, 0));
	union numbers_reply reply;
	struct ndsh_cm_connect wrong[7];

	for (size_t n = 0; n < 7; n++)
		wrong[n] = m;
	wrong[0].own.psn = 1u << 24;
	wrong[1].own.retries = 8;
	wrong[2].own.rnr_retries = 8;
	wrong[3].own.srq = 2;
	wrong[4].tos = 1;
	wrong[5].priv_bytes = NDSH_CALLER_DATA_MAX + 1;
	wrong[6].listener = 99;
	for (size_t n = 0; n < 7; n++) {
		const enum ndsh_status why = n == 6   ? NDSH_ERR_INVALID_ID
					     : n == 5 ? NDSH_ERR_PRIVATE_DATA_SIZE
						      : NDSH_ERR_INVALID_PARAMETER;

		cr_expect(eq(i32, numbers_ask(&b, &wrong[n], &reply), why), "%zu", n);
	}
	memset(m.remote.ip, 0, 16);
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_BAD_DESTINATION));
}

/* The client is gone in the midst of it: the peer is told, and the number is free with time. */
Test(numbers, client_ends)
{
	struct numbers_bench b = numbers_bench_in(ndd_rig_new());

	(void)connected(&b);
	cr_assert(eq(u32, numbers_mad(&b).attr, CM_ATTR_REQ));
	close(b.client);
	ndd_rig_settle(b.r);
	cr_expect(eq(u32, numbers_mad(&b).attr, CM_ATTR_REJ));
	cr_expect(eq(ptr, TAILQ_FIRST(&b.r->d.followers.all), NULL));
}
