/* SPDX-License-Identifier: BSD-3-Clause */
/* How connections end: what is told, in which order, and what becomes of requests. */
#include <signal.h>
#include <string.h>

#include <ndclient_modify.h>

#include "meeting.h"
#include "scenarios.h"
#include "still.h"

static nd_status
part(struct side *s)
{
	struct nd_overlapped ov = {0};

	return finish(nd_connector_disconnect(s->connector, &ov), &ov);
}

/*
 * checks R-DISC-08[1,2], R-DISC-09[1,2]: b does nothing. What a sent before it went is
 * delivered; then b is told, and only then, and without its Disconnect, its other receives are
 * cancelled. Both notices come to b's control thread in the order in which they were sent.
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

static nd_status
send_without_right(struct side *s)
{
	struct nd_sge sge = {s->buf, 100, nd_mr_local_token(s->mr) ^ 0x5500};

	return nd_qp_send(s->qp, s, &sge, 1, 0);
}

static nd_status
die_by_hand(struct side *s)
{
	struct nd_overlapped ov = {0};

	return finish(nd_qp_modify(s->qp, ND_QP_STATE_ERROR, NULL, &ov), &ov);
}

/*
 * checks R-DISC-11[1,2,5-7]: a write that the peer refuses, a request that fails here, or a queue
 * pair that its owner puts into the error state ends the connection. Both ends are told, once; the
 * peer's posted receives come back without its doing; Disconnect succeeds at once, without asking
 * the peer.
 */
void
scenario_broken(struct pair *p)
{
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	for (int way = 0; way < 3; way++) {
		struct nd_overlapped at_a = {0}, at_b = {0}, done = {0};

		meet_again(&m);
		meet_connect(&m);
		WANT(ND_SUCCESS, side_receive(&p->b, 100));
		WANT(ND_PENDING, nd_connector_notify_disconnect(p->a.connector, &at_a));
		WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &at_b));
		if (way == 0)
			WANT(ND_SUCCESS, side_write(&p->a, &p->b, 100,
						 nd_mr_remote_token(p->b.mr) ^ 0x5500));
		else if (way == 1)
			WANT(ND_SUCCESS, send_without_right(&p->a));
		else
			WANT(ND_SUCCESS, die_by_hand(&p->a));
		WANT(ND_SUCCESS, nd_overlapped_wait(&at_a, PATIENCE_MS));
		WANT(ND_SUCCESS, nd_overlapped_wait(&at_b, PATIENCE_MS));
		if (way < 2)
			WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
		WANT(ND_CANCELED, side_result(&p->b, &result));
		for (struct side *s = &p->a; s != NULL; s = s == &p->a ? &p->b : NULL) {
			WANT(ND_SUCCESS, part(s));
			WANT(ND_CONNECTION_DISCONNECTED,
				finish(nd_connector_notify_disconnect(s->connector, &done), &done));
		}
	}
	meet_close(&m);
}

/* checks R-DISC-12[1-3]: the queue pair, or the connector, is closed while connected: the peer is
 * told, and what was posted comes back at both ends, in queues that live on. */
void
scenario_closed_while_connected(struct pair *p)
{
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	for (int connector = 0; connector < 2; connector++) {
		struct nd_overlapped told = {0};

		meet_again(&m);
		meet_connect(&m);
		for (int i = 0; i < 3; i++) {
			WANT(ND_SUCCESS, side_receive(&p->a, 100));
			WANT(ND_SUCCESS, side_receive(&p->b, 100));
		}
		WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
		if (connector)
			WANT(ND_SUCCESS, nd_connector_close(p->a.connector));
		else
			WANT(ND_SUCCESS, nd_qp_close(p->a.qp));
		WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS));
		for (int i = 0; i < 3; i++) {
			WANT(ND_CANCELED, side_result(&p->a, &result));
			WANT(ND_CANCELED, side_result(&p->b, &result));
		}
		WANT(ND_SUCCESS, part(&p->b));
		if (connector)
			WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &p->a.connector));
		else
			side_create_qp(&p->a, 16);
	}
	meet_close(&m);
}

/* The reply, and whether the send in front of it has ended. */
static void
take_reply(struct side *s, int *sent)
{
	struct nd_result result;

	do {
		WANT(ND_SUCCESS, side_result(s, &result));
		*sent |= result.request_type == ND_REQUEST_SEND;
	} while (result.request_type != ND_REQUEST_RECEIVE);
}

/*
 * checks R-DISC-16[1], R-DISC-17[1]: a sends, b replies, and each disconnects as soon as it has
 * what it waits for, b its message and a the reply, without a look at its own send. No send is
 * cancelled, in either order.
 */
void
scenario_last_word(struct pair *p)
{
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 1000; i++) {
		int sent = 0;

		if (i > 0)
			meet_again(&m);
		WANT(ND_SUCCESS, side_receive(&p->a, 100));
		WANT(ND_SUCCESS, side_receive(&p->b, 100));
		meet_connect(&m);
		WANT(ND_SUCCESS, side_send(&p->a, 10));
		WANT(ND_SUCCESS, side_result(&p->b, &result));
		WANT(ND_SUCCESS, side_send(&p->b, 10));
		take_reply(&p->a, &sent);
		WANT(ND_SUCCESS, part(&p->a));
		if (!sent) {
			WANT(ND_SUCCESS, side_result(&p->a, &result));
			CHECK(result.request_type == ND_REQUEST_SEND);
		}
		WANT(ND_SUCCESS, side_result(&p->b, &result));
		CHECK(result.request_type == ND_REQUEST_SEND);
		WANT(ND_SUCCESS, part(&p->b));
	}
	meet_close(&m);
}

