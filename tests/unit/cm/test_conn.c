/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a connection: its memory, its private data, its time-wait. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_at.h"
#include "cm/manager.h"
#include "cm/outbox.h"

/* checks R-CONN-08[1] */
Test(cm_conn, r_conn_07_private_data_sizes)
{
	static const struct {
		uint32_t req, rep;
	} cases[] = {{0, 0}, {1, 1}, {ROCE_CM_REQ_PRIV, ROCE_CM_REP_PRIV}};
	uint8_t data[256], zero[256] = {0};

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	for (unsigned i = 0; i < 3; i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		const struct roce_cm_event *ev;

		p->hold_requests = true;
		cr_assert_not_null(cm_net_connect(net, data, cases[i].req));
		cm_net_run(net, MS(10));
		cm_net_accept(net, p->conn, data, cases[i].rep);
		cm_net_run(net, MS(10));
		ev = cm_net_only_event(p, ROCE_CM_EV_REQUEST);
		cr_expect_arr_eq(ev->priv, data, cases[i].req);
		cr_expect_arr_eq(ev->priv + cases[i].req, zero, ROCE_CM_REQ_PRIV - cases[i].req);
		ev = cm_net_only_event(a, ROCE_CM_EV_REPLY);
		cr_expect_arr_eq(ev->priv, data, cases[i].rep);
		cr_expect_arr_eq(ev->priv + cases[i].rep, zero, ROCE_CM_REP_PRIV - cases[i].rep);
		cm_net_free(net);
	}
}

Test(cm_conn, r_conn_07_private_data_too_large_changes_nothing)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_qp_params qp = {.qpn = 9};
	uint8_t data[256] = {1};

	p->hold_requests = true;
	cr_expect_null(cm_net_connect(net, data, ROCE_CM_REQ_PRIV + 1));
	cr_assert_not_null(cm_net_connect(net, data, ROCE_CM_REQ_PRIV));
	cm_net_run(net, MS(10));
	cr_expect_not(
		roce_cm_accept(p->cm, net->now_ns, p->conn, &qp, data, ROCE_CM_REP_PRIV + 1, NULL));
	cr_expect_not(roce_cm_reject(p->cm, net->now_ns, p->conn, 28, data, ROCE_CM_REJ_PRIV + 1));
	cm_net_run(net, MS(10));
	cm_net_accept(net, p->conn, data, ROCE_CM_REP_PRIV);
	cm_net_run(net, MS(10));
	cm_net_only_event(a, ROCE_CM_EV_REPLY);
	cm_net_free(net);
}

/* checks W-CM-54[3] */
Test(cm_conn, w_cm_54_table_full_is_no_resources)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	p->cfg.max_passive = 1;
	cm_net_restart(net, CM_NET_P);
	for (unsigned i = 0; i < 2; i++) {
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
	}
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 3);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_REPLY), 1);
	cr_expect_eq(roce_cm_counters(p->cm)->no_resources, 1);
	cm_net_free(net);
}

/* checks W-CM-52[1,2] */
Test(cm_conn, w_cm_52_time_wait)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	struct roce_cm_usage u;

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000));
	cr_expect_not(roce_cm_qpn_resting(a->cm, 0x1001));
	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_run(net, MS(500)); /* ACK timeout 17: 512 ms */
	roce_cm_usage(a->cm, &u);
	cr_expect_eq(u.timewait, 1);
	cr_expect_eq(u.conns, 1);
	cr_expect(roce_cm_qpn_resting(a->cm, 0x1000));
	cm_net_run(net, MS(20));
	cr_expect_not(roce_cm_qpn_resting(a->cm, 0x1000));
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* The memory of a connection comes back when its end is sent and its host has left, in either
 * order; a table of which little was ever used does not touch the rest. */
Test(cm_conn, memory_is_free_when_neither_side_needs_it)
{
	for (unsigned order = 0; order < 2; order++) {
		struct cm_at_bench b = cm_at_bring(P_TIMEWAIT);
		struct roce_cm_usage u;
		struct roce_cm_tx tx;

		cm_at_inject(&b, DREQ); /* its DREP waits */
		roce_cm_tick(b.cm, MS(512));
		cr_assert_eq(b.conn->state, CM_DEAD);
		if (order == 0)
			roce_cm_destroy(b.cm, MS(512), b.conn);
		else
			cr_assert(roce_cm_tx(b.cm, &tx));
		roce_cm_usage(b.cm, &u);
		cr_expect_eq(u.conns, 1, "order %u", order);
		if (order == 0)
			cr_assert(roce_cm_tx(b.cm, &tx));
		else
			roce_cm_destroy(b.cm, MS(512), b.conn);
		roce_cm_usage(b.cm, &u);
		cr_expect_eq(u.conns, 0, "order %u", order);
		cr_expect_eq(cm_conn_new(b.cm, CM_REQ_SENT, &(struct cm_claim){.active = true}),
			b.conn, "used before");
		cr_expect_eq(b.cm->fresh_conns, 1);
		cm_net_free(b.net);
	}
}

/*
 * checks W-CM-52[1,3]: time-wait lasts as long as the ACK timeout of the REQ says, also for the
 * passive side, which counts it as resting.
 */
