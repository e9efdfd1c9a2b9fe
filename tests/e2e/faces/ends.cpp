/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners with more than one request, and how connections end. */
#include <memory>
#include <vector>

#include "scenarios.hpp"

static int request[8];

/* checks R-LSN-04[1-3], R-CONN-15[9]: requests go to those that wait, in order. */
static void
in_order(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another(), b2 = p.b->another();
	const int32_t first = p.b->get_request(*p.b), second = p.b->get_request(*b2);
	const int32_t ask = p.a->connect(at, "one");

	WANT(ND_SUCCESS, p.b->ended(Request::get, first));
	CHECK(p.b->peer_data() == "one" && b2->under_way(Request::get));
	const int32_t ask2 = a2->connect(at, "two");
	WANT(ND_SUCCESS, b2->ended(Request::get, second));
	CHECK(b2->peer_data() == "two");
	WANT(ND_SUCCESS, p.b->reject("no"));
	WANT(ND_SUCCESS, b2->reject("nor you"));
	WANT(ND_CONNECTION_REFUSED, p.a->ended(Request::connect, ask));
	WANT(ND_CONNECTION_REFUSED, a2->ended(Request::connect, ask2));
	CHECK(p.a->peer_data() == "no" && a2->peer_data() == "nor you");
}

/* checks R-CONN-04[2], R-LSN-05[3,4]: the listener has gone; the connection that came by it has
 * not. */
static void
closed_listener(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another();

	join(*p.a, *p.b, *p.b, at);
	p.b->close_listener();
	WANT(ND_CONNECTION_REFUSED, a2->ended(Request::connect, a2->connect(at, "hello")));
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
}

/* checks R-LSN-03[2-4], R-CONN-04[3], R-LSN-05[1,2]: requests wait, and count as long as they are
 * neither accepted nor rejected; the last one goes with the listener, as does who waits for one. */
static void
backlog(Pair &p)
{
	const sockaddr_in at = p.b->listen(1);
	const auto a2 = p.a->another(), a3 = p.a->another(), b2 = p.b->another();
	const int32_t ask = p.a->connect(at, "one");
	const int32_t get = p.b->get_request(*p.b);

	WANT(ND_SUCCESS, p.b->ended(Request::get, get));
	WANT(ND_CONNECTION_REFUSED, a2->ended(Request::connect, a2->connect(at, "two")));
	WANT(ND_SUCCESS, p.b->reject("no"));
	WANT(ND_CONNECTION_REFUSED, p.a->ended(Request::connect, ask));
	const int32_t ask2 = a2->connect(at, "two again");
	const int32_t get2 = p.b->get_request(*b2);
	WANT(ND_SUCCESS, b2->ended(Request::get, get2));
	CHECK(b2->peer_data() == "two again");
	const int32_t accept = b2->accept("welcome");
	WANT(ND_SUCCESS, a2->ended(Request::connect, ask2));
	WANT(ND_SUCCESS, a2->ended(Request::complete, a2->complete()));
	WANT(ND_SUCCESS, b2->ended(Request::accept, accept));
}

/* checks R-LSN-05[1,2]: who waits for requests, and requests that wait for one, end with the
 * listener. */
static void
last_requests(Pair &p)
{
	const sockaddr_in at = p.b->listen(1);
	const auto a2 = p.a->another(), b2 = p.b->another();
	const int32_t ask = p.a->connect(at, "hello");

	/* The first one waits there when the second one is refused. */
	WANT(ND_CONNECTION_REFUSED, a2->ended(Request::connect, a2->connect(at, "hello")));
	p.b->close_listener();
	WANT(ND_CONNECTION_REFUSED, p.a->ended(Request::connect, ask));
	p.b->listen();
	const int32_t get = p.b->get_request(*b2);
	WANT(ND_PENDING, get);
	p.b->close_listener();
	WANT(ND_CANCELED, b2->ended(Request::get, get));
}

/*
 * checks R-DISC-01[2,3], R-DISC-09[1,2], R-DISC-16[1]: a's message was answered by an own result
 * before it said goodbye, so it is one; b's receive is, too, and nobody had taken them. Neither
 * can be used for another connection.
 */
