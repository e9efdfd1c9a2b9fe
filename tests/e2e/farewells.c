/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections end: what is told, in which order, and what becomes of requests. */
#include <string.h>

#include "meeting.h"
#include "scenarios.h"

static nd_status
part(struct side *s)
{
	struct nd_overlapped ov = {0};

	return finish(nd_connector_disconnect(s->connector, &ov), &ov);
}

/*
 * checks R-DISC-08, R-DISC-09, R-DISC-15: b does nothing. What a sent before it went is delivered;
 * then b is told, and only then, and without its Disconnect, its other receives are cancelled. Both
 * words come to b's control thread in the order in which they were sent.
 */
void
scenario_told_first(struct pair *p)
{
	struct nd_overlapped told = {0}, woken = {0};
	struct nd_result result;

	pair_open(p);
	for (int i = 0; i < 3; i++)
		WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_SUCCESS, side_send(&p->a, 10));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
	/* the message arrived before it was acknowledged, and is left lying: an arm ignores it */
	WANT(ND_PENDING, nd_cq_notify(p->b.cq, ND_CQ_NOTIFY_ANY, &woken));
	WANT(ND_SUCCESS, nd_overlapped_wait(&woken, PATIENCE_MS));
	memset(&woken, 0, sizeof(woken));
	WANT(ND_PENDING, nd_cq_notify(p->b.cq, ND_CQ_NOTIFY_ANY, &woken));
	WANT(ND_PENDING, nd_overlapped_status(&told));
	WANT(ND_SUCCESS, part(&p->a));
	WANT(ND_SUCCESS, nd_overlapped_wait(&woken, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_overlapped_status(&told));
	WANT(ND_SUCCESS, side_result(&p->b, &result));
	CHECK(result.bytes_transferred == 10);
	WANT(ND_CANCELED, side_result(&p->b, &result));
	WANT(ND_CANCELED, side_result(&p->b, &result));
	WANT(ND_SUCCESS, part(&p->b));
	CHECK(side_quiet(&p->b, 20));
	pair_close(p);
}

/* checks R-DISC-11: a write that the peer refuses ends the connection at both ends, told once. */
void
scenario_broken(struct pair *p)
{
	struct nd_overlapped at_a = {0}, at_b = {0}, done = {0};
	struct nd_result result;

	pair_open(p);
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->a.connector, &at_a));
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &at_b));
	WANT(ND_SUCCESS, side_write(&p->a, &p->b, 100, nd_mr_remote_token(p->b.mr) ^ 0x5500));
	WANT(ND_SUCCESS, nd_overlapped_wait(&at_a, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_overlapped_wait(&at_b, PATIENCE_MS));
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	WANT(ND_CANCELED, side_result(&p->b, &result));
	/* at once: nobody else is asked */
	for (struct side *s = &p->a; s != NULL; s = s == &p->a ? &p->b : NULL) {
		WANT(ND_SUCCESS, part(s));
		WANT(ND_CONNECTION_DISCONNECTED,
			finish(nd_connector_notify_disconnect(s->connector, &done), &done));
	}
	pair_close(p);
}

/*
 * checks R-DISC-16, R-DISC-17: a sends, b replies, and each disconnects as soon as it has what it
 * waits for, b its message and a the reply. No send is cancelled, in either order.
 */
void
scenario_last_word(struct pair *p)
{
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 200; i++) {
		if (i > 0)
			meet_again(&m);
		WANT(ND_SUCCESS, side_receive(&p->a, 100));
		WANT(ND_SUCCESS, side_receive(&p->b, 100));
		meet_connect(&m);
		WANT(ND_SUCCESS, side_send(&p->a, 10));
		WANT(ND_SUCCESS, side_result(&p->b, &result));
		WANT(ND_SUCCESS, side_send(&p->b, 10));
		for (int n = 0; n < 2; n++) /* its send, and the reply */
			WANT(ND_SUCCESS, side_result(&p->a, &result));
		WANT(ND_SUCCESS, part(&p->a));
		WANT(ND_SUCCESS, side_result(&p->b, &result));
		CHECK(result.request_type == ND_REQUEST_SEND);
		WANT(ND_SUCCESS, part(&p->b));
	}
	meet_close(&m);
}
