/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners of datagram services: questions and requests that wait for each other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "ndclient/session/adapter.h"
#include "ndclient/ud/listener.h"
#include "rigs/lone_adapter.h"

static struct nd_ud_listener *
make_listener(struct nd_adapter *a, uint32_t id)
{
	struct nd_ud_listener *l;

	cr_assert(eq(i32, nd_ud_listener_create(a, &l), ND_SUCCESS));
	l->at.on = true;
	l->at.id = id;
	return l;
}

static void
ask(struct nd_adapter *a, uint32_t listener, uint32_t question)
{
	const struct ndsh_ev_ud_question ev = {.h.type = NDSH_EV_UD_QUESTION,
		.listener = listener,
		.question = question,
		.priv_bytes = 2,
		.priv = "hi"};

	nd_ud_question_event(a, &ev);
}

Test(ndclient_ud_listener, questions_and_requests_meet_in_order)
{
	struct nd_adapter *a = lone_adapter_new();
	struct nd_ud_listener *l = make_listener(a, 1), *m = make_listener(a, 2);
	struct nd_ud_question q[3];
	struct nd_overlapped ov[3] = {{.status = 0}};

	ask(a, 1, 10);
	ask(a, 9, 11); /* no listener's */
	for (int i = 0; i < 3; i++)
		cr_assert(eq(i32, nd_ud_listener_get_question(i < 2 ? l : m, &q[i], &ov[i]),
			ND_PENDING));
	cr_expect(eq(i32, nd_overlapped_status(&ov[0]), ND_SUCCESS));
	cr_expect(eq(u32, q[0].id, 10));
	cr_expect(zero(int, memcmp(q[0].private_data, "hi", 2)));
	cr_expect(eq(i32, nd_overlapped_status(&ov[1]), ND_PENDING));
	ask(a, 1, 12);
	cr_expect(eq(i32, nd_overlapped_status(&ov[1]), ND_SUCCESS));
	cr_expect(eq(u32, q[1].id, 12));
	cr_expect(eq(i32, nd_overlapped_status(&ov[2]), ND_PENDING), "the other listener's");
	cr_expect(eq(i32, nd_ud_listener_cancel(m), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&ov[2]), ND_CANCELED));
	free(l);
	free(m);
	nd_adapter_free(a);
}

Test(ndclient_ud_listener, one_that_does_not_listen_or_has_no_daemon)
{
	struct nd_adapter *a = lone_adapter_new();
	struct nd_ud_listener *l = make_listener(a, 1);
	struct nd_overlapped ov = {0};
	struct nd_ud_question q;

	l->at.on = false;
	cr_expect(eq(i32, nd_ud_listener_get_question(l, &q, &ov), ND_INVALID_DEVICE_STATE));
	l->at.on = true;
	cr_expect(eq(i32, nd_ud_listener_get_question(l, &q, &ov), ND_PENDING));
	nd_ud_listeners_end_waiters(a, ND_DEVICE_REMOVED);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_DEVICE_REMOVED));
	a->gone = 1;
	cr_expect(eq(i32, nd_ud_listener_get_question(l, &q, &ov), ND_DEVICE_REMOVED));
	free(l);
	nd_adapter_free(a);
}
