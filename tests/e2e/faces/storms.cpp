/* SPDX-License-Identifier: BSD-3-Clause */
/* More connections at a time than there can be. */
#include <vector>

#include "scenarios.hpp"

#define BACKLOG 3u
#define FEW	100u

static int request[2];

using Attempts = std::vector<std::unique_ptr<End>>;

/* a asks until it can make no more, and asks in vain for nothing but that. */
static void
ask_without_end(Pair &p, const sockaddr_in &at, Attempts *attempts)
{
	int32_t status;

	for (;;) {
		std::unique_ptr<End> e = p.a->lean(&status);

		if (e == nullptr)
			break;
		WANT(ND_PENDING, e->connect(at, "hello"));
		attempts->push_back(std::move(e));
	}
	WANT(ND_INSUFFICIENT_RESOURCES, status);
	CHECK(attempts->size() > FEW);
}

static void
all_refused(const Attempts &attempts)
{
	for (const auto &e : attempts)
		WANT(ND_CONNECTION_REFUSED, e->ended(Request::connect, ND_PENDING));
}

/* checks R-CONN-24[1]: queue pairs run out, and ports do not: each that was asked for is answered,
 * here by a refusal, as the listener goes. */
static void
storm(Pair &p)
{
	Attempts attempts;

	ask_without_end(p, p.b->listen(), &attempts);
	p.b->close_listener();
	all_refused(attempts);
	attempts.clear();
	p.meet();
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
}

static size_t
refusals(const Attempts &attempts)
{
	size_t n = 0;

	for (const auto &e : attempts)
		n += !e->under_way(Request::connect);
	return n;
}

/* checks R-CONN-24[2]: those that the backlog has no room for are refused; those that it has wait,
 * and then there is room again. */
static void
crowded(Pair &p)
{
	const sockaddr_in at = p.b->listen(BACKLOG);
	Attempts attempts;

	ask_without_end(p, at, &attempts);
	while (refusals(attempts) < attempts.size() - BACKLOG)
		Sleep(1);
	CHECK(refusals(attempts) == attempts.size() - BACKLOG);
	for (unsigned i = 0; i < BACKLOG; i++) {
		const auto b2 = p.b->another();

		WANT(ND_SUCCESS, b2->ended(Request::get, p.b->get_request(*b2)));
		WANT(ND_SUCCESS, b2->reject("no"));
	}
	all_refused(attempts);
	attempts.clear();
	join(*p.a, *p.b, *p.b, at);
}

const Scenario of_storms[] = {
	{"storm", storm},
	{},
};
const Scenario of_crowds[] = {
	{"crowded", crowded},
	{},
};
