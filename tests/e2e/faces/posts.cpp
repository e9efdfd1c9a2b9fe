/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: their lists, flags and limits, and the places that they take. */
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "scenarios.hpp"

#define NO_FLAG 0x40000000u /* of any request */

static int request[8];

/* checks R-POST-07[1], R-SR-02[2], R-RW-01[1]: data of several pieces comes to several pieces.
 * The lists are gone when the posts return, and the next list lies where the last one lay. */
static void
pieces(Pair &p)
{
	const Piece from[2] = {{0, 1000}, {500000, 3000}}, to[2] = {{100, 2500}, {9000, 2000}};

	p.meet();
	for (uint32_t i = 0; i < End::bytes; i++)
		p.a->buffer[i] = (char)(i * 11 + i / 256);
	WANT(ND_SUCCESS, p.b->receive_list(&request[0], to, 2));
	WANT(ND_SUCCESS, p.b->receive(&request[1], 20000, 8));
	WANT(ND_SUCCESS, p.a->send_list(&request[2], from, 2));
	WANT(ND_SUCCESS, p.a->send(&request[3], 7, 8));
	const Result r = next(*p.b);
	CHECK(r.context == &request[0] && r.status == ND_SUCCESS && r.bytes == 4000);
	CHECK(memcmp(p.b->buffer + 100, p.a->buffer, 1000) == 0);
	CHECK(memcmp(p.b->buffer + 1100, p.a->buffer + 500000, 1500) == 0);
	CHECK(memcmp(p.b->buffer + 9000, p.a->buffer + 501500, 1500) == 0);
	WANT(ND_SUCCESS, status_of(*p.b, &request[1]));
	CHECK(memcmp(p.b->buffer + 20000, p.a->buffer + 7, 8) == 0);
	WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	WANT(ND_SUCCESS, status_of(*p.a, &request[3]));
}

/* One message goes from a to b, and nothing else came. */
static void
only_this(Pair &p)
{
	Result r;

	WANT(ND_SUCCESS, p.b->receive(&request[6], 0, 8));
	WANT(ND_SUCCESS, p.a->send(&request[7], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.b, &request[6]));
	WANT(ND_SUCCESS, status_of(*p.a, &request[7]));
	CHECK(!p.a->take(&r) && !p.b->take(&r));
}

/* checks R-POST-04[2], R-POST-01[2,3]: one piece more than the adapter takes, of a read also; nothing
 * comes of it. */
static void
too_many_pieces(Pair &p)
{
	p.meet();
	const std::vector<Piece> many(p.a->limits().pieces + 1, Piece{0, 1});
	const uint32_t n = (uint32_t)many.size();

	WANT(ND_DATA_OVERRUN, p.a->send_list(&request[0], many.data(), n));
	WANT(ND_DATA_OVERRUN, p.b->receive_list(&request[1], many.data(), n));
	const std::vector<Piece> more(p.a->limits().read_pieces + 1, Piece{0, 1});
	WANT(ND_DATA_OVERRUN, p.a->read_list(&request[0], more.data(), (uint32_t)more.size(),
				      {0, 8, 1}, 0));
	only_this(p);
}

/* checks R-POST-06[3]: no byte is moved by the token, so nobody looks at it. */
static void
no_bytes(Pair &p)
{
	const Far nowhere = {4096, 8, 0x12345678};

	p.meet();
	WANT(ND_SUCCESS, p.a->write(&request[0], {0, 0}, nowhere, 0));
	WANT(ND_SUCCESS, p.a->read(&request[1], {0, 0}, nowhere, 0));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	only_this(p);
}

/* checks R-POST-06[1,2]: no list at all */
static void
no_list(Pair &p)
{
	p.meet();
	WANT(ND_SUCCESS, p.b->receive_list(&request[0], nullptr, 0));
	WANT(ND_SUCCESS, p.a->send_list(&request[1], nullptr, 0));
	const Result r = next(*p.b);
	CHECK(r.context == &request[0] && r.status == ND_SUCCESS && r.bytes == 0);
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
}

