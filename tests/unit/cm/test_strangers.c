/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that no connection manager of good will sends, and those of strangers. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"
#include "cm/sidr.h"

/* ---- strange REQs ---- */

/* A REQ as host A would send it, for the test to spoil. */
static struct cm_mad
a_req(struct cm_net *net)
{
	cm_net_connect(net, NULL, 0);
	net->host[CM_NET_A].drop[ATTR(CM_ATTR_REQ)] = 1;
	cm_net_run(net, 0);
	return net->host[CM_NET_A].last[ATTR(CM_ATTR_REQ)];
}

/* The reason of the REJ that a spoilt REQ gets. */
static uint32_t
reason_for(void (*spoil)(struct cm_mad *m), bool v6)
{
	struct cm_net *net = cm_net_new(v6);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct cm_mad m = a_req(net);
	uint32_t reason;

	spoil(&m);
	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, 0);
	reason = p->sent[ATTR(CM_ATTR_REJ)] ? p->last[ATTR(CM_ATTR_REJ)].reason : 0;
	cr_expect_eq(reason != 0, cm_net_events(p, ROCE_CM_EV_REQUEST) == 0);
	if (reason == 12) {
		cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].ari_bytes, 16);
		cr_expect_arr_eq(p->last[ATTR(CM_ATTR_REJ)].ari, p->gid.raw, 16);
	}
	cm_net_free(net);
	return reason;
}

static void
spoil_nothing(struct cm_mad *m)
{
	(void)m;
}
static void
spoil_header_version(struct cm_mad *m)
{
	m->priv[0] = 0x10;
}
static void
spoil_header_source(struct cm_mad *m)
{
	m->priv[19] ^= 1;
}
static void
spoil_header_destination(struct cm_mad *m)
{
	m->priv[35] ^= 1;
}
static void
spoil_local_gid(struct cm_mad *m)
{
	m->sgid.raw[15] ^= 1;
}
static void
spoil_remote_gid(struct cm_mad *m)
{
	m->dgid.raw[15] ^= 1;
}
static void
spoil_pkey(struct cm_mad *m)
{
	m->pkey = 0x8001;
}
static void
spoil_transport(struct cm_mad *m)
{
	m->transport = 1; /* UC */
}
static void
spoil_mtu_0(struct cm_mad *m)
{
	m->mtu = 0;
}
static void
spoil_mtu_6(struct cm_mad *m)
{
	m->mtu = 6;
}
static void
spoil_port_space(struct cm_mad *m)
{
	m->service_id ^= 0x00170000; /* RDMA_PS_UDP */
}
static void
spoil_service_prefix(struct cm_mad *m)
{
	m->service_id |= 1ull << 40;
}
static void
spoil_hop_limit(struct cm_mad *m)
{
	m->hop_limit = 0;
	m->ack_timeout = 0;
	m->subnet_local = 1;
	m->slid = m->dlid = 0;
}

/* checks W-CM-06 */
Test(cm_strangers, w_cm_08_reqs_that_contradict_themselves)
{
	for (unsigned v6 = 0; v6 < 2; v6++) {
		cr_expect_eq(reason_for(spoil_nothing, v6), 0);
		cr_expect_eq(reason_for(spoil_header_version, v6), 28, "W-CM-06");
		cr_expect_eq(reason_for(spoil_header_source, v6), 28);
		cr_expect_eq(reason_for(spoil_header_destination, v6), 28);
		cr_expect_eq(reason_for(spoil_local_gid, v6), 28);
		cr_expect_eq(reason_for(spoil_remote_gid, v6), 12);
		cr_expect_eq(reason_for(spoil_pkey, v6), 12);
		cr_expect_eq(reason_for(spoil_transport, v6), 9);
		cr_expect_eq(reason_for(spoil_mtu_0, v6), 26);
		cr_expect_eq(reason_for(spoil_mtu_6, v6), 26);
		cr_expect_eq(reason_for(spoil_port_space, v6), 8);
		cr_expect_eq(reason_for(spoil_service_prefix, v6), 8);
		cr_expect_eq(reason_for(spoil_hop_limit, v6), 0, "T-CM-7");
	}
}

