/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/peer_mads.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "platform/clock.h"
#include "rigs/mad_pkt.h"
#include "rigs/net_rig.h"

struct cm_mad
peer_gets(struct ndd_rig *r, struct roce_cm_tx *tx)
{
	struct cm_mad m;

	cr_assert(roce_cm_tx(r->d.cm, tx));
	cr_assert(eq(int, cm_mad_decode(&m, tx->mad), CM_DECODE_OK));
	return m;
}

struct roce_cm_event
peer_sends(struct ndd_rig *r, const char *peer_ip, const struct cm_mad *m)
{
	const struct roce_gid peer = net_rig_gid(peer_ip), me = net_rig_gid(NDD_RIG_IP);
	uint8_t mad[ROCE_MAD_BYTES], l3[ROCE_IPV4_BYTES];
	const struct roce_pkt pkt = mad_pkt(mad, &peer, &me, l3);
	struct roce_cm_event ev;

	cm_mad_encode(mad, m);
	roce_cm_rx(r->d.cm, ndd_now_ns(), &pkt, 0);
	cr_assert(roce_cm_event(r->d.cm, &ev));
	return ev;
}
