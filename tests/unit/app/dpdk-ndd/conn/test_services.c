/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagram services by numbers: lookups, questions, and what answers may say. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

#include "conn/conn.h"
#include "conn/services.h"
#include "object/qp.h"
#include "platform/clock.h"
#include "rigs/cm_crowd.h"
#include "rigs/net_rig.h"
#include "rigs/numbers_bench.h"
#include "ud/sidr_request.h"

#define PEER_QPN   0x5678u
#define PEER_Q_KEY 0x777u

static struct ndsh_cm_look_up
look_up_message(uint32_t listener)
{
	struct ndsh_cm_look_up m = {.h.type = NDSH_MSG_CM_LOOK_UP,
		.remote.port = NUMBERS_SERVICE,
		.listener = listener,
		.priv_bytes = 3,
		.priv = "abc"};

	memcpy(m.remote.ip, net_rig_gid(NUMBERS_PEER_IP).raw, 16);
	return m;
}

static struct ndd_conn *
asked(const struct numbers_bench *b)
{
	const struct ndsh_cm_look_up m = look_up_message(numbers_bound(b, NDSH_MSG_CM_UD_BIND, 0));
	struct ndd_conn *c = ndd_slots_get(&b->s->conns, numbers_made(b, &m));

	cr_assert(ne(ptr, c, NULL));
	c->hop = numbers_next_hop;
	ndd_service_query(c, ndd_now_ns());
	return c;
}

/* The CM's word that a query or request is over goes to its owner. */
static void
ends(const struct numbers_bench *b, const struct roce_cm_event *e)
{
	const struct ndd_sidr_user *u = e->owner;

	u->on_end(&b->r->d, e);
}

static struct ndsh_ev_cm
answered(const struct numbers_bench *b, struct ndd_conn *c, uint32_t status)
{
	const struct cm_mad req = numbers_mad(b);
	struct cm_mad rep = {.attr = CM_ATTR_SIDR_REP,
		.local_id = req.local_id,
		.status = status,
		.qpn = PEER_QPN,
		.qkey = PEER_Q_KEY,
		.priv = "yes"};
	struct roce_cm_event e;
	struct cm_ip_hdr ip;

	cr_expect(eq(u32, req.attr, CM_ATTR_SIDR_REQ));
	cr_expect(eq(u64, req.service_id, CM_SERVICE_PS_UDP | NUMBERS_SERVICE));
	cr_assert(cm_ip_hdr_decode(&ip, req.priv));
	cr_expect(eq(u16, ip.src_port, c->local.port));
	cr_expect(zero(memcmp(&ip.dst, &c->remote.gid, 16)));
	cr_expect(zero(memcmp(&ip.src, &c->local.gid, 16)));
	cr_expect(zero(memcmp(req.priv + CM_IP_HDR_BYTES, "abc\0", 4)));
	e = numbers_hear(b, &rep);
	cr_assert(eq(int, e.type, ROCE_CM_EV_SIDR_REPLY));
	ends(b, &e);
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
	cr_expect(eq(ptr, c->cm, NULL));
	return numbers_told(b, NDSH_EV_CONN_REPLY);
}

Test(services, look_up_and_answer)
{
	struct numbers_bench b = numbers_bench_of(ndd_rig_new(), true);
	struct ndd_conn *c = asked(&b);
	const struct ndsh_ev_cm ev = answered(&b, c, 0);

	cr_expect(eq(i32, ev.h.status, NDSH_OK));
	cr_expect(eq(u32, ev.conn, c->id));
	cr_expect(eq(u32, ev.peer.qpn, PEER_QPN));
	cr_expect(eq(u32, ev.peer.q_key, PEER_Q_KEY));
	cr_expect(eq(u32, ev.mtu_bytes, 1024));
	cr_expect(eq(u8, ev.hop_limit, 64));
	cr_expect(eq(u32, ev.priv_bytes, NDSH_ANSWER_DATA_MAX));
	cr_expect(zero(memcmp(ev.priv, "yes\0", 4)));
	(void)numbers_made(&b, &(struct ndsh_id_msg){.h.type = NDSH_MSG_CONN_DESTROY, .id = c->id});
}

Test(services, look_up_refused)
{
	struct numbers_bench b = numbers_bench_of(ndd_rig_new(), true);
	const struct ndsh_ev_cm ev = answered(&b, asked(&b), 2);

	cr_expect(eq(i32, ev.h.status, NDSH_ERR_REFUSED));
	cr_expect(eq(u32, ev.reject_reason, 2));
	cr_expect(zero(memcmp(ev.priv, "yes\0", 4)));
}

