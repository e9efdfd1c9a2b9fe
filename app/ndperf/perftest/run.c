/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order in which perftest's programs (version 4.5) exchange values. The order is their whole
 * protocol: a message does not say what it means; each end knows from the program that it runs
 * which message comes next.
 *
 * At most points the ends wait for each other by exchanging their first queue pairs once more. If
 * the peer sends another one than before, it has another number of queue pairs.
 */
#include "run.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "bw.h"
#include "comm.h"
#include "common/fail.h"
#include "lat.h"
#include "qps.h"
#include "step.h"
#include "test.h"

#define CYCLE	      4096u	 /* a page: perftest's default */
#define CYCLE_MAX     (1u << 30) /* the largest page size of any machine */
#define CACHE_LINE    64u
#define BYTES_PER_MIB 1048576.0

static bool
op_is_send(const struct perftest *p)
{
	return p->opt->params.op == NDPERF_SEND;
}

static bool
mode_is_lat(const struct perftest *p)
{
	return p->opt->params.mode == NDPERF_LAT;
}

/* ---- before the test ------------------------------------------------------------------- */

static int
exchange_versions(struct perftest *p)
{
	char ours[PERFTEST_VERSION_BYTES] = PERFTEST_VERSION;
	char theirs[PERFTEST_VERSION_BYTES + 1] = "";
	int rc = perftest_exchange(p, ours, theirs, sizeof(ours));

	if (rc != APP_EXIT_OK || strtod(theirs, NULL) >= PERFTEST_VERSION_MIN)
		return rc;
	app_complain("the peer calls itself version \"%s\": perftest from 4.5 on (%.2f) is needed",
		theirs, PERFTEST_VERSION_MIN);
	return APP_EXIT_CONNECT;
}

static int
exchange_page(struct perftest *p)
{
	uint32_t ours = htonl(CYCLE), theirs, line;
	int rc = perftest_exchange(p, &ours, &theirs, sizeof(ours));

	if (rc != APP_EXIT_OK)
		return rc;
	p->cycle = ntohl(theirs) > CYCLE ? ntohl(theirs) : CYCLE;
	if (p->cycle > CYCLE_MAX) {
		app_complain("the peer tells a page of %u bytes: is it perftest 4.5?", p->cycle);
		return APP_EXIT_CONNECT;
	}
	ours = htonl(CACHE_LINE);
	return perftest_exchange(p, &ours, &line, sizeof(ours));
}

static int
exchange_mtu(struct perftest *p)
{
	uint32_t most = p->info.path_mtu, want = p->opt->mtu, agreed;
	char ours[2] = "", theirs[2] = "";
	int rc;

	if (want > most) {
		app_complain("--mtu %u: the port has %u", want, most);
		return APP_EXIT_USAGE;
	}
	ours[0] = perftest_mtu_digit(want != 0 ? want : most);
	rc = perftest_exchange(p, ours, theirs, sizeof(ours));
	if (rc != APP_EXIT_OK)
		return rc;
	agreed = perftest_mtu_of_digit(theirs[0]);
	if (agreed == 0) {
		app_complain("the peer tells no path MTU: is it perftest 4.5?");
		return APP_EXIT_CONNECT;
	}
	p->path_mtu = perftest_mtu_of_digit(ours[0]);
	if (agreed < p->path_mtu)
		p->path_mtu = agreed;
	return APP_EXIT_OK;
}

static int
complain_of_other_number(void)
{
	app_complain("the peer has another number of queue pairs, or runs another test: -q, -t and "
		     "-m must fit what is there");
	return APP_EXIT_CONNECT;
}

/* Wait until both ends are at this point. */
static int
sync_ends(struct perftest *p)
{
	struct perftest_dest theirs;
	int rc = perftest_shake(p, &p->qps[0].ours, &theirs);

	if (rc == APP_EXIT_OK && theirs.number != p->qps[0].theirs.number)
		return complain_of_other_number();
	return rc;
}

/* Exchange all queue pairs. perftest does this twice; the second time (again), check that nothing
 * has changed. */
