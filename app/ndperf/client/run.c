/* SPDX-License-Identifier: BSD-3-Clause */
#include "run.h"

#include "bw.h"
#include "client.h"
#include "common/fail.h"
#include "lat.h"
#include "ndperf/server/server.h"
#include "setup.h"

/* One message size, from START to RESULT. */
static int
client_run_step(struct client *c, uint64_t size)
{
	bool lat = c->opt->params.mode == NDPERF_LAT;
	struct ndperf_row row = {.bytes = size};
	struct ndperf_msg msg = {.type = NDPERF_START,
		.size = size,
		.address = (uintptr_t)c->buf.mem,
		.token = nd_mr_remote_token(c->buf.mr)};
	int rc;

	c->step++;
	for (uint32_t i = 0; i < c->opt->params.qps; i++) {
		struct client_qp *q = &c->qps[i];

		q->posted = q->completed = q->limit = 0;
		q->slot = q->unsignaled = 0;
	}
	/* Latency of write waits for a last byte that counts from 1, so it must not begin with a
	 * value that looks like a count. */
	c->buf.mem[c->layout.echo + size - 1] = 0;
	rc = client_ask(c, &msg, NDPERF_READY);
	if (rc == APP_EXIT_OK)
		rc = lat ? client_latency(c, size, &row) : client_bandwidth(c, size, &row);
	if (rc != APP_EXIT_OK)
		return rc;
	msg = (struct ndperf_msg){.type = NDPERF_DONE, .size = size};
	for (uint32_t i = 0; i < c->opt->params.qps; i++)
		msg.count += c->qps[i].posted;
	rc = client_ask(c, &msg, NDPERF_RESULT);
	if (rc == APP_EXIT_OK)
		ndperf_report_row(c->report, &row);
	return rc;
}

static int
client_run_steps(struct client *c)
{
	int rc = APP_EXIT_OK;

	for (uint64_t size = c->opt->first_bytes; rc == APP_EXIT_OK && size <= c->opt->last_bytes;
		size *= 2)
		rc = client_run_step(c, size);
	return rc;
}

int
client_run(const struct ndperf_options *opt)
{
	struct ndperf_report report;
	struct client c = {.opt = opt, .report = &report};
	int rc;

	if (!ndperf_report_open(&report, opt))
		return APP_EXIT_LOCAL;
	if (opt->loopback)
		c.own_server = server_open(opt, &opt->addr);
	rc = opt->loopback && c.own_server == NULL ? APP_EXIT_LOCAL : client_connect(&c);
	if (rc == APP_EXIT_OK) {
		ndperf_report_begin(&report, &c.info, c.inline_bytes);
		rc = client_run_steps(&c);
	}
	ndperf_report_clear(&report);
	client_disconnect(&c);
	if (c.own_server != NULL)
		server_close(c.own_server);
	if (!ndperf_report_close(&report, rc) && rc == APP_EXIT_OK)
		rc = APP_EXIT_LOCAL;
	return rc;
}
