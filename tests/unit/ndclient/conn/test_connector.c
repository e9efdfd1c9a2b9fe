/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connectors and listeners: the rows of the state table that need no daemon, and what events do.
 * Events are given to nd_conn_event() as the control thread does.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/connector_event.h"
#include "ndclient/conn/listener.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"

static const struct sockaddr_in somewhere = {
	.sin_family = AF_INET, .sin_port = 0x1111, .sin_addr.s_addr = 0x0100000a};

static struct nd_adapter *
make_adapter(void)
{
	struct nd_adapter *a = aligned_alloc(64, sizeof(*a));

	memset(a, 0, sizeof(*a));
	pthread_mutex_init(&a->lock, NULL);
	a->info.max_inbound_reads = a->info.max_outbound_reads = 16;
	a->info.max_callee_data = 148;
	TAILQ_INIT(&a->connectors);
	TAILQ_INIT(&a->listeners);
	TAILQ_INIT(&a->closed_qps); /* those of the test */
	for (uint32_t i = 0; i < ND_CONN_BUCKETS; i++)
		LIST_INIT(&a->conns[i]);
	return a;
}

static struct nd_connector *
make_connector(struct nd_adapter *a, enum nd_conn_state state)
{
	struct nd_connector *c;

	cr_assert(eq(i32, nd_connector_create(a, &c), ND_SUCCESS));
	c->state = state;
	return c;
}

static struct nd_qp *
make_qp(struct nd_adapter *a)
{
	struct nd_qp *qp = aligned_alloc(64, sizeof(*qp));

	memset(qp, 0, sizeof(*qp));
	qp->adapter = a;
	TAILQ_INSERT_TAIL(&a->closed_qps, qp, closed_link);
	return qp;
}

static void
drop(struct nd_adapter *a)
{
	struct nd_connector *c;
	struct nd_listener *l;
	struct nd_qp *qp;

	while ((c = TAILQ_FIRST(&a->connectors)) != NULL) {
		TAILQ_REMOVE(&a->connectors, c, link);
		free(c);
	}
	while ((l = TAILQ_FIRST(&a->listeners)) != NULL) {
		(void)nd_listener_class.stop(&l->obj);
		nd_listener_class.destroy(&l->obj);
	}
	while ((qp = TAILQ_FIRST(&a->closed_qps)) != NULL) {
		TAILQ_REMOVE(&a->closed_qps, qp, closed_link);
		free(qp);
	}
	free(a);
}

/* The table of 4.13; P: the call would go on to the daemon, not asked for here. */
#define P 1
static const struct {
	enum nd_conn_state state;
	nd_status bind, connect, complete, accept, reject, notify, disconnect;
} table[] = {
	{ND_CONN_IDLE, P, P, ND_CONNECTION_INVALID, ND_CONNECTION_ACTIVE, ND_CONNECTION_INVALID,
		ND_CONNECTION_INVALID, ND_CONNECTION_INVALID},
	{ND_CONN_BOUND, ND_ADDRESS_ALREADY_ASSOCIATED, P, ND_CONNECTION_INVALID,
		ND_CONNECTION_ACTIVE, ND_CONNECTION_INVALID, ND_CONNECTION_INVALID,
		ND_CONNECTION_INVALID},
	{ND_CONN_CONNECTING, ND_ADDRESS_ALREADY_ASSOCIATED, ND_CONNECTION_ACTIVE,
		ND_CONNECTION_INVALID, ND_CONNECTION_ACTIVE, ND_CONNECTION_INVALID,
		ND_CONNECTION_INVALID, ND_CONNECTION_INVALID},
	{ND_CONN_REP_RECEIVED, ND_ADDRESS_ALREADY_ASSOCIATED, ND_CONNECTION_ACTIVE, P,
		ND_CONNECTION_ACTIVE, P, ND_CONNECTION_INVALID, ND_CONNECTION_INVALID},
	{ND_CONN_QUEUED, ND_ADDRESS_ALREADY_ASSOCIATED, ND_INVALID_DEVICE_STATE,
		ND_CONNECTION_INVALID, ND_CONNECTION_ACTIVE, ND_CONNECTION_INVALID,
		ND_CONNECTION_INVALID, ND_CONNECTION_INVALID},
	{ND_CONN_REQ_RECEIVED, ND_ADDRESS_ALREADY_ASSOCIATED, ND_CONNECTION_ACTIVE,
		ND_CONNECTION_INVALID, P, P, ND_CONNECTION_INVALID, ND_CONNECTION_INVALID},
	{ND_CONN_REP_SENT, ND_ADDRESS_ALREADY_ASSOCIATED, ND_CONNECTION_ACTIVE,
		ND_CONNECTION_INVALID, ND_CONNECTION_ACTIVE, ND_CONNECTION_INVALID,
		ND_CONNECTION_INVALID, ND_CONNECTION_INVALID},
	{ND_CONN_CONNECTED, ND_ADDRESS_ALREADY_ASSOCIATED, ND_CONNECTION_ACTIVE,
		ND_CONNECTION_INVALID, ND_CONNECTION_ACTIVE, ND_CONNECTION_INVALID, ND_PENDING, P},
	{ND_CONN_PASSIVE_DISC, ND_ADDRESS_ALREADY_ASSOCIATED, ND_CONNECTION_ACTIVE,
		ND_CONNECTION_INVALID, ND_CONNECTION_ACTIVE, ND_CONNECTION_INVALID, ND_SUCCESS, P},
	{ND_CONN_ACTIVE_DISC, ND_ADDRESS_ALREADY_ASSOCIATED, ND_CONNECTION_ACTIVE,
		ND_CONNECTION_INVALID, ND_CONNECTION_ACTIVE, ND_CONNECTION_INVALID,
		ND_CONNECTION_DISCONNECTED, ND_INVALID_DEVICE_STATE},
	{ND_CONN_DISCONNECTED, ND_ADDRESS_ALREADY_ASSOCIATED, ND_INVALID_DEVICE_STATE,
		ND_CONNECTION_ABORTED, ND_CONNECTION_ABORTED, ND_CONNECTION_ABORTED,
		ND_CONNECTION_DISCONNECTED, ND_CONNECTION_INVALID},
};

