/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a connection: its memory, its private data, its time-wait. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"

/* checks R-CONN-08 */
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

Test(cm_conn, table_full_is_no_resources)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	p->cfg.max_conns = 2;
	cm_net_restart(net, CM_NET_P);
	for (unsigned i = 0; i < 3; i++) {
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
	}
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 3);
	cr_expect_eq(cm_net_events(a, ROCE_CM_EV_REPLY), 2);
	cr_expect_eq(roce_cm_counters(p->cm)->no_resources, 1);
	cm_net_free(net);
}

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