/*
 * checks R-DISC-10: a client that has drained its requests disconnects without loss; one that has
 * not may lose some, but each of them ends once, good ones before cancelled ones, and the end is
 * told as any other.
 */
void
scenario_undrained(struct pair *p)
{
	struct nd_result result;
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 20; i++) {
		struct nd_overlapped told = {0};
		const int drained = i % 2;
		int bad = 0;

		if (i > 0)
			meet_again(&m);
		meet_connect(&m);
		WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
		memset(p->a.buf, i, BUFFER_BYTES);
		for (int n = 0; n < 8; n++)
			WANT(ND_SUCCESS, side_write(&p->a, &p->b, BUFFER_BYTES,
						 nd_mr_remote_token(p->b.mr)));
		if (!drained)
			WANT(ND_SUCCESS, part(&p->a));
		for (int n = 0; n < 8; n++) {
			nd_status st = side_result(&p->a, &result);

			CHECK(st == ND_CANCELED || (st == ND_SUCCESS && bad == 0));
			bad += st != ND_SUCCESS;
		}
		CHECK(!drained || bad == 0);
		if (drained)
			WANT(ND_SUCCESS, part(&p->a));
		WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS));
		CHECK(!drained || memcmp(p->a.buf, p->b.buf, BUFFER_BYTES) == 0);
		WANT(ND_SUCCESS, part(&p->b));
		CHECK(side_quiet(&p->a, 2) && side_quiet(&p->b, 2));
	}
	meet_close(&m);
}

/* checks R-DISC-03[1]: both ends disconnect at the same time, and both succeed. */
void
scenario_crossing_ends(struct pair *p)
{
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 100; i++) {
		struct nd_overlapped done[2] = {{0}};
		struct side *first = i & 1 ? &p->a : &p->b, *second = i & 1 ? &p->b : &p->a;

		meet_again(&m);
		meet_connect(&m);
		WANT(ND_PENDING, nd_connector_disconnect(first->connector, &done[0]));
		WANT(ND_PENDING, nd_connector_disconnect(second->connector, &done[1]));
		WANT(ND_SUCCESS, nd_overlapped_wait(&done[0], PATIENCE_MS));
		WANT(ND_SUCCESS, nd_overlapped_wait(&done[1], PATIENCE_MS));
	}
	meet_close(&m);
}

#define MINE 0xee /* what is written when the peer may not write */

/* Both ways, and more than arrives before one end disconnects. */
static void
make_traffic(struct pair *p)
{
	for (int i = 0; i < 4; i++) {
		WANT(ND_SUCCESS,
			side_write(&p->a, &p->b, BUFFER_BYTES, nd_mr_remote_token(p->b.mr)));
		WANT(ND_SUCCESS,
			side_read(&p->b, &p->a, BUFFER_BYTES, nd_mr_remote_token(p->a.mr)));
		WANT(ND_SUCCESS, side_receive(&p->b, 100));
		WANT(ND_SUCCESS, side_send(&p->a, 100));
	}
}

/* Its owner has it back: the region goes, and what is written there now stays, and stays there. */
static void
take_back(struct side *s)
{
	WANT(ND_SUCCESS, nd_mr_deregister(s->mr, NULL));
	memset(s->buf, MINE, BUFFER_BYTES);
}

static int
has(const struct side *s, int byte)
{
	return memchr(s->buf, byte, BUFFER_BYTES) != NULL;
}

static void
check_untouched(struct side *s)
{
	for (int i = 0; i < BUFFER_BYTES; i++)
		CHECK((uint8_t)s->buf[i] == MINE);
}

static void
drain(struct side *s)
{
	struct nd_result results[16];

	while (nd_cq_get_results(s->cq, results, 16) > 0)
		;
}

/*
 * checks R-DISC-02[2]: in the midst of writes, reads and messages one side disconnects. As soon as
 * it is done its memory is its own: nothing comes in, and what it holds now does not get out.
 */
void
scenario_hands_off(struct pair *p)
{
	struct meeting m;

	meet_open(&m, p);
	for (int i = 0; i < 60; i++) {
		struct side *first = i & 1 ? &p->a : &p->b, *second = i & 1 ? &p->b : &p->a;

		meet_again(&m);
		meet_connect(&m);
		memset(p->a.buf, 0x11, BUFFER_BYTES);
		memset(p->b.buf, 0x22, BUFFER_BYTES);
		make_traffic(p);
		sleep_ms(i % 3);
		WANT(ND_SUCCESS, part(first));
		take_back(first);
		sleep_ms(1);
		check_untouched(first);
		CHECK(!has(second, MINE));
		WANT(ND_SUCCESS, part(second));
		take_back(second);
		sleep_ms(1);
		check_untouched(first);
		check_untouched(second);
		drain(&p->a);
		drain(&p->b);
		side_register(&p->a);
		side_register(&p->b);
	}
	meet_close(&m);
}

/* checks R-DISC-02[1,2]: the peer falls silent in the midst of it, is given up, and comes back. */
void
scenario_hands_off_given_up(struct pair *p)
{
	struct nd_overlapped done = {0};
	struct meeting m;

	meet_open(&m, p);
	meet_connect(&m);
	memset(p->a.buf, 0x11, BUFFER_BYTES);
	make_traffic(p);
	CHECK(process_stop(p->daemon_a));
	make_traffic(&(struct pair){.a = p->b, .b = p->a}); /* what was not answered is repeated */
	WANT(ND_TIMEOUT, finish(nd_connector_disconnect(p->b.connector, &done), &done));
	take_back(&p->b);
	CHECK(kill(p->daemon_a, SIGCONT) == 0);
	sleep_ms(200);
	check_untouched(&p->b);
	CHECK(!has(&p->a, MINE));
	meet_close(&m);
}
