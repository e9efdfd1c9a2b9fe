/* SPDX-License-Identifier: BSD-3-Clause */
/* Goodbyes in the midst of traffic: what they overtake, what they cost, and when they are over. */
#include <cstring>
#include <memory>
#include <vector>

#include "scenarios.hpp"

#define BOTH	 (ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE)
#define MESSAGES 8u
#define BLOCK	 (End::bytes / MESSAGES)
#define REQUESTS 8u

static int request[MESSAGES + 4], bound;

/* A connection of its own, beside those before. */
struct Meeting {
	std::unique_ptr<End> a, b;

	Meeting(Pair &p, const sockaddr_in &at) : a(p.a->another()), b(p.b->another())
	{
		join(*a, *b, *p.b, at);
	}
};

static void
part(End &e)
{
	WANT(ND_SUCCESS, e.ended(Request::disconnect, e.disconnect()));
}

/* The window of e, over all that it has, for its peer. The end has nothing else in its queue. */
static Far
opened(End &e)
{
	Far w;

	WANT(ND_SUCCESS, e.bind(&bound, {0, End::bytes}, BOTH, &w));
	WANT(ND_SUCCESS, status_of(e, &bound));
	return w;
}

/* One that says its last word and goes as soon as it has what it waits for. */
static void
last_word(const Meeting &m)
{
	WANT(ND_SUCCESS, m.a->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, m.b->receive(&request[1], 0, 8));
	WANT(ND_SUCCESS, m.a->send(&request[2], 0, 8));
	WANT(ND_SUCCESS, status_of(*m.b, &request[1]));
	WANT(ND_SUCCESS, m.b->send(&request[3], 0, 8));
	Result r = next(*m.a);
	const bool sent = r.context == &request[2];
	WANT(ND_SUCCESS, r.status);
	if (sent)
		WANT(ND_SUCCESS, status_of(*m.a, &request[0]));
	part(*m.a);
	if (!sent)
		WANT(ND_SUCCESS, status_of(*m.a, &request[2]));
	WANT(ND_SUCCESS, status_of(*m.b, &request[3]));
	part(*m.b);
}

/* checks R-DISC-17[1,2]: a asks, b answers, and a says goodbye as soon as it has the answer: b's
 * send is a success, though nobody waited for its acknowledgement, and so is a's. It runs again over
 * a cable that carries that acknowledgement behind the goodbye. */
static void
last_words(Pair &p)
{
	const sockaddr_in at = p.b->listen();

	for (unsigned i = 0; i < 50; i++)
		last_word(Meeting(p, at));
}

/* a's writes, and whether it waits for them before it says goodbye. */
static void
writes_then_goodbye(const Meeting &m, bool drained, int byte)
{
	const Far w = opened(*m.b);
	const int32_t notice = m.b->notify_disconnect();
	bool canceled = false;
	Result r;

	memset(m.a->buffer, byte, End::bytes);
	for (unsigned i = 0; i < MESSAGES; i++)
		WANT(ND_SUCCESS, m.a->write(&request[i], {i * BLOCK, BLOCK}, w, i * BLOCK));
	if (!drained)
		part(*m.a);
	for (unsigned i = 0; i < MESSAGES; i++) {
		r = next(*m.a);
		CHECK(r.context == &request[i]);
		CHECK(r.status == ND_CANCELED || (r.status == ND_SUCCESS && !canceled));
		canceled = canceled || r.status == ND_CANCELED;
	}
	if (drained)
		part(*m.a);
	WANT(ND_SUCCESS, m.b->ended(Request::notice, notice));
	if (drained)
		CHECK(!canceled && memcmp(m.a->buffer, m.b->buffer, End::bytes) == 0);
	part(*m.b);
	CHECK(!m.a->take(&r) && !m.b->take(&r));
}

/* checks R-DISC-10[1], R-FL-07[1]: who has drained what it asked for loses nothing. Who has not may lose some of
 * it; each request ends once all the same, good ones before canceled ones, and the end is told as
 * any other. */
static void
drained_or_not(Pair &p)
{
	const sockaddr_in at = p.b->listen();

	for (int i = 1; i <= 20; i++)
		writes_then_goodbye(Meeting(p, at), i % 2 == 0, i);
}

/* Both ways, and more of it than has come when one end says goodbye: REQUESTS at each end. */
static void
make_traffic(const Meeting &m, const Far &of_a, const Far &of_b)
{
	for (unsigned i = 0; i < REQUESTS / 2; i++) {
		WANT(ND_SUCCESS, m.a->write(&request[0], {0, End::bytes}, of_b, 0));
		WANT(ND_SUCCESS, m.b->read(&request[1], {0, End::bytes}, of_a, 0));
		WANT(ND_SUCCESS, m.b->receive(&request[2], 0, 100));
		WANT(ND_SUCCESS, m.a->send(&request[3], 0, 100));
	}
}

/* Each request ends once. Canceled ones may be told of after Disconnect has ended (R-FL-02), and they
 * must not be left to the next connection, whose queues are the same. */
static void
drain(const Meeting &m)
{
	for (unsigned i = 0; i < REQUESTS; i++) {
		next(*m.a);
		next(*m.b);
	}
}

static bool
is_all(const End &e, char byte)
{
	return e.buffer[0] == byte && memcmp(e.buffer, e.buffer + 1, End::bytes - 1) == 0;
}

/*
 * checks R-DISC-02[2]: in the midst of writes, reads and messages one end says goodbye. As soon as
 * that is over its memory is its own: what it holds from then on does not get out, and nothing comes
 * in, not even when the other end has said goodbye, too.
 */
static void
hands_off(Pair &p)
{
	const sockaddr_in at = p.b->listen();

	for (unsigned i = 0; i < 30; i++) {
		const Meeting m(p, at);
		End &first = i % 2 ? *m.a : *m.b, &second = i % 2 ? *m.b : *m.a;
		const Far of_a = opened(*m.a), of_b = opened(*m.b);

		memset(m.a->buffer, 'a', End::bytes);
		memset(m.b->buffer, 'b', End::bytes);
		make_traffic(m, of_a, of_b);
		part(first);
		memset(first.buffer, 'x', End::bytes);
		part(second);
		CHECK(is_all(first, 'x'));
		CHECK(memchr(second.buffer, 'x', End::bytes) == nullptr);
		memset(second.buffer, 'y', End::bytes);
		drain(m);
		CHECK(is_all(first, 'x') && is_all(second, 'y'));
	}
}

const Scenario of_overtaken_answers[] = {
	{"last_words_overtaken", last_words},
	{},
};
const Scenario of_farewells[] = {
	{"last_words", last_words},
	{"drained_or_not", drained_or_not},
	{"hands_off", hands_off},
	{},
};
