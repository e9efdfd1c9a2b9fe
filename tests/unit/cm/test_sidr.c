/* SPDX-License-Identifier: BSD-3-Clause */
/* Lookups of datagram services: both roles, with loss, strangers and floods. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "cm/sidr.h"

#define PORT  7174u /* of the service; connections' port space has one of that number, too */
#define Q_KEY 0x01234567u
#define QPN   0x1234u
#define REQ   ATTR(CM_ATTR_SIDR_REQ)
#define REP   ATTR(CM_ATTR_SIDR_REP)

static struct roce_cm_listener *
listen_at(struct cm_net *net, uint32_t backlog)
{
	struct cm_net_host *p = &net->host[CM_NET_P];
	const struct roce_cm_addr addr = {.port = PORT};
	struct roce_cm_listener *l =
		roce_cm_sidr_listen(p->cm, &addr, CM_NET_PORT, backlog, p, NULL);

	cr_assert_not_null(l);
	return l;
}

static struct roce_cm_conn *
look_up(struct cm_net *net, uint16_t port, const void *priv, uint32_t bytes)
{
	struct cm_net_host *a = &net->host[CM_NET_A];

	return roce_cm_sidr_query(a->cm, net->now_ns,
		&(struct roce_cm_sidr_query){.local = {a->gid, 40000},
			.remote = {net->host[CM_NET_P].gid, port},
			.port = 3,
			.tos = 0x68,
			.priv = priv,
			.priv_bytes = bytes,
			.owner = net});
}

/* The question that P has. */
static struct roce_cm_conn *
question(const struct cm_net *net)
{
	return cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_SIDR_REQUEST)->conn;
}

static bool
answer(struct cm_net *net, struct roce_cm_conn *c, const void *priv, uint32_t bytes)
{
	return roce_cm_sidr_reply(net->host[CM_NET_P].cm, net->now_ns, c,
		&(struct roce_cm_sidr_reply){
			.qpn = QPN, .q_key = Q_KEY, .priv = priv, .priv_bytes = bytes});
}

/* All ends, and no memory of it stays. A still holds its lookup, P what it did not answer. */
static void
end(struct cm_net *net, struct roce_cm_listener *l, struct roce_cm_conn *c)
{
	const struct roce_cm_event *gone;

	if (c != NULL)
		roce_cm_destroy(net->host[CM_NET_A].cm, net->now_ns, c);
	if (l != NULL)
		roce_cm_unlisten(net->host[CM_NET_P].cm, net->now_ns, l);
	cm_net_settle(net);
	for (unsigned i = 0; (gone = cm_net_event(&net->host[CM_NET_P], ROCE_CM_EV_SIDR_GONE, i));
		i++)
		roce_cm_destroy(net->host[CM_NET_P].cm, net->now_ns, gone->conn);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

static void
expect_answer(const struct cm_net *net)
{
	const struct roce_cm_event *ev =
		cm_net_only_event(&net->host[CM_NET_A], ROCE_CM_EV_SIDR_REPLY);

	cr_expect_eq(ev->reason, ROCE_CM_SIDR_SUCCESS);
	cr_expect_not(ev->timed_out);
	cr_expect_eq(ev->peer.qpn, QPN);
	cr_expect_eq(ev->q_key, Q_KEY);
	cr_expect_eq(ev->owner, net);
	cr_expect_eq(ev->priv_bytes, ROCE_CM_SIDR_REPLY_PRIV);
}

/* checks W-CM-02[1,3] */
Test(cm_sidr, asked_and_answered)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		struct cm_net *net = cm_net_new(v6);
		const struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		struct roce_cm_listener *l = listen_at(net, 0);
		uint8_t ask[ROCE_CM_SIDR_QUERY_PRIV], say[ROCE_CM_SIDR_REPLY_PRIV];
		const struct roce_cm_event *ev;
		struct roce_cm_conn *c;
		struct cm_ip_hdr ip;

		memset(ask, 0x5a, sizeof(ask));
		memset(say, 0xa5, sizeof(say));
		cr_assert_null(look_up(net, PORT, ask, sizeof(ask) + 1));
		c = look_up(net, PORT, ask, sizeof(ask));
		cm_net_run(net, MS(10));
		cr_expect_eq(a->last[REQ].service_id, 0x0000000001110000u | PORT);
		cr_expect_eq(a->last[REQ].pkey, 0xffff);
		cr_assert(cm_ip_hdr_decode(&ip, a->last[REQ].priv));
		cr_expect(roce_gid_equal(&ip.src, &a->gid) && roce_gid_equal(&ip.dst, &p->gid));
		ev = cm_net_only_event(p, ROCE_CM_EV_SIDR_REQUEST);
		cr_expect_eq(ev->owner, p);
		cr_expect(roce_gid_equal(&ev->remote.gid, &a->gid));
		cr_expect_eq(ev->remote.port, 40000);
		cr_expect_eq(ev->local.port, PORT);
		cr_expect_eq(ev->priv_bytes, sizeof(ask));
		cr_expect_arr_eq(ev->priv, ask, sizeof(ask));
		cr_assert_not(answer(net, ev->conn, say, sizeof(say) + 1));
		cr_assert(answer(net, ev->conn, say, sizeof(say)));
		cm_net_run(net, MS(10));
		expect_answer(net);
		ev = cm_net_only_event(a, ROCE_CM_EV_SIDR_REPLY);
		cr_expect_arr_eq(ev->priv, say, sizeof(say));
		cr_expect_eq(p->last[REP].local_id, a->last[REQ].local_id);
		cr_expect_eq(p->last[REP].tid, a->last[REQ].tid);
		cr_expect_eq(p->last_tos[REP], 0x68);
		end(net, l, c);
	}
}

