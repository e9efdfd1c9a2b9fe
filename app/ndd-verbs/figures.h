/* SPDX-License-Identifier: BSD-3-Clause */
/* What the daemon counts, by the names that the kernel and its drivers have for it. */
#ifndef VERBS_FIGURES_H
#define VERBS_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "telemetry.h"

#define VERBS_FIGURES	38u
#define VERBS_PORTS_MAX 64u

enum verbs_source {
	VERBS_OF_PORT,	/* of /ndd/port */
	VERBS_OF_ENGINE /* engine of /ndd/shard, of all shards together */
};

/* A file, relative to the port's folder, and what is in it: the sum of those of these counters that
 * the source has, in units of so many. */
struct verbs_figure {
	const char *file;
	enum verbs_source source;
	uint32_t unit;
	const char *counter[2]; /* the second may be NULL */
};
extern const struct verbs_figure verbs_figures[VERBS_FIGURES];

/* Values by the place of their row; bit i of has: row i is counted. */
struct verbs_values {
	uint64_t has, value[VERBS_FIGURES];
};
struct verbs_counts {
	uint32_t ports;
	struct verbs_port_counts {
		uint64_t adapter; /* the id that libndclient has for it */
		bool link_up;
		struct verbs_values values;
	} port[VERBS_PORTS_MAX];
	struct verbs_values engine;
};

/* Ask for all of them. false: t->why. */
bool verbs_counts_read(struct verbs_telemetry *t, struct verbs_counts *c);

#endif