/* checks W-CM-74 */
Test(cm_strangers, t_cm_7_hop_limit_and_ack_timeout_0)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_mad m = a_req(net);
	const struct roce_cm_event *ev;

	spoil_hop_limit(&m);
	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, MS(10));
	ev = cm_net_only_event(&net->host[CM_NET_P], ROCE_CM_EV_REQUEST);
	cr_expect_eq(ev->hop_limit, 64, "W-CM-74: never 0");
	cr_expect_eq(ev->ack_timeout, 0);
	cm_net_free(net);
}

/* checks W-CM-32 */
Test(cm_strangers, t_cm_7_mtu_that_the_port_has_not)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];

	p->hold_requests = true;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cr_assert(roce_cm_reject_mtu(p->cm, net->now_ns, p->conn, 2));
	roce_cm_destroy(p->cm, net->now_ns, p->conn);
	cm_net_settle(net);
	cr_expect_eq(cm_net_only_event(a, ROCE_CM_EV_REJECTED)->reason, 26);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].ari_bytes, 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_REJ)].ari[0], 0x20, "W-CM-32");
	cm_net_assert_empty(net);
	cm_net_free(net);
}

/* checks W-CM-01, W-CM-04 */
Test(cm_strangers, t_cm_8_garbage_is_counted_and_dropped)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct cm_mad m = a_req(net);
	const struct roce_cm_counters *n = roce_cm_counters(p->cm);
	uint8_t mad[ROCE_MAD_BYTES];

	cm_mad_encode(mad, &m);
	mad[0] = 2;
	cm_net_inject_raw(net, CM_NET_A, mad);
	cm_mad_encode(mad, &m);
	mad[3] = 0x81;
	cm_net_inject_raw(net, CM_NET_A, mad);
	memset(mad, 0xff, sizeof(mad));
	cm_net_inject_raw(net, CM_NET_A, mad);
	m.qpn = 1;
	cm_net_inject(net, CM_NET_A, &m);
	m.qpn = 5;
	m.local_id = 0;
	cm_net_inject(net, CM_NET_A, &m);
	cr_expect_eq(n->rx_malformed, 5);
	cm_mad_encode(mad, &m);
	mad[1] = 4; /* performance management */
	cm_net_inject_raw(net, CM_NET_A, mad);
	cr_expect_eq(n->rx_dropped, 1);
	cm_net_run(net, MS(10));
	cr_expect_eq(p->n_log, 0);
	cr_expect_eq(n->tx_mads, 0);
	cm_net_free(net);
}

Test(cm_strangers, answers_only_to_unicast_addresses)
{
	static const uint8_t bad[][4] = {
		{0, 0, 0, 0}, {127, 0, 0, 1}, {224, 0, 0, 1}, {255, 255, 255, 255}};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		const struct cm_mad m = a_req(net);

		roce_gid_from_v4(&net->host[CM_NET_A].gid, bad[i]);
		cm_net_inject(net, CM_NET_A, &m);
		cr_expect_eq(roce_cm_counters(net->host[CM_NET_P].cm)->rx_dropped, 1);
		cr_expect_eq(roce_cm_counters(net->host[CM_NET_P].cm)->tx_mads, 0);
		cm_net_free(net);
	}
}

Test(cm_strangers, datagram_services_do_not_exist_here)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	const struct cm_mad m = {.attr = CM_ATTR_SIDR_REQ,
		.tid = 9,
		.local_id = 0x1020304,
		.service_id = 0x1111388,
		.pkey = 0xffff};

	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, 0);
	cr_expect_eq(p->sent[ATTR(CM_ATTR_SIDR_REP)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_SIDR_REP)].status, ROCE_CM_SIDR_UNSUPPORTED);
	cr_expect_eq(p->last[ATTR(CM_ATTR_SIDR_REP)].local_id, 0x1020304);
	cr_expect_eq(p->last[ATTR(CM_ATTR_SIDR_REP)].tid, 9);
	cm_net_free(net);
}

