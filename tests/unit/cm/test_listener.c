/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners: backlog, pause, end, and addresses in use. */
#include <criterion/criterion.h>

#include <stdlib.h>

#include "cm/manager.h"
#include "rigs/cm_net.h"

/* checks R-CONN-04[3], R-LSN-03[2,4] */
Test(cm_listener, r_conn_04_backlog_full)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_addr addr = {p->gid, 99};
	struct roce_cm_connect c = cm_net_connect_params(net);

	p->hold_requests = true;
	cr_assert_not_null(roce_cm_listen(p->cm, &addr, CM_NET_PORT, 2, NULL, NULL));
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

static uint32_t
longest_bucket(const struct roce_cm *cm)
{
	uint32_t longest = 0;

	for (uint32_t b = 0; b <= cm->listener_mask; b++) {
		const struct roce_cm_listener *l;
		uint32_t n = 0;

		LIST_FOREACH (l, &cm->listeners[b], entry)
			n++;
		longest = n > longest ? n : longest;
	}
	return longest;
}

/* A client that has most of a daemon's listeners, at ports that fall together wherever ports are
 * told apart by their last bits, does not have others' looked for among all of them. Those of
 * neighbouring ports, as many as there can be lists, have a list each. */
Test(cm_listener, whichever_ports_a_client_chooses)
{
	const struct roce_cm_cfg cfg = {.max_passive = 1, .max_listeners = 4096};

	for (uint32_t apart = 1; apart <= 4096; apart *= 2) {
		struct roce_cm *cm = roce_cm_init(calloc(1, roce_cm_bytes(&cfg)), &cfg);
		uint32_t port = 7;

		for (unsigned i = 0; i < 3584 && port < 65536; i++, port += apart) {
			const struct roce_cm_addr any = {.port = (uint16_t)port};

			cr_assert_not_null(roce_cm_listen(cm, &any, CM_NET_PORT, 0, NULL, NULL));
		}
		cr_expect_leq(
			longest_bucket(cm), apart < 16 ? apart : 65536 / 4096, "%u apart", apart);
		free(cm);
	}
}

/* checks R-LSN-03[1] */
Test(cm_listener, R_LSN_03_backlog_0_is_no_limit_of_the_application)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];

	p->hold_requests = true;
	for (unsigned i = 0; i < 25; i++) { /* of the 64 that P has room for */
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(2));
	}
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_REQUEST), 25);
	cr_expect_eq(roce_cm_counters(p->cm)->rejected_backlog, 0);
	cm_net_free(net);
}

/* checks R-LSN-06[2,3]: what came before the pause is none of its business. */
Test(cm_listener, R_LSN_06_paused_is_as_if_nobody_listened)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_addr addr = {p->gid, 99};
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_listener *l = roce_cm_listen(p->cm, &addr, CM_NET_PORT, 0, NULL, NULL);

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

/* checks R-CONN-04[2], R-LSN-05[2] */
Test(cm_listener, r_conn_04_unlisten_refuses_what_nobody_saw)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_addr addr = {p->gid, 99};
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_listener *l;

	p->hold_requests = true;
	l = roce_cm_listen(p->cm, &addr, CM_NET_PORT, 0, NULL, NULL);
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
	cr_expect_not_null(roce_cm_listen(p->cm, &addr, CM_NET_PORT, 0, NULL, NULL));
	cm_net_free(net);
}

/* checks R-LSN-02[1,2] */
Test(cm_listener, listen_conflicts)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm *cm = net->host[CM_NET_A].cm;
	const struct roce_cm_addr any = {.port = 5}, mine = {net->host[CM_NET_A].gid, 5},
				  other = {net->host[CM_NET_P].gid, 5};
	const char *why = NULL;

	cr_assert_not_null(roce_cm_listen(cm, &mine, CM_NET_PORT, 0, NULL, &why));
	cr_expect_not_null(roce_cm_listen(cm, &other, CM_NET_PORT, 0, NULL, &why));
	cr_expect_null(roce_cm_listen(cm, &mine, CM_NET_PORT, 0, NULL, &why));
	cr_expect_str_eq(why, "address in use");
	cr_expect_null(roce_cm_listen(cm, &any, CM_NET_PORT, 0, NULL, NULL));
	for (uint16_t port = 10; port < 16; port++) {
		const struct roce_cm_addr addr = {.port = port};

		cr_expect_not_null(roce_cm_listen(cm, &addr, CM_NET_PORT, 0, NULL, &why));
	}
	cr_expect_null(
		roce_cm_listen(cm, &(struct roce_cm_addr){.port = 20}, CM_NET_PORT, 0, NULL, &why));
	cr_expect_str_eq(why, "no room for one more listener");
	cm_net_free(net);
}

/* The REQ of another peer, as it comes in at the port nic of P. */
static void
inject_req(struct cm_net *net, uint32_t nic)
{
	static uint32_t peers;
	struct cm_mad m = cm_net_take_req(net);
	const struct roce_path path = {
		.sgid = net->host[CM_NET_A].gid, .dgid = net->host[CM_NET_P].gid, .ttl = 64};
	uint8_t frame[ROCE_GSI_FRAME_MAX], mad[ROCE_MAD_BYTES];
	struct roce_pkt pkt;

	m.ca_guid += ++peers;
	m.service_id = cm_service_id(99);
	cm_mad_encode(mad, &m);
	cr_assert_eq(
		roce_wire_parse(frame, roce_gsi_build(frame, &path, 1, mad), &pkt), ROCE_WIRE_OK);
	roce_cm_rx(net->host[CM_NET_P].cm, net->now_ns, &pkt, nic);
}

/* checks R-LSN-01[4,5]: the wildcards of two adapters may have the same port, and each is offered
 * what comes to an address of its own adapter; with no listener there it is refused. */
Test(cm_listener, R_LSN_01_the_wildcard_does_not_span_adapters)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	const struct roce_cm_addr any = {.port = 99}, here = {p->gid, 99};
	int owner[3];

	p->hold_requests = true;
	cm_net_mute(net, CM_NET_A);
	for (uint32_t nic = 0; nic < 2; nic++) {
		cr_expect_not_null(roce_cm_listen(p->cm, &any, nic, 0, &owner[nic], NULL));
		cr_expect_null(roce_cm_listen(p->cm, &any, nic, 0, NULL, NULL));
		cr_expect_null(roce_cm_listen(p->cm, &here, nic, 0, NULL, NULL));
	}
	cr_expect_not_null(roce_cm_listen(p->cm, &here, 2, 0, &owner[2], NULL));
	cr_expect_null(roce_cm_listen(p->cm, &any, 2, 0, NULL, NULL));
	for (uint32_t nic = 0; nic < 3; nic++) {
		inject_req(net, nic);
		cm_net_run(net, 0);
		cr_assert_eq(p->n_log, nic + 1, "adapter %u", nic);
		cr_expect_eq(p->log[nic].owner, &owner[nic], "adapter %u", nic);
		cr_expect_eq(p->log[nic].port, nic);
	}
	inject_req(net, 3);
	cm_net_run(net, 0);
	cr_expect_eq(p->n_log, 3);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].reason, 8);
	cm_net_free(net);
}
