/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said while a connection is made, and how it can fail. */
#include <arpa/inet.h>
#include <cstring>

#include "scenarios.hpp"

static int request[8];

/* checks R-CONN-01[1,2], R-CONN-11[3], R-POST-02[1], R-SR-01[1]: Connect ends when b has
 * answered, and nothing but receives can be posted before CompleteConnect. */
static void
waits_for_the_answer(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	char data[256];
	uint32_t room = sizeof(data);

	WANT(ND_CONNECTION_INVALID, p.a->private_data(data, &room));
	const int32_t ask = p.ask(at);
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	CHECK(p.a->under_way(Request::connect));
	WANT(ND_CONNECTION_INVALID, p.a->send(&request[1], 0, 8));
	const int32_t accept = p.b->accept("welcome");
	WANT(ND_SUCCESS, p.a->ended(Request::connect, ask));
	WANT(ND_CONNECTION_INVALID, p.a->send(&request[1], 0, 8));
	CHECK(p.b->under_way(Request::accept));
	WANT(ND_SUCCESS, p.a->ended(Request::complete, p.a->complete()));
	WANT(ND_SUCCESS, p.b->ended(Request::accept, accept));
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
}

/* checks R-CONN-07[1,2], R-CONN-03[4]: a byte too many, then the most there can be, both ways */
static void
longest_data(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const Limits of = p.a->limits();
	char data[256] = {};
	uint32_t room = sizeof(data);

	WANT(ND_INVALID_BUFFER_SIZE,
		p.a->ended(Request::connect,
			p.a->connect(at, Words(std::string(of.caller_data + 1, 'c'), 4, 4))));
	const int32_t ask = p.ask(at, Words(std::string(of.caller_data, 'c'), 4, 4));
	WANT(ND_SUCCESS, p.b->private_data(data, &room));
	CHECK(room >= of.caller_data);
	CHECK(std::string(data, of.caller_data) == std::string(of.caller_data, 'c'));
	WANT(ND_INVALID_BUFFER_SIZE,
		p.b->ended(Request::accept,
			p.b->accept(Words(std::string(of.callee_data + 1, 's'), 4, 4))));
	p.answer(ask, Words(std::string(of.callee_data, 's'), 4, 4));
	room = sizeof(data);
	WANT(ND_SUCCESS, p.a->private_data(data, &room));
	CHECK(std::string(data, of.callee_data) == std::string(of.callee_data, 's'));
}

/* checks R-CONN-07[3], R-CONN-08[1-3], R-CONN-11[4]: no data at all is a field of zeros, whose
 * size can be asked for. */
static void
no_data(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const std::string none;
	char data[256];
	uint32_t size = 0, room = sizeof(data);

	p.answer(p.ask(at, Words(none, 4, 4)), Words(none, 4, 4));
	WANT(p.b->by_the_pages() ? ND_SUCCESS : ND_BUFFER_OVERFLOW,
		p.b->private_data(nullptr, &size));
	memset(data, 'x', sizeof(data));
	WANT(ND_SUCCESS, p.b->private_data(data, &room));
	CHECK(size == room && room >= p.b->limits().caller_data && room < sizeof(data));
	for (uint32_t i = 0; i < sizeof(data); i++)
		CHECK(data[i] == (i < room ? 0 : 'x'));
}

/* checks R-CONN-08[4-6]: a buffer that is too small has a part of it. */
static void
part_of_the_data(Pair &p)
{
	char data[6] = "xxxxx";
	uint32_t room = 3;

	p.meet();
	WANT(p.b->word(ND_BUFFER_OVERFLOW), p.b->private_data(data, &room));
	CHECK(room >= 6);
	CHECK(strcmp(data, "helxx") == 0);
}

/* checks R-CONN-12[1,2], R-POST-02[2]: a rejects the answer. What b's Accept comes to is a matter
 * of the profile. */