/* ---- strangers and floods ---- */

/* checks W-CM-45 */
Test(cm_strangers, t_cm_10_unknown_dreq)
{
	struct cm_net *net = cm_net_new(true);
	struct cm_net_host *p = &net->host[CM_NET_P];
	const struct cm_mad m = {
		.attr = CM_ATTR_DREQ, .tid = 77, .local_id = 0xaaaa, .remote_id = 0xbbbb, .qpn = 4};

	cm_net_inject(net, CM_NET_A, &m);
	cm_net_run(net, 0);
	cr_assert_eq(p->sent[ATTR(CM_ATTR_DREP)], 1);
	cr_expect_eq(p->last[ATTR(CM_ATTR_DREP)].local_id, 0xbbbb);
	cr_expect_eq(p->last[ATTR(CM_ATTR_DREP)].remote_id, 0xaaaa);
	cr_expect_eq(p->last[ATTR(CM_ATTR_DREP)].tid, 77);
	cm_net_free(net);
}

/* Our comm id alone is not enough: the peer's must fit as well (W-CM-41). */
Test(cm_strangers, w_cm_41_both_ids_must_match)
{
	static const uint32_t attrs[] = {CM_ATTR_REJ, CM_ATTR_DREQ, CM_ATTR_REP, CM_ATTR_RTU};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct cm_mad m = {.which = CM_WHICH_OTHER, .reason = 28, .qpn = 0x2000};

	a->drop[ATTR(CM_ATTR_RTU)] = 1;
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	m.local_id = a->last[ATTR(CM_ATTR_RTU)].local_id + 1;
	m.remote_id = a->last[ATTR(CM_ATTR_RTU)].remote_id;
	for (unsigned i = 0; i < 4; i++) {
		m.attr = attrs[i];
		cm_net_inject(net, CM_NET_A, &m);
	}
	cm_net_run(net, 0);
	cr_expect_eq(p->n_log, 1, "the REQUEST, and nothing else");
	cm_net_free(net);
}

Test(cm_strangers, a_flood_of_strangers_is_bounded_and_counted)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct cm_mad m = {.attr = CM_ATTR_DREQ};
	struct roce_cm_tx tx;
	unsigned n = 0;

	for (m.local_id = 1; m.local_id <= 1000; m.local_id++)
		cm_net_inject(net, CM_NET_A, &m);
	while (roce_cm_tx(p->cm, &tx))
		n++;
	cr_expect_gt(n, 0);
	cr_expect_lt(n, 1000);
	cr_expect_eq(n + roce_cm_counters(p->cm)->tx_dropped, 1000);
	/* And then it works as before. */
	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_only_event(p, ROCE_CM_EV_ESTABLISHED);
	cm_net_free(net);
}

/* A third host that knows the ids, but has not the address, can do nothing. */
Test(cm_strangers, messages_from_another_address_are_not_the_peers)
{
	static const uint32_t attrs[] = {CM_ATTR_REJ, CM_ATTR_DREQ, CM_ATTR_REP};
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *a = &net->host[CM_NET_A], *p = &net->host[CM_NET_P];
	struct cm_mad m = {0};

	cm_net_connect(net, NULL, 0);
	cm_net_run(net, MS(10));
	cm_net_only_event(p, ROCE_CM_EV_ESTABLISHED);
	m.local_id = a->last[ATTR(CM_ATTR_RTU)].local_id;
	m.remote_id = a->last[ATTR(CM_ATTR_RTU)].remote_id;
	m.which = CM_WHICH_OTHER;
	m.reason = 28;
	m.qpn = 0x2000;
	a->gid.raw[15] = 99;
	for (unsigned i = 0; i < 3; i++) {
		m.attr = attrs[i];
		cm_net_inject(net, CM_NET_A, &m);
	}
	cm_net_run(net, 0);
	cr_expect_eq(cm_net_events(p, ROCE_CM_EV_DISCONNECTED), 0);
	cm_net_free(net);
}
