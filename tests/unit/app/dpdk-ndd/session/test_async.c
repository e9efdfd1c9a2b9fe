/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events: which one, with which detail, and to whom. */
#include "session/async.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "object/qp.h"
#include "rigs/ndd_rig.h"

union message {
	struct ndsh_msg_hdr h;
	struct ndsh_ev_async async;
	uint8_t bytes[NDSH_MSG_BYTES];
};

static int
open_wanting(struct ndd_rig *r, struct ndd_session **s)
{
	const struct ndsh_id_msg want = {.h.type = NDSH_MSG_EVENTS, .id = 1};
	union message reply;
	int client = ndd_rig_open(r, s);

	cr_assert(eq(i32, ndd_rig_ask(r, client, &want, &reply), NDSH_OK));
	return client;
}

/* The one event that the client has; its type is 0 if there is none. */
static struct ndsh_ev_async
take_event(int client)
{
	union message m = {.bytes = {0}}, none;

	if (ndd_rig_take(client, &m, NULL) > 0) {
		cr_assert(eq(u16, m.h.type, NDSH_EV_ASYNC));
		cr_assert(eq(i64, ndd_rig_take(client, &none, NULL), 0));
	}
	return m.async;
}

/* Faults of the peer are requests that this side refused; fatal is what no request explains. */
Test(async, each_reason_has_its_event)
{
	static const struct {
		enum roce_reason reason;
		uint32_t event, status;
	} rows[] = {
		{ROCE_REASON_RETRY_EXC, NDSH_ASYNC_QP_ERROR, NDSH_WC_RETRY_EXC_ERR},
		{ROCE_REASON_RNR_RETRY_EXC, NDSH_ASYNC_QP_ERROR, NDSH_WC_RNR_RETRY_EXC_ERR},
		{ROCE_REASON_LOCAL_PROT, NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_PROT_ERR},
		{ROCE_REASON_RECV_PROT, NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_PROT_ERR},
		{ROCE_REASON_LOCAL_LEN, NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_LEN_ERR},
		{ROCE_REASON_RECV_TOO_SMALL, NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_LEN_ERR},
		{ROCE_REASON_NAK_INV_REQ, NDSH_ASYNC_QP_ERROR, NDSH_WC_REM_INV_REQ_ERR},
		{ROCE_REASON_NAK_REM_ACCESS, NDSH_ASYNC_QP_ERROR, NDSH_WC_REM_ACCESS_ERR},
		{ROCE_REASON_NAK_REM_OP, NDSH_ASYNC_QP_ERROR, NDSH_WC_REM_OP_ERR},
		{ROCE_REASON_SENT_INV_REQ, NDSH_ASYNC_QP_REQUEST_ERROR, NDSH_WC_REM_INV_REQ_ERR},
		{ROCE_REASON_SENT_REM_ACCESS, NDSH_ASYNC_QP_ACCESS_ERROR, NDSH_WC_REM_ACCESS_ERR},
		{ROCE_REASON_GUESSES, NDSH_ASYNC_QP_ACCESS_ERROR, NDSH_WC_REM_ACCESS_ERR},
		{ROCE_REASON_RECV_INV, NDSH_ASYNC_QP_ACCESS_ERROR, NDSH_WC_REM_ACCESS_ERR},
		{ROCE_REASON_CQ_OVERRUN, NDSH_ASYNC_QP_FATAL, NDSH_WC_FATAL_ERR},
		{ROCE_REASON_CQ_FATAL, NDSH_ASYNC_QP_FATAL, NDSH_WC_FATAL_ERR},
		{ROCE_REASON_INTERNAL, NDSH_ASYNC_QP_FATAL, NDSH_WC_FATAL_ERR},
		{ROCE_REASON_LOCAL_OP, NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_QP_OP_ERR},
		{ROCE_REASON_LOCAL_BIND, NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_QP_OP_ERR},
		{ROCE_REASON_LOCAL_FRMR, NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_QP_OP_ERR},
		{ROCE_REASON_COUNT, NDSH_ASYNC_QP_ERROR, NDSH_WC_LOC_QP_OP_ERR},
	};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = open_wanting(r, &s);
	const struct ndd_qp qp = {.owner.handle = 7};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ndd_event ev = {
			.type = ROCE_EV_QP_ERROR, .reason = (uint8_t)rows[i].reason};
		struct ndsh_ev_async got;

		ndd_async_qp(s, &qp, &ev);
		got = take_event(client);
		cr_expect(eq(u32, got.event, rows[i].event), "reason %d", rows[i].reason);
		cr_expect(eq(u32, got.detail, rows[i].status | (uint32_t)rows[i].reason << 8),
			"reason %d", rows[i].reason);
		cr_expect(eq(u32, got.id, 7));
	}
}

Test(async, what_is_no_fault_has_no_detail)
{
	static const struct {
		enum roce_event_type type;
		uint32_t event;
	} rows[] = {
		{ROCE_EV_COMM_EST, NDSH_ASYNC_COMM_EST},
		{ROCE_EV_SQ_DRAINED, NDSH_ASYNC_SQ_DRAINED}, /* W-QP-03 */
		{ROCE_EV_LAST_WQE, NDSH_ASYNC_LAST_WQE},     /* W-EVT-02 */
	};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = open_wanting(r, &s);
	const struct ndd_qp qp = {.owner.handle = 3};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ndd_event ev = {.type = (uint8_t)rows[i].type, .reason = 9};
		struct ndsh_ev_async got;

		ndd_async_qp(s, &qp, &ev);
		got = take_event(client);
		cr_expect(eq(u32, got.event, rows[i].event));
		cr_expect(eq(u32, got.id, 3));
		cr_expect(eq(u32, got.detail, 0));
	}
}

Test(async, only_clients_that_want_them_get_events)
{
	struct ndsh_id_msg want = {.h.type = NDSH_MSG_EVENTS};
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	union message reply;
	int client = ndd_rig_open(r, &s);

	ndd_async_link(&r->d, 0, true);
	cr_expect(eq(u16, take_event(client).h.type, 0));
	want.id = 1;
	cr_assert(eq(i32, ndd_rig_ask(r, client, &want, &reply), NDSH_OK));
	ndd_async_link(&r->d, 0, true);
	cr_expect(eq(u32, take_event(client).event, NDSH_ASYNC_LINK_UP));
	want.id = 0;
	cr_assert(eq(i32, ndd_rig_ask(r, client, &want, &reply), NDSH_OK));
	ndd_async_link(&r->d, 0, true);
	cr_expect(eq(u16, take_event(client).h.type, 0));
}

/* A session without an adapter has no port, though its number reads as the first one's. */
Test(async, an_event_of_a_port_is_for_its_adapters)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *here, *there, *early;
	int client = open_wanting(r, &here), other = open_wanting(r, &there),
	    newcomer = ndd_rig_connect(r, &early);

	there->port = 1;
	early->wants_events = true;
	ndd_async_link(&r->d, 0, false);
	cr_expect(eq(u32, take_event(client).event, NDSH_ASYNC_LINK_DOWN));
	cr_expect(eq(u16, take_event(other).h.type, 0));
	ndd_async_addresses(&r->d, 1);
	cr_expect(eq(u16, take_event(client).h.type, 0));
	cr_expect(eq(u32, take_event(other).event, NDSH_ASYNC_ADDRESSES));
	cr_expect(eq(u16, take_event(newcomer).h.type, 0));
}
