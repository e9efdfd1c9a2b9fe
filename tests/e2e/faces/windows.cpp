/* SPDX-License-Identifier: BSD-3-Clause */
#include <cstring>

#include "scenarios.hpp"

#define BOTH (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)

static int request[8];

/* a's request was refused by b: it fails, the connection is over, and b's receive is canceled. */
static void
refused(Pair &p, const void *context, const void *receive)
{
	WANT(p.a->word(ND_ACCESS_VIOLATION), status_of(*p.a, context));
	WANT(ND_CANCELED, status_of(*p.b, receive));
}

/* checks R-RW-01[1-3], R-RW-08[1], R-MW-06, R-MW-07[1] */
static void
window_works(Pair &p)
{
	Result r;

	p.meet();
	const Far w = p.open_window(BOTH);
	for (uint32_t i = 0; i < End::bytes; i++)
		p.a->buffer[i] = (char)(i * 13 + 5);
	WANT(ND_SUCCESS, p.a->write(&request[0], 0, End::bytes, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	CHECK(memcmp(p.a->buffer, p.b->buffer, End::bytes) == 0);
	p.b->buffer[End::bytes - 1] = 'x';
	WANT(ND_SUCCESS, p.a->read(&request[1], 10, 1, w, End::bytes - 1));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	CHECK(p.a->buffer[10] == 'x' && !p.b->take(&r));
}

/* checks R-RW-02[1-4]: a byte beyond */
static void
beyond_the_window(Pair &p)
{
	p.meet();
	Far w = p.open_window(BOTH);

	p.b->buffer[End::bytes - 1] = 1;
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->write(&request[1], 0, 2, w, End::bytes - 1));
	refused(p, &request[1], &request[0]);
	CHECK(p.b->buffer[End::bytes - 1] == 1);
}

/* checks R-RW-02[1-4], R-MW-04: without the right */
static void
without_the_right(Pair &p)
{
	p.meet();
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ);

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->read(&request[1], 0, 8, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	p.a->buffer[0] = 'x';
	WANT(ND_SUCCESS, p.a->write(&request[2], 0, 1, w, 0));
	refused(p, &request[2], &request[0]);
	CHECK(p.b->buffer[0] == 0);
}

/* checks R-INV-02[1], R-INV-05 */
static void
invalidated(Pair &p)
{
	p.meet();
	const Far first = p.open_window(BOTH);

	WANT(ND_SUCCESS, p.b->invalidate(&request[0]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	const Far second = p.open_window(BOTH);
	WANT(ND_SUCCESS, p.a->write(&request[1], 0, 8, second, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	CHECK(first.token != second.token);
	WANT(ND_SUCCESS, p.b->receive(&request[2], 0, 8));
	WANT(ND_SUCCESS, p.a->write(&request[3], 0, 8, first, 0));
	refused(p, &request[3], &request[2]);
}

/* checks R-INV-04[1,3]: of a window that is not bound */
static void
not_bound(Pair &p)
{
	p.meet();
	p.open_window(BOTH);
	WANT(ND_SUCCESS, p.b->invalidate(&request[0]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.b->receive(&request[1], 0, 8));
	WANT(ND_SUCCESS, p.b->invalidate(&request[2]));
	WANT(ND_INVALID_DEVICE_REQUEST, status_of(*p.b, &request[2]));
	WANT(ND_CANCELED, status_of(*p.b, &request[1]));
}

/* checks R-INV-07, R-INV-08[1-3], R-INV-11, R-INV-15: where there is such a call */
static void
invalidated_by_the_peer(Pair &p)
{
	p.meet();
	const Far w = p.open_window(BOTH);

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.b->receive(&request[1], 0, 8));
	p.a->buffer[3] = 'x';
	const int32_t begun = p.a->send_and_invalidate(&request[2], 0, 4, w);
	if (begun == ND_NOT_SUPPORTED)
		return;
	WANT(ND_SUCCESS, begun);
	WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	const Result r = next(*p.b);
	CHECK(r.status == ND_SUCCESS && r.bytes == 4 && r.context == &request[0]);
	CHECK(p.b->buffer[3] == 'x');
	const Far again = p.open_window(BOTH);
	WANT(ND_SUCCESS, p.a->write(&request[3], 0, 8, again, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[3]));
	WANT(ND_SUCCESS, p.a->write(&request[4], 0, 8, w, 0));
	refused(p, &request[4], &request[1]);
}

/* checks R-ORD-07: a write is there before what was sent behind it */
static void
write_then_send(Pair &p)
{
	p.meet();
	const Far w = p.open_window(BOTH);

	for (uint32_t i = 1; i <= 20; i++) {
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
		memset(p.a->buffer, (int)i, 70000);
		WANT(ND_SUCCESS,
			p.a->write(&request[1], 0, 70000, w, 1000, ND_OP_FLAG_SILENT_SUCCESS));
		WANT(ND_SUCCESS, p.a->send(&request[2], 0, 8));
		WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
		CHECK(p.b->buffer[1000] == (char)i && p.b->buffer[70999] == (char)i);
		WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	}
}

const Scenario of_windows[] = {
	{"window_works", window_works},
	{"beyond_the_window", beyond_the_window},
	{"without_the_right", without_the_right},
	{"invalidated", invalidated},
	{"not_bound", not_bound},
	{"invalidated_by_the_peer", invalidated_by_the_peer},
	{"write_then_send", write_then_send},
	{},
};