/* checks R-POST-05[1,2], R-POST-01[2,3]: refused where they are posted, each by its own number */
static void
illegal_flags(Pair &p)
{
	Far told;

	p.meet();
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE);

	for (const uint32_t flags : {NO_FLAG, (uint32_t)ND_OP_FLAG_ALLOW_READ}) {
		const int32_t of_send = p.a->send(&request[0], 0, 8, flags);
		WANT(p.a->word(ND_INVALID_PARAMETER_4), of_send);
		WANT(p.a->word(ND_INVALID_PARAMETER_6),
			p.a->write(&request[0], {0, 8}, w, 0, flags));
		WANT(p.a->word(ND_INVALID_PARAMETER_6),
			p.a->read(&request[0], {0, 8}, w, 0, flags));
		WANT(p.b->word(ND_INVALID_PARAMETER_3), p.b->invalidate(&request[0], flags));
	}
	WANT(p.a->word(ND_INVALID_PARAMETER_6), p.a->bind(&request[0], {0, 8}, NO_FLAG, &told));
	only_this(p);
}

/* checks R-POST-09[1,3,4]: of memory that is in no region, and is changed behind the post */
static void
inline_data(Pair &p)
{
	const Piece loose = {0, End::inlined, true}, large = {0, End::bytes, true};
	const auto flags = (uint32_t)ND_OP_FLAG_INLINE;

	p.meet();
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_WRITE);

	WANT(ND_BUFFER_OVERFLOW, p.a->send_list(&request[0], &large, 1, flags));
	WANT(ND_BUFFER_OVERFLOW, p.a->write(&request[0], large, w, 0, flags));
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, End::inlined));
	memset(p.a->buffer, 'm', End::inlined);
	WANT(ND_SUCCESS, p.a->send_list(&request[1], &loose, 1, flags));
	memset(p.a->buffer, 'w', End::inlined);
	WANT(ND_SUCCESS, p.a->write(&request[2], loose, w, 4096, flags));
	memset(p.a->buffer, 0, End::inlined);
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	CHECK(std::string(p.b->buffer, End::inlined) == std::string(End::inlined, 'm'));
	CHECK(std::string(p.b->buffer + 4096, End::inlined) == std::string(End::inlined, 'w'));
}

/* Sends until there is a place. */
static void
send_when_free(End &e, const void *context, uint32_t flags)
{
	int32_t hr;

	while ((hr = e.send(context, 0, 8, flags)) == ND_NO_MORE_ENTRIES)
		Sleep(1);
	WANT(ND_SUCCESS, hr);
}

/* checks R-ORD-04[1], R-ORD-03[1]: ten times as many as there are places, and not one result */
static void
silent_for_ever(Pair &p)
{
	Result r;

	p.meet();
	for (unsigned i = 0; i < 10 * End::depth; i++) {
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
		send_when_free(*p.a, &request[1], ND_OP_FLAG_SILENT_SUCCESS);
		WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
		CHECK(!p.a->take(&r));
	}
}

/* checks R-ORD-04[2], R-CR-01[1-3]: places are free before results are taken; all stay in order */
static void
places_before_results(Pair &p)
{
	static int many[3 * End::depth];
	Result r;

	p.meet();
	CHECK(!p.a->take(&r));
	for (int &one : many) {
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
		send_when_free(*p.a, &one, 0);
		WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	}
	for (int &one : many)
		WANT(ND_SUCCESS, status_of(*p.a, &one));
	CHECK(!p.a->take(&r));
}

/* checks R-CR-03[1,2]: NULL is a context like any other. */
static void
contexts(Pair &p)
{
	p.meet();
	WANT(ND_SUCCESS, p.b->receive(nullptr, 0, 8));
	WANT(ND_SUCCESS, p.a->send(nullptr, 0, 8));
	Result r = next(*p.b);
	CHECK(r.context == nullptr && r.of == p.b.get());
	r = next(*p.a);
	CHECK(r.context == nullptr && r.of == p.a.get());
}

/* checks R-SR-05[1,2]: the send ends, before those that wait for 5 s would, and the peer, which
 * had no receive, hears nothing of it. */
static void
no_receive(Pair &p)
{
	Result r;

	p.meet();
	WANT(ND_SUCCESS, p.a->send(&request[0], 0, 8));
	WANT(p.a->word(ND_IO_TIMEOUT), status_of(*p.a, &request[0]));
	CHECK(!p.b->take(&r));
}