/*
 * checks W-CM-03[2], W-CM-60[4]: what is lost is asked again; P hears of one question only, and
 * A of one answer.
 */
Test(cm_sidr, loss_of_either)
{
	for (unsigned lost = 0; lost < 12; lost++) {
		struct cm_net *net = cm_net_new(false);
		struct roce_cm_listener *l = listen_at(net, 0);
		struct roce_cm_conn *c = look_up(net, PORT, NULL, 0);

		net->host[CM_NET_A].drop[REQ] = lost % 4;
		net->host[CM_NET_P].drop[REP] = lost / 4;
		net->host[CM_NET_A].duplicate[REQ] = lost % 2;
		net->host[CM_NET_P].duplicate[REP] = lost % 2;
		cm_net_run(net, MS(1500));
		(void)answer(net, question(net), NULL, 0);
		cm_net_run(net, MS(9000));
		expect_answer(net);
		cr_expect_leq(net->host[CM_NET_A].sent[REQ], 7, "no more than ten a second");
		cr_expect_eq(net->host[CM_NET_A].n_log + net->host[CM_NET_P].n_log, 2);
		end(net, l, c);
	}
}

/* checks W-CM-60[1,3,4], W-CM-62[1,2] */
Test(cm_sidr, nobody_answers)
{
	static const unsigned at_ms[] = {0, 200, 600, 1400, 3000, 6200, 10808, 15416};
	struct cm_net *net = cm_net_new(false);
	struct roce_cm_conn *c = look_up(net, PORT, NULL, 0);
	const struct roce_cm_event *ev;

	net->host[CM_NET_A].drop[REQ] = 1000;
	for (unsigned i = 0; i < sizeof(at_ms) / sizeof(at_ms[0]); i++) {
		cm_net_run(net, MS(at_ms[i]) - net->now_ns);
		cr_expect_eq(net->host[CM_NET_A].sent[REQ], i + 1, "%u ms", at_ms[i]);
		cr_expect_eq(net->host[CM_NET_A].last_sent_ns[REQ], MS(at_ms[i]));
	}
	cm_net_run(net, MS(73727) - net->now_ns);
	cr_expect_eq(net->host[CM_NET_A].n_log, 0);
	cm_net_run(net, MS(1));
	ev = cm_net_only_event(&net->host[CM_NET_A], ROCE_CM_EV_SIDR_REPLY);
	cr_expect(ev->timed_out);
	cr_expect_eq(ev->priv_bytes, 0);
	cr_expect_eq(net->host[CM_NET_A].sent[REQ], 16);
	end(net, NULL, c);
}

/* Each refusal has its status; those of connections and of datagrams don't hear of each other. */
Test(cm_sidr, refusals)
{
	for (unsigned i = 0; i < 5; i++) {
		struct cm_net *net = cm_net_new(false);
		struct roce_cm_listener *l = listen_at(net, 1);
		struct roce_cm_conn *first = i == 3 ? look_up(net, PORT, NULL, 0) : NULL, *c;
		const struct roce_cm_event *ev;
		static const uint8_t want[] = {ROCE_CM_SIDR_UNSUPPORTED, ROCE_CM_SIDR_UNSUPPORTED,
			ROCE_CM_SIDR_REJECT, ROCE_CM_SIDR_REJECT, ROCE_CM_SIDR_REJECT};

		cm_net_run(net, MS(5));
		roce_cm_listener_pause(l, i == 1);
		c = look_up(net, i == 0 ? PORT + 1 : PORT, NULL, 0);
		cm_net_run(net, MS(5));
		if (i == 2) /* refused in words */
			cr_assert(roce_cm_sidr_reply(net->host[CM_NET_P].cm, net->now_ns,
				question(net),
				&(struct roce_cm_sidr_reply){.status = ROCE_CM_SIDR_REJECT,
					.qpn = QPN,
					.q_key = Q_KEY,
					.priv = "no",
					.priv_bytes = 2}));
		if (i == 4)
			roce_cm_destroy(net->host[CM_NET_P].cm, net->now_ns, question(net));
		cm_net_run(net, MS(5));
		ev = cm_net_only_event(&net->host[CM_NET_A], ROCE_CM_EV_SIDR_REPLY);
		cr_expect_eq(ev->reason, want[i], "%u: %u", i, ev->reason);
		cr_expect_eq(ev->peer.qpn, 0);
		cr_expect_eq(ev->q_key, 0);
		cr_expect_eq(ev->priv[0], i == 2 ? 'n' : 0);
		if (first != NULL)
			roce_cm_destroy(net->host[CM_NET_A].cm, net->now_ns, first);
		end(net, l, c);
	}
}

