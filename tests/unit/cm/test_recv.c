/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives and is no message of the CM is counted and dropped. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"

/* checks W-CM-01, W-CM-04 */
Test(cm_recv, t_cm_8_garbage_is_counted_and_dropped)
{
	struct cm_net *net = cm_net_new(false);
	struct cm_net_host *p = &net->host[CM_NET_P];
	struct cm_mad m = cm_net_take_req(net);
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

Test(cm_recv, answers_only_to_unicast_addresses)
{
	static const uint8_t bad[][4] = {
		{0, 0, 0, 0}, {127, 0, 0, 1}, {224, 0, 0, 1}, {255, 255, 255, 255}};

	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct cm_net *net = cm_net_new(false);
		const struct cm_mad m = cm_net_take_req(net);

		roce_gid_from_v4(&net->host[CM_NET_A].gid, bad[i]);
		cm_net_inject(net, CM_NET_A, &m);
		cr_expect_eq(roce_cm_counters(net->host[CM_NET_P].cm)->rx_dropped, 1);
		cr_expect_eq(roce_cm_counters(net->host[CM_NET_P].cm)->tx_mads, 0);
		cm_net_free(net);
	}
}