static int
exchange_qps(struct perftest *p, bool again)
{
	int rc = APP_EXIT_OK;

	for (uint32_t i = 0; rc == APP_EXIT_OK && i < p->opt->params.qps; i++) {
		uint32_t before = p->qps[i].theirs.number;

		rc = perftest_shake(p, &p->qps[i].ours, &p->qps[i].theirs);
		if (rc == APP_EXIT_OK &&
			((again && p->qps[i].theirs.number != before) ||
				(i > 0 && p->qps[i].theirs.number == p->qps[0].theirs.number)))
			rc = complain_of_other_number();
	}
	return rc;
}

/* With -R the test's queue pairs are connected between two exchanges of a queue pair of zeros. */
static int
connect_all(struct perftest *p)
{
	struct perftest_dest none = {0}, theirs;
	int rc = perftest_shake(p, &none, &theirs);

	if (rc == APP_EXIT_OK)
		rc = perftest_qps_connect(p);
	return rc == APP_EXIT_OK ? perftest_shake(p, &none, &theirs) : rc;
}

static int
exchange_before_test(struct perftest *p)
{
	int rc = exchange_versions(p);

	if (rc == APP_EXIT_OK)
		rc = exchange_page(p);
	if (rc == APP_EXIT_OK)
		rc = exchange_mtu(p);
	if (rc == APP_EXIT_OK)
		rc = perftest_qps_create(p);
	if (rc == APP_EXIT_OK && p->opt->cm)
		rc = connect_all(p);
	if (rc == APP_EXIT_OK && mode_is_lat(p) && !op_is_send(p))
		rc = perftest_shake(p, &p->qps[0].ours, &p->qps[0].theirs);
	if (rc == APP_EXIT_OK)
		rc = exchange_qps(p, false);
	if (rc == APP_EXIT_OK && !p->opt->cm)
		rc = perftest_qps_bring_up(p);
	if (rc == APP_EXIT_OK && op_is_send(p))
		rc = sync_ends(p);
	if (rc == APP_EXIT_OK)
		rc = exchange_qps(p, true);
	return rc == APP_EXIT_OK && !op_is_send(p) ? sync_ends(p) : rc;
}

/* ---- figures --------------------------------------------------------------------------- */

static void
row_to_figures(const struct ndperf_row *row, struct perftest_bw *b)
{
	*b = (struct perftest_bw){.bytes = row->bytes,
		.iterations = row->iterations,
		.peak = row->rate.peak / BYTES_PER_MIB,
		.average = row->rate.average / BYTES_PER_MIB,
		.rate = row->rate.messages / 1e6};
}

static void
row_of_figures(const struct perftest_bw *b, struct ndperf_row *row)
{
	*row = (struct ndperf_row){.bytes = b->bytes,
		.iterations = b->iterations,
		.rate = {.peak = b->peak * BYTES_PER_MIB,
			.average = b->average * BYTES_PER_MIB,
			.messages = b->rate * 1e6}};
	if (b->rate > 0)
		row->rate.seconds = (double)b->iterations / (b->rate * 1e6);
}

static int
exchange_figures(struct perftest *p, const struct ndperf_row *ours, struct ndperf_row *theirs)
{
	uint64_t words[PERFTEST_REPORT_WORDS], their_words[PERFTEST_REPORT_WORDS];
	struct perftest_bw b;
	int rc = APP_EXIT_OK;

	row_to_figures(ours, &b);
	perftest_bw_to_words(&b, words);
	for (uint32_t i = 0; rc == APP_EXIT_OK && i < PERFTEST_REPORT_WORDS; i++)
		rc = perftest_exchange(p, &words[i], &their_words[i], sizeof(words[i]));
	if (rc == APP_EXIT_OK) {
		perftest_bw_of_words(their_words, &b);
		row_of_figures(&b, theirs);
	}
	return rc;
}

/* Both ways (-b): as perftest does, report the sum of both ends. */
static void
add_theirs(struct ndperf_row *row, const struct ndperf_row *theirs)
{
	row->rate.peak += theirs->rate.peak;
	row->rate.average += theirs->rate.average;
	row->rate.messages += theirs->rate.messages;
}

/* ---- the test -------------------------------------------------------------------------- */

