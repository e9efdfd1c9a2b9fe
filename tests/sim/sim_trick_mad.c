/* SPDX-License-Identifier: BSD-3-Clause */
/* What an insider says to the victim's connection manager, of its own connection alone. */
#include <string.h>

#include "cm/codec.h"
#include "sim.h"

#define MSG_AT	     24u /* the message within the MAD */
#define IDS_BYTES    8u
#define REQ_FIELD_AT (MSG_AT + 32u) /* QPN, PSN, timeouts and counts of a REQ */
#define REQ_FIELDS   20u

static void
send_mad(struct sim_insider *x, const uint8_t *mad)
{
	struct sim_host *h = x->ep->client->shard->host;
	struct roce_path path = sim_path(h, x->victim->client->shard->host, x->ep->conn->v6);
	uint8_t frame[ROCE_GSI_FRAME_MAX];

	sim_net_send(x->ep->w, h->number, frame, roce_gsi_build(frame, &path, 0, mad));
	sim_insider_did(x, SIM_TRICK_MAD);
}

/* One that it sent, as another message: those that end the connection are rare. */
static void
other_message(struct sim_insider *x, struct cm_mad *m)
{
	static const uint8_t mild[] = {CM_ATTR_MRA, CM_ATTR_RTU, CM_ATTR_REP, CM_ATTR_DREP};
	struct sim_world *w = x->ep->w;

	m->attr = sim_chance(w, 9000)	? mild[sim_below(w, sizeof(mild))]
		  : sim_chance(w, 5000) ? CM_ATTR_DREQ
					: CM_ATTR_REJ;
	m->which = (uint32_t)sim_below(w, 4);
	m->reason = (uint32_t)sim_below(w, 40);
	m->service_timeout = (uint32_t)sim_below(w, 32);
	m->qpn = sim_chance(w, 5000) ? x->victim->qpn : (uint32_t)sim_rand(w) & ROCE_QPN_MASK;
	m->psn = (uint32_t)sim_rand(w) & ROCE_PSN_MASK;
	m->responder_resources = (uint32_t)sim_below(w, 256);
	m->initiator_depth = (uint32_t)sim_below(w, 256);
	if (sim_chance(w, 1000))
		m->remote_id ^= 1u << sim_below(w, 32);
	if (sim_chance(w, 1000))
		m->local_id ^= 1u << sim_below(w, 32);
}

void
sim_trick_mad(struct sim_insider *x)
{
	unsigned n = x->n_mads < SIM_MADS ? x->n_mads : SIM_MADS;
	struct sim_world *w = x->ep->w;
	uint8_t mad[ROCE_MAD_BYTES];
	struct cm_mad m;

	if (n == 0)
		return;
	memcpy(mad, x->mad[sim_below(w, n)], sizeof(mad));
	sim_check(w, cm_mad_decode(&m, mad) == CM_DECODE_OK, "a MAD of ours is none");
	if (m.attr == CM_ATTR_REQ) { /* again, or with other wishes */
		if (sim_chance(w, 5000))
			mad[REQ_FIELD_AT + sim_below(w, REQ_FIELDS)] ^=
				(uint8_t)(1u << sim_below(w, 8));
	} else if (sim_chance(w, 7000)) {
		other_message(x, &m);
		cm_mad_encode(mad, &m);
	} else if (sim_chance(w, 5000)) {
		mad[MSG_AT + IDS_BYTES + sim_below(w, ROCE_MAD_BYTES - MSG_AT - IDS_BYTES)] ^=
			(uint8_t)(1u << sim_below(w, 8));
	}
	send_mad(x, mad);
}
