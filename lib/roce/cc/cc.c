/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion notification. Peers whose packets arrive marked are sent CNPs (W-CC-01). That needs no
 * agreement: switches mark only packets whose sender declared itself ECN-capable. A CNP is no part
 * of the connection's sequence: it has no PSN, is not acknowledged, and is not sent again if it is
 * lost (W-CC-03). A CNP from the peer slows down the queue pair that it names, if that one's own
 * packets are ECN-capable.
 */
#include "roce/cc/cc.h"

#include "base/list.h"
#include "roce/cc/rate.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"
#include "roce/tx.h"

/* Most packets in a congested queue are marked; one CNP in this time is enough (W-CC-04). */
#define CNP_INTERVAL_NS 50000u

size_t
roce_cc_bytes(void)
{
	return sizeof(struct roce_cc);
}

static struct roce_cc *
cc_use(struct roce_shard *s, struct roce_qp *qp)
{
	qp->rx_bits |= ROCE_RXB_CC;
	return &s->ccs[qp - s->qps];
}

static void
qp_see_mark(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_cc *cc = cc_use(s, qp);

	s->count.np_ecn_marked++;
	if (s->now_ns < cc->cnp_ns)
		return;
	cc->cnp_ns = s->now_ns + CNP_INTERVAL_NS;
	base_list_join(&s->cnps, &cc->cnp_link);
}

/* A marked ACK causes no CNP: its sender can't send fewer of them. */
void
roce_cc_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt)
{
	if ((pkt->tos & ROCE_TOS_ECN) == ROCE_TOS_ECN && pkt->opcode != ROCE_ACK)
		qp_see_mark(s, qp);
	if (pkt->becn) /* W-CC-05 */
		roce_cc_notified(s, qp);
}

/* The rate of a full window in each round trip. The peer's requests, not our window, bound READ
 * responses. */
static uint32_t
most_possible(const struct roce_shard *s, const struct roce_qp *qp)
{
	uint64_t bytes = (uint64_t)s->window << qp->mtu_shift, rate;

	if (qp->srtt_ns == 0 || qp->rd_pending > 0)
		return ROCE_RATE_MAX;
	rate = bytes * 1000000 / qp->srtt_ns;
	return (uint32_t)(rate < ROCE_RATE_MAX ? rate : ROCE_RATE_MAX);
}

/* If our packets are not ECN-capable, none of them was marked, and the CNP is ignored. */
void
roce_cc_notified(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_cc *cc;

	if (!roce_reacts(qp)) {
		s->count.rp_cnp_ignored++;
		return;
	}
	s->count.rp_cnp_handled++;
	cc = cc_use(s, qp);
	if (!roce_rate_cut(&cc->rate, s->now_ns, most_possible(s, qp), qp->srtt_ns))
		return;
	s->count.rp_rate_cuts++;
	if (!(qp->rx_bits & ROCE_RXB_PACED)) {
		qp->rx_bits |= ROCE_RXB_PACED;
		cc->next_ns = s->now_ns;
	}
}

unsigned
roce_cc_tx(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n)
{
	unsigned done = 0;
	struct base_link *l;

	while (done < n && (l = base_list_first(&s->cnps)) != NULL) {
		struct roce_cc *cc = base_container(l, struct roce_cc, cnp_link);
		struct roce_qp *qp = &s->qps[cc - s->ccs];
		struct roce_tx_slot *slot = &slots[done++];

		base_list_remove(l);
		roce_tx_seal(s, qp, slot,
			roce_wire_build_cnp(slot->buf, &qp->tmpl, qp->dest_qpn, qp->ip_id++),
			ROCE_CNP_ZEROS);
		s->count.np_cnp_sent++;
	}
	return done;
}

void
roce_cc_forget(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_cc *cc = cc_use(s, qp);

	base_list_remove(&cc->cnp_link);
	*cc = (struct roce_cc){0};
	qp->rx_bits &= (uint8_t) ~(ROCE_RXB_CC | ROCE_RXB_PACED);
}