/* The outcome, whether it came inline or in ov. */
static nd_status
outcome(nd_status st, const struct nd_overlapped *ov)
{
	return st == ND_PENDING ? nd_overlapped_status(ov) : st;
}

/* checks R-DISC-07, R-DISC-14 */
Test(ndclient_conn, R_CONN_wrong_calls_are_refused_by_state)
{
	struct nd_adapter *a = make_adapter();
	struct nd_qp *qp = make_qp(a);
	const struct sockaddr *to = (const void *)&somewhere;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct nd_connector *c = make_connector(a, table[i].state);
		struct nd_overlapped ov = {0}, end = {0};

		if (table[i].notify != P)
			cr_expect(eq(i32, outcome(nd_connector_notify_disconnect(c, &end), &end),
					  table[i].notify),
				"notify, row %zu", i);
		if (table[i].connect != P)
			cr_expect(eq(i32,
					  nd_connector_connect(
						  c, qp, to, sizeof(somewhere), 0, 0, NULL, 0, &ov),
					  table[i].connect),
				"connect, row %zu", i);
		if (table[i].complete != P)
			cr_expect(eq(i32, nd_connector_complete_connect(c, &ov), table[i].complete),
				"complete, row %zu", i);
		if (table[i].accept != P)
			cr_expect(eq(i32, nd_connector_accept(c, qp, 0, 0, NULL, 0, &ov),
					  table[i].accept),
				"accept, row %zu", i);
		if (table[i].reject != P)
			cr_expect(eq(i32, nd_connector_reject(c, NULL, 0), table[i].reject),
				"reject, row %zu", i);
		if (table[i].disconnect != P)
			cr_expect(eq(i32, nd_connector_disconnect(c, &ov), table[i].disconnect),
				"disconnect, row %zu", i);
		cr_expect(eq(i32, nd_connector_set_dscp(c, 63),
				  table[i].state <= ND_CONN_BOUND ? ND_SUCCESS
								  : ND_CONNECTION_ACTIVE),
			"DSCP, row %zu", i);
		cr_expect(eq(i32, nd_connector_set_dscp(c, 64), ND_INVALID_PARAMETER));
		if (table[i].bind != P)
			cr_expect(
				eq(i32, nd_connector_bind(c, to, sizeof(somewhere)), table[i].bind),
				"bind, row %zu", i);
		cr_expect(eq(int, c->state, table[i].state), "row %zu: nothing changed", i);
		cr_expect(eq(ptr, qp->connector, NULL));
	}
	drop(a);
}

