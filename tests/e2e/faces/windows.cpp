/* SPDX-License-Identifier: BSD-3-Clause */
#include <cstring>

#include "scenarios.hpp"

#define BOTH (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)

static int request[8];

/* checks R-RW-01[1-3], R-RW-08[1], R-MW-06, R-MW-07[1] */
static void
window_works(Pair &p)
{
	Result r;

	p.meet();
	const Far w = p.open_window(BOTH);
	for (uint32_t i = 0; i < End::bytes; i++)
		p.a->buffer[i] = (char)(i * 13 + 5);
	WANT(ND_SUCCESS, p.a->write(&request[0], {0, End::bytes}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	CHECK(memcmp(p.a->buffer, p.b->buffer, End::bytes) == 0);
	p.b->buffer[End::bytes - 1] = 'x';
	WANT(ND_SUCCESS, p.a->read(&request[1], {10, 1}, w, End::bytes - 1));
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
	WANT(ND_SUCCESS, p.a->write(&request[1], {0, 2}, w, End::bytes - 1));
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
	WANT(ND_SUCCESS, p.a->read(&request[1], {0, 8}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	p.a->buffer[0] = 'x';
	WANT(ND_SUCCESS, p.a->write(&request[2], {0, 1}, w, 0));
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
	WANT(ND_SUCCESS, p.a->write(&request[1], {0, 8}, second, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	CHECK(first.token != second.token);
	WANT(ND_SUCCESS, p.b->receive(&request[2], 0, 8));
	WANT(ND_SUCCESS, p.a->write(&request[3], {0, 8}, first, 0));
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
			p.a->write(&request[1], {0, 70000}, w, 1000, ND_OP_FLAG_SILENT_SUCCESS));
		WANT(ND_SUCCESS, p.a->send(&request[2], 0, 8));
		WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
		CHECK(p.b->buffer[1000] == (char)i && p.b->buffer[70999] == (char)i);
		WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	}
}

/* What b tells a of its window, in a message. */
static Far
told_by_message(Pair &p)
{
	Far w;

	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	memcpy(&w, p.a->buffer, sizeof(w));
	return w;
}

/* checks R-MW-06[1], R-MW-07[1], R-ORD-08[1,2], R-INV-03[1]: the message that tells of a window is
 * posted right behind the bind, and the one that tells of its end right behind the invalidation. */
static void
told_at_once(Pair &p)
{
	Far w;

	p.meet();
	WANT(ND_SUCCESS, p.a->receive(&request[0], 0, 100));
	WANT(ND_SUCCESS, p.a->receive(&request[1], 0, 100));
	WANT(ND_SUCCESS, p.b->receive(&request[2], 0, 8));
	WANT(ND_SUCCESS, p.b->bind(&request[3], {4096, 4096},
				 ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_ALLOW_WRITE, &w));
	memcpy(p.b->buffer, &w, sizeof(w));
	WANT(ND_SUCCESS, p.b->send(&request[4], 0, sizeof(w)));
	w = told_by_message(p);
	WANT(ND_SUCCESS, p.a->write(&request[5], {0, 8}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[5]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[4]));
	WANT(ND_SUCCESS,
		p.b->invalidate(&request[3], ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE));
	WANT(ND_SUCCESS, p.b->send(&request[4], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[4]));
	WANT(ND_SUCCESS, p.a->write(&request[5], {0, 8}, w, 0));
	refused(p, &request[5], &request[2]);
}

/* checks R-MW-01[3], R-MW-03[1,2], R-POST-01[2,3]: refused at once, and the window is as it was: of
 * another place, of a place that is not in the region, and again of one that is not */
static void
bad_binds(Pair &p)
{
	Far told;

	p.meet();
	const Far w = p.open_window(BOTH);
	WANT(ND_INVALID_DEVICE_STATE, p.b->bind(&request[0], {0, 8}, BOTH, &told));
	WANT(ND_SUCCESS, p.a->write(&request[1], {0, End::bytes}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, p.b->invalidate(&request[2]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[2]));
	WANT(ND_ACCESS_VIOLATION, p.b->bind(&request[0], {1, End::bytes}, BOTH, &told));
	p.open_window(BOTH);
}

/* checks R-MW-05[1,2]: a window that allows nothing can be bound, and opens nothing. */
static void
opens_nothing(Pair &p)
{
	p.meet();
	const Far w = p.open_window(0);

	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->read(&request[1], {0, 8}, w, 0));
	refused(p, &request[1], &request[0]);
}

/* checks R-MW-08[1,2], R-MW-02[1]: another connection of the same adapters can't use the window,
 * and is over; the window's own goes on, beside a window that overlaps it. */
static void
of_one_connection(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another(), b2 = p.b->another();

	join(*p.a, *p.b, *p.b, at);
	join(*a2, *b2, *p.b, at);
	const Far w = p.open_window(BOTH);
	WANT(ND_SUCCESS, b2->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, a2->write(&request[1], {0, 8}, w, 0));
	WANT(p.a->word(ND_ACCESS_VIOLATION), status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, p.a->write(&request[3], {0, 8}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[3]));
	const Result r = next(*p.b);
	CHECK(r.of == b2.get() && r.context == &request[0] && r.status == ND_CANCELED);
}

/* checks R-MW-09[1,2], R-MR-06[1]: a region is busy as long as a window is bound to it, and
 * serves all the same; who closes the window unbinds it. */
static void
busy_region(Pair &p)
{
	Far w;

	p.meet();
	WANT(ND_SUCCESS, p.b->enroll(p.b->buffer, 4096, ND_MR_FLAG_ALLOW_LOCAL_WRITE));
	WANT(ND_SUCCESS, p.b->bind(&request[0], {0, 4096, true}, BOTH, &w));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_DEVICE_BUSY, p.b->retire());
	WANT(ND_SUCCESS, p.a->write(&request[1], {0, 8}, w, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, p.b->receive(&request[2], 0, 8));
	p.b->close_window();
	WANT(ND_SUCCESS, p.b->retire());
	WANT(ND_SUCCESS, p.a->write(&request[3], {0, 8}, w, 0));
	refused(p, &request[3], &request[2]);
}

/* checks R-MW-10[1,3]: what was bound to a connection that is over is not bound. */
static void
unbound_by_goodbye(Pair &p)
{
	Far w;

	p.meet();
	WANT(ND_SUCCESS, p.b->enroll(p.b->buffer, 4096, ND_MR_FLAG_ALLOW_LOCAL_WRITE));
	WANT(ND_SUCCESS, p.b->bind(&request[0], {0, 4096, true}, BOTH, &w));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.b->ended(Request::disconnect, p.b->disconnect()));
	WANT(ND_SUCCESS, p.b->retire());
}

const Scenario of_windows[] = {
	{"window_works", window_works},
	{"beyond_the_window", beyond_the_window},
	{"without_the_right", without_the_right},
	{"invalidated", invalidated},
	{"not_bound", not_bound},
	{"write_then_send", write_then_send},
	{"told_at_once", told_at_once},
	{"bad_binds", bad_binds},
	{"opens_nothing", opens_nothing},
	{"of_one_connection", of_one_connection},
	{"busy_region", busy_region},
	{"unbound_by_goodbye", unbound_by_goodbye},
	{},
};
