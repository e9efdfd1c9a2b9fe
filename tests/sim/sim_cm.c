/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to the messages of a connection's setup and end, by a plan that names the step: a
 * REQ, REP, RTU, REJ, MRA, DREQ or DREP is lost, comes twice, late or damaged, or the host that
 * sends or awaits it dies just then. SIDR requests and replies meet the same faults by
 * chance. The rest of the network is the profile's.
 */
#include <stdio.h>
#include <string.h>

#include "cm/codec.h"
#include "sim.h"

#define LATE_SHORT (100 * SIM_MS)
#define LATE_LONG  (20 * SIM_S) /* beyond time-wait: both ends have forgotten the connection */

const char *const sim_cm_names[SIM_CM_STEPS] = {
	"REQ", "MRA", "REJ", "REP", "RTU", "DREQ", "DREP", "SIDR_REQ", "SIDR_REP"};
static const char *const fate_names[] = {"passes", "is lost", "comes twice", "comes late",
	"is damaged", "kills its sender", "kills its receiver"};

void
sim_cm_print(void)
{
	for (unsigned step = 0; step < SIM_CM_STEPS; step++)
		for (unsigned f = SIM_FATE_LOST; f < SIM_FATES; f++)
			printf("planned: %-8s %-18s %9lu\n", sim_cm_names[step], fate_names[f],
				(unsigned long)sim_totals.cm_faults[step][f]);
	printf("hosts that died %22lu\n", (unsigned long)sim_totals.deaths);
}

void
sim_cm_plan(struct sim_world *w, struct sim_conn *c)
{
	const struct sim_profile *p = w->profile;

	for (unsigned i = 0; i < SIM_CM_FAULTS; i++) {
		struct sim_cm_fault *f = &c->cm_fault[i];

		if (!sim_chance(w, p->cm))
			continue;
		f->attr = (uint8_t)(CM_ATTR_REQ + sim_below(w, CM_ATTR_DREP - CM_ATTR_REQ + 1));
		f->fate = (enum sim_fate)(SIM_FATE_LOST + sim_below(w, 4));
		f->skip = (unsigned)sim_below(w, 2);
		f->times = 1 + (unsigned)sim_below(w, 3);
		if (sim_chance(w, p->deaths)) {
			f->fate =
				sim_chance(w, 5000) ? SIM_FATE_SENDER_DIES : SIM_FATE_RECEIVER_DIES;
			f->times = 1;
		}
	}
}

/* The connection of a message. A REQ names it in its private data, the others name the active
 * side's id. */
static struct sim_conn *
conn_of(struct sim_world *w, const struct sim_host *from, const struct cm_mad *m)
{
	uint32_t number;

	if (m->attr == CM_ATTR_REQ) {
		memcpy(&number, m->priv + CM_IP_HDR_BYTES, sizeof(number));
		sim_check(w, number < w->n_conns, "REQ of nobody");
		w->conns[number].cm_id = m->local_id;
		return &w->conns[number];
	}
	for (unsigned i = 0; i < w->n_conns; i++) {
		struct sim_conn *c = &w->conns[i];
		bool active = c->ep[0].client->shard->host == from;

		if (c->cm_id != 0 &&
			(m->remote_id == c->cm_id || (active && m->local_id == c->cm_id)))
			return c;
	}
	return NULL;
}

static struct sim_ep *
end_of(struct sim_conn *c, const struct sim_host *h)
{
	return &c->ep[c->ep[0].client->shard->host != h];
}

static enum sim_fate
fate(struct sim_conn *c, uint32_t attr)
{
	for (unsigned i = 0; i < SIM_CM_FAULTS; i++) {
		struct sim_cm_fault *f = &c->cm_fault[i];

		if (f->fate == SIM_FATE_PASSES || f->attr != attr || f->times == 0)
			continue;
		if (f->skip > 0) {
			f->skip--;
			continue;
		}
		f->times--;
		return f->fate;
	}
	return SIM_FATE_PASSES;
}

static uint64_t
lateness(struct sim_world *w)
{
	return sim_below(w, sim_chance(w, 3000) ? LATE_LONG : LATE_SHORT);
}

/* False: f is not to be sent in the ordinary way. */
static bool
suffer(struct sim_host *from, struct sim_host *to, struct sim_frame *f, enum sim_fate what)
{
	struct sim_world *w = from->w;

	switch (what) {
	case SIM_FATE_TWICE:
		sim_net_late(w, to->number, f, lateness(w));
		return true;
	case SIM_FATE_LATE:
		sim_net_late(w, to->number, f, lateness(w));
		return false;
	case SIM_FATE_DAMAGED:
		f->data[14 + sim_below(w, f->bytes - 14)] ^= (uint8_t)(1u << sim_below(w, 8));
		w->net.corrupted++;
		return true;
	case SIM_FATE_SENDER_DIES:
		sim_host_dies(from, w->now_ns + sim_below(w, 20 * SIM_US));
		return true;
	case SIM_FATE_RECEIVER_DIES:
		sim_host_dies(to, w->now_ns + sim_below(w, 20 * SIM_US));
		return true;
	default:
		return what == SIM_FATE_PASSES;
	}
}

/* SIDR requests have no plan of their own: any of their messages may meet a fault. */
static enum sim_fate
fate_of_question(struct sim_world *w)
{
	const struct sim_profile *p = w->profile;

	if (!sim_chance(w, p->cm / 2))
		return SIM_FATE_PASSES;
	if (sim_chance(w, p->deaths / 4))
		return sim_chance(w, 5000) ? SIM_FATE_SENDER_DIES : SIM_FATE_RECEIVER_DIES;
	return (enum sim_fate)(SIM_FATE_LOST + sim_below(w, 4));
}

/* f is on its way from a host's control thread. False: it is not to be sent in the ordinary way. */
bool
sim_cm_passes(struct sim_host *from, struct sim_host *to, const uint8_t *mad, struct sim_frame *f)
{
	struct sim_world *w = from->w;
	struct sim_conn *c = NULL;
	enum sim_fate what;
	struct cm_mad m;

	sim_check(w, cm_mad_decode(&m, mad) == CM_DECODE_OK, "host %u sends no CM message",
		from->number);
	if (m.attr == CM_ATTR_SIDR_REQ || m.attr == CM_ATTR_SIDR_REP) {
		what = fate_of_question(w);
	} else {
		c = conn_of(w, from, &m);
		what = c != NULL ? fate(c, m.attr) : SIM_FATE_PASSES;
	}
	if (c != NULL)
		sim_insider_record(c, from, mad);
	sim_note(w, "conn %d: host %u sends %s, which %s", c != NULL ? (int)c->number : -1,
		from->number, sim_cm_names[m.attr - CM_ATTR_REQ], fate_names[what]);
	if (what != SIM_FATE_PASSES)
		w->cm_faults[m.attr - CM_ATTR_REQ][what]++;
	if (m.attr == CM_ATTR_REQ && (what == SIM_FATE_TWICE || what == SIM_FATE_LATE))
		c->copies = true;
	if (c != NULL && !sim_dialect_mad(end_of(c, from), m.attr, f))
		return false;
	return suffer(from, to, f, what);
}