Test(ndclient_conn, R_CONN_07_private_data_over_the_limit_is_refused_and_changes_nothing)
{
	struct nd_adapter *a = make_adapter();
	struct nd_qp *qp = make_qp(a);
	struct nd_connector *c = make_connector(a, ND_CONN_IDLE);
	struct nd_overlapped ov = {0};
	const struct sockaddr *to = (const void *)&somewhere;
	uint8_t data[200] = {0};

	cr_expect(eq(i32, nd_connector_connect(c, qp, to, sizeof(somewhere), 0, 0, data, 57, &ov),
		ND_INVALID_BUFFER_SIZE));
	cr_expect(eq(int, c->state, ND_CONN_IDLE));
	c->state = ND_CONN_REQ_RECEIVED;
	cr_expect(
		eq(i32, nd_connector_accept(c, qp, 0, 0, data, 149, &ov), ND_INVALID_BUFFER_SIZE));
	cr_expect(eq(i32, nd_connector_reject(c, data, 149), ND_INVALID_BUFFER_SIZE));
	cr_expect(eq(i32, nd_connector_reject(c, NULL, 1), ND_ACCESS_VIOLATION));
	cr_expect(eq(int, c->state, ND_CONN_REQ_RECEIVED));
	drop(a);
}

Test(ndclient_conn, R_CONN_05_the_wildcard_is_no_destination)
{
	struct nd_adapter *a = make_adapter();
	struct sockaddr_in any = {.sin_family = AF_INET};
	struct nd_overlapped ov = {0};

	cr_expect(eq(i32,
		nd_connector_connect(make_connector(a, ND_CONN_IDLE), make_qp(a),
			(const void *)&any, sizeof(any), 0, 0, NULL, 0, &ov),
		ND_BAD_NETWORK_NAME));
	drop(a);
}

static struct ndsh_ev_conn
event(uint16_t type, nd_status st, uint32_t id)
{
	return (struct ndsh_ev_conn){.h = {.type = type, .status = st},
		.conn = id,
		.priv_bytes = 196,
		.inbound_reads = 3,
		.outbound_reads = 4,
		.reject_reason = st == ND_CONNECTION_REFUSED ? 28 : 0,
		.priv = "hello"};
}

/* A connector whose Connect or Accept is under way. */
static struct nd_connector *
under_way(struct nd_adapter *a, struct nd_qp *qp, enum nd_conn_state state, uint32_t id,
	struct nd_overlapped *ov)
{
	struct nd_connector *c = make_connector(a, state);

	nd_conn_set_id(c, id);
	cr_assert(eq(i32, nd_overlapped_begin(a, ov, __func__), ND_SUCCESS));
	c->op = ov;
	c->qp = qp;
	qp->connector = c;
	return c;
}

/* The active side gave up before it completed: each profile has its word for it. */
Test(ndclient_conn, both_profiles_of_accept)
{
	static const nd_status wanted[] = {
		[ND_PROFILE_TEST] = ND_CONNECTION_REFUSED,
		[ND_PROFILE_DOC] = ND_CONNECTION_ABORTED,
	};

	for (uint32_t profile = 0; profile < 2; profile++) {
		struct nd_adapter *a = make_adapter();
		struct nd_overlapped ov = {0};
		struct ndsh_ev_conn ev =
			event(NDSH_EV_CONN_ESTABLISHED, ND_CONNECTION_REFUSED, 300);

		a->profile = profile;
		(void)under_way(a, make_qp(a), ND_CONN_REP_SENT, 300, &ov);
		nd_conn_event(a, &ev);
		cr_expect(eq(i32, nd_overlapped_status(&ov), wanted[profile]));
		drop(a);
	}
}

/* checks R-CONN-08, R-CONN-11 */
Test(ndclient_conn, R_CONN_01_a_reply_completes_connect_and_tells_the_peers_values)
{
	struct nd_adapter *a = make_adapter();
	struct nd_qp *qp = make_qp(a);
	struct nd_overlapped ov = {0};
	struct nd_connector *c = under_way(a, qp, ND_CONN_CONNECTING, 300, &ov);
	struct ndsh_ev_conn other = event(NDSH_EV_CONN_REPLY, ND_SUCCESS, 300 + ND_CONN_BUCKETS);
	struct ndsh_ev_conn ev = event(NDSH_EV_CONN_REPLY, ND_SUCCESS, 300);
	uint32_t in, out, bytes = 3;
	char priv[8] = "";

	cr_expect(eq(i32, nd_connector_read_limits(c, &in, &out), ND_CONNECTION_INVALID));
	nd_conn_event(a, &other);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_PENDING), "another connection's");
	nd_conn_event(a, &ev);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS));
	cr_expect(eq(int, c->state, ND_CONN_REP_RECEIVED));
	cr_expect(eq(u32, qp->state, ND_QP_UNCONNECTED), "not before it is completed");
	cr_expect(eq(i32, nd_connector_read_limits(c, &in, &out), ND_SUCCESS));
	cr_expect(eq(u32, in, 3));
	cr_expect(eq(u32, out, 4));
	/* R-CONN-08 */
	cr_expect(eq(i32, nd_connector_private_data(c, priv, &bytes), ND_BUFFER_OVERFLOW));
	cr_expect(eq(u32, bytes, 196));
	cr_expect(eq(str, priv, "hel"));
	drop(a);
}

