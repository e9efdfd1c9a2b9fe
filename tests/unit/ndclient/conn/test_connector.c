/* SPDX-License-Identifier: BSD-3-Clause */
/* Connectors: the rows of the state table that need no daemon, and bad arguments. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndclient/conn/connector.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/session/private_data.h"
#include "rigs/conn_bench.h"

/* The table of states of R-CONN; P: the call would go on to the daemon, which is not here. */
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

/* checks R-DISC-07[1,2], R-DISC-14[1,3] */
Test(ndclient_conn, R_CONN_wrong_calls_are_refused_by_state)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_qp *qp = conn_bench_qp(a);
	const struct sockaddr *to = (const void *)&conn_bench_somewhere;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct nd_connector *c = conn_bench_connector(a, table[i].state);
		struct nd_overlapped ov = {0}, end = {0};

		if (table[i].notify != P)
			cr_expect(eq(i32, outcome(nd_connector_notify_disconnect(c, &end), &end),
					  table[i].notify),
				"notify, row %zu", i);
		if (table[i].connect != P)
			cr_expect(eq(i32,
					  nd_connector_connect(c, qp, to,
						  sizeof(conn_bench_somewhere), 0, 0, NULL, 0, &ov),
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
			cr_expect(eq(i32, nd_connector_bind(c, to, sizeof(conn_bench_somewhere)),
					  table[i].bind),
				"bind, row %zu", i);
		cr_expect(eq(int, c->state, table[i].state), "row %zu: nothing changed", i);
		cr_expect(eq(ptr, qp->connector, NULL));
	}
	conn_bench_drop(a);
}

/* checks R-CONN-07[1,4] */
Test(ndclient_conn, R_CONN_07_private_data_over_the_limit_is_refused_and_changes_nothing)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_qp *qp = conn_bench_qp(a);
	struct nd_connector *c = conn_bench_connector(a, ND_CONN_IDLE);
	struct nd_overlapped ov = {0};
	const struct sockaddr *to = (const void *)&conn_bench_somewhere;
	uint8_t data[200] = {0};

	cr_expect(eq(i32,
		nd_connector_connect(c, qp, to, sizeof(conn_bench_somewhere), 0, 0, data, 57, &ov),
		ND_INVALID_BUFFER_SIZE));
	cr_expect(eq(int, c->state, ND_CONN_IDLE));
	c->state = ND_CONN_REQ_RECEIVED;
	cr_expect(
		eq(i32, nd_connector_accept(c, qp, 0, 0, data, 149, &ov), ND_INVALID_BUFFER_SIZE));
	cr_expect(eq(i32, nd_connector_reject(c, data, 149), ND_INVALID_BUFFER_SIZE));
	cr_expect(eq(i32, nd_connector_reject(c, NULL, 1), ND_ACCESS_VIOLATION));
	cr_expect(eq(int, c->state, ND_CONN_REQ_RECEIVED));
	conn_bench_drop(a);
}

/* checks R-CONN-07[2-4]: bytes up to the end of what can be read, and one more; nothing changes. */
Test(ndclient_conn, R_CONN_07_private_data_that_cannot_be_read)
{
	struct nd_adapter *a = conn_bench_new();
	struct nd_qp *qp = conn_bench_qp(a);
	struct nd_connector *c = conn_bench_connector(a, ND_CONN_IDLE);
	const struct sockaddr *to = (const void *)&conn_bench_somewhere;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *mem = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
	uint8_t *end = mem + page, out[148];
	struct nd_overlapped ov = {0};
	uint32_t count = 99;

	cr_assert(ne(ptr, mem, MAP_FAILED));
	memset(mem, 0x77, page);
	cr_assert(zero(int, mprotect(end, page, PROT_NONE)));
	for (uint32_t bytes = 1; bytes <= sizeof(out); bytes += 49) {
		cr_expect(eq(i32, nd_private_data_put(end - bytes, bytes, 148, out, &count),
			ND_SUCCESS));
		cr_expect(eq(u32, count, bytes));
		cr_expect(zero(int, memcmp(out, mem, bytes)));
		for (uint32_t beyond = 1; beyond <= bytes; beyond += bytes - 1 + (bytes == 1))
			cr_expect(eq(i32,
				nd_private_data_put(end - bytes + beyond, bytes, 148, out, &count),
				ND_ACCESS_VIOLATION));
	}
	cr_expect(eq(i32, nd_private_data_put(NULL, 0, 148, out, &count), ND_SUCCESS));
	cr_expect(eq(u32, count, 0));
	cr_expect(eq(i32,
		nd_connector_connect(
			c, qp, to, sizeof(conn_bench_somewhere), 0, 0, end - 55, 56, &ov),
		ND_ACCESS_VIOLATION));
	cr_expect(eq(int, c->state, ND_CONN_IDLE));
	c->state = ND_CONN_REQ_RECEIVED;
	cr_expect(eq(i32, nd_connector_accept(c, qp, 0, 0, end - 1, 2, &ov), ND_ACCESS_VIOLATION));
	cr_expect(eq(i32, nd_connector_reject(c, (void *)1, 1), ND_ACCESS_VIOLATION));
	cr_expect(eq(int, c->state, ND_CONN_REQ_RECEIVED));
	cr_expect(eq(ptr, qp->connector, NULL));
	munmap(mem, 2 * page);
	conn_bench_drop(a);
}

/* checks R-CONN-05[1,2] */
Test(ndclient_conn, R_CONN_05_the_wildcard_is_no_destination)
{
	const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = 0x1111};
	const struct sockaddr_in6 any6 = {.sin6_family = AF_INET6, .sin6_port = 0x1111};
	struct nd_adapter *a = conn_bench_new();
	struct nd_overlapped ov = {0};

	cr_expect(eq(i32,
		nd_connector_connect(conn_bench_connector(a, ND_CONN_IDLE), conn_bench_qp(a),
			(const void *)&any, sizeof(any), 0, 0, NULL, 0, &ov),
		ND_BAD_NETWORK_NAME));
	cr_expect(eq(i32,
		nd_connector_connect(conn_bench_connector(a, ND_CONN_IDLE), conn_bench_qp(a),
			(const void *)&any6, sizeof(any6), 0, 0, NULL, 0, &ov),
		ND_BAD_NETWORK_NAME));
	conn_bench_drop(a);
}
