/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of connectors and listeners that are canceled, where they are requests; and limits of
 * reads, where Connect and Accept are told some. */
#include <cstring>

#include "scenarios.hpp"

static int request[8];

/* checks R-OV-04[4], R-OV-07[1]: each pends, even if its outcome is known, and to ask changes
 * nothing. */
static void
always_pends(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const int32_t get = p.b->get_request(*p.b);

	WANT(ND_PENDING, get);
	for (unsigned i = 0; i < 100; i++)
		CHECK(p.b->under_way(Request::get));
	WANT(ND_PENDING, p.a->connect(at, "hello"));
	WANT(ND_SUCCESS, p.b->ended(Request::get, get));
	WANT(ND_PENDING, p.b->accept("welcome"));
	WANT(ND_SUCCESS, p.a->ended(Request::connect, ND_PENDING));
	WANT(ND_SUCCESS, p.a->ended(Request::complete, p.a->complete()));
	WANT(ND_SUCCESS, p.b->ended(Request::accept, ND_PENDING));
	WANT(ND_PENDING, p.b->notify_disconnect());
	WANT(ND_PENDING, p.a->disconnect());
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, ND_PENDING));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, ND_PENDING));
}

/* checks R-DISC-06[1] */
static void
own_goodbye(Pair &p)
{
	p.meet();
	const int32_t notice = p.a->notify_disconnect();

	WANT(ND_PENDING, notice);
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, p.a->disconnect()));
	WANT(p.a->word(ND_CONNECTION_DISCONNECTED), p.a->ended(Request::notice, notice));
}

/* checks R-DISC-06[2]: the connection goes on. */
static void
canceled_notice(Pair &p)
{
	p.meet();
	const int32_t notice = p.a->notify_disconnect();

	WANT(ND_PENDING, notice);
	WANT(ND_SUCCESS, p.a->cancel());
	CHECK(!p.a->under_way(Request::notice));
	WANT(ND_CANCELED, p.a->ended(Request::notice, notice));
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
}

/* checks R-DISC-07[1,2]: asked for too early, and late */
static void
notice_early_and_late(Pair &p)
{
	const int32_t early = p.b->notify_disconnect();

	WANT(ND_CONNECTION_INVALID, p.b->ended(Request::notice, early));
	p.meet();
	const int32_t notice = p.b->notify_disconnect();
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, p.a->disconnect()));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, notice));
	const int32_t late = p.b->notify_disconnect();
	WANT(ND_SUCCESS, p.b->ended(Request::notice, late));
}

/* checks R-CONN-20[1-3], R-CONN-14[1], R-CONN-21[1-3]: Connect is canceled when b has the
 * request. */
static void
canceled_connect(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const int32_t ask = p.ask(at);

	WANT(ND_SUCCESS, p.a->cancel());
	CHECK(!p.a->under_way(Request::connect));
	WANT(ND_CANCELED, p.a->ended(Request::connect, ask));
	wait_for_the_news(*p.b);
	WANT(ND_CONNECTION_ABORTED, p.b->ended(Request::accept, p.b->accept("welcome")));
	WANT(ND_INVALID_DEVICE_STATE, p.a->ended(Request::connect, p.a->connect(at, "again")));
}

/* checks R-CONN-20[1,2]: Accept is canceled before a has completed. */
static void
canceled_accept(Pair &p)
{
	const int32_t ask = p.ask(p.b->listen());

	const int32_t accept = p.b->accept("welcome");
	WANT(ND_SUCCESS, p.a->ended(Request::connect, ask));
	WANT(ND_SUCCESS, p.b->cancel());
	WANT(ND_CANCELED, p.b->ended(Request::accept, accept));
	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 8));
	/* Where the peer's reject is first, there is nothing to complete, and the queue pair, which
	 * was never connected, is the program's to flush. */
	if (p.a->ended(Request::complete, p.a->complete()) != ND_SUCCESS)
		WANT(ND_SUCCESS, p.a->flush());
	WANT(ND_CANCELED, status_of(*p.a, &request[0]));
}

