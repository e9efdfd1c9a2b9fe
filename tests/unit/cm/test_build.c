/* SPDX-License-Identifier: BSD-3-Clause */
/* The MADs of a connection, field by field. */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/cm_net.h"

#define MSG 24u /* a message begins behind the header of its MAD */

/* What Linux writes into a REQ (3.2), the capture of rping being the model; checks W-CM-36. */
Test(cm_build, t_ts_4_req_like_linux)
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

/* Where vendors put the signs of their extensions: in a REQ, in a REP. */
static void
expect_no_extension(const uint8_t mad[ROCE_MAD_BYTES], enum cm_attr attr)
{
	static const uint8_t in_req[] = {5, 6, 7}, in_rep[] = {15, 19, 23};

	cr_assert_arr_eq(mad + 20, "\0\0\0\0", 4, "options");
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(mad[MSG + (attr == CM_ATTR_REQ ? in_req : in_rep)[i]], 0, "vendor");
}

Test(cm_build, W_CM_80_a_REQ_names_no_vendor)
{
	struct cm_net *net = cm_net_new(false);
	struct roce_cm_connect c = cm_net_connect_params(net);
	struct roce_cm_tx tx;

	cr_assert_not_null(roce_cm_connect(net->host[CM_NET_A].cm, net->now_ns, &c));
	cr_assert(roce_cm_tx(net->host[CM_NET_A].cm, &tx));
	expect_no_extension(tx.mad, CM_ATTR_REQ);
	cm_net_free(net);
}

/* A REP of P to a REQ of A that the test wrote. */
static void
answer(struct cm_net *net, const uint8_t req[ROCE_MAD_BYTES], struct roce_cm_tx *tx)
{
	struct roce_cm_event ev;

	cm_net_inject_raw(net, CM_NET_A, req);
	cr_assert(roce_cm_event(net->host[CM_NET_P].cm, &ev));
	cr_assert_eq(ev.type, ROCE_CM_EV_REQUEST);
	cm_net_accept(net, ev.conn, NULL, 0);
	cr_assert(roce_cm_tx(net->host[CM_NET_P].cm, tx));
}

/* Whatever the REQ says: checks W-CM-80. */
Test(cm_build, W_CM_81_a_REP_names_no_vendor_to_anybody)
{
	static const uint32_t vendors[] = {0, 0x15b3, 1, 0xffffff};

	for (unsigned i = 0; i < 4; i++) {
		struct cm_net *net = cm_net_new(false);
		struct cm_mad m = cm_net_take_req(net);
		uint8_t mad[ROCE_MAD_BYTES];
		struct roce_cm_tx tx;

		cm_mad_encode(mad, &m);
		for (unsigned k = 0; k < 3; k++)
			mad[MSG + 5 + k] = (uint8_t)(vendors[i] >> (16 - 8 * k));
		mad[23] = vendors[i] != 0; /* options */
		answer(net, mad, &tx);
		cr_assert_eq(cm_mad_decode(&m, tx.mad), CM_DECODE_OK);
		cr_assert_eq(m.attr, CM_ATTR_REP);
		expect_no_extension(tx.mad, CM_ATTR_REP);
		cm_net_free(net);
	}
}