Test(ndclient_conn, R_CONN_03_a_failed_connect_gives_the_queue_pair_back)
{
	const nd_status retry[] = {ND_CONNECTION_REFUSED, ND_NETWORK_UNREACHABLE,
		ND_HOST_UNREACHABLE, ND_IO_TIMEOUT, ND_INSUFFICIENT_RESOURCES};

	for (uint32_t i = 0; i < 5; i++) {
		struct nd_adapter *a = make_adapter();
		struct nd_qp *qp = make_qp(a);
		struct nd_overlapped ov = {0};
		struct nd_connector *c = under_way(a, qp, ND_CONN_CONNECTING, i, &ov);
		struct ndsh_ev_conn ev = event(NDSH_EV_CONN_REPLY, retry[i], i);

		nd_conn_event(a, &ev);
		cr_expect(eq(i32, nd_overlapped_status(&ov), retry[i]));
		cr_expect(eq(ptr, qp->connector, NULL));
		cr_expect(eq(u32, qp->state, ND_QP_UNCONNECTED));
		cr_expect(eq(int, c->state, i < 4 ? ND_CONN_IDLE : ND_CONN_DISCONNECTED));
		cr_expect(eq(u32, nd_connector_reject_reason(c), i == 0 ? 28 : 0));
		drop(a);
	}
}

Test(ndclient_conn, accept_completes_and_sends_become_legal)
{
	struct nd_adapter *a = make_adapter();
	struct nd_qp *qp = make_qp(a);
	struct nd_overlapped ov = {0};
	struct nd_connector *c = under_way(a, qp, ND_CONN_REP_SENT, 7, &ov);
	struct ndsh_ev_conn ev = event(NDSH_EV_CONN_ESTABLISHED, ND_SUCCESS, 7);

	nd_conn_event(a, &ev);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS));
	cr_expect(eq(int, c->state, ND_CONN_CONNECTED));
	cr_expect(eq(u32, qp->state, ND_QP_CONNECTED));
	drop(a);
}

Test(ndclient_conn, R_DISC_05_the_peers_disconnect_is_told_once_to_all_who_asked)
{
	struct nd_adapter *a = make_adapter();
	struct nd_qp *qp = make_qp(a);
	struct nd_overlapped ov = {0}, o1 = {0}, o2 = {0};
	struct nd_connector *c = under_way(a, qp, ND_CONN_CONNECTED, 7, &ov);
	struct ndsh_ev_conn ev = event(NDSH_EV_CONN_DISCONNECTED, ND_CONNECTION_ABORTED, 7);

	c->op = NULL;
	cr_expect(eq(i32, nd_connector_notify_disconnect(c, &o1), ND_PENDING));
	cr_expect(eq(i32, nd_connector_notify_disconnect(c, &o2), ND_PENDING));
	nd_conn_event(a, &ev);
	cr_expect(eq(i32, nd_overlapped_status(&o1), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&o2), ND_SUCCESS));
	cr_expect(eq(int, c->state, ND_CONN_PASSIVE_DISC));
	nd_conn_event(a, &ev);
	cr_expect(eq(int, c->state, ND_CONN_PASSIVE_DISC));
	drop(a);
}

Test(ndclient_conn, R_DISC_04_our_disconnect_ends_as_the_daemon_says)
{
	const nd_status told[] = {ND_SUCCESS, ND_TIMEOUT, ND_CONNECTION_ABORTED};
	const nd_status wanted[] = {ND_SUCCESS, ND_TIMEOUT, ND_SUCCESS};

	for (uint32_t i = 0; i < 3; i++) {
		struct nd_adapter *a = make_adapter();
		struct nd_overlapped ov = {0};
		struct nd_connector *c = under_way(a, make_qp(a), ND_CONN_ACTIVE_DISC, i, &ov);
		struct ndsh_ev_conn ev = event(NDSH_EV_CONN_DISCONNECTED, told[i], i);

		nd_conn_event(a, &ev);
		cr_expect(eq(i32, nd_overlapped_status(&ov), wanted[i]));
		cr_expect(eq(int, c->state, ND_CONN_DISCONNECTED));
		drop(a);
	}
}

