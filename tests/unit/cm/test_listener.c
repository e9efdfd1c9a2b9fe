/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners: backlog, pause, end, and addresses in use. */
#include <criterion/criterion.h>

#include "rigs/cm_net.h"

/* checks R-LSN-03 */
Test(cm_listener, r_conn_04_backlog_full)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_addr addr = {p->gid, 99};
	struct roce_cm_connect c = cm_net_connect_params(net);

	p->hold_requests = true;
	cr_assert_not_null(roce_cm_listen(p->cm, &addr, 2, NULL, NULL));
	c.remote.port = 99;
	for (unsigned i = 0; i < 3; i++) {
		c.qp.qpn++;
		roce_cm_connect(a->cm, net->now_ns, &c);
		cm_net_run(net, MS(10));
	}
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 2);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 28);
	/* One accepted, one has room again. */
	cm_net_accept(net, p->conn, NULL, 0);
	c.qp.qpn++;
	roce_cm_connect(a->cm, net->now_ns, &c);
	cm_net_run(net, MS(10));
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 3);
	cr_expect_eq(roce_cm_counters(p->cm)->rejected_backlog, 1);
	cm_net_free(net);
}

/* What came before the pause is none of its business. */
Test(cm_listener, R_LSN_06_paused_is_as_if_nobody_listened)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_addr addr = {p->gid, 99};
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_listener *l = roce_cm_listen(p->cm, &addr, 0, NULL, NULL);

	p->hold_requests = true;
	c.remote.port = 99;
	for (unsigned i = 0; i < 3; i++) {
		roce_cm_listener_pause(l, i == 1);
		c.qp.qpn++;
		roce_cm_connect(a->cm, net->now_ns, &c);
		cm_net_run(net, MS(10));
	}
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 2);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 8);
	cr_expect_eq(roce_cm_counters(p->cm)->rejected_no_listener, 1);
	cm_net_free(net);
}

/* checks R-LSN-05 */
Test(cm_listener, r_conn_04_unlisten_refuses_what_nobody_saw)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_addr addr = {p->gid, 99};
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_listener *l;

	p->hold_requests = true;
	l = roce_cm_listen(p->cm, &addr, 0, NULL, NULL);
	c.remote.port = 99;
	roce_cm_connect(a->cm, 0, &c);
	cm_net_run(net, MS(10)); /* this one the host took */
	c.qp.qpn++;
	roce_cm_connect(a->cm, net->now_ns, &c);
	cm_net_run(net, 0);
	cm_net_inject(net, CM_NET_A, &a->last[ATTR(CM_ATTR_REQ)]); /* this one it did not */
	roce_cm_unlisten(p->cm, net->now_ns, l);
	cm_net_run(net, MS(10));
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 28);
	cm_net_accept(net, cm_net_only_event(p, ROCE_CM_EV_REQUEST)->conn, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_only_event(a, ROCE_CM_EV_REPLY);
	/* The service is free for the next one. */
	cr_expect_not_null(roce_cm_listen(p->cm, &addr, 0, NULL, NULL));
	cm_net_free(net);
}

/* checks R-LSN-02 */
Test(cm_listener, listen_conflicts)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm *cm = net->host[CM_NET_A].cm;
	const struct roce_cm_addr any = {.port = 5}, mine = {net->host[CM_NET_A].gid, 5},
				  other = {net->host[CM_NET_P].gid, 5};
	const char *why = NULL;

	cr_assert_not_null(roce_cm_listen(cm, &mine, 0, NULL, &why));
	cr_expect_not_null(roce_cm_listen(cm, &other, 0, NULL, &why));
	cr_expect_null(roce_cm_listen(cm, &mine, 0, NULL, &why));
	cr_expect_str_eq(why, "address in use");
	cr_expect_null(roce_cm_listen(cm, &any, 0, NULL, NULL));
	for (uint16_t port = 10; port < 16; port++) {
		const struct roce_cm_addr addr = {.port = port};

		cr_expect_not_null(roce_cm_listen(cm, &addr, 0, NULL, &why));
	}
	cr_expect_null(roce_cm_listen(cm, &(struct roce_cm_addr){.port = 20}, 0, NULL, &why));
	cr_expect_str_eq(why, "no room for one more listener");
	cm_net_free(net);
}