/* The listener of connections at that port, and the one of datagrams, are two. */
Test(cm_sidr, two_port_spaces)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct roce_cm_conn *c = look_up(net, PORT, NULL, 0);
	struct roce_cm_listener *l;
	struct cm_mad m;

	cr_assert_eq(PORT, CM_NET_SERVICE);
	cm_net_run(net, MS(5));
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_SIDR_REPLY)->reason, ROCE_CM_SIDR_UNSUPPORTED);
	l = listen_at(net, 0);
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, 0);
	m = a->last[ATTR(CM_ATTR_REQ)];
	cm_net_run(net, MS(20));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 1);
	m.local_id++;
	m.qpn++;
	m.service_id = a->last[REQ].service_id; /* a REQ for the other space, and the reverse */
	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, MS(20));
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].reason, 8);
	m = a->last[REQ];
	m.local_id++;
	m.service_id = cm_service_id(PORT);
	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, MS(20));
	cr_expect_eq(p->last[REP].status, ROCE_CM_SIDR_UNSUPPORTED);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_SIDR_REQUEST), 0);
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	end(net, l, c);
}

/* checks W-CM-06[1], W-CM-08[6] */
Test(cm_sidr, questions_that_contradict_themselves)
{
	for (unsigned i = 0; i < 5; i++) {
		struct cm_net *net = cm_net_new(false);
		struct roce_cm_listener *l = listen_at(net, 0);
		struct roce_cm_conn *c = look_up(net, PORT, NULL, 0);
		struct cm_mad m;

		net->host[CM_NET_A].drop[REQ] = 1;
		cm_net_run(net, 0);
		m = net->host[CM_NET_A].last[REQ];
		if (i == 0)
			m.priv[0] = 0x10;
		if (i == 1)
			m.priv[19] ^= 1; /* source */
		if (i == 2)
			m.priv[35] ^= 1; /* destination */
		if (i == 3)
			m.pkey = 0x8001;
		cm_net_inject(net, CM_NET_A, &m);
		cm_net_run(net, MS(5));
		cr_expect_eq(cm_net_events(&net->host[CM_NET_P], ROCE_CM_EV_SIDR_REQUEST), i == 4);
		if (i < 4)
			cr_expect_eq(net->host[CM_NET_P].last[REP].status, 2, "reject");
		end(net, l, c);
	}
}

/*
 * checks W-CM-41[7,9]: answers that are none: of strangers, to other ids, without a queue pair,
 * or too late.
 */
Test(cm_sidr, answers_of_strangers)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_conn *c = look_up(net, PORT, NULL, 0);
	struct roce_gid gid = net->host[CM_NET_P].gid;
	struct cm_mad m;

	a->drop[REQ] = 1000;
	cm_net_run(net, 0);
	m = (struct cm_mad){.attr = CM_ATTR_SIDR_REP,
		.tid = a->last[REQ].tid,
		.local_id = a->last[REQ].local_id + 1,
		.qpn = QPN,
		.qkey = Q_KEY};
	cm_net_inject(net, CM_NET_P, &m);
	m.local_id--;
	for (m.qpn = 0; m.qpn < 2; m.qpn++)
		cm_net_inject(net, CM_NET_P, &m);
	m.qpn = QPN;
	net->host[CM_NET_P].gid.raw[15] ^= 0x10;
	cm_net_inject(net, CM_NET_P, &m);
	net->host[CM_NET_P].gid = gid;
	for (unsigned attr = CM_ATTR_REQ; attr < CM_ATTR_SIDR_REQ; attr++) {
		struct cm_mad other = {.attr = attr,
			.local_id = 77,
			.qpn = QPN,
			.remote_id = a->last[REQ].local_id};

		cm_net_inject(net, CM_NET_P, &other); /* no message of a connection finds it */
	}
	cm_net_run(net, MS(1));
	cr_expect_eq(a->n_log, 0);
	cm_net_inject(net, CM_NET_P, &m);
	cm_net_inject(net, CM_NET_P, &m);
	cm_net_run(net, MS(1));
	expect_answer(net);
	cr_expect_eq(a->n_log, 1);
	end(net, NULL, c);
}

