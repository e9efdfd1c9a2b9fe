/* SPDX-License-Identifier: BSD-3-Clause */
/* What arrives: checked, decoded, and handed to the function for its kind. */
#include <stddef.h>

#include "cm/check.h"
#include "cm/manager.h"
#include "cm/message.h"
#include "wire/gsi.h"
#include "wire/packet.h"

/* Such an address is no station's; within one machine it speaks with others of its kind. */
static bool
gid_is_loopback(const struct roce_gid *gid)
{
	static const struct roce_gid loopback = {.raw = {[15] = 1}};

	return roce_gid_is_v4(gid) ? gid->raw[12] == 127 : roce_gid_equal(gid, &loopback);
}

/* An address that a peer can have; we would send our answer to any other. */
static bool
gid_is_unicast(const struct roce_gid *gid)
{
	static const struct roce_gid zero;
	const uint8_t *v4 = gid->raw + 12;

	if (roce_gid_is_v4(gid))
		return v4[0] != 0 && v4[0] < 224;
	return gid->raw[0] != 0xff && !roce_gid_equal(gid, &zero);
}

static const struct {
	void (*recv)(struct roce_cm *cm, const struct cm_in *in);
	size_t counter; /* where in struct roce_cm_counters */
	bool asks;	/* for an entry or an answer, of which nothing is known yet (W-CM-55) */
} messages[] = {
#define MESSAGE(NAME, name, ...)                                                                   \
	[CM_ATTR_##NAME - CM_ATTR_REQ] = {                                                         \
		cm_recv_##name, offsetof(struct roce_cm_counters, rx_##name), __VA_ARGS__}
	MESSAGE(REQ, req, .asks = true),
	MESSAGE(MRA, mra),
	MESSAGE(REJ, rej),
	MESSAGE(REP, rep),
	MESSAGE(RTU, rtu),
	MESSAGE(DREQ, dreq),
	MESSAGE(DREP, drep),
	MESSAGE(SIDR_REQ, sidr_req, .asks = true),
	MESSAGE(SIDR_REP, sidr_rep),
#undef MESSAGE
};

/* The codec has let through no other attribute. */
static void
message_dispatch(struct roce_cm *cm, const struct cm_in *in)
{
	const uint32_t i = in->mad.attr - CM_ATTR_REQ;
	uint64_t *counter = (uint64_t *)((uint8_t *)&cm->counters + messages[i].counter);

	++*counter;
	if (!messages[i].asks || cm_origin_may_ask(cm, in->now_ns, in->origin))
		messages[i].recv(cm, in);
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

	cm_assert_sound(cm);
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
	if (result == CM_DECODE_FOREIGN || !gid_is_unicast(&in.remote) ||
		!gid_is_unicast(&in.local) ||
		gid_is_loopback(&in.remote) != gid_is_loopback(&in.local)) {
		cm->counters.rx_dropped++;
		return;
	}
	in.origin = cm_origin_of(cm, &in.remote);
	message_dispatch(cm, &in);
}