Test(cm_conn, w_cm_52_time_wait_by_the_ack_timeout)
{
	static const struct {
		uint8_t code;
		unsigned ms;
	} cases[] = {{0, 256}, {16, 256}, {17, 512}, {18, 1024}, {20, 4096}, {31, 4096}};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *p = &net->host[CM_NET_P];
		struct cm_mad m = cm_net_take_req(net);
		struct roce_cm_usage u;

		m.ack_timeout = cases[i].code;
		cm_net_inject(net, CM_NET_A, &m);
		cm_net_run(net, 0);
		p->conn->ack_timeout = cases[i].code;
		cm_conn_timewait(p->cm, net->now_ns, p->conn);
		cr_expect_eq(roce_cm_next_deadline(p->cm), net->now_ns + MS(cases[i].ms), "%u",
			cases[i].code);
		roce_cm_usage(p->cm, &u);
		cr_expect_eq(u.timewait, 1);
		cr_expect(roce_cm_qpn_resting(p->cm, 0x2000));
		cm_net_free(net);
	}
}

/* A change of state withdraws the messages that make no sense in the new one, and its deadline. */
Test(cm_conn, messages_that_a_state_keeps)
{
	static const uint8_t kept[CM_STATES] = {
		[CM_REQ_SENT] = CM_TX_REQ,
		[CM_MRA_REQ_RCVD] = CM_TX_REQ,
		[CM_REP_RCVD] = CM_TX_MRA,
		[CM_MRA_REP_SENT] = CM_TX_MRA,
		[CM_REQ_RCVD] = CM_TX_MRA,
		[CM_MRA_REQ_SENT] = CM_TX_MRA,
		[CM_REP_SENT] = CM_TX_REP,
		[CM_MRA_REP_RCVD] = CM_TX_REP,
		[CM_ESTABLISHED] = CM_TX_RTU | CM_TX_DREQ,
		[CM_DREQ_SENT] = CM_TX_RTU | CM_TX_DREQ,
		[CM_TIMEWAIT] = CM_TX_DREP | CM_TX_REJ,
		[CM_DEAD] = CM_TX_DREP | CM_TX_REJ | CM_TX_SIDR,
		[CM_SIDR_SENT] = CM_TX_SIDR,
		[CM_SIDR_ANSWERED] = CM_TX_SIDR,
	};

	for (enum cm_state state = CM_REQ_SENT; state < CM_STATES; state++) {
		struct cm_net *net = cm_net_new(false);
		struct roce_cm *cm = net->host[CM_NET_A].cm;
		struct roce_cm_conn *c = cm_net_connect(net, NULL, 0);

		cm_send(cm, c, 0xff);
		cm_conn_state(cm, c, state);
		cr_expect_eq(c->tx, kept[state], "state %u: %x", state, c->tx);
		cr_expect_eq(roce_cm_next_deadline(cm), UINT64_MAX);
		cr_expect_eq(TAILQ_EMPTY(&cm->tx_queue), kept[state] == 0);
		cm_net_free(net);
	}
}

/* Private data behind a shorter message are not those of a longer one before. */
Test(cm_conn, r_conn_07_private_data_are_padded_with_zeros)
{
	uint8_t data[ROCE_CM_REP_PRIV];
	struct roce_cm_conn c = {0};

	for (unsigned i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i + 1);
	cr_assert(cm_set_out_priv(&c, data, sizeof(data), sizeof(data)));
	cr_expect_arr_eq(c.out_priv, data, sizeof(data));
	cr_expect_not(cm_set_out_priv(&c, data, 4, 3));
	cr_expect_arr_eq(c.out_priv, data, sizeof(data), "refused: as before");
	cr_assert(cm_set_out_priv(&c, data, 2, 3));
	cr_expect_eq(c.out_priv_bytes, 2);
	cr_expect_arr_eq(c.out_priv, "\1\2\0\0\0", 5);
	cr_expect_eq(c.out_priv[ROCE_CM_REP_PRIV - 1], 0);
}

/* Memory that is used again says nothing of the connection that had it before. */
Test(cm_conn, begins_without_what_another_one_left)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm *cm = net->host[CM_NET_A].cm;
	const struct cm_claim claim = {.active = true};
	struct roce_cm_conn *fresh = cm_conn_new(cm, CM_REQ_SENT, &claim), expected, *again;

	expected = *fresh;
	fresh->remote_id = 1;
	fresh->remote_guid = 2;
	fresh->challenged = true;
	fresh->retries = 3;
	fresh->ari_bytes = 8;
	fresh->owner = cm;
	cm_set_in_priv(fresh, (const uint8_t *)"secret", 6);
	cr_assert(cm_set_out_priv(fresh, "secret", 6, 6));
	cm_conn_dead(cm, fresh);
	again = cm_conn_new(cm, CM_REQ_SENT, &claim);
	cr_assert_eq(again, fresh);
	expected.local_id = again->local_id;
	memcpy(expected.link, again->link, sizeof(expected.link));
	cr_expect_arr_eq(again, &expected, sizeof(expected));
	cm_conn_dead(cm, again);
	cm_net_free(net);
}