/* A host that no longer asks is forgotten; as long as it asks, there is time to answer. */
Test(cm_sidr, patience)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct roce_cm_listener *l = listen_at(net, 1);
	struct roce_cm_conn *c = look_up(net, PORT, NULL, 0), *q;
	struct cm_mad m;

	cm_net_run(net, MS(5));
	q = question(net);
	roce_cm_set_owner(q, &m);
	m = net->host[CM_NET_A].last[REQ];
	roce_cm_destroy(net->host[CM_NET_A].cm, net->now_ns, c);
	for (unsigned i = 0; i < 20; i++) { /* as Linux does, for more than a minute */
		cm_net_run(net, MS(4096));
		cm_net_inject(net, CM_NET_A, &m);
	}
	cr_expect_eq(p->n_log, 1);
	cm_net_run(net, MS(11000));
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_SIDR_GONE)->owner, &m);
	cr_assert_not(answer(net, q, NULL, 0));
	cr_expect_eq(p->sent[REP], 0);
	c = look_up(net, PORT, NULL, 0); /* and the backlog has room again */
	cm_net_run(net, MS(5));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_SIDR_REQUEST), 2);
	end(net, l, c);
}

/* A listener that closes rejects what it did not hand out, and what it did is still answered. */
Test(cm_sidr, closed_listener)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct roce_cm_listener *l = listen_at(net, 0);
	struct roce_cm_conn *one = look_up(net, PORT, NULL, 0), *two;
	uint8_t mad[ROCE_MAD_BYTES];

	cm_net_run(net, MS(5));
	two = look_up(net, PORT, NULL, 0);
	a->drop[REQ] = 1;
	cm_net_run(net, 0);
	cm_mad_encode(mad, &a->last[REQ]);
	cm_net_inject_raw(net, CM_NET_A, mad); /* its event is not taken before this: */
	roce_cm_unlisten(p->cm, net->now_ns, l);
	cm_net_run(net, MS(5));
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_SIDR_REPLY)->conn, two);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_SIDR_REPLY)->reason, ROCE_CM_SIDR_REJECT);
	cr_assert(answer(net, question(net), NULL, 0));
	cm_net_run(net, MS(5));
	cr_expect_eq(cm_net_event(a, ROCE_CM_EV_SIDR_REPLY, 1)->conn, one);
	roce_cm_destroy(a->cm, net->now_ns, one);
	end(net, NULL, two);
}

/* However many ask, connections find room, and so do honest questions when it is over. */
Test(cm_sidr, flood)
{
	for (unsigned answered = 0; answered < 2; answered++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		struct roce_cm_listener *l = listen_at(net, 0);
		struct roce_cm_conn *c = look_up(net, PORT, NULL, 0);
		struct roce_cm_event ev;
		struct roce_cm_usage u;
		struct roce_cm_tx tx;
		struct cm_mad m;

		cm_net_run(net, 0);
		m = a->last[REQ];
		roce_cm_destroy(a->cm, net->now_ns, c);
		for (unsigned i = 0; i < 10 * p->cfg.max_passive; i++) {
			m.local_id = 1000 + i;
			cm_net_inject(net, CM_NET_A, &m);
			while (roce_cm_event(p->cm, &ev))
				if (answered)
					cr_assert(answer(net, ev.conn, NULL, 0));
			while (roce_cm_tx(p->cm, &tx))
				;
		}
		roce_cm_usage(p->cm, &u);
		cr_expect_leq(u.conns, p->cfg.max_passive / 4 + 2, "%u", u.conns);
		cr_expect_eq(roce_cm_counters(p->cm)->rejected_listener > 0, !answered);
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(20));
		cr_expect_eq(cm_net_events(a, ROCE_CM_EV_REPLY), 1);
		cm_net_free(net);
		(void)l;
	}
}

/*
 * checks W-CM-41[8]: a request is repeated under its transaction ID; another one of the same
 * peer, which has started again, may have its request ID, and is another question.
 */
Test(cm_sidr, a_request_id_of_another_transaction_is_another_request)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct cm_mad m;

	(void)listen_at(net, 0);
	p->hold_requests = true;
	(void)look_up(net, PORT, NULL, 0);
	cm_net_run(net, MS(5));
	cm_net_only_event(p, ROCE_CM_EV_SIDR_REQUEST);
	m = a->last[REQ];
	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, 0);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_SIDR_REQUEST), 1);
	m.tid++;
	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, 0);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_SIDR_REQUEST), 2);
	cm_net_free(net);
}