static int
run_latencies(struct perftest *p)
{
	int rc = APP_EXIT_OK;

	for (uint64_t bytes = p->opt->first_bytes; rc == APP_EXIT_OK && bytes <= p->opt->last_bytes;
		bytes *= 2) {
		struct ndperf_row row = {0};

		rc = perftest_step(p, bytes);
		if (rc == APP_EXIT_OK && op_is_send(p))
			rc = sync_ends(p);
		if (rc == APP_EXIT_OK)
			rc = perftest_latency(p, bytes, &row);
		if (rc == APP_EXIT_OK)
			ndperf_report_row(&p->report, &row);
	}
	return rc;
}

/* One message size. */
static int
run_bandwidth(struct perftest *p, uint64_t bytes, struct ndperf_row *row)
{
	bool both = p->opt->both_ways, all = p->opt->first_bytes != p->opt->last_bytes;
	bool figures = both && !(op_is_send(p) && p->opt->iterations == 0);
	struct ndperf_row theirs;
	int rc = perftest_step(p, bytes);

	if (rc == APP_EXIT_OK && (op_is_send(p) || both))
		rc = sync_ends(p);
	if (rc == APP_EXIT_OK)
		rc = perftest_bandwidth(p, bytes, row);
	if (rc == APP_EXIT_OK && both && all && !op_is_send(p))
		rc = sync_ends(p);
	if (rc == APP_EXIT_OK && figures)
		rc = exchange_figures(p, row, &theirs);
	if (rc != APP_EXIT_OK)
		return rc;
	if (figures)
		add_theirs(row, &theirs);
	ndperf_report_row(&p->report, row);
	return all && op_is_send(p) ? sync_ends(p) : rc;
}

/* All message sizes. For writes, reads and atomics without -b the server only waits for the client,
 * and prints the client's figures of the last size. */
static int
run_bandwidths(struct perftest *p)
{
	bool alone = !op_is_send(p) && !p->opt->both_ways;
	struct ndperf_row row = {0}, theirs;
	int rc = APP_EXIT_OK;

	for (uint64_t bytes = p->opt->first_bytes;
		rc == APP_EXIT_OK && bytes <= p->opt->last_bytes && !(alone && p->opt->server);
		bytes *= 2)
		rc = run_bandwidth(p, bytes, &row);
	if (rc != APP_EXIT_OK || !alone)
		return rc;
	rc = sync_ends(p);
	if (rc == APP_EXIT_OK)
		rc = exchange_figures(p, &row, &theirs);
	if (rc == APP_EXIT_OK && p->opt->server)
		ndperf_report_row(&p->report, &theirs);
	return rc;
}

/* The server of ib_read_lat and ib_atomic_lat does nothing but wait for the end. ib_write_lat ends
 * without a last message. */
static int
run_test(struct perftest *p)
{
	bool passive = mode_is_lat(p) && p->opt->server &&
		       (p->opt->params.op == NDPERF_READ || p->opt->params.op == NDPERF_ATOMIC);
	int rc = APP_EXIT_OK;

	if (!passive)
		rc = mode_is_lat(p) ? run_latencies(p) : run_bandwidths(p);
	if (rc != APP_EXIT_OK || (mode_is_lat(p) && p->opt->params.op == NDPERF_WRITE))
		return rc;
	rc = sync_ends(p);
	if (rc == APP_EXIT_OK)
		perftest_comm_done(p);
	return rc;
}

int
perftest_run(const struct ndperf_options *opt)
{
	struct perftest p = {.opt = opt, .comm = {.fd = -1}};
	int rc;

	if (!ndperf_report_open(&p.report, opt))
		return APP_EXIT_USAGE;
	rc = perftest_open(&p);
	if (rc == APP_EXIT_OK)
		rc = perftest_comm_open(&p);
	if (rc == APP_EXIT_OK)
		rc = exchange_before_test(&p);
	if (rc == APP_EXIT_OK) {
		ndperf_report_begin(&p.report, &p.info, p.inline_bytes);
		rc = run_test(&p);
	}
	perftest_qps_close(&p);
	perftest_comm_close(&p);
	perftest_close(&p);
	return ndperf_report_close(&p.report, rc) || rc != APP_EXIT_OK ? rc : APP_EXIT_LOCAL;
}
