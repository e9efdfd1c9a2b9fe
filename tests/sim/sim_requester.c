/* SPDX-License-Identifier: BSD-3-Clause */
/* An end that asks as others do. */
#include "roce/qp/qp.h"
#include "sim.h"

#define HASTE_NS     (100 * SIM_US)
#define RNR_PATIENCE 15u /* code: 1.92 ms */

/* A READ that is asked for again is asked for from its start. */
static void
ask_for_all(struct sim_ep *ep, struct roce_pkt *pkt)
{
	struct sim_read *read = sim_read_of(&ep->speech->asked, pkt->psn);

	if (read == NULL || pkt->psn == read->first)
		return;
	pkt->psn = read->first;
	pkt->va = read->va;
	pkt->dma_bytes = read->bytes;
	sim_spoke(ep, SIM_DIALECT_READ_ALL);
}

static struct sim_copy *
said_at(struct sim_ep *ep, uint32_t psn)
{
	struct sim_copy *c = &ep->speech->said[psn % SIM_SAID];

	return c->bytes > 0 && c->psn == psn ? c : NULL;
}

/* Sometimes a timer that is too short runs out. */
static void
remember(struct sim_ep *ep, const struct sim_words *words)
{
	struct sim_speech *s = ep->speech;
	struct sim_copy *c = &s->said[words->pkt.psn % SIM_SAID];
	const struct sim_read *read = sim_read_of(&s->asked, words->pkt.psn);

	sim_copy_keep(ep->w, c, words->frame, words->bytes);
	c->psn = words->pkt.psn;
	c->end = roce_psn_add(
		c->psn, words->pkt.opcode == ROCE_READ_REQUEST && read != NULL ? read->n : 1);
	if (s->hasty_ns == SIM_NEVER && sim_chance(ep->w, 500)) {
		s->hasty_ns = ep->w->now_ns + sim_below(ep->w, HASTE_NS);
		sim_speech_wake(ep, s->hasty_ns);
	}
}

void
sim_request_said(struct sim_ep *ep, struct sim_words *words)
{
	struct sim_speech *s = ep->speech;
	struct roce_pkt *pkt = &words->pkt;

	if (pkt->opcode == ROCE_READ_REQUEST) {
		if (sim_read_of(&s->asked, pkt->psn) == NULL)
			sim_read_note(&s->asked, pkt, ep->conn->mtu);
		else if (sim_speaks(ep, SIM_DIALECT_READ_ALL))
			ask_for_all(ep, pkt);
	}
	if (sim_speaks(ep, SIM_DIALECT_HASTY))
		remember(ep, words);
	if (sim_speaks(ep, SIM_DIALECT_ASK_ALWAYS) && !pkt->ackreq) {
		pkt->ackreq = true;
		sim_spoke(ep, SIM_DIALECT_ASK_ALWAYS);
	}
	if (sim_speaks(ep, SIM_DIALECT_CNP) && s->cnp_ns == SIM_NEVER && sim_chance(ep->w, 100)) {
		s->cnp_ns = ep->w->now_ns + sim_below(ep->w, HASTE_NS);
		sim_speech_wake(ep, s->cnp_ns);
	}
	sim_say(ep, words);
}

/* The packets from some unacknowledged one on, as they were. */
static void
say_again(struct sim_ep *ep)
{
	uint32_t psn = ep->qp->una_psn;
	const struct sim_copy *c;
	bool any = false;

	if (ep->qp->state != ROCE_QPS_RTS || (ep->qp->tx_bits & ROCE_TXB_RNR_WAIT))
		return;
	while ((c = said_at(ep, psn)) != NULL && roce_psn_diff(psn, ep->qp->tx_psn) < 0 &&
		sim_chance(ep->w, 3000))
		psn = c->end;
	for (; (c = said_at(ep, psn)) != NULL && roce_psn_diff(psn, ep->qp->tx_psn) < 0;
		psn = c->end) {
		struct sim_words words;

		sim_check(ep->w, sim_words_parse(&words, c->frame, c->bytes), "a copy is broken");
		sim_say(ep, &words);
		any = true;
	}
	if (any)
		sim_spoke(ep, SIM_DIALECT_HASTY);
}

static void
say_cnp(struct sim_ep *ep)
{
	struct sim_host *h = ep->client->shard->host;
	uint8_t frame[ROCE_HDR_MAX + ROCE_CNP_ZEROS + ROCE_ICRC_BYTES];
	struct sim_words words;
	uint32_t hdr;

	sim_words_ack(&words, ep, 0, 0);
	hdr = roce_wire_build_cnp(frame, &words.tmpl, ep->peer->qpn, 0);
	sim_net_send(ep->w, h->number, frame, roce_wire_seal(frame, &words.tmpl, hdr, 0));
	sim_spoke(ep, SIM_DIALECT_CNP);
}

void
sim_requester_run(struct sim_ep *ep)
{
	struct sim_speech *s = ep->speech;
	uint64_t now_ns = ep->w->now_ns;

	if (s->hasty_ns <= now_ns) {
		s->hasty_ns = SIM_NEVER;
		say_again(ep);
	}
	if (s->cnp_ns <= now_ns) {
		s->cnp_ns = SIM_NEVER;
		say_cnp(ep);
	}
}

/* An RNR wait may be longer than its code (W-TMR-06). */
void
sim_response_heard(struct sim_ep *ep, struct roce_pkt *pkt)
{
	uint8_t code = pkt->syndrome & 31;

	if (pkt->opcode != ROCE_ACK || pkt->syndrome >> 5 != 1 || code == 0 ||
		code >= RNR_PATIENCE || !sim_speaks(ep, SIM_DIALECT_PATIENT))
		return;
	pkt->syndrome = ROCE_SYN_RNR | RNR_PATIENCE;
	sim_spoke(ep, SIM_DIALECT_PATIENT);
}