/* checks R-ORD-06[1]: a small message behind a large read is told behind it. */
static void
read_then_send(Pair &p)
{
	p.meet();
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ);

	for (unsigned i = 0; i < 5; i++) {
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
		WANT(ND_SUCCESS, p.a->read(&request[1], {0, End::bytes}, w, 0));
		WANT(ND_SUCCESS, p.a->send(&request[2], 0, 8));
		WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
		WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
		WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	}
}

/* checks R-ORD-05[1]: a message with a fence has come, so the read before it is over: its result is
 * there. Without one the message comes while most of the read is still on its way. */
static void
fenced(Pair &p)
{
	p.meet();
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_READ);
	Result r;

	for (unsigned i = 0; i < 100; i++) {
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 0));
		WANT(ND_SUCCESS, p.a->read(&request[1], {0, End::bytes}, w, 0));
		WANT(ND_SUCCESS, p.a->send(&request[2], 0, 0, ND_OP_FLAG_READ_FENCE));
		while (!p.b->take(&r)) /* at once: the read would be over soon */
			;
		CHECK(r.context == &request[0]);
		CHECK(p.a->take(&r) && r.context == &request[1] && r.status == ND_SUCCESS);
		WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	}
}

/* Requests of two threads, and their results. */
struct Traffic {
	std::atomic<bool> stop{false};
	std::atomic<unsigned> posted{0}, taken{0};

	/* No more than the completion queue has room for. */
	template <class Post>
	void
	keep_posting(Post &&post)
	{
		while (!stop) {
			const bool room = posted - taken < 2 * End::depth;
			const int32_t hr = room ? post() : ND_NO_MORE_ENTRIES;

			if (hr == ND_SUCCESS)
				posted++;
			else
				WANT(ND_NO_MORE_ENTRIES, hr);
		}
	}
};

/* checks R-POST-10[1,2], R-FL-09[1], R-FL-02[1], R-POST-03[1]: one thread sends, another one
 * receives, and this one flushes in the middle of it; each request ends once. */
static void
beside_a_flush(Pair &p)
{
	Traffic t;
	Result r;

	p.meet();
	for (unsigned i = 0; i < End::depth; i++)
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	std::thread sends([&] { t.keep_posting([&] { return p.a->send(&request[1], 0, 8); }); });
	std::thread receives(
		[&] { t.keep_posting([&] { return p.a->receive(&request[2], 0, 8); }); });
	while (t.taken < 5000) {
		if (t.taken == End::depth)
			WANT(ND_SUCCESS, p.a->flush());
		t.taken += p.a->take(&r);
	}
	t.stop = true;
	sends.join();
	receives.join();
	for (; t.taken < t.posted; t.taken++)
		WANT(ND_CANCELED, next(*p.a).status);
	WANT(ND_SUCCESS, p.a->flush());
	CHECK(!p.a->take(&r));
}

/* checks R-CR-09[1,2], R-FL-01[1,2], R-CR-04[1]: results of two queue pairs, of which one is
 * flushed, and the other one is closed before its result is taken */
static void
two_pairs(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another(), b2 = p.b->another();

	join(*p.a, *p.b, *p.b, at);
	join(*a2, *b2, *p.b, at);
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, b2->receive(&request[1], 0, 8));
	WANT(ND_SUCCESS, p.b->flush());
	Result r = next(*p.b);
	CHECK(r.of == p.b.get() && r.context == &request[0] && r.status == ND_CANCELED);
	CHECK(!p.b->take(&r));
	WANT(ND_SUCCESS, a2->send(&request[2], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	b2->close_pair();
	r = next(*p.b);
	CHECK(r.of == b2.get() && r.context == &request[1] && r.status == ND_SUCCESS);
}

const Scenario of_posts[] = {
	{"pieces", pieces},
	{"too_many_pieces", too_many_pieces},
	{"no_bytes", no_bytes},
	{"no_list", no_list},
	{"illegal_flags", illegal_flags},
	{"inline_data", inline_data},
	{"silent_for_ever", silent_for_ever},
	{"places_before_results", places_before_results},
	{"contexts", contexts},
	{"no_receive", no_receive},
	{"read_then_send", read_then_send},
	{"fenced", fenced},
	{"beside_a_flush", beside_a_flush},
	{"two_pairs", two_pairs},
	{},
};