static void
answer_rejected(Pair &p)
{
	const int32_t ask = p.ask(p.b->listen()), accept = p.b->accept("welcome");

	WANT(ND_SUCCESS, p.a->ended(Request::connect, ask));
	WANT(ND_SUCCESS, p.a->reject("thanks"));
	WANT(p.b->by_the_pages() ? ND_CONNECTION_ABORTED : ND_CONNECTION_REFUSED,
		p.b->ended(Request::accept, accept));
	WANT(ND_CONNECTION_ABORTED, p.a->ended(Request::complete, p.a->complete()));
}

/* checks R-CONN-12[3]: a has gone with the answer in its hands; its connector's last Release is
 * one. */
static void
answer_dropped(Pair &p)
{
	const int32_t ask = p.ask(p.b->listen()), accept = p.b->accept("welcome");

	WANT(ND_SUCCESS, p.a->ended(Request::connect, ask));
	p.a->close_connector();
	WANT(p.b->by_the_pages() ? ND_CONNECTION_ABORTED : ND_CONNECTION_REFUSED,
		p.b->ended(Request::accept, accept));
}

/* Both ends of an address: what it is, and what is told of it without room, and with more. */
static void
address_told(int32_t (End::*ask)(sockaddr_in *, uint32_t *), End &e, sockaddr_in *out)
{
	struct {
		sockaddr_in address;
		char more[100];
	} large;
	uint32_t room = 4, size = sizeof(large);

	memset(out, 0x5a, sizeof(*out));
	const sockaddr_in untouched = *out;
	WANT(e.word(ND_BUFFER_OVERFLOW), (e.*ask)(out, &room));
	CHECK(memcmp(out, &untouched, sizeof(*out)) == 0 && room == sizeof(*out));
	WANT(ND_SUCCESS, (e.*ask)(&large.address, &size));
	CHECK(size == sizeof(*out));
	*out = large.address;
}

static bool
same_address(const sockaddr_in &x, const sockaddr_in &y)
{
	return x.sin_family == AF_INET && x.sin_addr.s_addr == y.sin_addr.s_addr &&
	       x.sin_port == y.sin_port;
}

/* checks R-CONN-19[2,3,5-7], R-CONN-15[1,9]: each knows itself and the other one; a left from a
 * port that it did not choose. */
static void
addresses(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	sockaddr_in of_a, of_b, a_of_b, b_of_a;
	const int32_t ask = p.ask(at);

	address_told(&End::peer_address, *p.b, &b_of_a);
	p.answer(ask);
	address_told(&End::local_address, *p.a, &of_a);
	address_told(&End::peer_address, *p.a, &a_of_b);
	address_told(&End::local_address, *p.b, &of_b);
	CHECK(same_address(of_a, b_of_a) && same_address(of_b, a_of_b) && same_address(of_b, at));
	CHECK(ntohs(of_a.sin_port) >= 49152);
}

/* checks R-CONN-17[1], R-DISC-03[1]: both ask at a time, and both say goodbye at a time. */
static void
crossing(Pair &p)
{
	const sockaddr_in at_a = p.a->listen(), at_b = p.b->listen();
	const auto a2 = p.a->another(), b2 = p.b->another();
	const int32_t get_a = p.a->get_request(*a2), get_b = p.b->get_request(*b2);
	const int32_t of_a = p.a->connect(at_b, "a"), of_b = p.b->connect(at_a, "b");

	WANT(ND_SUCCESS, a2->ended(Request::get, get_a));
	WANT(ND_SUCCESS, b2->ended(Request::get, get_b));
	CHECK(a2->peer_data() == "b" && b2->peer_data() == "a");
	const int32_t by_a = a2->accept("a2"), by_b = b2->accept("b2");
	WANT(ND_SUCCESS, p.a->ended(Request::connect, of_a));
	WANT(ND_SUCCESS, p.b->ended(Request::connect, of_b));
	WANT(ND_SUCCESS, p.a->ended(Request::complete, p.a->complete()));
	WANT(ND_SUCCESS, p.b->ended(Request::complete, p.b->complete()));
	WANT(ND_SUCCESS, a2->ended(Request::accept, by_a));
	WANT(ND_SUCCESS, b2->ended(Request::accept, by_b));
	const int32_t end_a = p.a->disconnect(), end_b = b2->disconnect();
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, end_a));
	WANT(ND_SUCCESS, b2->ended(Request::disconnect, end_b));
}