/* checks R-CONN-12[4]: a cancels where nothing pends, but an answer waits. */
static void
canceled_answer(Pair &p)
{
	const int32_t ask = p.ask(p.b->listen());

	const int32_t accept = p.b->accept("welcome");
	WANT(ND_SUCCESS, p.a->ended(Request::connect, ask));
	WANT(ND_SUCCESS, p.a->cancel());
	WANT(ND_CONNECTION_REFUSED, p.b->ended(Request::accept, accept));
}

/* checks R-CONN-20[4-6]: who waits at the listener is free for the next request. */
static void
canceled_listening(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const int32_t get = p.b->get_request(*p.b);

	WANT(ND_PENDING, get);
	WANT(ND_SUCCESS, p.b->cancel_listening());
	CHECK(!p.b->under_way(Request::get));
	WANT(ND_CANCELED, p.b->ended(Request::get, get));
	join(*p.a, *p.b, *p.b, at);
}

static void
limits_are(End &e, uint32_t inbound, uint32_t outbound)
{
	uint32_t in = 0, out = 0;

	WANT(ND_SUCCESS, e.read_limits(&in, &out));
	CHECK(in == inbound && out == outbound);
}

/* checks R-CONN-09[1,5,6], R-CONN-23[1]: what b hears of a's offer, and a of b's answer, which
 * was more than a had offered */
static void
limits_of_reads(Pair &p)
{
	const uint32_t most = p.a->limits().reads;
	const int32_t ask = p.ask(p.b->listen(), Words("hello", 2, 3));

	CHECK(most > 3);
	limits_are(*p.b, 3, 2);
	const int32_t accept = p.b->accept(Words("welcome", most + 1000, most + 1000));
	WANT(ND_SUCCESS, p.a->ended(Request::connect, ask));
	limits_are(*p.a, 2, 3);
	WANT(ND_SUCCESS, p.a->ended(Request::complete, p.a->complete()));
	WANT(ND_SUCCESS, p.b->ended(Request::accept, accept));
}

/* checks R-CONN-09[1-4]: both ask for more than an adapter has. */
static void
limits_of_adapters(Pair &p)
{
	const uint32_t most = p.a->limits().reads;

	CHECK(most > 5 && most <= 255);
	p.meet(Words("hello", 257, 257), Words("welcome", 1000, 5));
	limits_are(*p.a, 5, most);
}

/* checks R-RW-04[1], R-ORD-01[1]: more reads than may be under way wait for each other. */
static void
more_reads(Pair &p)
{
	p.meet(Words("hello", 1, 1), Words("welcome", 1, 1));
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ);

	for (uint32_t i = 0; i < 8; i++)
		memset(p.b->buffer + i * 50000, (int)i + 1, 50000);
	for (uint32_t i = 0; i < 8; i++)
		WANT(ND_SUCCESS, p.a->read(&request[i], {i * 50000, 50000}, w, i * 50000));
	for (int &one : request)
		WANT(ND_SUCCESS, status_of(*p.a, &one));
	CHECK(memcmp(p.a->buffer, p.b->buffer, 400000) == 0);
}

/* checks R-RW-04[2], R-CONN-09[8], R-CONN-10[1,3], R-CONN-23[1]: b serves no read, which a learns
 * by its result. */
static void
no_reads(Pair &p)
{
	p.meet(Words("hello", 4, 4), Words("welcome", 0, 4));
	limits_are(*p.a, 4, 0);
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ);

	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->read(&request[1], {0, 8}, w, 0));
	Result r = next(*p.a);
	if (r.context == &request[0]) {
		WANT(ND_CANCELED, r.status);
		r = next(*p.a);
	} else {
		WANT(ND_CANCELED, status_of(*p.a, &request[0]));
	}
	CHECK(r.context == &request[1]);
	WANT(ND_INVALID_DEVICE_REQUEST, r.status);
}

const Scenario of_attempts[] = {
	{"always_pends", always_pends},
	{"own_goodbye", own_goodbye},
	{"canceled_notice", canceled_notice},
	{"notice_early_and_late", notice_early_and_late},
	{"canceled_connect", canceled_connect},
	{"canceled_accept", canceled_accept},
	{"canceled_answer", canceled_answer},
	{"canceled_listening", canceled_listening},
	{},
};
const Scenario of_limits[] = {
	{"limits_of_reads", limits_of_reads},
	{"limits_of_adapters", limits_of_adapters},
	{"more_reads", more_reads},
	{"no_reads", no_reads},
	{},
};
