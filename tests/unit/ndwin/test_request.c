/* SPDX-License-Identifier: BSD-3-Clause */
/* Overlapped requests, as a provider makes them and an application sees them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdalign.h>

#include "ndwin/ndwin_provider.h"
#include "sleeper.h"

#define FAILURE	  ((LONG)0xC0000120) /* canceled */
#define TIMED_OUT ((LONG)0x00000102) /* success class */

static const char owner;

struct rig {
	HANDLE file, port, event; /* the event resets itself */
	struct ndwin_file *f;
};

static void
rig_open(struct rig *r)
{
	r->file = ndwin_file_create(&owner);
	r->f = ndwin_file_get(r->file, &owner);
	r->port = CreateIoCompletionPort(r->file, NULL, 42, 0);
	r->event = CreateEvent(NULL, FALSE, FALSE, NULL);
	cr_assert(r->f != NULL && r->port != NULL && r->event != NULL);
}

static void
rig_close(struct rig *r)
{
	ndwin_file_put(r->f);
	cr_expect(CloseHandle(r->file));
	cr_expect(CloseHandle(r->port));
	cr_expect(CloseHandle(r->event));
}

static struct ndwin_request *
begin(struct rig *r, OVERLAPPED *ov)
{
	struct ndwin_request *request = NULL;

	cr_assert(zero(i32, ndwin_request_begin(r->f, ov, 0, &request)));
	cr_assert(ne(ptr, request, NULL));
	return request;
}

static BOOL
take(struct rig *r, struct taken *t)
{
	*t = (struct taken){.port = r->port};
	SetLastError(0);
	return GetQueuedCompletionStatus(r->port, &t->bytes, &t->key, &t->ov, 0);
}

static void
expect_no_packet(struct rig *r)
{
	struct taken t;

	cr_expect(zero(int, take(r, &t)));
	cr_expect(eq(ptr, t.ov, NULL));
	cr_expect(eq(u32, GetLastError(), WAIT_TIMEOUT));
}

static void
expect_event(HANDLE event, bool set)
{
	cr_expect(eq(u32, WaitForSingleObject(event, 0), set ? WAIT_OBJECT_0 : WAIT_TIMEOUT));
}

static bool
is_done(const OVERLAPPED *ov)
{
	return HasOverlappedIoCompleted(ov);
}

static HANDLE
marked(HANDLE event)
{
	return (HANDLE)((ULONG_PTR)event | 1);
}

/* ---- one request --------------------------------------------------------------------- */

/* checks R-OV-02[2], R-OV-02[3], R-OV-06[1], R-OV-06[3] */
Test(ndwin_request, it_pends_and_completes)
{
	OVERLAPPED ov = {.Internal = 0xABC, .InternalHigh = 1};
	struct ndwin_request *q;
	struct taken t;
	struct rig r;

	rig_open(&r);
	ov.hEvent = r.event;
	cr_expect(SetEvent(r.event));
	q = begin(&r, &ov);
	cr_expect(eq(ulong, ov.Internal, STATUS_PENDING));
	cr_expect(eq(int, is_done(&ov), false));
	expect_event(r.event, false); /* it was cleared */
	expect_no_packet(&r);
	ndwin_request_complete(q, 0, 77);
	cr_expect(is_done(&ov));
	cr_expect(zero(ulong, ov.Internal));
	cr_expect(eq(ulong, ov.InternalHigh, 77));
	expect_event(r.event, true);
	cr_expect(take(&r, &t));
	cr_expect(eq(u32, t.bytes, 77));
	cr_expect(eq(ulong, t.key, 42));
	cr_expect(eq(ptr, t.ov, &ov));
	expect_no_packet(&r);
	rig_close(&r);
}

/* checks R-OV-12[1] */
Test(ndwin_request, a_failure_is_told_with_its_request)
{
	OVERLAPPED ov = {0};
	OVERLAPPED_ENTRY e;
	struct taken t;
	struct rig r;
	ULONG n;

	rig_open(&r);
	ndwin_request_complete(begin(&r, &ov), FAILURE, 0);
	cr_expect(zero(int, take(&r, &t)));
	cr_expect(eq(u32, GetLastError(), ERROR_OPERATION_ABORTED));
	cr_expect(eq(ptr, t.ov, &ov));
	cr_expect(eq(ulong, t.key, 42));
	cr_expect(eq(ulong, ov.Internal, 0xC0000120)); /* 32 bits, not sign-extended */
	cr_expect(eq(i32, ndwin_overlapped_status(&ov, FALSE), FAILURE));
	ndwin_request_complete(begin(&r, &ov), FAILURE, 0);
	cr_expect(GetQueuedCompletionStatusEx(r.port, &e, 1, &n, 0, FALSE));
	cr_expect(eq(ulong, e.Internal, 0xC0000120));
	/* A time-out is of the success class. */
	ndwin_request_complete(begin(&r, &ov), TIMED_OUT, 0);
	cr_expect(take(&r, &t));
	rig_close(&r);
}

