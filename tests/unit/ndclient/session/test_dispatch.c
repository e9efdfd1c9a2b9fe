/* SPDX-License-Identifier: BSD-3-Clause */
/* Where what comes from outside finds its object, without threads. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "ndclient/conn/connector.h"
#include "ndclient/qp/srq.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/handlers.h"
#include "ndclient/session/overlapped.h"
#include "ndclient/ud/ah.h"
#include "rigs/lone_adapter.h"

static void
begin(struct nd_adapter *a, struct nd_overlapped *ov)
{
	cr_assert(eq(i32, nd_overlapped_begin(a, ov, "test"), ND_SUCCESS));
}

/* Objects may be closed while an event of theirs is on its way. */
Test(ndclient_dispatch, what_is_of_no_object_is_dropped)
{
	static const uint16_t types[] = {NDSH_EV_CONN_REQUEST, NDSH_EV_CONN_REPLY,
		NDSH_EV_CONN_ESTABLISHED, NDSH_EV_CONN_DISCONNECTED, NDSH_EV_SRQ_LIMIT, NDSH_EV_AH,
		NDSH_EV_UD_QUESTION, NDSH_EV_QP_MODIFIED, NDSH_EV_ASYNC};
	_Alignas(8) uint8_t message[NDSH_MSG_BYTES] = {0};
	struct nd_adapter *a = lone_adapter_new();

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		((struct ndsh_msg_hdr *)message)->type = types[i];
		nd_handlers.on_event(a, (const void *)message);
	}
	nd_handlers.on_queue(a, 7);
	cr_expect(eq(ptr, TAILQ_FIRST(&a->events), NULL));
	for (uint32_t kind = 0; kind < ND_CALLBACK_KINDS; kind++)
		cr_expect(eq(int, nd_handlers.on_ready[kind] == NULL, kind == ND_CALLBACK_STOP));
	nd_adapter_free(a);
}

Test(ndclient_dispatch, the_end_of_the_session_completes_all_that_waits)
{
	struct nd_overlapped op = {0}, disconnect = {0}, limit = {0}, handle = {0}, event = {0};
	struct nd_adapter *a = lone_adapter_new();
	struct nd_connector c = {.adapter = a, .op = &op};
	struct nd_srq srq = {.adapter = a};
	struct nd_ah ah = {.adapter = a, .op = &handle};
	struct nd_overlapped *all[] = {&op, &disconnect, &limit, &handle, &event};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		begin(a, all[i]);
	TAILQ_INSERT_TAIL(&a->connectors, &c, link);
	TAILQ_INSERT_TAIL(&a->srqs, &srq, link);
	TAILQ_INSERT_TAIL(&a->ahs, &ah, link);
	nd_waiters_add(&c.disconnect, &disconnect);
	nd_waiters_add(&srq.waiters, &limit);
	nd_waiters_add(&a->event_waiters, &event);
	nd_handlers.on_removed(a);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		cr_expect(eq(i32, nd_overlapped_status(all[i]), ND_DEVICE_REMOVED), "%zu", i);
	nd_adapter_free(a);
}