static void
kept(Pair &p)
{
	p.meet();
	const sockaddr_in at = p.a->listen();
	const int32_t notice = p.b->notify_disconnect();

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.b->receive(&request[1], 0, 8));
	WANT(ND_SUCCESS, p.a->receive(&request[2], 0, 8));
	WANT(ND_SUCCESS, p.a->receive(&request[3], 0, 8));
	WANT(ND_SUCCESS, p.a->send(&request[4], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.b->send(&request[5], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.b, &request[5]));
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, p.a->disconnect()));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, notice));
	unsigned good = 0;
	for (unsigned i = 0; i < 3; i++) {
		const Result r = next(*p.a);
		WANT(r.context == &request[3] ? ND_CANCELED : ND_SUCCESS, r.status);
		good += r.status == ND_SUCCESS;
		CHECK(r.status == ND_SUCCESS || good == 2);
	}
	WANT(ND_SUCCESS, p.b->ended(Request::disconnect, p.b->disconnect()));
	WANT(ND_CANCELED, status_of(*p.b, &request[1]));
	WANT(ND_INVALID_DEVICE_STATE, p.b->ended(Request::connect, p.b->connect(at, "again")));
}

/* checks R-DISC-11[1,5-7], R-POST-03[1]: a request of a's fails. Both are told, b is by a's
 * daemon, and Disconnect has nothing to wait for. */
static void
broken(Pair &p)
{
	p.meet();
	const int32_t notice_a = p.a->notify_disconnect(), notice_b = p.b->notify_disconnect();
	const Piece nowhere = {0, 8, true};

	WANT(ND_SUCCESS, p.a->enroll(p.a->buffer, 4096, ND_MR_FLAG_ALLOW_LOCAL_WRITE));
	WANT(ND_SUCCESS, p.a->retire());
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send_list(&request[1], &nowhere, 1));
	WANT(ND_ACCESS_VIOLATION, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, p.a->ended(Request::notice, notice_a));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, notice_b));
	WANT(ND_SUCCESS, p.a->receive(&request[2], 0, 8));
	WANT(ND_CANCELED, status_of(*p.a, &request[2]));
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, p.a->disconnect()));
	WANT(ND_SUCCESS, p.b->ended(Request::disconnect, p.b->disconnect()));
	WANT(ND_CANCELED, status_of(*p.b, &request[0]));
}

/* checks R-DISC-12[2,3]: the connector goes, and with it the connection. */
static void
closed_connector(Pair &p)
{
	p.meet();
	const int32_t notice = p.b->notify_disconnect();

	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 8));
	p.a->close_connector();
	WANT(ND_CANCELED, status_of(*p.a, &request[0]));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, notice));
}

/* checks R-DISC-12[1,3]: the queue pair goes, and with it the connection. */
static void
closed_pair(Pair &p)
{
	p.meet();
	const int32_t notice = p.b->notify_disconnect();

	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 8));
	p.a->close_pair();
	WANT(ND_CANCELED, status_of(*p.a, &request[0]));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, notice));
}

/* checks R-FL-06[1-3]: b flushed, so nothing comes from it; a is told when b says goodbye. */
static void
flushed_end(Pair &p)
{
	p.meet();
	const int32_t notice = p.a->notify_disconnect();

	WANT(ND_SUCCESS, p.b->flush());
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_CANCELED, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.b->ended(Request::disconnect, p.b->disconnect()));
	WANT(ND_SUCCESS, p.a->ended(Request::notice, notice));
}

/* checks R-DISC-14[1-3]: of a connector that was rejected */
static void
rejected_and_gone(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const int32_t ask = p.ask(at);

	WANT(ND_CONNECTION_INVALID, p.a->ended(Request::disconnect, p.a->disconnect()));
	WANT(ND_SUCCESS, p.b->reject("no"));
	WANT(ND_CONNECTION_REFUSED, p.a->ended(Request::connect, ask));
	WANT(ND_CONNECTION_INVALID, p.a->ended(Request::disconnect, p.a->disconnect()));
	WANT(ND_CONNECTION_INVALID, p.b->ended(Request::disconnect, p.b->disconnect()));
}

const Scenario of_listeners[] = {
	{"in_order", in_order},
	{"closed_listener", closed_listener},
	{},
};
const Scenario of_backlogs[] = {
	{"backlog", backlog},
	{"last_requests", last_requests},
	{},
};
const Scenario of_ends[] = {
	{"kept", kept},
	{"broken", broken},
	{"closed_connector", closed_connector},
	{"closed_pair", closed_pair},
	{"flushed_end", flushed_end},
	{"rejected_and_gone", rejected_and_gone},
	{},
};
