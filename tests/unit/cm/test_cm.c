/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections between two connection managers: values, private data, refusals, ends. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "rigs/pcap.h"

/* ---- values ---- */

/* checks W-CM-09, W-CM-37 */
static void
check_values(bool v6)
{
	struct cm_net *net = cm_net_new(v6);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	const struct roce_cm_event *req, *rep;

	cm_net_connect(net, "hello", 6);
	cm_net_run(net, MS(100));
	req = cm_net_only_event(p, ROCE_CM_EV_REQUEST);
	cr_expect_eq(req->owner, net, "the listener's");
	cr_expect(roce_gid_equal(&req->local.gid, &p->gid));
	cr_expect(roce_gid_equal(&req->remote.gid, &a->gid));
	cr_expect_eq(req->local.port, CM_NET_SERVICE);
	cr_expect_eq(req->remote.port, 40000);
	cr_expect_eq(req->port, 7, "the port that the MAD came in on");
	cr_expect_eq(req->peer.qpn, 0x1000);
	cr_expect_eq(req->peer.psn, 0x123456);
	cr_expect_eq(req->peer.responder_resources, 16);
	cr_expect_eq(req->peer.initiator_depth, 8);
	cr_expect_eq(req->peer.retry_count, 7);
	cr_expect_eq(req->peer.rnr_retry, 6);
	cr_expect_eq(req->mtu_code, 3);
	cr_expect_eq(req->ack_timeout, 17);
	cr_expect_eq(req->tos, 0x68);
	cr_expect_eq(req->hop_limit, 64);
	cr_expect_eq(req->flow_label, 0x54321);
	cr_expect_eq(req->priv_bytes, ROCE_CM_REQ_PRIV);
	cr_expect_arr_eq(req->priv, "hello\0\0\0", 8);

	rep = cm_net_only_event(a, ROCE_CM_EV_REPLY);
	cr_expect_eq(rep->owner, a);
	cr_expect_eq(rep->port, 3);
	cr_expect_eq(rep->peer.qpn, 0x2000);
	cr_expect_eq(rep->peer.psn, 0xabcdef);
	cr_expect_eq(rep->peer.responder_resources, 4, "what it serves");
	cr_expect_eq(rep->peer.initiator_depth, 16, "W-CM-30: lowered from 200 to our offer");
	cr_expect_eq(rep->peer.retry_count, 7, "our own");
	cr_expect_eq(rep->peer.rnr_retry, 5);
	cr_expect(rep->peer.srq);
	cr_expect_eq(rep->ack_timeout, 17, "W-CM-33");
	cr_expect_eq(rep->priv_bytes, ROCE_CM_REP_PRIV);
	cr_expect_arr_eq(rep->priv, "welcome\0", 8);
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_ESTABLISHED)->owner, p);

	roce_cm_disconnect(a->cm, net->now_ns, a->conn);
	cm_net_settle(net);
	cr_expect_not(cm_net_only_event(a, ROCE_CM_EV_DISCONNECTED)->by_peer);
	cr_expect(cm_net_only_event(p, ROCE_CM_EV_DISCONNECTED)->by_peer);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

Test(cm, w_cm_30_values_cross_over_v4)
{
	check_values(false);
}

Test(cm, w_cm_30_values_cross_over_v6)
{
	check_values(true);
}

/*
 * checks W-CM-73: the REQ's class, in what P's CM sends from then on, too; but not its ECN bits.
 * Who sends ECT to the network must slow down when it marks.
 */
Test(cm, w_cm_73_the_class_of_the_req_at_both_ends_without_ecn)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct roce_cm_connect c = cm_net_connect_params(net);

	c.tos = 0x6a; /* as adapters do: DSCP 26, ECT(0) */
	a->conn = roce_cm_connect(a->cm, net->now_ns, &c);
	cm_net_run(net, MS(100));
	cr_expect_eq(a->last[ATTR(CM_ATTR_REQ)].tclass, 0x6a);
	cr_expect_eq(cm_net_only_event(p, ROCE_CM_EV_REQUEST)->tos, 0x68);
	cr_expect_eq(p->last_tos[ATTR(CM_ATTR_REP)], 0x68);
	roce_cm_disconnect(p->cm, net->now_ns, p->conn);
	cm_net_settle(net);
	cr_expect_eq(p->last_tos[ATTR(CM_ATTR_DREQ)], 0x68);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* What Linux writes into a REQ (3.2), the capture of rping being the model; checks W-CM-36. */
