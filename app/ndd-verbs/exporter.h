/* SPDX-License-Identifier: BSD-3-Clause */
/* A tree of files in the form of /sys, with the daemon's counters, for programs that monitor. */
#ifndef VERBS_EXPORTER_H
#define VERBS_EXPORTER_H

#include <stdbool.h>

struct verbs_export {
	const char *folder;    /* where it is made */
	const char *control;   /* control socket of the daemon */
	const char *telemetry; /* its telemetry socket, or NULL */
	double seconds;	       /* between two readings */
	bool quiet;
};

/*
 * Keep class/infiniband in the folder as the daemon is, until SIGTERM, SIGINT or SIGHUP, and remove
 * it then. While there is no daemon there is no device. Returns what to exit with; not 0:
 * complained.
 */
int verbs_export(const struct verbs_export *how);

#endif
