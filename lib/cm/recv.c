/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/private.h"
#include "wire/gsi.h"

/* An address that a peer can have; we would send our answer to any other. */
static bool
is_unicast(const struct roce_gid *gid)
{
	static const struct roce_gid zero, loopback = {.raw = {[15] = 1}};
	const uint8_t *v4 = gid->raw + 12;

	if (roce_gid_is_v4(gid))
		return v4[0] != 0 && v4[0] != 127 && v4[0] < 224;
	return gid->raw[0] != 0xff && !roce_gid_equal(gid, &zero) &&
	       !roce_gid_equal(gid, &loopback);
}

/*
 * MRA: the peer lives and its consumer needs time. An MRA of the REQ comes before we
 * know the peer's comm id (W-CM-50).
 */
static void
recv_mra(struct roce_cm *cm, const struct cm_in *in)
{
	struct roce_cm_conn *c;

	if (in->mad.which == CM_WHICH_REQ) {
		c = cm_find_mine(cm, in);
		if (c != NULL && (c->state == CM_REQ_SENT || c->state == CM_MRA_REQ_RCVD)) {
			cm_conn_state(cm, c, CM_MRA_REQ_RCVD);
			cm_retry_extend(cm, in->now_ns, c, in->mad.service_timeout);
			return;
		}
	} else if (in->mad.which == CM_WHICH_REP) {
		c = cm_find_both(cm, in);
		if (c != NULL && (c->state == CM_REP_SENT || c->state == CM_MRA_REP_RCVD)) {
			cm_conn_state(cm, c, CM_MRA_REP_RCVD);
			cm_retry_extend(cm, in->now_ns, c, in->mad.service_timeout);
			return;
		}
	}
	cm->counters.rx_dropped++;
}

static void
dispatch(struct roce_cm *cm, const struct cm_in *in)
{
	switch (in->mad.attr) {
	case CM_ATTR_REQ:
		cm->counters.rx_req++;
		cm_recv_req(cm, in);
		break;
	case CM_ATTR_MRA:
		cm->counters.rx_mra++;
		recv_mra(cm, in);
		break;
	case CM_ATTR_REJ:
		cm->counters.rx_rej++;
		cm_recv_rej(cm, in);
		break;
	case CM_ATTR_REP:
		cm->counters.rx_rep++;
		cm_recv_rep(cm, in);
		break;
	case CM_ATTR_RTU:
		cm->counters.rx_rtu++;
		cm_recv_rtu(cm, in);
		break;
	case CM_ATTR_DREQ:
		cm->counters.rx_dreq++;
		cm_recv_dreq(cm, in);
		break;
	case CM_ATTR_DREP:
		cm->counters.rx_drep++;
		cm_recv_drep(cm, in);
		break;
	case CM_ATTR_SIDR_REQ:
		cm->counters.rx_sidr_req++;
		cm_recv_sidr_req(cm, in);
		break;
	default:
		cm->counters.rx_sidr_rep++;
		cm_recv_sidr_rep(cm, in);
		break;
	}
}

void
roce_cm_rx(struct roce_cm *cm, uint64_t now_ns, const struct roce_pkt *pkt, uint32_t port)
{
	struct cm_in in = {
		.now_ns = now_ns,
		.port = port,
		.tos = (uint8_t)(pkt->tos & ~ROCE_TOS_ECN), /* the ECN bits are the network's */
	};
	enum cm_decode result;

	if (!roce_gsi_is_mad(pkt)) {
		cm->counters.rx_malformed++;
		return;
	}
	roce_pkt_src_gid(pkt, &in.remote);
	roce_pkt_dst_gid(pkt, &in.local);
	result = cm_mad_decode(&in.mad, pkt->payload);
	if (result == CM_DECODE_MALFORMED) {
		cm->counters.rx_malformed++;
		return;
	}
	if (result == CM_DECODE_FOREIGN || !is_unicast(&in.remote) || !is_unicast(&in.local)) {
		cm->counters.rx_dropped++;
		return;
	}
	dispatch(cm, &in);
}
