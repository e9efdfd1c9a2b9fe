/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More questions at once than a connection manager keeps answers for, from hosts that have nothing
 * to do with it: what it can't keep goes unanswered, and every connection goes on.
 */
#include "cm/codec.h"
#include "cm/stateless.h"
#include "sim.h"
#include "sim_kind.h"

#define QUESTIONS (CM_STATELESS + 50u)

/* The end of a connection that is not there, or a look-up of a service that nothing offers. */
static struct cm_mad
question(struct sim_world *w)
{
	return (struct cm_mad){
		.attr = sim_chance(w, 5000) ? CM_ATTR_SIDR_REQ : CM_ATTR_DREQ,
		.tid = sim_rand(w),
		.local_id = (uint32_t)sim_rand(w),
		.remote_id = (uint32_t)sim_rand(w),
		.service_id = sim_rand(w) | 1, /* not the one that is offered */
		.qpn = (uint32_t)sim_rand(w) & ROCE_QPN_MASK,
		.pkey = ROCE_PKEY_DEFAULT,
	};
}

static void
ask(struct sim_host *h, const struct roce_path *path)
{
	const struct cm_mad m = question(h->w);
	uint8_t mad[ROCE_MAD_BYTES], frame[ROCE_GSI_FRAME_MAX];
	struct roce_pkt pkt;
	uint32_t bytes;

	cm_mad_encode(mad, &m);
	bytes = roce_gsi_build(frame, path, 0, mad);
	sim_check(h->w, roce_wire_parse(frame, bytes, &pkt) == ROCE_WIRE_OK, "no frame");
	sim_full_rx(h, &pkt);
}

void
sim_flood(struct sim_host *h)
{
	struct sim_world *w = h->w;
	struct roce_path path;
	uint64_t dropped;

	if (!sim_chance(w, 10))
		return;
	path = sim_path(&w->hosts[sim_below(w, w->n_hosts)], h, sim_chance(w, 5000));
	dropped = roce_cm_counters(h->cm)->tx_dropped;
	for (unsigned i = 0; i < QUESTIONS; i++)
		ask(h, &path);
	dropped = roce_cm_counters(h->cm)->tx_dropped - dropped;
	sim_check(w, dropped == QUESTIONS - CM_STATELESS, "host %u: %lu answers dropped", h->number,
		(unsigned long)dropped);
	sim_kind(SIM_KIND_full_answers);
}