/* checks R-OV-06[2] */
Test(ndwin_request, a_marked_event_keeps_it_out_of_the_port)
{
	OVERLAPPED ov = {0};
	struct rig r;

	rig_open(&r);
	ov.hEvent = marked(r.event);
	ndwin_request_complete(begin(&r, &ov), 0, 0);
	expect_event(r.event, true);
	expect_no_packet(&r);
	ov.hEvent = marked(NULL); /* neither */
	ndwin_request_complete(begin(&r, &ov), 0, 0);
	cr_expect(is_done(&ov));
	expect_no_packet(&r);
	rig_close(&r);
}

Test(ndwin_request, the_mark_counts_as_it_was_at_the_beginning)
{
	struct ndwin_request *q;
	OVERLAPPED ov = {0};
	struct taken t;
	struct rig r;

	rig_open(&r);
	q = begin(&r, &ov);
	ov.hEvent = marked(r.event);
	ndwin_request_complete(q, 0, 0);
	expect_event(r.event, false);
	cr_expect(take(&r, &t));
	rig_close(&r);
}

Test(ndwin_request, it_goes_to_the_port_of_its_end)
{
	HANDLE file = ndwin_file_create(&owner), port;
	struct rig r = {.f = ndwin_file_get(file, &owner)};
	struct ndwin_request *early, *late;
	OVERLAPPED ov[2] = {{0}};
	struct taken t;

	early = begin(&r, &ov[0]);
	late = begin(&r, &ov[1]);
	ndwin_request_complete(early, 0, 0); /* to none */
	port = CreateIoCompletionPort(file, NULL, 6, 0);
	ndwin_request_complete(late, 0, 0);
	r.port = port;
	cr_expect(take(&r, &t));
	cr_expect(eq(ptr, t.ov, &ov[1]));
	cr_expect(eq(ulong, t.key, 6));
	expect_no_packet(&r);
	ndwin_file_put(r.f);
	CloseHandle(file);
	CloseHandle(port);
}

/* checks R-OV-06[4]: whichever of them a thread has seen, it finds those before it. */
Test(ndwin_request, a_taker_that_slept_finds_outcome_and_event)
{
	OVERLAPPED ov = {0};
	struct ndwin_request *q;
	struct sleeper s;
	struct taken t;
	struct rig r;

	rig_open(&r);
	t.port = r.port;
	ov.hEvent = r.event;
	q = begin(&r, &ov);
	sleeper_start(&s, sleep_for_packet, &t);
	ndwin_request_complete(q, 0, 3);
	cr_expect(eq(u32, sleeper_end(&s), TRUE));
	cr_expect(eq(ptr, t.ov, &ov));
	cr_expect(zero(ulong, ov.Internal));
	expect_event(r.event, true);
	rig_close(&r);
}

/* ---- requests that the call itself ends ---------------------------------------------- */

/* checks R-OV-03[2] */
Test(ndwin_request, a_refusal_sets_no_event_and_sends_no_packet)
{
	OVERLAPPED ov = {0};
	struct rig r;

	rig_open(&r);
	ov.hEvent = r.event;
	ndwin_request_return(begin(&r, &ov), FAILURE);
	expect_event(r.event, false);
	expect_no_packet(&r);
	cr_expect(eq(ulong, ov.Internal, 0xC0000120));
	rig_close(&r);
}

/* As R-OV-03 says of it. */
Test(ndwin_request, success_at_once_sets_the_event_and_sends_no_packet)
{
	OVERLAPPED ov = {0};
	struct rig r;

	rig_open(&r);
	ov.hEvent = r.event;
	ndwin_request_return(begin(&r, &ov), 0);
	expect_event(r.event, true);
	expect_no_packet(&r);
	cr_expect(zero(ulong, ov.Internal));
	rig_close(&r);
}

Test(ndwin_request, a_refusal_does_not_answer_for_the_request_under_way)
{
	OVERLAPPED ov = {0};
	struct ndwin_request *first;
	struct taken t;
	struct rig r;

	rig_open(&r);
	first = begin(&r, &ov);
	ndwin_request_return(begin(&r, &ov), FAILURE);
	cr_expect(eq(int, is_done(&ov), false));
	ndwin_request_complete(first, 0, 5);
	cr_expect(zero(ulong, ov.Internal));
	cr_expect(take(&r, &t));
	cr_expect(eq(u32, t.bytes, 5));
	expect_no_packet(&r);
	rig_close(&r);
}

/* ---- several on one OVERLAPPED ------------------------------------------------------- */

