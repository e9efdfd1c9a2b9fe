/* SPDX-License-Identifier: BSD-3-Clause */
#include <cstring>

#include "scenarios.hpp"

static int request[8]; /* contexts, by which requests are told */

/* checks R-SR-02[1], R-CR-05[1], R-ORD-01, R-POST-06[1,2]: a message takes one receive, in order,
 * with its length; an empty one as well. */
static void
messages(Pair &p)
{
	static const uint32_t sizes[] = {0, 1, 255, 5000, End::bytes / 2};

	p.meet();
	for (uint32_t i = 0; i < End::bytes; i++)
		p.a->buffer[i] = (char)(i * 7 + 1);
	for (uint32_t i = 0; i < 5; i++) {
		memset(p.b->buffer, 0, End::bytes);
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, End::bytes));
		WANT(ND_SUCCESS, p.b->receive(&request[1], 0, 0));
		WANT(ND_SUCCESS, p.a->send(&request[2], 100, sizes[i]));
		WANT(ND_SUCCESS, p.a->send(&request[3], 0, 0));
		WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
		WANT(ND_SUCCESS, status_of(*p.a, &request[3]));
		Result r = next(*p.b);
		CHECK(r.context == &request[0] && r.status == ND_SUCCESS && r.bytes == sizes[i]);
		CHECK(memcmp(p.b->buffer, p.a->buffer + 100, sizes[i]) == 0);
		r = next(*p.b);
		CHECK(r.context == &request[1] && r.status == ND_SUCCESS && r.bytes == 0);
	}
}

/* checks R-SR-08[1], R-CONN-22, R-SR-01[1]: the side that was asked may send first. */
static void
passive_first(Pair &p)
{
	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 8));
	p.meet();
	WANT(ND_SUCCESS, p.b->send(&request[1], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.b, &request[1]));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
}

/* checks R-ORD-03[1,3], R-CQ-07[1]: nothing is told of silent successes, not by an armed queue
 * either. */
static void
silent(Pair &p)
{
	Result r;

	p.meet();
	for (unsigned i = 0; i < 3; i++)
		WANT(ND_SUCCESS, p.b->receive(&request[i], 0, 8));
	WANT(ND_SUCCESS, p.a->arm(ND_CQ_NOTIFY_ANY));
	WANT(ND_SUCCESS, p.a->send(&request[3], 0, 8, ND_OP_FLAG_SILENT_SUCCESS));
	WANT(ND_SUCCESS, p.a->send(&request[4], 0, 8, ND_OP_FLAG_SILENT_SUCCESS));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[1]));
	CHECK(p.a->armed() && !p.a->take(&r));
	WANT(ND_SUCCESS, p.a->send(&request[5], 0, 8));
	WANT(ND_SUCCESS, p.a->told());
	WANT(ND_SUCCESS, status_of(*p.a, &request[5]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[2]));
}

/* checks R-SR-03[1-5], R-SR-04[1], R-CR-08[1]: of a message that is too long */
static void
too_long(Pair &p)
{
	p.meet();
	memset(p.a->buffer, 0x5a, End::bytes);
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 1000));
	WANT(ND_SUCCESS, p.b->receive(&request[1], 0, 1000));
	WANT(ND_SUCCESS, p.a->send(&request[2], 0, 1001));
	WANT(p.b->word(ND_DATA_OVERRUN, true), status_of(*p.b, &request[0]));
	WANT(ND_CANCELED, status_of(*p.b, &request[1]));
	for (uint32_t i = 1000; i < 2000; i++)
		CHECK(p.b->buffer[i] == 0);
	WANT(p.a->word(ND_DATA_ERROR), status_of(*p.a, &request[2]));
	WANT(ND_SUCCESS, p.a->receive(&request[3], 0, 8)); /* R-POST-03[1] */
	WANT(ND_CANCELED, status_of(*p.a, &request[3]));
}