Test(cm, t_ts_4_req_like_linux)
{
	struct cm_net *net = cm_net_new(false);
	const struct cm_mad *m = &net->host[CM_NET_A].last[ATTR(CM_ATTR_REQ)];
	struct cm_ip_hdr ip;

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, 0);
	cr_expect_eq((uint32_t)m->tid, m->local_id);
	cr_expect_eq(m->service_id, cm_service_id(CM_NET_SERVICE));
	cr_expect_eq(m->ca_guid, net->host[CM_NET_A].cfg.ca_guid);
	cr_expect_eq(m->remote_resp_timeout, 20);
	cr_expect_eq(m->local_resp_timeout, 20);
	cr_expect_eq(m->max_retries, 15);
	cr_expect_eq(m->transport, 0);
	cr_expect_eq(m->flow_control, 0);
	cr_expect_eq(m->pkey, 0xffff);
	cr_expect_eq(m->slid, 0xffff);
	cr_expect_eq(m->dlid, 0xffff);
	cr_expect_eq(m->subnet_local, 0);
	cr_assert(cm_ip_hdr_decode(&ip, m->priv));
	cr_expect_eq(ip.src_port, 40000);
	cr_expect(roce_gid_equal(&ip.src, &m->sgid));
	cr_expect(roce_gid_equal(&ip.dst, &m->dgid));
	cm_net_settle(net);
	cm_net_free(net);
}

/* Every REQ that a Linux peer sent in a capture makes a request of ours; returns how many. */
static unsigned
feed_reqs(const char *path)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	const uint8_t *frame;
	struct pcap_file f;
	unsigned n = 0;
	size_t bytes;

	pcap_open(&f, path);
	while ((frame = pcap_next(&f, &bytes)) != NULL) {
		struct roce_cm_addr addr = {0};
		struct roce_cm_event ev;
		struct roce_pkt pkt;
		struct cm_mad m;

		if (roce_wire_parse(frame, bytes, &pkt) != ROCE_WIRE_OK || !roce_gsi_is_mad(&pkt) ||
			cm_mad_decode(&m, pkt.payload) != CM_DECODE_OK || m.attr != CM_ATTR_REQ)
			continue;
		addr.port = (uint16_t)m.service_id;
		roce_cm_listen(p->cm, &addr, 0, NULL, NULL); /* in use: the one before */
		roce_cm_rx(p->cm, net->now_ns, &pkt, 0);
		cr_assert(roce_cm_event(p->cm, &ev), "%s: refused", path);
		cr_expect_eq(ev.type, ROCE_CM_EV_REQUEST);
		cr_expect_eq(ev.peer.qpn, m.qpn);
		cr_expect(roce_gid_equal(&ev.remote.gid, &m.sgid));
		cr_expect_eq(ev.flow_label, roce_cm_flow_label(ev.remote.port, ev.local.port),
			"%s: W-CM-70", path);
		n++;
	}
	pcap_close(&f);
	cm_net_free(net);
	return n;
}

Test(cm, t_ts_4_takes_the_reqs_of_linux)
{
	cr_expect_eq(feed_reqs("rxe/rping.pcap"), 1);
	cr_expect_eq(feed_reqs("rxe/rping6.pcap"), 1);
	cr_expect_eq(feed_reqs("rxe/ucmatose.pcap"), 1);
	cr_expect_geq(feed_reqs("rxe/cmtime.pcap"), 3);
	cr_expect_geq(feed_reqs("rxe/send-cm.pcap"), 1);
}

Test(cm, w_cm_70_flow_label_of_the_ports)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm_connect p = cm_net_connect_params(net);

	p.flow_label = 0;
	p.hop_limit = 0;
	cr_assert_not_null(roce_cm_connect(net->host[CM_NET_A].cm, 0, &p));
	cm_net_run(net, MS(100));
	cr_expect_eq(cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_REQUEST)->flow_label,
		(40000 * 31 + CM_NET_SERVICE) & 0xfffff);
	cr_expect_eq(cm_net_only_event(&net->host[CM_NET_A], ROCE_CM_EV_REPLY)->flow_label,
		(40000 * 31 + CM_NET_SERVICE) & 0xfffff);
	cr_expect_eq(cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_REQUEST)->hop_limit, 64);
	cm_net_free(net);
}

/* ---- private data ---- */

/* checks R-CONN-08 */
Test(cm, r_conn_07_private_data_sizes)
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

Test(cm, r_conn_07_private_data_too_large_changes_nothing)
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

