/* SPDX-License-Identifier: BSD-3-Clause */
/* What a dialect does to the fields of each packet that leaves, and to nothing else. */
#include "sim.h"

static void
transport(struct sim_ep *ep, struct roce_pkt *pkt)
{
	if (sim_speaks(ep, SIM_DIALECT_NO_MIG)) {
		pkt->mig = false;
		sim_spoke(ep, SIM_DIALECT_NO_MIG);
	}
	if (sim_speaks(ep, SIM_DIALECT_LIMITED_KEY)) {
		pkt->pkey = 0x7fff;
		sim_spoke(ep, SIM_DIALECT_LIMITED_KEY);
	}
	if (pkt->opcode == ROCE_ACK && sim_speaks(ep, SIM_DIALECT_BECN) && sim_chance(ep->w, 500)) {
		pkt->becn = true;
		sim_spoke(ep, SIM_DIALECT_BECN);
	}
}

/* checks W-AETH-02, W-AETH-04[1]: nothing waits for credits or counts by the MSN */
static void
acknowledgement(struct sim_ep *ep, struct roce_pkt *pkt)
{
	if (!(pkt->opflags & ROCE_OPF_AETH))
		return;
	if (pkt->syndrome == 0x1f && sim_speaks(ep, SIM_DIALECT_NO_CREDITS)) {
		pkt->syndrome = 0;
		sim_spoke(ep, SIM_DIALECT_NO_CREDITS);
	}
	if (pkt->syndrome == 0x1f && sim_speaks(ep, SIM_DIALECT_CREDITS)) {
		pkt->syndrome = 0x1e;
		sim_spoke(ep, SIM_DIALECT_CREDITS);
	}
	if (sim_speaks(ep, SIM_DIALECT_MSN_PACKETS)) {
		pkt->msn = roce_psn_from(pkt->psn, ep->psn) + 1;
		sim_spoke(ep, SIM_DIALECT_MSN_PACKETS);
	}
}

static void
congestion(struct sim_ep *ep, struct sim_words *words)
{
	uint8_t tos = words->tmpl.tos;

	if (sim_speaks(ep, SIM_DIALECT_ECT)) {
		tos = (uint8_t)((tos & ~ROCE_TOS_ECN) | ROCE_TOS_ECT0);
		sim_spoke(ep, SIM_DIALECT_ECT);
	}
	if (sim_speaks(ep, SIM_DIALECT_MARKED) && (tos & ROCE_TOS_ECN) != 0 &&
		sim_chance(ep->w, 300)) {
		tos |= ROCE_TOS_ECN;
		sim_spoke(ep, SIM_DIALECT_MARKED);
	}
	if (tos != words->tmpl.tos)
		sim_words_tos(words, tos);
}

static void
network(struct sim_ep *ep, struct sim_words *words)
{
	struct sim_world *w = ep->w;

	if (sim_speaks(ep, SIM_DIALECT_PORTS)) {
		sim_words_sport(words, (uint16_t)sim_below(w, 65536));
		sim_spoke(ep, SIM_DIALECT_PORTS);
	}
	if (sim_speaks(ep, SIM_DIALECT_ONE_PORT)) {
		sim_words_sport(words, ROCE_GSI_SPORT);
		sim_spoke(ep, SIM_DIALECT_ONE_PORT);
	}
	if (sim_speaks(ep, SIM_DIALECT_HOPS)) {
		sim_words_ttl(words, (uint8_t)(1 + sim_below(w, 255)));
		words->ip_id = (uint16_t)sim_below(w, 65536);
		sim_spoke(ep, SIM_DIALECT_HOPS);
	}
	if (sim_speaks(ep, SIM_DIALECT_CHECKSUM)) {
		words->checksum = true;
		sim_spoke(ep, SIM_DIALECT_CHECKSUM);
	}
}

static void
frame(struct sim_ep *ep, struct sim_words *words)
{
	struct sim_world *w = ep->w;

	if (sim_speaks(ep, SIM_DIALECT_PRIORITY_TAG) && words->tmpl.vlan == 0) {
		words->tag = 0x6000;
		sim_spoke(ep, SIM_DIALECT_PRIORITY_TAG);
	}
	if (sim_speaks(ep, SIM_DIALECT_TRAILER)) {
		words->trailer = (uint8_t)sim_below(w, SIM_WORDS_TRAILER - ROCE_VLAN_TAG_BYTES);
		sim_spoke(ep, SIM_DIALECT_TRAILER);
	}
	if (sim_speaks(ep, SIM_DIALECT_PAD) && words->pkt.payload_bytes % 4 != 0) {
		words->pad = (uint8_t)(1 + sim_below(w, 255));
		sim_spoke(ep, SIM_DIALECT_PAD);
	}
}

/*
 * checks W-PKT-02[3], W-PKT-03[1,2], W-PKT-04[2], W-PKT-06[1], W-PKT-09[3], W-PKT-12[1],
 * W-RXE-02
 */
void
sim_accent(struct sim_ep *ep, struct sim_words *words)
{
	transport(ep, &words->pkt);
	acknowledgement(ep, &words->pkt);
	congestion(ep, words);
	network(ep, words);
	frame(ep, words);
}