/* checks R-POST-04[1]: one request more than is granted. Depths are powers of two already. */
static void
full(Pair &p)
{
	p.meet();
	for (unsigned i = 0; i < End::depth; i++)
		WANT(ND_SUCCESS, p.a->receive(&request[i % 8], 0, 8));
	WANT(ND_NO_MORE_ENTRIES, p.a->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.b->send(&request[0], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 8));
}

/* checks R-POST-02[1,2], R-MW-11[1] */
static void
unconnected(Pair &p)
{
	Far told;

	WANT(ND_CONNECTION_INVALID, p.a->send(&request[0], 0, 8));
	WANT(ND_CONNECTION_INVALID, p.a->bind(&request[0], {0, 8}, ND_OP_FLAG_ALLOW_READ, &told));
	WANT(ND_CONNECTION_INVALID, p.a->write(&request[0], {0, 8}, {0, 8, 1}, 0));
	WANT(ND_CONNECTION_INVALID, p.a->read(&request[0], {0, 8}, {0, 8, 1}, 0));
	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 8));
}

/* checks R-FL-01[1], R-FL-03[1], R-FL-04[2], R-FL-06[4] */
static void
flushed_alone(Pair &p)
{
	for (unsigned i = 0; i < 8; i++)
		WANT(ND_SUCCESS, p.a->receive(&request[i], 0, 8));
	WANT(ND_SUCCESS, p.a->flush());
	for (unsigned i = 0; i < 8; i++)
		WANT(ND_CANCELED, status_of(*p.a, &request[i]));
	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 8));
	WANT(ND_CANCELED, status_of(*p.a, &request[0]));
}

/* checks R-FL-04[1,2], R-FL-05[1], R-ORD-03[2], R-CQ-03: silent requests, too, since they failed;
 * and each of them satisfies an arm. The peer has no receive, so that they wait. */
static void
flushed(Pair &p)
{
	p.meet();
	WANT(ND_SUCCESS, p.a->arm(ND_CQ_NOTIFY_SOLICITED));
	for (unsigned i = 0; i < 4; i++)
		WANT(ND_SUCCESS,
			p.a->send(&request[i], 0, 8, i % 2 ? ND_OP_FLAG_SILENT_SUCCESS : 0));
	WANT(ND_SUCCESS, p.a->flush());
	WANT(ND_SUCCESS, p.a->told());
	for (unsigned i = 0; i < 4; i++)
		WANT(ND_CANCELED, status_of(*p.a, &request[i]));
}

/* checks R-CQ-02[1,3], R-CQ-05[2], R-CQ-06[2] */
static void
notified(Pair &p)
{
	p.meet();
	for (unsigned i = 0; i < 3; i++)
		WANT(ND_SUCCESS, p.b->receive(&request[i], 0, 8));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_SOLICITED));
	WANT(ND_SUCCESS, p.a->send(&request[3], 0, 8));
	WANT(ND_SUCCESS, polled(*p.b, &request[0]));
	CHECK(p.b->armed());
	WANT(ND_SUCCESS, p.a->send(&request[4], 0, 8, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	WANT(ND_SUCCESS, p.b->told());
	WANT(ND_SUCCESS, status_of(*p.b, &request[1]));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ERRORS));
	WANT(ND_SUCCESS, p.a->send(&request[5], 0, 8, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
	WANT(ND_SUCCESS, polled(*p.b, &request[2]));
	CHECK(p.b->armed());
	WANT(ND_SUCCESS, p.b->receive(&request[6], 0, 8));
	WANT(ND_SUCCESS, p.b->flush());
	WANT(ND_CANCELED, polled(*p.b, &request[6]));
	CHECK(p.b->armed());
}

const Scenario of_messages[] = {
	{"messages", messages},
	{"passive_first", passive_first},
	{"silent", silent},
	{"too_long", too_long},
	{"full", full},
	{"unconnected", unconnected},
	{"flushed_alone", flushed_alone},
	{"flushed", flushed},
	{"notified", notified},
	{},
};
