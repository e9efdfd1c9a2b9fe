/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections over a cable that does something to what it carries, which the runner sees to. */
#include "scenarios.hpp"

static int request[8];

/* checks R-CONN-13[1,2]: the cable loses the last message of each handshake, so that b's Accept is
 * under way until a's first message has come, which b takes as soon as it is there. */
static void
data_first(Pair &p)
{
	const sockaddr_in at = p.b->listen();

	for (unsigned i = 0; i < 10; i++) {
		const auto a2 = p.a->another(), b2 = p.b->another();
		const int32_t get = p.b->get_request(*b2), ask = a2->connect(at, "hello");

		WANT(ND_SUCCESS, b2->receive(&request[0], 0, 8));
		WANT(ND_SUCCESS, b2->ended(Request::get, get));
		const int32_t accept = b2->accept("welcome");
		WANT(ND_SUCCESS, a2->ended(Request::connect, ask));
		WANT(ND_SUCCESS, a2->ended(Request::complete, a2->complete()));
		CHECK(b2->under_way(Request::accept));
		WANT(ND_SUCCESS, a2->send(&request[1], 0, 8));
		WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
		WANT(ND_SUCCESS, b2->ended(Request::accept, accept));
		WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
		WANT(ND_SUCCESS, a2->receive(&request[2], 0, 8));
		WANT(ND_SUCCESS, b2->send(&request[3], 0, 8));
		WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
		WANT(ND_SUCCESS, status_of(*p.b, &request[3]));
	}
}

/* checks R-INV-10[1]: the cable makes an opcode that nobody knows of a send that invalidates. The
 * connection fails, the window's memory is as it was, and the connection beside it goes on. */
static void
gift_to_an_older_one(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another(), b2 = p.b->another();

	join(*p.a, *p.b, *p.b, at);
	join(*a2, *b2, *p.b, at);
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ);
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send_and_invalidate(&request[1], 0, 8, w));
	WANT(p.a->word(ND_DATA_ERROR), status_of(*p.a, &request[1]));
	WANT(ND_CANCELED, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, b2->receive(&request[2], 0, 8));
	WANT(ND_SUCCESS, a2->send(&request[3], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[3]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[2]));
}

const Scenario of_lost_words[] = {
	{"data_first", data_first},
	{},
};
const Scenario of_older_peers[] = {
	{"gift_to_an_older_one", gift_to_an_older_one},
	{},
};
