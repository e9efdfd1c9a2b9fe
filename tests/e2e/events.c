/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to objects without a request that could say so. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "meeting.h"
#include "scenarios.h"

#define MANY 300

/* The next event of the side. */
static struct nd_event
next(struct side *s)
{
	struct nd_overlapped ov = {0};
	struct nd_event event = {0};

	WANT(ND_PENDING, nd_adapter_notify_event(s->adapter, &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, -1)); /* ndtest has an alarm */
	WANT(ND_SUCCESS, nd_adapter_get_event(s->adapter, &event));
	return event;
}

static void
expect(struct side *s, enum nd_event_type type)
{
	struct nd_event event = next(s);

	check(__FILE__, __LINE__, nd_detail_name(event.detail), event.type == type);
	CHECK(event.qp == s->qp && event.cq == NULL && event.context == s);
}

static void
expect_none(struct side *s)
{
	struct nd_event event;

	WANT(ND_NO_MORE_ENTRIES, nd_adapter_get_event(s->adapter, &event));
}

static nd_status
to_state(struct side *s, uint32_t state)
{
	struct nd_overlapped ov = {0};

	return finish(nd_qp_modify(s->qp, state, NULL, &ov), &ov);
}

/* checks W-QP-03[3,4]: both ends, from the first request to the last. */
void
scenario_events(struct pair *p)
{
	struct nd_overlapped waits[2] = {{0}, {0}};
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	expect_none(&p->a); /* from here on they are told */
	expect_none(&p->b);
	for (int i = 0; i < 2; i++)
		WANT(ND_PENDING, nd_adapter_notify_event(p->b.adapter, &waits[i]));
	meet_connect(&m);
	pair_works(p);
	for (int i = 0; i < 2; i++)
		WANT(ND_SUCCESS, nd_overlapped_wait(&waits[i], PATIENCE_MS));
	expect(&p->b, ND_EVENT_ESTABLISHED);
	expect_none(&p->a);

	/* They are not taken, and do not become more by that. */
	for (int i = 0; i < MANY; i++) {
		WANT(ND_SUCCESS, to_state(&p->a, ND_QP_STATE_SQD));
		WANT(ND_SUCCESS, to_state(&p->a, ND_QP_STATE_RTS));
	}
	WANT(ND_SUCCESS, to_state(&p->a, ND_QP_STATE_SQD));
	expect(&p->a, ND_EVENT_DRAINED);
	WANT(ND_SUCCESS, to_state(&p->a, ND_QP_STATE_RTS));
	pair_works(p);
	for (struct nd_event e; nd_adapter_get_event(p->a.adapter, &e) == ND_SUCCESS;)
		CHECK(e.type == ND_EVENT_DRAINED);

	/* a asks for what it may not: b is told as the one that refused. */
	WANT(ND_SUCCESS, side_reach(&p->a, 1, p->b.buf, 8, 0x12345678));
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	expect(&p->b, ND_EVENT_QP_ACCESS_ERROR);
	expect(&p->a, ND_EVENT_QP_ERROR);

	/* A closed object tells nothing more; a waiter without an event is released. */
	meet_again(&m);
	meet_connect(&m);
	pair_works(p);
	(void)next(&p->b);
	WANT(ND_SUCCESS, side_reach(&p->a, 1, p->b.buf, 8, 0x12345678));
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	WANT(ND_SUCCESS, finish(nd_adapter_notify_event(p->b.adapter, &waits[0]), &waits[0]));
	WANT(ND_SUCCESS, nd_qp_close(p->b.qp));
	p->b.qp = NULL;
	expect_none(&p->b);
	WANT(ND_PENDING, nd_adapter_notify_event(p->b.adapter, &waits[0]));
	WANT(ND_SUCCESS, nd_adapter_cancel_events(p->b.adapter));
	WANT(ND_CANCELED, nd_overlapped_status(&waits[0]));
	meet_close(&m);
}

/* A completion queue that overruns, and the queue pair that fails with it. */
static void
overrun(struct pair *p)
{
	bool told[2] = {false, false};

	side_open(&p->a, 4);
	side_open(&p->b, 64);
	side_create_qp(&p->a, 1024);
	side_create_qp(&p->b, 16);
	expect_none(&p->a);
	pair_connect(p);
	for (int i = 0; i < 1024; i++)
		if (side_write(&p->a, &p->b, 8, nd_mr_remote_token(p->b.mr)) != ND_SUCCESS)
			break;
	while (!told[0] || !told[1]) {
		struct nd_event event = next(&p->a);

		told[event.type == ND_EVENT_CQ_ERROR] = true;
		if (event.type == ND_EVENT_CQ_ERROR)
			CHECK(event.cq == p->a.cq && event.qp == NULL);
		else
			CHECK(event.type == ND_EVENT_QP_FATAL && event.qp == p->a.qp);
		CHECK(strcmp(nd_detail_name(event.detail), "fatal transport error") == 0);
	}
	expect_none(&p->a);
	pair_close(p);
}

