/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenarios.hpp"

static int request[8];

/* checks R-CONN-07, R-CONN-08[1], R-CONN-11: private data, both ways */
static void
private_data(Pair &p)
{
	p.meet();
	CHECK(p.b->peer_data() == "hello");
	CHECK(p.a->peer_data() == "welcome");
}

/* checks R-CONN-04[1]: nobody listens; R-CONN-03: the connector may try again */
static void
nobody_listens(Pair &p)
{
	sockaddr_in at = p.b->listen(), other = at;

	other.sin_port = (in_port_t)(at.sin_port ^ htons(1));
	WANT(ND_CONNECTION_REFUSED, p.a->ended(Request::connect, p.a->connect(other, "hello")));
	const int32_t ask = p.ask(at, "again");
	CHECK(p.b->peer_data() == "again");
	p.answer(ask);
}

/* checks R-CONN-04[5,6] */
static void
rejected(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const int32_t ask = p.ask(at);

	WANT(ND_SUCCESS, p.b->reject("not today"));
	WANT(ND_CONNECTION_REFUSED, p.a->ended(Request::connect, ask));
	CHECK(p.a->peer_data() == "not today");
}

/* checks R-CONN-02[2,3] */
static void
connected_already(Pair &p)
{
	p.meet();
	const sockaddr_in at = p.a->listen();

	WANT(ND_CONNECTION_ACTIVE, p.b->ended(Request::connect, p.b->connect(at, "")));
}

/* checks R-DISC-01, R-DISC-05[1], R-DISC-08[1-3], R-POST-03[2,3] */
static void
goodbye(Pair &p)
{
	Result early;

	p.meet();
	const int32_t notice = p.b->notify_disconnect();

	WANT(ND_PENDING, notice);
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, p.a->disconnect()));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, notice));
	if (!p.b->by_the_pages())
		WANT(ND_CANCELED, status_of(*p.b, &request[0]));
	else
		CHECK(!p.b->take(&early));
	WANT(ND_SUCCESS, p.b->ended(Request::disconnect, p.b->disconnect()));
	if (p.b->by_the_pages())
		WANT(ND_CANCELED, status_of(*p.b, &request[0]));
	WANT(ND_CONNECTION_INVALID, p.a->send(&request[1], 0, 8));
	WANT(ND_SUCCESS, p.a->receive(&request[2], 0, 8));
	WANT(ND_CANCELED, status_of(*p.a, &request[2]));
}

/* checks R-DISC-14: of what was never connected */
static void
never_connected(Pair &p)
{
	const int32_t begun = p.a->disconnect();

	CHECK(p.a->ended(Request::disconnect, begun) == ND_CONNECTION_INVALID);
}

const Scenario of_connections[] = {
	{"private_data", private_data},
	{"nobody_listens", nobody_listens},
	{"rejected", rejected},
	{"connected_already", connected_already},
	{"goodbye", goodbye},
	{"never_connected", never_connected},
	{},
};
