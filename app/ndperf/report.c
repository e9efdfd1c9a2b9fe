/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/fail.h"

#define MIB		  1048576.0
#define PROGRESS_EVERY_NS (200 * APP_NS_PER_MS)

static const char *const op_names[] = {[NDPERF_WRITE] = "write",
	[NDPERF_SEND] = "send",
	[NDPERF_READ] = "read",
	[NDPERF_ATOMIC] = "atomic"};

static const char *const wait_names[] = {[NDPERF_WAIT_ADAPTIVE] = "adaptive",
	[NDPERF_WAIT_POLL] = "poll",
	[NDPERF_WAIT_EVENT] = "event"};

bool
ndperf_report_open(struct ndperf_report *r, const struct ndperf_options *opt)
{
	memset(r, 0, sizeof(*r));
	r->opt = opt;
	r->table = stdout;
	r->tty = isatty(STDERR_FILENO);
	if (opt->json_path == NULL)
		return true;
	r->root = json_object();
	r->rows = json_array();
	if (strcmp(opt->json_path, "-") == 0) {
		r->json = stdout;
		r->table = NULL;
		return true;
	}
	r->json = fopen(opt->json_path, "w");
	if (r->json == NULL)
		app_complain("--json %s: %s", opt->json_path, strerror(errno));
	return r->json != NULL;
}

static void
report_describe(struct ndperf_report *r, const struct nd_adapter_info *info, uint32_t inline_bytes)
{
	const struct ndperf_params *p = &r->opt->params;
	char peer[APP_ADDR_TEXT];
	json_t *about = json_pack(
		"{s:s, s:s, s:s, s:b, s:s, s:s, s:i, s:i, s:b, s:s, s:i, s:i, s:I, s:s, s:i}",
		"program", "ndperf", "version", APP_VERSION, "peer",
		app_addr_text(&r->opt->addr, true, peer), "loopback", (int)r->opt->loopback,
		"operation", op_names[p->op], "mode",
		p->mode == NDPERF_LAT ? "latency" : "bandwidth", "queue_pairs", (int)p->qps,
		"depth", (int)p->depth, "verify", (int)p->verify, "wait", wait_names[r->opt->wait],
		"inline_bytes", (int)inline_bytes, "cq_mod", (int)r->opt->cq_mod, "warmup",
		(json_int_t)r->opt->warmup, "daemon_version", info->daemon_version, "path_mtu",
		(int)info->path_mtu);

	json_object_update(r->root, about);
	json_decref(about);
}

void
ndperf_report_begin(
	struct ndperf_report *r, const struct nd_adapter_info *info, uint32_t inline_bytes)
{
	if (r->json != NULL)
		report_describe(r, info, inline_bytes);
	if (r->table == NULL)
		return;
	if (r->opt->params.mode == NDPERF_LAT)
		fprintf(r->table,
			" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]"
			"    t_avg[usec]    t_stdev[usec]   99%% percentile[usec]"
			"   99.9%% percentile[usec]\n");
	else
		fprintf(r->table, " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]"
				  "   MsgRate[Mpps]\n");
	fflush(r->table);
}

json_t *
ndperf_row_json(enum ndperf_mode mode, const struct ndperf_row *row)
{
	if (mode == NDPERF_LAT)
		return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "bytes",
			(json_int_t)row->bytes, "iterations", (json_int_t)row->iterations,
			"t_min_us", row->lat.min, "t_max_us", row->lat.max, "t_typical_us",
			row->lat.typical, "t_avg_us", row->lat.average, "t_stdev_us",
			row->lat.stdev, "t_p99_us", row->lat.p99, "t_p999_us", row->lat.p999);
	return json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:f}", "bytes", (json_int_t)row->bytes,
		"iterations", (json_int_t)row->iterations, "seconds", row->rate.seconds,
		"bw_peak_mib_per_s", row->rate.peak / MIB, "bw_average_mib_per_s",
		row->rate.average / MIB, "gb_per_s", row->rate.average / 1e9, "messages_per_s",
		row->rate.messages);
}

void
ndperf_report_row(struct ndperf_report *r, const struct ndperf_row *row)
{
	const struct latency_summary *l = &row->lat;
	unsigned long long bytes = row->bytes, count = row->iterations;

	ndperf_report_clear(r);
	if (r->json != NULL)
		json_array_append_new(r->rows, ndperf_row_json(r->opt->params.mode, row));
	if (r->table == NULL)
		return;
	if (r->opt->params.mode == NDPERF_LAT)
		fprintf(r->table,
			" %-7llu %-10llu     %-7.2f        %-7.2f      %-7.2f"
			"          %-7.2f        %-7.2f         %-7.2f                %-7.2f\n",
			bytes, count, l->min, l->max, l->typical, l->average, l->stdev, l->p99,
			l->p999);
	else
		fprintf(r->table,
			" %-7llu    %-10llu     %-10.2f         %-10.2f           %-8.6f\n", bytes,
			count, row->rate.peak / MIB, row->rate.average / MIB,
			row->rate.messages / 1e6);
	fflush(r->table);
}

void
ndperf_report_progress(struct ndperf_report *r, uint64_t bytes, double done, uint64_t now_ns)
{
	if (!r->tty || now_ns - r->told_ns < PROGRESS_EVERY_NS)
		return;
	r->told_ns = now_ns;
	fprintf(stderr, "\r%s %s, %llu bytes: %3.0f %% ", op_names[r->opt->params.op],
		r->opt->params.mode == NDPERF_LAT ? "latency" : "bandwidth",
		(unsigned long long)bytes, 100.0 * (done < 1.0 ? done : 1.0));
}

void
ndperf_report_clear(struct ndperf_report *r)
{
	if (r->tty && r->told_ns != 0)
		fputs("\r\033[K", stderr);
	r->told_ns = 0;
}

bool
ndperf_report_close(struct ndperf_report *r, int exit_code)
{
	bool good = true;

	ndperf_report_clear(r);
	if (r->json == NULL) {
		json_decref(r->root);
		json_decref(r->rows);
		return true;
	}
	json_object_set_new(r->root, "exit_code", json_integer(exit_code));
	json_object_set_new(r->root, "results", r->rows);
	good = json_dumpf(r->root, r->json, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0 &&
	       fputc('\n', r->json) != EOF;
	good = (r->json == stdout ? fflush(stdout) : fclose(r->json)) == 0 && good;
	if (!good)
		app_complain("--json %s: can't be written", r->opt->json_path);
	json_decref(r->root);
	return good;
}