static void
create_sharing_qp(struct side *s, struct nd_srq *srq)
{
	WANT(ND_SUCCESS, nd_qp_create(s->pd,
				 &(struct nd_qp_options){.receive_cq = s->cq,
					 .initiator_cq = s->cq,
					 .context = s,
					 .initiator_depth = 4,
					 .srq = srq},
				 &s->qp));
}

/* A queue pair with a shared receive queue, which took none of it. */
static void
last_receive(struct pair *p)
{
	struct nd_srq *srq;

	side_open(&p->b, 64);
	expect_none(&p->b);
	WANT(ND_SUCCESS, nd_srq_create(p->b.pd, 16, 1, 0, &srq));
	create_sharing_qp(&p->b, srq);
	WANT(ND_SUCCESS, nd_qp_flush(p->b.qp));
	expect(&p->b, ND_EVENT_LAST_RECEIVE);
	expect_none(&p->b);
	WANT(ND_PENDING, nd_srq_close(srq));
	side_close(&p->b);
}

/* checks W-EVT-02[2], W-EVT-03[1,2] */
void
scenario_events_queues(struct pair *p)
{
	overrun(p);
	last_receive(p);
}

/*
 * checks R-SRQ-04[1-3], W-EVT-01[1,4]: a threshold arms for one event, told at once if fewer wait
 * already.
 */
void
scenario_events_srq(struct pair *p)
{
	struct nd_overlapped ov = {0};
	struct nd_event event;
	struct nd_srq *srq;
	struct nd_sge sge;

	side_open(&p->b, 64);
	WANT(ND_SUCCESS, nd_srq_create(p->b.pd, 16, 1, 1, &srq));
	sge = (struct nd_sge){p->b.buf, 8, nd_mr_local_token(p->b.mr)};
	expect_none(&p->b);
	WANT(ND_SUCCESS, nd_srq_receive(srq, NULL, &sge, 1));
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, 1)); /* one is not fewer than one */
	expect_none(&p->b);
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, 2));
	event = next(&p->b);
	CHECK(event.type == ND_EVENT_SRQ_LIMIT && event.srq == srq);
	CHECK(event.qp == NULL && event.cq == NULL && event.detail == 0);
	/* Once; a waiter of the other style is told in its way. */
	WANT(ND_PENDING, nd_srq_notify(srq, &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	expect_none(&p->b);

	/* By messages that take them. */
	side_open(&p->a, 64);
	side_create_qp(&p->a, 16);
	create_sharing_qp(&p->b, srq);
	WANT(ND_SUCCESS, nd_srq_receive(srq, NULL, &sge, 1));
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, 2));
	pair_connect(p);
	expect_none(&p->b);
	WANT(ND_SUCCESS, side_send(&p->a, 8));
	for (int told = 0; told != 3; told |= event.type == ND_EVENT_ESTABLISHED ? 1 : 2) {
		event = next(&p->b);
		CHECK(event.type == ND_EVENT_ESTABLISHED || event.srq == srq);
	}
	/* It goes with its queue. */
	WANT(ND_SUCCESS, nd_srq_modify(srq, 0, 2));
	WANT(ND_SUCCESS, finish(nd_adapter_notify_event(p->b.adapter, &ov), &ov));
	WANT(ND_PENDING, nd_srq_close(srq));
	expect_none(&p->b);
	pair_close(p);
}

/* For change_cases.py: prints the events of a's adapter, until the daemon ends. */
void
scenario_events_watched(struct pair *p)
{
	static const char *const name[] = {
		[ND_EVENT_LINK_DOWN] = "link down",
		[ND_EVENT_LINK_UP] = "link up",
		[ND_EVENT_ADDRESSES] = "addresses",
		[ND_EVENT_DEVICE_REMOVED] = "removed",
	};
	struct nd_event event;

	side_open(&p->a, 16);
	expect_none(&p->a);
	puts("watching");
	do {
		fflush(stdout);
		event = next(&p->a);
		CHECK(event.type < sizeof(name) / sizeof(name[0]) && name[event.type] != NULL);
		printf("told: %s\n", name[event.type]);
	} while (event.type != ND_EVENT_DEVICE_REMOVED);
	side_close(&p->a);
}

/* The last event of all says that there will be none. */
void
scenario_events_daemon_dies(struct pair *p)
{
	struct nd_overlapped wait = {0};
	struct nd_event event;

	side_open(&p->a, 16);
	expect_none(&p->a);
	WANT(ND_PENDING, nd_adapter_notify_event(p->a.adapter, &wait));
	CHECK(p->daemon_a > 0 && kill(p->daemon_a, SIGKILL) == 0);
	WANT(ND_SUCCESS, nd_overlapped_wait(&wait, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_adapter_get_event(p->a.adapter, &event));
	CHECK(event.type == ND_EVENT_DEVICE_REMOVED && event.qp == NULL && event.cq == NULL);
	WANT(ND_DEVICE_REMOVED, nd_adapter_get_event(p->a.adapter, &event));
	WANT(ND_DEVICE_REMOVED, nd_adapter_notify_event(p->a.adapter, &wait));
	side_close(&p->a);
}
