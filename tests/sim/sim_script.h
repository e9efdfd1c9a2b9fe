/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of draws that are not the seed's: what a scenario lists, and what shrinking tries. */
#ifndef SIM_SCRIPT_H
#define SIM_SCRIPT_H

#include "sim_draw.h"

#define SIM_ANY		UINT32_MAX	    /* any actor, any ordinal */
#define SIM_CHOICES_MAX (UINT32_C(1) << 20) /* that a run may record */

struct sim_choice {		     /* one draw, or with SIM_ANY several, and its value */
	const struct sim_site *site; /* NULL: known by its hash alone */
	uint64_t stream;	     /* hash of the site */
	uint32_t actor, ordinal;
	uint64_t n, value;
	bool asked; /* the world asked for it, and it took the value */
};
struct sim_script {
	bool plain; /* what is not listed is 0; else it is the seed's */
	struct sim_choice *list;
	uint32_t count, room;
	uint32_t *index; /* hash table of places in the list, plus 1; a power of two */
	uint32_t slots;
	/* Draws that were not 0, in the order of the run. NULL: not recorded. */
	struct sim_choice *record;
	uint32_t *recorded;
};

void sim_script_add(struct sim_script *s, const struct sim_choice *c);
/* The list is complete: before a run. */
void sim_script_seal(struct sim_script *s);
/* An empty list; what it had is kept for the next. */
void sim_script_clear(struct sim_script *s);
void sim_script_free(struct sim_script *s);

#endif
