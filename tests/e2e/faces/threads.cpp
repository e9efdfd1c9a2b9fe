/* SPDX-License-Identifier: BSD-3-Clause */
/* What several threads may do at a time, and what asking for an outcome does not do. */
#include <atomic>
#include <thread>
#include <vector>

#include "scenarios.hpp"

#define THREADS	 4u
#define ROUNDS	 200u
#define BATCHES	 1000u
#define MESSAGES (BATCHES * End::depth)

static int request[2], received[MESSAGES];
static std::atomic<unsigned> seen[MESSAGES];

/* Rounds of results that lie there when two threads begin to take them. */
struct Rounds {
	std::atomic<unsigned> begun{0}, taken{0};
};

/* One of those that take from a queue and arm it, as it comes. */
static void
take_and_arm(End &e, uint32_t waiter, Rounds *rounds)
{
	Result r;

	for (unsigned round = 1; round <= BATCHES; round++) {
		while (rounds->begun < round)
			std::this_thread::yield();
		while (rounds->taken < round * End::depth) {
			if (!e.take(&r)) {
				if (!e.armed(waiter))
					WANT(ND_SUCCESS, e.arm(ND_CQ_NOTIFY_ANY, waiter));
				std::this_thread::yield();
				continue;
			}
			WANT(ND_SUCCESS, r.status);
			seen[(const int *)r.context - received]++;
			rounds->taken++;
		}
	}
}

/* checks R-CQ-27[1-3]: two threads take from one queue and arm it, while this one takes from
 * another queue and arms that, and while results are made. Each result is there once. */
static void
takers(Pair &p)
{
	Rounds rounds;

	p.meet();
	std::thread one([&] { take_and_arm(*p.b, 0, &rounds); });
	std::thread other([&] { take_and_arm(*p.b, 1, &rounds); });
	for (unsigned round = 0; round < BATCHES; round++) {
		for (unsigned i = 0; i < End::depth; i++)
			WANT(ND_SUCCESS, p.b->receive(&received[round * End::depth + i], 0, 8));
		for (unsigned i = 0; i < End::depth; i++) {
			WANT(ND_SUCCESS, p.a->send(&request[0], 0, 8));
			if (i == End::depth / 2 || round % 2 == 0)
				WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
			if (i == End::depth / 2)
				rounds.begun++;
		}
		for (unsigned i = 1; round % 2 != 0 && i < End::depth; i++)
			WANT(ND_SUCCESS, status_of(*p.a, &request[0]));
		while (rounds.taken < (round + 1) * End::depth)
			std::this_thread::yield();
	}
	one.join();
	other.join();
	for (const auto &times : seen)
		CHECK(times == 1);
}

/* checks R-OV-09[1]: each thread has a request of its own of one queue, asks for it again and again,
 * and waits for it, while results come. */
static void
askers(Pair &p)
{
	std::atomic<unsigned> ready{0};
	std::vector<std::thread> threads;

	p.meet();
	for (uint32_t i = 0; i < THREADS; i++)
		threads.emplace_back([&p, &ready, i] {
			for (unsigned round = 0; round < ROUNDS; round++) {
				WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY, i));
				for (unsigned n = 0; n < 10; n++)
					p.b->armed(i);
				WANT(ND_SUCCESS, p.b->told(i));
				CHECK(!p.b->armed(i));
				WANT(ND_SUCCESS, p.b->told(i));
			}
			ready++;
		});
	while (ready < THREADS) {
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
		WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
		WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
		WANT(ND_SUCCESS, polled(*p.b, &request[0]));
	}
	for (auto &t : threads)
		t.join();
}

static void
stays(End &e, Request which, int32_t outcome)
{
	for (unsigned i = 0; i < 100; i++) {
		CHECK(!e.under_way(which));
		WANT(outcome, e.ended(which, ND_PENDING));
	}
}

/* checks R-OV-08[1]: a failure stays one, however often it is asked for, and whatever else of the
 * same connector succeeds. */
static void
failures_stay(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const int32_t notice = p.a->notify_disconnect();

	WANT(ND_CONNECTION_INVALID, p.a->ended(Request::notice, notice));
	const int32_t ask = p.ask(at);
	WANT(ND_SUCCESS, p.b->reject("no"));
	WANT(ND_CONNECTION_REFUSED, p.a->ended(Request::connect, ask));
	stays(*p.a, Request::connect, ND_CONNECTION_REFUSED);
	const auto b2 = p.b->another();
	join(*p.a, *b2, *p.b, at);
	stays(*p.a, Request::connect, ND_SUCCESS);
	const int32_t own = p.a->notify_disconnect();
	WANT(ND_PENDING, own);
	WANT(ND_SUCCESS, p.a->cancel());
	stays(*p.a, Request::notice, ND_CANCELED);
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, p.a->disconnect()));
	stays(*p.a, Request::notice, ND_CANCELED);
	stays(*p.a, Request::disconnect, ND_SUCCESS);
}

const Scenario of_threads[] = {
	{"takers", takers},
	{},
};
const Scenario of_outcomes[] = {
	{"askers", askers},
	{"failures_stay", failures_stay},
	{},
};
