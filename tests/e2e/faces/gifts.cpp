/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends that invalidate a window of the receiver's. */
#include "scenarios.hpp"

#define BOTH (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)

static int request[8];

/* checks R-INV-07, R-INV-08[1-3], R-INV-11, R-INV-15 */
static void
invalidated_by_the_peer(Pair &p)
{
	p.meet();
	const Far w = p.open_window(BOTH);

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.b->receive(&request[1], 0, 8));
	p.a->buffer[3] = 'x';
	WANT(ND_SUCCESS, p.a->send_and_invalidate(&request[2], 0, 4, w));
	WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	const Result r = next(*p.b);
	CHECK(r.status == ND_SUCCESS && r.bytes == 4 && r.context == &request[0]);
	CHECK(p.b->buffer[3] == 'x');
	const Far again = p.open_window(BOTH);
	WANT(ND_SUCCESS, p.a->write(&request[3], {0, 8}, again, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[3]));
	WANT(ND_SUCCESS, p.a->write(&request[4], {0, 8}, w, 0));
	refused(p, &request[4], &request[1]);
}

/* checks R-INV-12, R-INV-07[1]: it is a send, with the flags of one. */
static void
solicited_gift(Pair &p)
{
	Result r;

	p.meet();
	const Far w = p.open_window(BOTH);

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_SOLICITED));
	WANT(ND_SUCCESS, p.a->send_and_invalidate(&request[1], 0, 8, w,
				 ND_OP_FLAG_SEND_AND_SOLICIT_EVENT | ND_OP_FLAG_SILENT_SUCCESS));
	WANT(ND_SUCCESS, p.b->told());
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	CHECK(!p.a->take(&r));
}

/* A message that would invalidate what it can't: b's receive fails by it, and the connection. */
static void
bad_gift(Pair &p, const Far &w)
{
	WANT(ND_SUCCESS, p.b->receive(&request[4], 0, 8));
	WANT(ND_SUCCESS, p.b->receive(&request[5], 0, 8));
	WANT(ND_SUCCESS, p.a->send_and_invalidate(&request[6], 0, 8, w));
	WANT(ND_INVALID_DEVICE_REQUEST, status_of(*p.b, &request[4]));
	WANT(ND_CANCELED, status_of(*p.b, &request[5]));
	WANT(ND_REMOTE_ERROR, status_of(*p.a, &request[6]));
}

/* checks R-INV-06[2], R-INV-09[1-4]: b has invalidated the window already. */
static void
local_first(Pair &p)
{
	p.meet();
	const Far w = p.open_window(BOTH);

	WANT(ND_SUCCESS, p.b->invalidate(&request[0]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	bad_gift(p, w);
}

/* checks R-INV-09[2-4]: the window is of another connection. */
static void
gift_of_others(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another(), b2 = p.b->another();
	Far w;

	join(*p.a, *p.b, *p.b, at);
	join(*a2, *b2, *p.b, at);
	WANT(ND_SUCCESS, b2->bind(&request[0], {0, 4096}, BOTH, &w));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	bad_gift(p, w);
	WANT(ND_SUCCESS, a2->write(&request[1], {0, 8}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
}

/* checks R-INV-06[3], R-INV-04[2,3]: the peer has invalidated the window already. */
static void
remote_first(Pair &p)
{
	p.meet();
	const Far w = p.open_window(BOTH);

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.b->receive(&request[1], 0, 8));
	WANT(ND_SUCCESS, p.a->send_and_invalidate(&request[2], 0, 8, w));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.b->invalidate(&request[3]));
	WANT(ND_INVALID_DEVICE_REQUEST, status_of(*p.b, &request[3]));
	WANT(ND_CANCELED, status_of(*p.b, &request[1]));
}

const Scenario of_gifts[] = {
	{"invalidated_by_the_peer", invalidated_by_the_peer},
	{"solicited_gift", solicited_gift},
	{"local_first", local_first},
	{"gift_of_others", gift_of_others},
	{"remote_first", remote_first},
	{},
};