/* ---- listeners ----------------------------------------------------------------------- */

static struct nd_listener *
make_listener(struct nd_adapter *a, uint32_t id)
{
	struct nd_listener *l;

	cr_assert(eq(i32, nd_listener_create(a, &l), ND_SUCCESS));
	l->at.on = true;
	l->at.id = id;
	return l;
}

static void
request(struct nd_adapter *a, uint32_t listener, uint32_t conn)
{
	struct ndsh_ev_conn ev = event(NDSH_EV_CONN_REQUEST, ND_SUCCESS, conn);

	ev.listener = listener;
	nd_listener_request(a, &ev);
}

Test(ndclient_listener, R_LSN_04_requests_and_connectors_meet_in_order)
{
	struct nd_adapter *a = make_adapter();
	struct nd_listener *l = make_listener(a, 1), *m = make_listener(a, 2);
	struct nd_connector *c[4];
	struct nd_overlapped ov[5] = {0};

	for (int i = 0; i < 4; i++)
		c[i] = make_connector(a, ND_CONN_IDLE);
	request(a, 1, 10);
	request(a, 1, 11);
	for (int i = 0; i < 4; i++)
		cr_assert(
			eq(i32, nd_listener_get_request(i < 3 ? l : m, c[i], &ov[i]), ND_PENDING));
	cr_expect(eq(u32, c[0]->id, 10));
	cr_expect(eq(u32, c[1]->id, 11));
	cr_expect(eq(i32, nd_overlapped_status(&ov[1]), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&ov[2]), ND_PENDING));
	cr_expect(eq(i32, nd_listener_get_request(l, c[2], &ov[4]), ND_CONNECTION_ACTIVE));
	request(a, 1, 12);
	cr_expect(eq(i32, nd_overlapped_status(&ov[2]), ND_SUCCESS));
	cr_expect(eq(u32, c[2]->id, 12));
	cr_expect(eq(i32, nd_overlapped_status(&ov[3]), ND_PENDING), "the other listener's");
	request(a, 2, 13);
	cr_expect(eq(int, c[3]->state, ND_CONN_REQ_RECEIVED));
	drop(a);
}

Test(ndclient_listener, R_CONN_20_cancel_makes_connectors_idle_again)
{
	struct nd_adapter *a = make_adapter();
	struct nd_listener *l = make_listener(a, 1);
	struct nd_connector *c = make_connector(a, ND_CONN_IDLE),
			    *d = make_connector(a, ND_CONN_IDLE);
	struct nd_overlapped o1 = {0}, o2 = {0};

	cr_assert(eq(i32, nd_listener_get_request(l, c, &o1), ND_PENDING));
	cr_assert(eq(i32, nd_listener_get_request(l, d, &o2), ND_PENDING));
	cr_expect(eq(i32, nd_connector_cancel(c), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&o1), ND_CANCELED));
	cr_expect(eq(i32, nd_overlapped_status(&o2), ND_PENDING));
	cr_expect(eq(int, c->state, ND_CONN_IDLE));
	cr_assert(eq(i32, nd_listener_get_request(l, c, &o1), ND_PENDING));
	cr_expect(eq(i32, nd_listener_cancel(l), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&o1), ND_CANCELED));
	cr_expect(eq(i32, nd_overlapped_status(&o2), ND_CANCELED));
	cr_expect(eq(int, d->state, ND_CONN_IDLE));
	drop(a);
}

Test(ndclient_listener, R_LSN_01_not_listening)
{
	struct nd_adapter *a = make_adapter();
	struct nd_listener *l = make_listener(a, 1);
	struct nd_overlapped ov = {0};
	struct sockaddr_storage ss;
	socklen_t n = sizeof(ss);

	cr_expect(eq(i32, nd_listener_listen(l, (const void *)&somewhere, sizeof(somewhere), 0),
			  ND_INVALID_DEVICE_STATE),
		"a second time");
	l->at.on = false;
	cr_expect(eq(i32, nd_listener_get_request(l, make_connector(a, ND_CONN_IDLE), &ov),
		ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_listener_local_address(l, (void *)&ss, &n), ND_INVALID_DEVICE_STATE));
	drop(a);
}
