/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events of the adapter, as the daemon tells them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/event.h"
#include "rigs/lone_adapter.h"

static struct nd_adapter *
adapter_with_events(void)
{
	struct nd_adapter *a = lone_adapter_new();

	a->events_on = true;
	return a;
}

static void
tell(struct nd_adapter *a, uint32_t event)
{
	const struct ndsh_ev_async ev = {.h.type = NDSH_EV_ASYNC, .event = event};

	nd_event_async(a, &ev);
}

static enum nd_event_type
next(struct nd_adapter *a)
{
	struct nd_event event;
	nd_status st = nd_adapter_get_event(a, &event);

	return st == ND_SUCCESS ? event.type : 0;
}

Test(ndclient_event, the_links_last_state_alone_is_told)
{
	struct nd_adapter *a = adapter_with_events();

	tell(a, NDSH_ASYNC_LINK_DOWN);
	tell(a, NDSH_ASYNC_LINK_UP);
	tell(a, NDSH_ASYNC_ADDRESSES);
	tell(a, NDSH_ASYNC_ADDRESSES);
	cr_expect(eq(int, next(a), ND_EVENT_LINK_UP));
	cr_expect(eq(int, next(a), ND_EVENT_ADDRESSES), "once");
	cr_expect(eq(int, next(a), 0));
	nd_adapter_free(a);
}

Test(ndclient_event, a_kind_of_a_later_version_is_dropped)
{
	struct nd_adapter *a = adapter_with_events();

	tell(a, 200);
	cr_expect(eq(int, next(a), 0));
	nd_adapter_free(a);
}

Test(ndclient_event, notifications_complete_together_and_cancel_ends_them)
{
	struct nd_overlapped ov[3] = {{.status = 0}};
	struct nd_adapter *a = adapter_with_events();

	cr_expect(eq(i32, nd_adapter_notify_event(a, &ov[0]), ND_PENDING));
	cr_expect(eq(i32, nd_adapter_notify_event(a, &ov[1]), ND_PENDING));
	tell(a, NDSH_ASYNC_LINK_DOWN);
	cr_expect(eq(i32, nd_overlapped_status(&ov[0]), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&ov[1]), ND_SUCCESS));
	cr_expect(eq(i32, nd_adapter_notify_event(a, &ov[2]), ND_PENDING));
	cr_expect(eq(i32, nd_overlapped_status(&ov[2]), ND_SUCCESS), "there is one to take");
	cr_expect(eq(int, next(a), ND_EVENT_LINK_DOWN));
	cr_expect(eq(i32, nd_adapter_notify_event(a, &ov[2]), ND_PENDING));
	cr_expect(eq(i32, nd_adapter_cancel_events(a), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&ov[2]), ND_CANCELED));
	nd_adapter_free(a);
}

Test(ndclient_event, the_end_of_the_session_is_the_last_one)
{
	struct nd_event event;
	struct nd_adapter *a = adapter_with_events();

	tell(a, NDSH_ASYNC_LINK_DOWN);
	a->gone = 1;
	nd_event_removed(a);
	cr_expect(eq(i32, nd_adapter_get_event(a, &event), ND_SUCCESS));
	cr_expect(eq(i32, nd_adapter_get_event(a, &event), ND_SUCCESS));
	cr_expect(eq(int, event.type, ND_EVENT_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_adapter_get_event(a, &event), ND_DEVICE_REMOVED));
	nd_adapter_free(a);
}
