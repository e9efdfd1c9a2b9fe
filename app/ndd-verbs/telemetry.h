/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's counters, asked of DPDK's telemetry socket (doc/telemetry.md). */
#ifndef VERBS_TELEMETRY_H
#define VERBS_TELEMETRY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#define VERBS_WHY_BYTES 512

/* One conversation. Nothing in it waits for longer than to a moment that is set before. */
struct verbs_telemetry {
	int sock; /* negative: none */
	uint64_t until_ns;
	char why[VERBS_WHY_BYTES]; /* the last call failed, in words */
};

/*
 * Find the telemetry socket of the daemon whose control socket that is, and connect. A socket of
 * the same process is looked for in the folder of the control socket and where DPDK puts it; path:
 * it is this one, or NULL. false: t->why.
 */
bool verbs_telemetry_open(struct verbs_telemetry *t, const char *control, const char *path);
void verbs_telemetry_close(struct verbs_telemetry *t);
/* What follows is to be answered within that time from now. */
void verbs_telemetry_limit(struct verbs_telemetry *t, unsigned ms);
/* The answer to a command; the caller's, json_decref(). NULL: t->why. */
json_t *verbs_telemetry_ask(struct verbs_telemetry *t, const char *command);

#endif