/* No answer comes: the lookup ends by itself, when the CM has asked often enough. */
Test(services, look_up_unanswered)
{
	struct numbers_bench b = numbers_bench_of(ndd_rig_new(), true);
	struct ndd_conn *c = asked(&b);
	uint64_t now_ns = ndd_now_ns();
	struct roce_cm_event e;
	struct roce_cm_tx tx;

	for (uint32_t n = 0; n < 100 && !roce_cm_event(b.r->d.cm, &e); n++) {
		while (roce_cm_tx(b.r->d.cm, &tx))
			;
		now_ns += 4 * NDD_S;
		roce_cm_tick(b.r->d.cm, now_ns);
	}
	cr_assert(eq(int, e.type, ROCE_CM_EV_SIDR_REPLY));
	ends(&b, &e);
	cr_expect(eq(i32, numbers_told(&b, NDSH_EV_CONN_REPLY).h.status, NDSH_ERR_TIMEOUT));
	cr_expect(eq(int, c->state, NDD_CONN_OVER));
}

Test(services, look_ups_are_judged)
{
	struct numbers_bench b = numbers_bench_of(ndd_rig_new(), true);
	const uint32_t listener = numbers_bound(&b, NDSH_MSG_CM_UD_BIND, NUMBERS_SERVICE);
	const struct ndsh_cm_look_up good = look_up_message(listener);
	struct ndsh_cm_look_up m = good;
	const struct ndsh_cm_connect c = {.h.type = NDSH_MSG_CM_CONNECT,
		.permit = b.permit,
		.remote = good.remote,
		.listener = listener};
	struct ndsh_listener_listen l = {.h.type = NDSH_MSG_LISTENER_LISTEN, .listener = listener};
	union numbers_reply reply;

	m.listener = 99;
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_INVALID_ID));
	m.listener = numbers_bound(&b, NDSH_MSG_LISTENER_BIND, NUMBERS_SERVICE);
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_INVALID_STATE), "of connections");
	cr_expect(eq(i32, numbers_ask(&b, &c, &reply), NDSH_ERR_INVALID_STATE), "of datagrams");
	cr_expect(eq(i32, numbers_ask(&b, &l, &reply), NDSH_ERR_INVALID_REQUEST), "ND's");
	m = good;
	m.priv_bytes = NDSH_LOOKUP_DATA_MAX + 1;
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_PRIVATE_DATA_SIZE));
	m = good;
	m.tos = 1;
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_INVALID_PARAMETER));
	m = good;
	memset(m.remote.ip, 0, 16);
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_BAD_DESTINATION));
	memcpy(m.remote.ip, net_rig_gid("239.1.2.3").raw, 16);
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_BAD_DESTINATION), "a group");
	l.h.type = NDSH_MSG_CM_LISTEN;
	(void)numbers_made(&b, &l);
	cr_expect(eq(i32, numbers_ask(&b, &good, &reply), NDSH_ERR_INVALID_STATE), "it listens");
}

/* What a peer asks, as the client of a service is told of it. */
static struct ndsh_ev_cm
question(const struct numbers_bench *b)
{
	const struct roce_gid from = net_rig_gid(NUMBERS_PEER_IP), to = net_rig_gid(NDD_RIG_IP);
	const struct ndsh_listener_listen l = {.h.type = NDSH_MSG_CM_LISTEN,
		.listener = numbers_bound(b, NDSH_MSG_CM_UD_BIND, NUMBERS_SERVICE),
		.backlog = 4};
	struct cm_mad m = cm_crowd_sidr_req(&from, &to, 4000, NUMBERS_SERVICE);
	struct roce_cm_event e;

	(void)numbers_made(b, &l);
	memcpy(m.priv + CM_IP_HDR_BYTES, "what", 4);
	e = numbers_hear(b, &m);
	cr_assert(eq(int, e.type, ROCE_CM_EV_SIDR_REQUEST));
	ndd_sidr_on_request(&b->r->d, &e);
	return numbers_told(b, NDSH_EV_CONN_REQUEST);
}

static struct ndsh_cm_accept
answer_message(const struct numbers_bench *b, uint32_t conn)
{
	return (struct ndsh_cm_accept){.h.type = NDSH_MSG_CM_ACCEPT,
		.permit = b->permit,
		.own.q_key = NUMBERS_Q_KEY,
		.conn = conn,
		.priv_bytes = 3,
		.priv = "yes"};
}

