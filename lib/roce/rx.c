/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A received frame: it reaches its queue pair, or it is counted and dropped. The checks are in the
 * order of rdma_rxe in Linux: the ICRC, which costs most, is the last one (W-RXE-01).
 */
#include <string.h>

#include "base/compiler.h"
#include "base/siphash.h"
#include "roce/cc/cc.h"
#include "roce/qp/qp.h"
#include "roce/requester/completer.h"
#include "roce/responder/responder.h"
#include "roce/responder/unreliable.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"
#include "roce/ud/datagram.h"

/* Is the pair of IPv4 addresses at a that at b, with source and destination exchanged? */
BASE_INLINE bool
addresses_cross(const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x == ndsh_rotl64(y, 32);
}

/* Source and destination must be the path's, seen from the other side (W-PKT-14). */
BASE_INLINE bool
pkt_address_ok(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	const uint8_t *ours = qp->tmpl.bytes + qp->tmpl.l3_off;
	const uint8_t *theirs = pkt->l3;

	if (base_unlikely(pkt->v6))
		return qp->tmpl.v6 && memcmp(theirs + 8, ours + 24, 16) == 0 &&
		       memcmp(theirs + 24, ours + 8, 16) == 0;
	return !qp->tmpl.v6 && addresses_cross(theirs + 12, ours + 12);
}

/* W-PKT-15 */
BASE_INLINE bool
qp_state_ok(const struct roce_qp *qp, uint32_t opflags)
{
	if (opflags & ROCE_OPF_REQUEST)
		return qp->state >= ROCE_QPS_RTR && qp->state <= ROCE_QPS_SQD;
	return qp->state >= ROCE_QPS_RTS && qp->state <= ROCE_QPS_SQD;
}

/* Does the packet come from the peer, in the VLAN of the path, with a right ICRC? */
BASE_INLINE bool
pkt_is_genuine(struct roce_shard *s, const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (base_unlikely(!pkt_address_ok(qp, pkt)))
		s->count.rx_wrong_address++;
	else if (base_unlikely(pkt->vlan != qp->tmpl.vlan)) /* W-PKT-02 */
		s->count.rx_wrong_vlan++;
	else if (base_unlikely(!roce_icrc_ok(pkt)))
		s->count.rx_icrc_error++;
	else
		return true;
	return false;
}

/* Does the queue pair wait for it: a request with the expected PSN, a response to what is in
 * flight? */
static bool
pkt_is_awaited(const struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (qp->unreliable && (qp->rx_bits & ROCE_RXB_EST))
		return false;
	if (!(pkt->opflags & ROCE_OPF_RESPONSE))
		return pkt->psn == qp->recv_psn;
	return roce_qp_in_flight(qp, pkt->psn);
}

/*
 * W-PKT-06: a peer that keeps to one UDP source port for each queue pair is known by it, once it is
 * learned. The ports of requests and of responses are learned apart, as they may be two.
 *
 * A port is learned from a packet that is awaited, and from no other. A station that can forge that
 * one has changed by it what it stands for, before its port says anything. All others (old PSNs,
 * gaps, answers to a probe) can be made by a station that knows addresses and queue pair number
 * alone; if a port was learned from them, it could say which one is the peer's, and shut out the
 * peer.
 *
 * Of an unreliable connection only the first packet is awaited, if it has the PSN that was agreed:
 * any later one may follow upon what a stranger has sent. If that one is lost, no port is learned.
 *
 * Port 0 means that the sender has none (RFC 768), so there is nothing to learn from it.
 */
static bool
source_port_ok(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	bool request = !(pkt->opflags & ROCE_OPF_RESPONSE);
	uint16_t *known = request ? &qp->request_sport : &qp->response_sport;
	uint16_t sport = roce_pkt_sport(pkt);

	if (!(s->cfg.check_source_port & 1u << (qp->port & 31)))
		return true;
	if (base_unlikely(*known == 0 && pkt_is_awaited(qp, pkt)))
		*known = sport;
	if (base_likely(*known == sport || *known == 0))
		return true;
	s->count.rx_wrong_source_port++;
	return false;
}

