/* SPDX-License-Identifier: BSD-3-Clause */
#include "roles.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/fail.h"
#include "common/local.h"
#include "common/wait.h"
#include "link.h"

#define DISCONNECT_WAIT_MS 5000

struct tally {
	uint32_t pings;
	uint64_t min_ns, max_ns, sum_ns;
};

static int
ping_exit_code(enum ping_outcome out)
{
	return out == PING_STOPPED ? APP_EXIT_SIGNAL : APP_EXIT_TRANSFER;
}

/* Tell the server about a buffer and wait for its go-ahead. */
static enum ping_outcome
client_advertise(struct ping_link *l, const char *buf, struct nd_mr *mr)
{
	struct ping_info go_ahead;
	enum ping_outcome out = ping_link_send(l, buf, nd_mr_remote_token(mr), l->opt->bytes);

	if (out == PING_OK)
		out = ping_link_receive(l, &go_ahead, l->opt->timeout_ms);
	if (out == PING_GONE)
		app_complain("%s: the peer ended the connection", l->name);
	return out;
}

/* Do ping number n and count it in t. Returns an exit code. */
static int
client_ping(struct ping_link *l, uint32_t n, struct tally *t)
{
	size_t bytes = l->opt->bytes, at;
	uint64_t start, took;
	enum ping_outcome out;

	ping_fill(l->source, bytes, n);
	/* What the previous ping left in the sink must not pass for this one's contents. */
	memset(l->sink, 0xff, bytes);
	start = app_now_ns();
	out = client_advertise(l, l->source, l->source_mr);
	if (out == PING_OK)
		out = client_advertise(l, l->sink, l->sink_mr);
	if (out != PING_OK)
		return ping_exit_code(out);
	took = app_now_ns() - start;

	at = ping_differ(l->source, l->sink, bytes);
	if (at < bytes) {
		app_complain(
			"%s: ping %u: contents differ at byte %zu of %zu: sent 0x%02x, got 0x%02x",
			l->name, n, at, bytes, (unsigned char)l->source[at],
			(unsigned char)l->sink[at]);
		return APP_EXIT_VERIFY;
	}
	if (l->opt->print)
		printf("ping data: %s\n", l->sink);
	t->pings++;
	t->sum_ns += took;
	t->min_ns = took < t->min_ns ? took : t->min_ns;
	t->max_ns = took > t->max_ns ? took : t->max_ns;
	return APP_EXIT_OK;
}

static int
client_ping_all(struct ping_link *l)
{
	struct tally t = {.min_ns = UINT64_MAX};
	int rc = APP_EXIT_OK;

	for (uint32_t n = 0; rc == APP_EXIT_OK && (l->opt->count == 0 || n < l->opt->count); n++)
		rc = client_ping(l, n & INT32_MAX, &t);
	/* Without a count, a signal is the normal end. */
	if (rc == APP_EXIT_SIGNAL && l->opt->count == 0)
		rc = APP_EXIT_OK;
	if (t.pings > 0)
		printf("%s: %u pings of %u bytes right; round trip min/avg/max %.1f/%.1f/%.1f us\n",
			l->name, t.pings, l->opt->bytes, (double)t.min_ns / 1e3,
			(double)t.sum_ns / 1e3 / t.pings, (double)t.max_ns / 1e3);
	fflush(stdout);
	return rc;
}

static int
client_connect_failed(struct ping_link *l, nd_status st)
{
	uint32_t reason = nd_connector_reject_reason(l->connector);

	if (st == ND_CANCELED && app_stopping())
		return APP_EXIT_SIGNAL;
	if (reason != 0)
		app_complain("connecting to %s: %s (%s, CM reason %u)", l->name,
			app_reject_text(reason), nd_status_name(st), reason);
	else
		app_fail(st, "connecting to %s", l->name);
	return APP_EXIT_CONNECT;
}

/* The server reads from the client, one READ at a time: one inbound READ is enough. */
static int
client_connect(struct ping_link *l, const struct app_addr *local)
{
	nd_status st = ND_SUCCESS;

	if (l->opt->has_source)
		st = nd_connector_bind(
			l->connector, (const struct sockaddr *)&local->ss, local->bytes);
	if (st == ND_SUCCESS)
		st = nd_connector_set_dscp(l->connector, l->opt->dscp);
	if (st == ND_SUCCESS)
		st = nd_connector_connect(l->connector, l->qp, (const struct sockaddr *)&l->peer.ss,
			l->peer.bytes, 1, 1, NULL, 0, &l->ov);
	if (st == ND_PENDING)
		st = app_wait(&l->ov, -1);
	if (st == ND_SUCCESS) {
		ping_link_debug(l, "accepted");
		st = nd_connector_complete_connect(l->connector, &l->ov);
		if (st == ND_PENDING)
			st = app_wait(&l->ov, l->opt->timeout_ms);
	}
	return st == ND_SUCCESS ? APP_EXIT_OK : client_connect_failed(l, st);
}

static int
client_run(struct ping_link *l, const struct app_addr *local)
{
	int rc = client_connect(l, local);

	if (rc != APP_EXIT_OK)
		return rc;
	ping_link_watch(l);
	rc = client_ping_all(l);
	if (nd_connector_disconnect(l->connector, &l->ov) == ND_PENDING)
		nd_overlapped_wait(&l->ov, DISCONNECT_WAIT_MS);
	return rc;
}

int
ping_client(const struct ping_options *opt)
{
	struct nd_adapter *adapter;
	struct nd_connector *connector;
	struct app_addr local;
	struct ping_link link;
	int rc = APP_EXIT_LOCAL;
	nd_status st = app_open_for_remote(opt->socket_path, opt->has_source ? &opt->source : NULL,
		&opt->addr, &adapter, &local);

	if (st != ND_SUCCESS)
		return st == ND_NETWORK_UNREACHABLE ? APP_EXIT_CONNECT : APP_EXIT_LOCAL;
	st = nd_connector_create(adapter, &connector);
	if (st == ND_SUCCESS) {
		st = ping_link_create(&link, adapter, connector, opt);
		link.peer = opt->addr;
		app_addr_text(&link.peer, true, link.name);
		if (st == ND_SUCCESS)
			rc = client_run(&link, &local);
		ping_link_destroy(&link);
	}
	if (st != ND_SUCCESS)
		app_fail(st, "can't make the connection's objects");
	nd_adapter_close(adapter);
	return rc;
}
