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
	FILE *json;	  /* NULL: no JSON wanted */
	FILE *table;	  /* NULL: standard output is for JSON */
	bool tty;	  /* progress on standard error */
	uint64_t told_ns; /* when progress was last shown */
};

/* Opens the JSON file at once: a long run must not end in a bad path. false: said. */
bool ndperf_report_open(struct ndperf_report *r, const struct ndperf_options *opt);
/* After the connection is made: what the adapter is like. Prints the table's head. */
void ndperf_report_begin(
	struct ndperf_report *r, const struct nd_adapter_info *info, uint32_t inline_bytes);
void ndperf_report_row(struct ndperf_report *r, const struct ndperf_row *row);
/* done: 0..1 of the step. */
void ndperf_report_progress(struct ndperf_report *r, uint64_t bytes, double done, uint64_t now_ns);
/* Take the progress line away, before other output. */
void ndperf_report_clear(struct ndperf_report *r);
/* Writes the JSON. false: it couldn't be written; said. */
bool ndperf_report_close(struct ndperf_report *r, int exit_code);

/* One row as JSON; a new reference. */
json_t *ndperf_row_json(enum ndperf_mode mode, const struct ndperf_row *row);

#endif
