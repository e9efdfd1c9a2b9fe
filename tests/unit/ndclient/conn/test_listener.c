/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners: requests and connectors that wait for each other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "ndclient/conn/connector.h"
#include "ndclient/conn/listener.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"
#include "rigs/conn_bench.h"

static struct nd_listener *
make_listener(struct nd_adapter *a, uint32_t id)
{
	struct nd_listener *l;

	cr_assert(eq(i32, nd_listener_create(a, &l), ND_SUCCESS));
	l->at.bound = l->at.on = true;
	l->at.id = id;
	return l;
}

static void
request(struct nd_adapter *a, uint32_t listener, uint32_t conn)
{
	struct ndsh_ev_conn ev = conn_bench_event(NDSH_EV_CONN_REQUEST, ND_SUCCESS, conn);

	ev.listener = listener;
	nd_listener_request(a, &ev);
}

/* checks R-LSN-03[3], R-LSN-04[1-3] */
Test(ndclient_listener, R_LSN_04_requests_and_connectors_meet_in_order)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_listener *l = make_listener(a, 1), *m = make_listener(a, 2);
	struct nd_connector *c[4];
	struct nd_overlapped ov[5] = {0};

	for (int i = 0; i < 4; i++)
		c[i] = conn_bench_connector(a, ND_CONN_IDLE);
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
	conn_bench_drop(a);
}

/* checks R-CONN-20[4,5] */
Test(ndclient_listener, R_CONN_20_cancel_makes_connectors_idle_again)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_listener *l = make_listener(a, 1);
	struct nd_connector *c = conn_bench_connector(a, ND_CONN_IDLE),
			    *d = conn_bench_connector(a, ND_CONN_IDLE);
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
	conn_bench_drop(a);
}

static nd_status
bind_it(struct nd_listener *l)
{
	return nd_listener_bind(
		l, (const void *)&conn_bench_somewhere, sizeof(conn_bench_somewhere));
}

static nd_status
listen_it(struct nd_listener *l)
{
	return nd_listener_listen(
		l, (const void *)&conn_bench_somewhere, sizeof(conn_bench_somewhere), 0);
}

/* checks R-LSN-01[1,7,8]: what is bound is bound, what listens listens; each is refused again
 * before the daemon is asked. */
Test(ndclient_listener, R_LSN_01_bind_then_listen_each_once)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_listener *l;
	struct nd_overlapped ov = {0};
	struct sockaddr_storage ss;
	socklen_t n = sizeof(ss);

	a->abi_minor = NDSH_MINOR_LISTENER_BIND;
	cr_assert(eq(i32, nd_listener_create(a, &l), ND_SUCCESS));
	cr_expect(eq(i32, nd_listener_listen(l, NULL, 0, 0), ND_INVALID_DEVICE_STATE), "unbound");
	cr_expect(eq(i32, nd_listener_bind(l, NULL, 0), ND_INVALID_ADDRESS));
	for (int busy = 0; busy < 2; busy++) {
		l->at.busy = busy;
		l->at.bound = !busy;
		cr_expect(eq(i32, bind_it(l), ND_ADDRESS_ALREADY_ASSOCIATED));
		cr_expect(eq(i32, listen_it(l), ND_ADDRESS_ALREADY_ASSOCIATED));
	}
	l->at.bound = true;
	cr_expect(eq(i32, nd_listener_listen(l, NULL, 0, 0), ND_INVALID_DEVICE_STATE),
		"another thread's call is under way");
	l->at.busy = false;
	cr_expect(eq(i32, nd_listener_get_request(l, conn_bench_connector(a, ND_CONN_IDLE), &ov),
		ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_listener_local_address(l, (void *)&ss, &n), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_listener_pause(l), ND_INVALID_DEVICE_STATE));
	l->at.on = true;
	cr_expect(eq(i32, bind_it(l), ND_ADDRESS_ALREADY_ASSOCIATED));
	cr_expect(eq(i32, listen_it(l), ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_listener_listen(l, NULL, 0, 0), ND_INVALID_DEVICE_STATE));
	l->at = (struct nd_listening){.on = false};
	a->abi_minor = NDSH_MINOR_LISTENER_BIND - 1;
	cr_expect(eq(i32, bind_it(l), ND_NOT_SUPPORTED));
	conn_bench_drop(a);
}

/* checks R-LSN-01[1] */
Test(ndclient_listener, R_LSN_01_not_listening)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_listener *l = make_listener(a, 1);
	struct nd_overlapped ov = {0};
	struct sockaddr_storage ss;
	socklen_t n = sizeof(ss);

	cr_expect(eq(i32, listen_it(l), ND_INVALID_DEVICE_STATE), "a second time");
	l->at.bound = l->at.on = false;
	cr_expect(eq(i32, nd_listener_get_request(l, conn_bench_connector(a, ND_CONN_IDLE), &ov),
		ND_INVALID_DEVICE_STATE));
	cr_expect(eq(i32, nd_listener_local_address(l, (void *)&ss, &n), ND_INVALID_DEVICE_STATE));
	conn_bench_drop(a);
}