/* For few packets: they are marked, or come where ports are checked. False: from a wrong one. */
__attribute__((noinline, cold)) static bool
uncommon_ok(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt, bool marked)
{
	if (!source_port_ok(s, qp, pkt))
		return false;
	if (marked | pkt->becn)
		roce_cc_rx(s, qp, pkt);
	return true;
}

/* A packet of a connection for a queue pair that takes none now, or never, as those of datagrams do
 * not (W-PKT-10). */
static void
qp_wrong_state(struct roce_shard *s, const struct roce_qp *qp)
{
	if (qp->state > ROCE_QPS_ERR)
		s->count.rx_wrong_class++;
	else
		s->count.rx_wrong_state++;
}

/* A CNP must come from the peer: a forged one would slow the queue pair down (W-CC-08). */
static void
cnp_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if (qp->state < ROCE_QPS_RTR || qp->state == ROCE_QPS_ERR)
		qp_wrong_state(s, qp);
	else if (pkt_is_genuine(s, qp, pkt))
		roce_cc_notified(s, qp);
}

/* A packet of the class UC. */
static void
unreliable_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt, bool marked)
{
	if (!qp->unreliable)
		s->count.rx_wrong_class++;
	else if (!roce_qp_is_uc(qp))
		s->count.rx_wrong_state++;
	else if (pkt_is_genuine(s, qp, pkt) && (!(marked | pkt->becn | s->cfg.check_source_port) ||
						       uncommon_ok(s, qp, pkt, marked)))
		roce_uc_rx(s, qp, pkt);
}

/* Neither request nor response of a reliable connection. */
static void
other_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt, bool marked)
{
	bool datagrams = qp->rx_bits & ROCE_RXB_DATAGRAMS;

	if ((pkt->opcode & ROCE_CLASS_MASK) == ROCE_CLASS_UC)
		unreliable_rx(s, qp, pkt, marked);
	else if (pkt->opcode == ROCE_CNP && !datagrams)
		cnp_rx(s, qp, pkt);
	else if (roce_qp_is_uc(qp))
		s->count.rx_wrong_class++;
	else
		roce_ud_rx(s, qp, pkt);
}

/* An index beyond the table leads to the first queue pair in it. Its number is not the packet's, as
 * different places have different numbers, so roce_shard_rx() drops the packet. */
struct roce_qp *
roce_shard_rx_seek(struct roce_shard *s, uint32_t place, const struct roce_pkt *pkt)
{
	uint32_t index = roce_place_index(place);
	struct roce_qp *qp = &s->qps[index < s->cfg.max_qps ? index : 0];

	__builtin_prefetch(qp);
	__builtin_prefetch(&qp->port);
	__builtin_prefetch((pkt->opflags & ROCE_OPF_RESPONSE) ? &qp->una_psn : &qp->recv_psn);
	return qp;
}

void
roce_shard_rx(struct roce_shard *s, uint64_t now_ns, const struct roce_pkt *pkt, struct roce_qp *qp)
{
	bool marked = (pkt->tos & ROCE_TOS_ECN) == ROCE_TOS_ECN;
	uint32_t flags = pkt->opflags;

	s->now_ns = now_ns;
	s->count.rx_packets++;
	s->count.rx_bytes += pkt->payload_bytes;
	s->count.rx_ecn_ce += marked;
	if (base_unlikely(qp->qpn != pkt->qpn || pkt->qpn == 0)) { /* a free one's is 0 */
		s->count.rx_unknown_qpn++;
	} else if (base_unlikely(!(flags & (ROCE_OPF_REQUEST | ROCE_OPF_RESPONSE)))) {
		other_rx(s, qp, pkt, marked);
	} else if (base_unlikely(!qp_state_ok(qp, flags))) {
		qp_wrong_state(s, qp);
	} else if (pkt_is_genuine(s, qp, pkt)) {
		if (base_unlikely(marked | pkt->becn | s->cfg.check_source_port) &&
			!uncommon_ok(s, qp, pkt, marked))
			return;
		if (flags & ROCE_OPF_REQUEST)
			roce_resp_rx(s, qp, pkt);
		else
			roce_comp_rx(s, qp, pkt);
	}
}
