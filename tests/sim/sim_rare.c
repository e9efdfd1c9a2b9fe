/* SPDX-License-Identifier: BSD-3-Clause */
/* What connections seldom have: every value of codes and counts, VLANs, long messages. */
#include "sim.h"
#include "sim_change.h"
#include "sim_kind.h"

/* Codes and counts. With few retries a loss is the end. */
void
sim_rare_plan(struct sim_world *w, struct sim_conn *c)
{
	const struct sim_profile *p = w->profile;
	bool rare = sim_chance(w, p->rare);

	c->ack_timeout = sim_change_timeout(w);
	if (rare && p->loss == 0 && sim_chance(w, 300))
		c->ack_timeout = 0; /* for ever: nothing is lost */
	c->retry = 7;
	if (rare && sim_chance(w, 3000))
		c->retry = (uint8_t)(7 - sim_below(w, 8));
	c->rnr_retry = 7;
	c->rnr_code = (uint8_t)(1 + sim_below(w, 13));
	if (p->starve > 0) /* long waits, that a minute is not too many */
		c->rnr_code = (uint8_t)((24 + sim_below(w, 9)) % 32);
	else if (rare || sim_chance(w, 2000))
		c->rnr_code = (uint8_t)sim_below(w, 32);
	if (p->dialects == 0 && sim_chance(w, 800))
		c->vlan = (uint16_t)(1 + sim_below(w, 4094));
}

/* Long messages: few of them, in small packets. */
void
sim_rare_length(struct sim_world *w, struct sim_conn *c)
{
	c->packets = 5;
	if (w->profile->dialects != 0 || !sim_chance(w, 300))
		return;
	c->packets = 100 + (unsigned)sim_below(w, 300);
	c->mtu_code = 1;
	c->ep[0].quota %= 12;
	c->ep[1].quota %= 12;
	c->ep[0].shares = c->ep[1].shares = false;
	sim_kind(SIM_KIND_long_messages);
}
