/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ndperf/report.h"

static const struct ndperf_row row = {.bytes = 65536,
	.iterations = 5000,
	.rate = {.seconds = 0.5, .peak = 2.0e9, .average = 1048576.0 * 1000, .messages = 16000.0},
	.lat = {.min = 1.5,
		.max = 9,
		.typical = 2,
		.average = 2.25,
		.stdev = 0.5,
		.p99 = 8,
		.p999 = 8.5}};

static double
number(const json_t *o, const char *key)
{
	cr_assert(json_is_number(json_object_get(o, key)), "%s", key);
	return json_number_value(json_object_get(o, key));
}

Test(ndperf_report, a_bandwidth_row)
{
	json_t *o = ndperf_row_json(NDPERF_BW, &row);

	cr_assert_not_null(o);
	cr_assert_eq(number(o, "bytes"), 65536);
	cr_assert_eq(number(o, "iterations"), 5000);
	cr_assert_eq(number(o, "bw_average_mib_per_s"), 1000);
	cr_assert_eq(number(o, "gb_per_s"), 1.048576);
	cr_assert_eq(number(o, "messages_per_s"), 16000);
	json_decref(o);
}

Test(ndperf_report, a_latency_row)
{
	json_t *o = ndperf_row_json(NDPERF_LAT, &row);

	cr_assert_not_null(o);
	cr_assert_eq(number(o, "t_min_us"), 1.5);
	cr_assert_eq(number(o, "t_typical_us"), 2);
	cr_assert_eq(number(o, "t_p999_us"), 8.5);
	json_decref(o);
}

/* Write a report of two rows (of one, if the run failed before) and read it back. */
static json_t *
written(bool begun, int exit_code)
{
	char path[] = "/tmp/ndperf-report-XXXXXX";
	int fd = mkstemp(path);
	struct ndperf_options opt = {.json_path = path,
		.iterations = 5000,
		.cq_mod = 16,
		.params = {.op = NDPERF_READ, .mode = NDPERF_BW, .qps = 2, .depth = 8}};
	const struct nd_adapter_info info = {.path_mtu = 1024, .daemon_version = "quote \" and \\"};
	struct ndperf_report r;
	json_error_t error;
	json_t *o;

	cr_assert_geq(fd, 0);
	app_addr_parse("192.0.2.1:18515", 0, &opt.addr);
	cr_assert(ndperf_report_open(&r, &opt));
	r.table = NULL;
	if (begun) {
		ndperf_report_begin(&r, &info, 64);
		ndperf_report_row(&r, &row);
		ndperf_report_row(&r, &row);
	}
	cr_assert(ndperf_report_close(&r, exit_code));
	o = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	cr_assert_not_null(o, "%s", error.text);
	close(fd);
	unlink(path);
	return o;
}

Test(ndperf_report, the_file_is_valid_json)
{
	json_t *o = written(true, 0);

	cr_assert_str_eq(json_string_value(json_object_get(o, "operation")), "read");
	cr_assert_str_eq(json_string_value(json_object_get(o, "peer")), "192.0.2.1:18515");
	cr_assert_str_eq(
		json_string_value(json_object_get(o, "daemon_version")), "quote \" and \\");
	cr_assert_eq(number(o, "path_mtu"), 1024);
	cr_assert_eq(json_array_size(json_object_get(o, "results")), 2);
	json_decref(o);
}

Test(ndperf_report, a_run_that_failed_early_is_valid_json_too)
{
	json_t *o = written(false, 3);

	cr_assert_eq(number(o, "exit_code"), 3);
	cr_assert_eq(json_array_size(json_object_get(o, "results")), 0);
	json_decref(o);
}

Test(ndperf_report, a_bad_path_is_said_at_once)
{
	struct ndperf_options opt = {.json_path = "/nonexistent/x.json"};
	struct ndperf_report r;

	cr_assert_not(ndperf_report_open(&r, &opt));
}