/* a's first message is on its way as soon as it may be, and b answers as soon as it is there, though
 * it may not have been told yet that its Accept is over. */
static void
answer_at_once(Pair &p, End &a, End &b, const sockaddr_in &at)
{
	const int32_t get = p.b->get_request(b), ask = a.connect(at, "hello");
	Result r;

	WANT(ND_SUCCESS, a.receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, b.receive(&request[1], 0, 8));
	WANT(ND_SUCCESS, b.ended(Request::get, get));
	const int32_t accept = b.accept("welcome");
	WANT(ND_SUCCESS, a.ended(Request::connect, ask));
	WANT(ND_SUCCESS, a.ended(Request::complete, a.complete()));
	WANT(ND_SUCCESS, a.send(&request[2], 0, 8, ND_OP_FLAG_SILENT_SUCCESS));
	while (!p.b->take(&r))
		;
	CHECK(r.context == &request[1] && r.status == ND_SUCCESS);
	WANT(ND_SUCCESS, b.send(&request[3], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
	WANT(ND_SUCCESS, status_of(*p.b, &request[3]));
	WANT(ND_SUCCESS, b.ended(Request::accept, accept));
}

/* checks R-SR-09[1,2]: in some of many connections the message is earlier than the word. */
static void
answers_at_once(Pair &p)
{
	const sockaddr_in at = p.b->listen();

	for (unsigned i = 0; i < 20; i++) {
		const auto a2 = p.a->another(), b2 = p.b->another();

		answer_at_once(p, *a2, *b2, at);
	}
}

/* checks R-CONN-18[1]: an adapter reaches itself. */
static void
loopback(Pair &p)
{
	const sockaddr_in at = p.a->listen();
	const auto a2 = p.a->another();

	join(*p.a, *a2, *p.a, at);
	WANT(ND_SUCCESS, a2->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
	for (unsigned i = 0; i < 2; i++) {
		const Result r = next(*p.a);
		CHECK(r.status == ND_SUCCESS &&
			r.of == (r.context == &request[0] ? a2 : p.a).get());
	}
}

/* checks R-CONN-26[1,3]: the queue pair goes while it is being connected; b is told as by a
 * cancel. */
static void
pair_goes(Pair &p)
{
	const int32_t ask = p.ask(p.b->listen());

	p.a->close_pair();
	WANT(ND_CANCELED, p.a->ended(Request::connect, ask));
	const int32_t accept = p.b->ended(Request::accept, p.b->accept("welcome"));
	CHECK(accept == ND_CONNECTION_ABORTED ||
		(accept == ND_CONNECTION_REFUSED && !p.b->by_the_pages()));
}

/* checks R-CONN-15[3,7]: two connections can't leave from one port. */
static void
port_in_use(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another();
	sockaddr_in from;
	uint32_t room = sizeof(from);
	Words words("hello");

	join(*p.a, *p.b, *p.b, at);
	WANT(ND_SUCCESS, p.a->local_address(&from, &room));
	words.port = from.sin_port;
	WANT(p.a->word(ND_SHARING_VIOLATION), a2->ended(Request::connect, a2->connect(at, words)));
}

const Scenario of_handshakes[] = {
	{"waits_for_the_answer", waits_for_the_answer},
	{"longest_data", longest_data},
	{"no_data", no_data},
	{"part_of_the_data", part_of_the_data},
	{"answer_rejected", answer_rejected},
	{"answer_dropped", answer_dropped},
	{"addresses", addresses},
	{"crossing", crossing},
	{"answers_at_once", answers_at_once},
	{"loopback", loopback},
	{"pair_goes", pair_goes},
	{"port_in_use", port_in_use},
	{},
};