/* One answer, with a number that the client may name. */
Test(services, question_and_answer)
{
	struct ndd_rig *r = ndd_rig_new();
	struct numbers_bench b = numbers_bench_of(r, true), connected_one = numbers_bench_in(r);
	const struct ndsh_ev_cm ev = question(&b);
	const struct ndsh_cm_accept good = answer_message(&b, ev.conn);
	struct ndsh_cm_accept m = good;
	const struct ndsh_reject no = {.h.type = NDSH_MSG_REJECT, .conn = ev.conn};
	struct ndsh_accept nd = {.h.type = NDSH_MSG_ACCEPT, .conn = ev.conn, .qp = b.permit.qp};
	union numbers_reply reply;
	struct cm_mad rep;

	cr_expect(eq(u16, ev.remote.port, 4000));
	cr_expect(eq(u32, ev.priv_bytes, NDSH_LOOKUP_DATA_MAX));
	cr_expect(zero(memcmp(ev.priv, "what\0", 5)));
	m.permit.key ^= 1;
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_ACCESS), "a guess");
	m = good;
	m.own.q_key = 0x80000001;
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_ACCESS), "a privileged Q_Key");
	m = good;
	m.permit = connected_one.permit;
	cr_expect(
		eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_INVALID_REQUEST), "not of datagrams");
	m = good;
	m.priv_bytes = NDSH_ANSWER_DATA_MAX + 1;
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_PRIVATE_DATA_SIZE));
	cr_expect(eq(i32, numbers_ask(&b, &nd, &reply), NDSH_ERR_INVALID_REQUEST), "ND's");
	cr_expect(eq(i32, numbers_ask(&connected_one, &good, &reply), NDSH_ERR_INVALID_ID),
		"another's");
	(void)numbers_made(&b, &good);
	rep = numbers_mad(&b);
	cr_expect(eq(u32, rep.attr, CM_ATTR_SIDR_REP));
	cr_expect(eq(u32, rep.local_id, 4001));
	cr_expect(eq(u32, rep.status, 0));
	cr_expect(eq(u32, rep.qpn, b.qp->qpn));
	cr_expect(eq(u32, rep.qkey, NUMBERS_Q_KEY));
	cr_expect(zero(memcmp(rep.priv, "yes\0", 4)));
	cr_expect(eq(i32, numbers_ask(&b, &good, &reply), NDSH_ERR_ABORTED), "once");
	cr_expect(eq(i32, numbers_ask(&b, &no, &reply), NDSH_ERR_ABORTED), "once");
}

Test(services, question_rejected)
{
	struct numbers_bench b = numbers_bench_of(ndd_rig_new(), true);
	struct ndsh_reject m = {.h.type = NDSH_MSG_REJECT,
		.conn = question(&b).conn,
		.priv_bytes = NDSH_ANSWER_DATA_MAX + 1,
		.priv = "no"};
	union numbers_reply reply;
	struct cm_mad rep;

	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_PRIVATE_DATA_SIZE));
	m.priv_bytes = 2;
	(void)numbers_made(&b, &m);
	rep = numbers_mad(&b);
	cr_expect(eq(u32, rep.status, 2));
	cr_expect(zero(memcmp(rep.priv, "no\0", 3)));
}

/* The client neither answers nor ends: the peer's patience is the bound. */
Test(services, question_unanswered)
{
	struct numbers_bench b = numbers_bench_of(ndd_rig_new(), true);
	const struct ndsh_ev_cm ev = question(&b);
	const struct ndsh_cm_accept m = answer_message(&b, ev.conn);
	struct roce_cm_event e;
	union numbers_reply reply;

	roce_cm_tick(b.r->d.cm, ndd_now_ns() + 11 * NDD_S);
	cr_assert(roce_cm_event(b.r->d.cm, &e));
	cr_assert(eq(int, e.type, ROCE_CM_EV_SIDR_GONE));
	ends(&b, &e);
	cr_expect(eq(i32, numbers_told(&b, NDSH_EV_CONN_DISCONNECTED).h.status, NDSH_ERR_ABORTED));
	cr_expect(eq(i32, numbers_ask(&b, &m, &reply), NDSH_ERR_ABORTED));
}

Test(services, client_ends)
{
	struct numbers_bench b = numbers_bench_of(ndd_rig_new(), true);

	(void)question(&b);
	(void)asked(&b);
	cr_assert(eq(u32, numbers_mad(&b).attr, CM_ATTR_SIDR_REQ));
	close(b.client);
	ndd_rig_settle(b.r);
	cr_expect(eq(u32, numbers_mad(&b).status, 2));
	cr_expect(eq(ptr, TAILQ_FIRST(&b.r->d.followers.all), NULL));
}
