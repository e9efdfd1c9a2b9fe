/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared receive queues: b's, that its two ends draw from. */
#include <cstring>
#include <vector>

#include "scenarios.hpp"

static int request[8], receives[End::depth];

/* Two connections whose receiving ends have one queue. */
struct Shared {
	const sockaddr_in at;
	std::unique_ptr<End> a2, x, y;

	explicit Shared(Pair &p)
	    : at(p.b->listen()), a2(p.a->another()), x(p.b->another(true)), y(p.b->another(true))
	{
		join(*p.a, *x, *p.b, at);
		join(*a2, *y, *p.b, at);
	}
};

static int32_t
share(Pair &p, const void *context, uint32_t offset)
{
	const Piece piece = {offset, 8};

	return p.b->share(context, &piece, 1);
}

/* A message of this end takes the receive, and comes to that one. */
static void
comes_to(Pair &p, End &from, const End &to, const void *receive)
{
	WANT(ND_SUCCESS, from.send(&request[7], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[7]));
	const Result r = next(*p.b);
	CHECK(r.context == receive && r.of == &to && r.status == ND_SUCCESS && r.bytes == 8);
}

/* checks R-SRQ-02[1-3], R-ORD-02[1,2]: receives that were there before any queue pair go, in
 * order, to whichever connection a message comes by. */
static void
drawn_by_both(Pair &p)
{
	for (unsigned i = 0; i < 4; i++)
		WANT(ND_SUCCESS, share(p, &request[i], i * 8));
	const Shared s(p);

	memcpy(p.a->buffer, "of one..", 8);
	memcpy(s.a2->buffer, "of two..", 8);
	comes_to(p, *p.a, *s.x, &request[0]);
	comes_to(p, *s.a2, *s.y, &request[1]);
	comes_to(p, *s.a2, *s.y, &request[2]);
	comes_to(p, *p.a, *s.x, &request[3]);
	CHECK(memcmp(p.b->buffer, "of one..of two..of two..of one..", 32) == 0);
}

/* checks R-SRQ-06[1-3], R-SRQ-07: one too many, a list that is too long, and a receive of one
 * queue pair alone; a message makes room. */
static void
limits_of_sharing(Pair &p)
{
	const std::vector<Piece> many(p.b->limits().pieces + 1, Piece{0, 1});
	const Shared s(p);

	WANT(ND_DATA_OVERRUN, p.b->share(&request[0], many.data(), (uint32_t)many.size()));
	for (int &one : receives)
		WANT(ND_SUCCESS, share(p, &one, 0));
	WANT(ND_NO_MORE_ENTRIES, share(p, &request[0], 0));
	WANT(ND_INVALID_DEVICE_REQUEST, s.x->receive(&request[0], 0, 8));
	comes_to(p, *p.a, *s.x, &receives[0]);
	WANT(ND_SUCCESS, share(p, &request[0], 0));
	WANT(ND_NO_MORE_ENTRIES, share(p, &request[1], 0));
}

/* checks R-SRQ-05[1-4]: depths that are too small and too great change nothing; a greater one is
 * there at once, and what waits stays in order. */
static void
depth_of_sharing(Pair &p)
{
	const Shared s(p);

	for (int &one : receives)
		WANT(ND_SUCCESS, share(p, &one, 0));
	WANT(ND_BUFFER_OVERFLOW, p.b->resize_shared(End::depth / 4));
	WANT(ND_INVALID_PARAMETER, p.b->resize_shared(0x7fffffff));
	WANT(ND_NO_MORE_ENTRIES, share(p, &request[0], 0));
	WANT(ND_SUCCESS, p.b->resize_shared(2 * End::depth));
	WANT(ND_SUCCESS, share(p, &request[0], 0));
	for (int &one : receives)
		comes_to(p, *s.a2, *s.y, &one);
	comes_to(p, *p.a, *s.x, &request[0]);
}

/* checks R-SR-06[1]: senders wait longer for a shared queue than for one that is not (R-SR-05),
 * which has failed meanwhile. */
static void
held_off(Pair &p)
{
	const Shared s(p);
	const auto a3 = p.a->another(), b3 = p.b->another();

	join(*a3, *b3, *p.b, s.at);
	WANT(ND_SUCCESS, p.a->send(&request[0], 0, 8));
	WANT(ND_SUCCESS, a3->send(&request[1], 0, 8));
	WANT(ND_IO_TIMEOUT, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, share(p, &request[2], 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	const Result r = next(*p.b);
	CHECK(r.context == &request[2] && r.of == s.x.get() && r.status == ND_SUCCESS);
}

/* checks R-FL-08[2], R-DISC-12[1]: who is flushed, and who is closed, leaves the receives to the
 * other. */
static void
left_to_others(Pair &p)
{
	Shared s(p);
	Result r;

	WANT(ND_SUCCESS, share(p, &request[0], 0));
	WANT(ND_SUCCESS, share(p, &request[1], 0));
	WANT(ND_SUCCESS, s.x->flush());
	comes_to(p, *s.a2, *s.y, &request[0]);
	s.x->close_pair();
	comes_to(p, *s.a2, *s.y, &request[1]);
	CHECK(!p.b->take(&r));
}

const Scenario of_shared[] = {
	{"drawn_by_both", drawn_by_both},
	{"limits_of_sharing", limits_of_sharing},
	{"depth_of_sharing", depth_of_sharing},
	{"held_off", held_off},
	{"left_to_others", left_to_others},
	{},
};