Test(ndwin_request, each_of_several_completes)
{
	struct ndwin_request *q[3];
	OVERLAPPED ov = {0};
	struct taken t;
	struct rig r;

	rig_open(&r);
	ov.hEvent = r.event;
	for (int i = 0; i < 3; i++)
		q[i] = begin(&r, &ov);
	ndwin_request_complete(q[1], 0, 1);
	ndwin_request_complete(q[2], FAILURE, 2);
	ndwin_request_complete(q[0], 0, 0);
	cr_expect(zero(ulong, ov.Internal)); /* of the last one */
	expect_event(r.event, true);
	cr_expect(take(&r, &t));
	cr_expect(eq(u32, t.bytes, 1));
	cr_expect(zero(int, take(&r, &t))); /* the packet knows its own outcome */
	cr_expect(eq(ptr, t.ov, &ov));
	cr_expect(eq(u32, t.bytes, 2));
	cr_expect(take(&r, &t));
	expect_no_packet(&r);
	rig_close(&r);
}

/* ---- early ends ---------------------------------------------------------------------- */

Test(ndwin_request, everything_may_be_closed_before_it_ends)
{
	struct ndwin_request *q;
	OVERLAPPED ov = {0};
	struct rig r;

	rig_open(&r);
	ov.hEvent = r.event;
	q = begin(&r, &ov);
	rig_close(&r);
	ndwin_request_complete(q, 0, 0);
	cr_expect(is_done(&ov));
}

Test(ndwin_request, the_provider_keeps_the_file)
{
	OVERLAPPED ov = {0};
	struct taken t;
	struct rig r;

	rig_open(&r);
	cr_expect(CloseHandle(r.file));
	cr_expect(eq(ptr, ndwin_file_get(r.file, &owner), NULL));
	ndwin_request_complete(begin(&r, &ov), 0, 0);
	cr_expect(take(&r, &t));
	ndwin_file_put(r.f);
	CloseHandle(r.port);
	CloseHandle(r.event);
}

Test(ndwin_request, after_the_port_they_complete_still)
{
	OVERLAPPED ov = {0};
	struct rig r;

	rig_open(&r);
	ov.hEvent = r.event;
	cr_expect(CloseHandle(r.port));
	ndwin_request_complete(begin(&r, &ov), 0, 0);
	expect_event(r.event, true);
	ndwin_file_put(r.f);
	CloseHandle(r.file);
	CloseHandle(r.event);
}

/* A packet has a copy of what the taker is told. */
Test(ndwin_request, the_structure_may_be_gone_before_its_packet_is_taken)
{
	OVERLAPPED *ov = calloc(1, sizeof(*ov));
	const uintptr_t was = (uintptr_t)ov;
	struct taken t;
	struct rig r;

	rig_open(&r);
	ndwin_request_complete(begin(&r, ov), FAILURE, 0);
	cr_expect(is_done(ov));
	free(ov);
	cr_expect(zero(int, take(&r, &t)));
	cr_expect(eq(ulong, (uintptr_t)t.ov, was));
	cr_expect(eq(u32, GetLastError(), ERROR_OPERATION_ABORTED));
	rig_close(&r);
}

/* ---- the beginning ------------------------------------------------------------------- */

Test(ndwin_request, what_cannot_begin_changes_nothing)
{
	OVERLAPPED ov = {.Internal = 5};
	struct ndwin_request *q = NULL;
	HANDLE closed;
	struct rig r;

	rig_open(&r);
	cr_expect(eq(i32, ndwin_request_begin(r.f, NULL, 0, &q), (LONG)0xC000000D));
	ov.hEvent = r.port;
	cr_expect(eq(i32, ndwin_request_begin(r.f, &ov, 0, &q), (LONG)0xC0000008));
	closed = CreateEvent(NULL, TRUE, FALSE, NULL);
	CloseHandle(closed);
	ov.hEvent = marked(closed);
	cr_expect(eq(i32, ndwin_request_begin(r.f, &ov, 0, &q), (LONG)0xC0000008));
	ov.hEvent = r.event;
	cr_expect(SetEvent(r.event));
	cr_expect(eq(i32, ndwin_request_begin(r.f, &ov, SIZE_MAX, &q), (LONG)0xC0000017));
	expect_event(r.event, true);
	cr_expect(eq(ulong, ov.Internal, 5));
	cr_expect(eq(ptr, q, NULL));
	rig_close(&r);
}

Test(ndwin_request, the_provider_has_room_of_its_own)
{
	struct ndwin_request *q = NULL;
	OVERLAPPED ov = {0};
	unsigned char *own;
	struct rig r;

	rig_open(&r);
	cr_assert(zero(i32, ndwin_request_begin(r.f, &ov, 100, &q)));
	own = ndwin_request_extra(q);
	cr_expect(zero(ulong, (uintptr_t)own % alignof(max_align_t)));
	for (int i = 0; i < 100; i++)
		cr_expect(zero(u8, own[i]));
	memset(own, 0xFF, 100);
	ndwin_request_complete(q, 0, 0);
	rig_close(&r);
}

Test(ndwin_request, a_file_is_its_owners)
{
	static const char other;
	HANDLE file = ndwin_file_create(&other);

	cr_expect(eq(ptr, ndwin_file_get(file, &owner), NULL));
	cr_expect(eq(u32, GetLastError(), ERROR_INVALID_HANDLE));
	cr_expect(CloseHandle(file));
}
