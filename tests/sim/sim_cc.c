/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion: marks, and the rates that follow. The model (rigs/dcqcn.h) is compared whenever a CNP
 * comes, and bounds what may leave: a leaky bucket, in time at the model's rate.
 */
#include <math.h>
#include <string.h>

#include "roce/cc/cc.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"
#include "sim.h"
#include "sim_cc.h"
#include "sim_kind.h"

#define CATCH_UP_NS 65536.0

static struct sim_ep *
end_of(const struct sim_client *c, const struct roce_qp *qp)
{
	for (unsigned i = 0; i < c->n_eps; i++)
		if (c->eps[i]->qp == qp && !c->eps[i]->gone)
			return c->eps[i];
	return NULL;
}

static struct sim_ep *
sender_of(const struct sim_client *c, uint32_t dest_qpn)
{
	for (unsigned i = 0; i < c->n_eps; i++)
		if (c->eps[i]->peer->qpn == dest_qpn && !c->eps[i]->gone)
			return c->eps[i];
	return NULL;
}

static double
most_possible(const struct roce_shard *s, const struct roce_qp *qp)
{
	if (qp->srtt_ns == 0 || qp->rd_pending > 0)
		return DCQCN_LINE_RATE;
	return (double)s->cfg.window * roce_qp_mtu(qp) * 1e6 / (double)qp->srtt_ns;
}

void
sim_cc_rx(struct sim_shard *sh, const struct roce_pkt *pkt, struct roce_qp *qp)
{
	struct sim_world *w = sh->host->w;
	uint64_t before = roce_shard_counters(sh->s)->rp_cnp_handled;
	double most = most_possible(sh->s, qp), rate;
	uint64_t rtt_ns = qp->srtt_ns;
	struct sim_ep *ep;

	sim_srq_rx(sh, pkt, qp);
	/* What ends the queue pair may say so, too: of a dead one nothing is kept. */
	if (roce_shard_counters(sh->s)->rp_cnp_handled == before || qp->state == ROCE_QPS_ERR)
		return;
	ep = end_of(&sh->client, qp);
	sim_check(w, ep != NULL, "a CNP for no connection");
	(void)dcqcn_cut(&ep->rate, w->now_ns, most, rtt_ns);
	rate = sh->s->ccs[qp - sh->s->qps].rate.now;
	sim_note(w, "conn %u%s: %.0f bytes in a ms", ep->conn->number, ep->name, rate);
	sim_check(w, fabs(rate - ep->rate.rate) <= ep->rate.rate / 100 + 16,
		"conn %u%s: a rate of %.0f, not %.0f", ep->conn->number, ep->name, rate,
		ep->rate.rate);
	sim_kind(SIM_KIND_rates);
}

/* Acknowledgements that stand alone, and CNPs, do not wait (W-CC-07). */
static bool
is_paced(const struct roce_pkt *pkt)
{
	return (pkt->opflags & ROCE_OPF_REQUEST) ||
	       ((pkt->opflags & ROCE_OPF_RESPONSE) && pkt->opcode != ROCE_ACK);
}

void
sim_cc_left(struct sim_shard *sh, const uint8_t *frame, uint32_t bytes)
{
	struct sim_world *w = sh->host->w;
	struct roce_pkt pkt;
	struct sim_ep *ep;
	struct dcqcn *m;

	if (w->profile->marks == 0)
		return;
	sim_check(w, roce_wire_parse(frame, bytes, &pkt) == ROCE_WIRE_OK, "a broken frame");
	ep = is_paced(&pkt) ? sender_of(&sh->client, pkt.qpn) : NULL;
	if (ep == NULL)
		return;
	m = &ep->rate;
	dcqcn_recover(m, w->now_ns);
	if (!m->limited)
		return;
	m->ahead = fmax(0, m->ahead - (double)(w->now_ns - m->ahead_ns));
	m->ahead_ns = w->now_ns;
	/* Turns are late, and catch up; packets are counted as full ones without headers. */
	sim_check(w, m->ahead <= 1.4 * CATCH_UP_NS,
		"conn %u%s: %.0f ns ahead of a rate of %.0f bytes in a ms", ep->conn->number,
		ep->name, m->ahead, m->rate);
	dcqcn_sent(m, bytes);
	sim_kind(SIM_KIND_paced_packets);
}

/* ---- marks ---- */

static void
checksum(uint8_t *ip)
{
	uint32_t sum = 0;

	ip[10] = ip[11] = 0;
	for (unsigned i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip[10] = (uint8_t)(~sum >> 8);
	ip[11] = (uint8_t)~sum;
}

/* Of what a marked packet leads to: checks W-CC-01[2] */
void
sim_cc_mark(struct sim_world *w, struct sim_frame *f)
{
	uint8_t *ip = f->data + (f->data[12] == 0x81 ? 18 : 14);

	if (ip[0] >> 4 == 4 && (ip[1] & 3) == ROCE_TOS_ECT0) {
		if (!sim_chance(w, w->profile->marks))
			return;
		ip[1] |= 3;
		checksum(ip);
	} else if (ip[0] >> 4 == 6 && (ip[1] >> 4 & 3) == ROCE_TOS_ECT0) {
		if (!sim_chance(w, w->profile->marks))
			return;
		ip[1] |= 0x30;
	} else {
		return;
	}
	sim_kind(SIM_KIND_marks);
}
