/* SPDX-License-Identifier: BSD-3-Clause */
/* The client's output: perftest's table, JSON, a progress line. */
#ifndef NDPERF_REPORT_H
#define NDPERF_REPORT_H

#include <jansson.h>
#include <ndclient.h>
#include <stdio.h>

#include "options.h"
#include "stats.h"

struct ndperf_row {
	uint64_t bytes, iterations;
	struct rate_summary rate;   /* bandwidth */
	struct latency_summary lat; /* latency */
};

struct ndperf_report {
	const struct ndperf_options *opt;
	json_t *root, *rows;
	FILE *json;	  /* NULL: without JSON */
	FILE *table;	  /* NULL: standard output takes the JSON */
	bool tty;	  /* progress on standard error */
	uint64_t told_ns; /* when progress was last shown */
};

/* Open the report and its JSON file; a wrong path must not show only at the end of a long run.
 * Returns false after a printed complaint. */
bool ndperf_report_open(struct ndperf_report *r, const struct ndperf_options *opt);
/* Note the properties of the adapter, once it is connected, and print the table's head. */
void ndperf_report_begin(
	struct ndperf_report *r, const struct nd_adapter_info *info, uint32_t inline_bytes);
void ndperf_report_row(struct ndperf_report *r, const struct ndperf_row *row);
/* Show that the part done (0 to 1) of the step is over; at most every 200 ms. */
void ndperf_report_progress(struct ndperf_report *r, uint64_t bytes, double done, uint64_t now_ns);
/* Remove the progress line, before other output. */
void ndperf_report_clear(struct ndperf_report *r);
/* Write the JSON. Returns false after a complaint if that failed. */
bool ndperf_report_close(struct ndperf_report *r, int exit_code);

/* One row as JSON. The caller owns the reference. */
json_t *ndperf_row_json(enum ndperf_mode mode, const struct ndperf_row *row);

#endif