Test(cm, r_conn_04_reject_with_private_data)
{
	static const uint32_t sizes[] = {0, 1, ROCE_CM_REJ_PRIV};
	uint8_t data[ROCE_CM_REJ_PRIV];

	memset(data, 0x5a, sizeof(data));
	for (unsigned i = 0; i < 3; i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
		const struct roce_cm_event *ev;

		p->hold_requests = true;
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, MS(10));
		cr_assert(roce_cm_reject(p->cm, net->now_ns, p->conn, 28, data, sizes[i]));
		roce_cm_destroy(p->cm, net->now_ns, p->conn);
		cm_net_settle(net);
		ev = cm_net_only_event(a, ROCE_CM_EV_REJECTED);
		cr_expect_eq(ev->reason, 28);
		cr_expect_eq(ev->priv_bytes, ROCE_CM_REJ_PRIV);
		cr_expect_arr_eq(ev->priv, data, sizes[i]);
		cr_expect_eq(p->n_log, 1, "no event follows a reject");
		cm_net_assert_empty(net);
		cm_net_free(net);
	}
}

/* ---- refusals ---- */

Test(cm, t_cm_4_unknown_service)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct roce_cm_connect c = cm_net_connect_params(net);

	c.remote.port = 1;
	roce_cm_connect(a->cm, 0, &c);
	cm_net_settle(net);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 8);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].local_id, 0);
	cr_expect_eq(p->last_tos[ATTR(CM_ATTR_REJ)], 0x68, "in the class of the REQ");
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].tid, a->last[ATTR(CM_ATTR_REQ)].tid);
	cr_expect_eq(roce_cm_counters(p->cm)->rejected_no_listener, 1);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

Test(cm, table_full_is_no_resources)
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

/* ---- loopback and many at once ---- */

/* One connection manager talking to itself (R-CONN-18). */
Test(cm, r_conn_18_loopback)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct roce_cm_connect c = cm_net_connect_params(net);
	const uint8_t v4[4] = {192, 0, 2, 2};
	unsigned established = 0, disconnected = 0;
	uint8_t l3[20] = {0x45};
	struct roce_cm_conn *conn;
	struct roce_cm_event ev;
	struct roce_cm_tx tx;
	uint64_t now = 0;

	memcpy(l3 + 12, v4, 4);
	memcpy(l3 + 16, v4, 4);
	c.local.gid = c.remote.gid = p->gid;
	conn = roce_cm_connect(p->cm, 0, &c);
	while (now < MS(20000)) {
		while (roce_cm_tx(p->cm, &tx)) {
			const struct roce_pkt pkt = {.l3 = l3,
				.payload = tx.mad,
				.payload_bytes = ROCE_MAD_BYTES,
				.opcode = ROCE_UD_SEND_ONLY,
				.qpn = 1,
				.qkey = ROCE_QKEY_GSI};

			roce_cm_rx(p->cm, now, &pkt, 0);
		}
		while (roce_cm_event(p->cm, &ev)) {
			if (ev.type == ROCE_CM_EV_REQUEST)
				cm_net_accept(net, ev.conn, NULL, 0);
			else if (ev.type == ROCE_CM_EV_REPLY)
				cr_assert(roce_cm_complete(p->cm, now, ev.conn));
			else if (ev.type == ROCE_CM_EV_ESTABLISHED && ++established)
				roce_cm_disconnect(p->cm, now, conn);
			else if (ev.type == ROCE_CM_EV_DISCONNECTED && ++disconnected)
				roce_cm_destroy(p->cm, now, ev.conn);
		}
		now += MS(10);
		roce_cm_tick(p->cm, now);
	}
	cr_expect_eq(established, 1);
	cr_expect_eq(disconnected, 2);
	cm_net_assert_empty(net);
	cm_net_free(net);
}

Test(cm, w_cm_40_comm_ids_are_unique_and_unpredictable)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A];
	uint32_t ids[60];

	for (unsigned i = 0; i < 60; i++) {
		cm_net_connect(net, NULL, 0);
		cm_net_run(net, 0);
		ids[i] = a->last[ATTR(CM_ATTR_REQ)].local_id;
		for (unsigned j = 0; j < i; j++)
			cr_assert_neq(ids[i], ids[j]);
		if (i > 1)
			cr_expect_neq(ids[i] - ids[i - 1], ids[i - 1] - ids[i - 2]);
	}
	cm_net_free(net);
}

Test(cm, configuration_out_of_range)
{
	struct roce_cm_cfg cfg = {.max_conns = 1, .max_listeners = 1};

	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.max_conns = 0;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg.max_conns = UINT32_MAX;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg.max_conns = 1;
	cfg.max_listeners = 0;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
}

Test(cm, reasons_have_names)
{
	cr_expect_str_eq(roce_cm_reason_name(8), "invalid service ID (nobody listens)");
	cr_expect_str_eq(roce_cm_reason_name(28), "rejected by the consumer");
	cr_expect_str_eq(roce_cm_reason_name(0), "unknown reason");
	cr_expect_str_eq(roce_cm_reason_name(34), "unknown reason");
	cr_expect_str_eq(roce_cm_reason_name(0xffff), "unknown reason");
}
