/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm.h"

#include "common/fail.h"
#include "common/wait.h"
#include "test.h"

#define COMPLETE_MS	 10000
#define DISCONNECT_MS	 3000
#define REFUSED_TRIES	 50
#define REFUSED_PAUSE_MS 100

static int
cm_connect_failed(struct perftest *p, struct conn *conn, nd_status st)
{
	uint32_t reason = nd_connector_reject_reason(conn->connector);
	char peer[APP_ADDR_TEXT];

	if (st == ND_CANCELED && app_stopping())
		return APP_EXIT_SIGNAL;
	app_addr_text(&p->opt->addr, true, peer);
	if (reason != 0)
		app_complain("connecting to %s: %s (%s, CM reason %u). perftest's server listens "
			     "there with -R alone",
			peer, app_reject_text(reason), nd_status_name(st), reason);
	else
		app_fail(st, "connecting to %s", peer);
	return APP_EXIT_CONNECT;
}

static nd_status
cm_connect_once(struct perftest *p, struct conn *conn)
{
	nd_status st = nd_connector_connect(conn->connector, conn->qp,
		(const struct sockaddr *)&p->opt->addr.ss, p->opt->addr.bytes,
		p->info.max_inbound_reads, p->info.max_outbound_reads, NULL, 0, &conn->ov);

	return st == ND_PENDING ? app_wait(&conn->ov, -1) : st;
}

int
perftest_cm_connect(struct perftest *p, struct conn *conn, bool patient)
{
	struct nd_overlapped never = {.status = ND_PENDING};
	nd_status st = nd_connector_create(p->adapter, &conn->connector);

	if (st == ND_SUCCESS && p->opt->has_bind)
		st = nd_connector_bind(
			conn->connector, (const struct sockaddr *)&p->local.ss, p->local.bytes);
	if (st == ND_SUCCESS)
		st = nd_connector_set_dscp(conn->connector, p->opt->dscp);
	if (st != ND_SUCCESS) {
		app_fail(st, "can't make a connector");
		return APP_EXIT_LOCAL;
	}
	/* perftest's server closes its listener after the first connection, by which the ends
	 * exchange values, and opens another for the test's connections. It does not tell when, so
	 * the client tries until the new listener is there. */
	for (int tries = patient ? REFUSED_TRIES : 1; tries > 0; tries--) {
		st = cm_connect_once(p, conn);
		if (st != ND_CONNECTION_REFUSED || tries == 1 ||
			app_wait(&never, REFUSED_PAUSE_MS) != ND_TIMEOUT)
			break;
	}
	if (st == ND_SUCCESS)
		st = nd_connector_complete_connect(conn->connector, &conn->ov);
	if (st == ND_PENDING)
		st = app_wait(&conn->ov, COMPLETE_MS);
	return st == ND_SUCCESS ? APP_EXIT_OK : cm_connect_failed(p, conn, st);
}

int
perftest_cm_accept(struct perftest *p, struct conn *conn)
{
	nd_status st = app_acceptor_next(&p->acceptor, -1, &conn->connector);

	if (st == ND_CANCELED)
		return APP_EXIT_SIGNAL;
	if (st != ND_SUCCESS)
		return APP_EXIT_LOCAL;
	st = nd_connector_accept(conn->connector, conn->qp, p->info.max_inbound_reads,
		p->info.max_outbound_reads, NULL, 0, &conn->ov);
	if (st == ND_PENDING)
		st = app_wait(&conn->ov, COMPLETE_MS);
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "accepting a connection");
	return APP_EXIT_CONNECT;
}

/* perftest's client disconnects and waits for the answer; its server waits to be disconnected. */
void
perftest_cm_disconnect(struct perftest *p, struct conn *conn)
{
	struct nd_overlapped gone = {0};

	if (conn->connector == NULL || nd_overlapped_status(&conn->ov) == ND_PENDING)
		return;
	if (p->opt->server && nd_connector_notify_disconnect(conn->connector, &gone) == ND_PENDING)
		app_wait(&gone, DISCONNECT_MS);
	if (nd_overlapped_status(&gone) == ND_PENDING)
		nd_connector_cancel(conn->connector);
	if (nd_connector_disconnect(conn->connector, &conn->ov) == ND_PENDING)
		nd_overlapped_wait(&conn->ov, DISCONNECT_MS);
}
