/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer whose daemon stands still, for a moment or for good; and one whose program takes its time. */
#include <csignal>
#include <cstring>
#include <memory>

#include "../still.h"
#include "scenarios.hpp"

#define LATE_MS 12000u /* more than twice what a peer is waited for that says nothing (rc.cm_retries 0) */

static int request[8];
static pid_t stopped;

/* Also when the scenario fails: others use that daemon. */
static void
go_on()
{
	if (stopped > 0)
		CHECK(kill(stopped, SIGCONT) == 0);
	stopped = 0;
}

static void
stand_still(const Pair &p)
{
	CHECK(process_stop(p.daemon_b));
	stopped = p.daemon_b;
	CHECK(atexit(go_on) == 0);
}

/* a's daemon has done a whole connection with itself: what it had to do before, it has done. */
static void
goes_round(Pair &p)
{
	const sockaddr_in at = p.a->listen();
	const auto x = p.a->another(), y = p.a->another();

	join(*x, *y, *p.a, at);
	p.a->close_listener();
}

/* checks R-ORD-09[1,2]: a send and a write have no result as long as the peer's daemon has not
 * acknowledged them; when they have one, their memory is the sender's again. */
static void
good_means_acknowledged(Pair &p)
{
	Result r;

	p.meet();
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_WRITE);
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	stand_still(p);
	memset(p.a->buffer, 'm', 4096);
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
	WANT(ND_SUCCESS, p.a->write(&request[2], {8, 4000}, w, 8));
	goes_round(p);
	CHECK(!p.a->take(&r));
	go_on();
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	memset(p.a->buffer, 'x', 8);
	WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
	memset(p.a->buffer, 'x', 4096);
	WANT(ND_SUCCESS, status_of(*p.b, &request[0]));
	for (unsigned i = 0; i < 4008; i++)
		CHECK(p.b->buffer[i] == 'm');
}

/* checks R-DISC-02[1]: a success is told when the peer's own end was heard of, and not before. */
static void
heard_of(Pair &p)
{
	p.meet();
	const int32_t notice = p.b->notify_disconnect();

	stand_still(p);
	const int32_t goodbye = p.a->disconnect();
	WANT(ND_PENDING, goodbye);
	goes_round(p);
	CHECK(p.a->under_way(Request::disconnect));
	go_on();
	WANT(ND_SUCCESS, p.a->ended(Request::disconnect, goodbye));
	WANT(ND_SUCCESS, p.b->ended(Request::notice, notice));
}

/*
 * checks R-CONN-06[1,2]: one program takes its time for Accept, another one for CompleteConnect,
 * and both connections come about. The runner sees the messages that extend the time (R-CONN-06[4]),
 * and has daemons that would not wait half as long for a peer that says nothing.
 */
static void
slow_programs(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another(), b2 = p.b->another();
	const int32_t ask = p.ask(at), get2 = p.b->get_request(*b2), ask2 = a2->connect(at, "too");

	WANT(ND_SUCCESS, b2->ended(Request::get, get2));
	const int32_t accept2 = b2->accept("welcome");
	WANT(ND_SUCCESS, a2->ended(Request::connect, ask2));
	Sleep(LATE_MS);
	CHECK(p.a->under_way(Request::connect) && b2->under_way(Request::accept));
	p.answer(ask);
	WANT(ND_SUCCESS, a2->ended(Request::complete, a2->complete()));
	WANT(ND_SUCCESS, b2->ended(Request::accept, accept2));
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	WANT(ND_SUCCESS, b2->receive(&request[2], 0, 8));
	WANT(ND_SUCCESS, a2->send(&request[3], 0, 8));
	WANT(ND_SUCCESS, status_of(*p.a, &request[3]));
}

/*
 * checks R-CONN-06[3], R-DISC-02[1,2]: the peer's daemon is as good as dead. Who waits for an answer
 * is told so after a while, and who says goodbye is, too, whose memory is its own from then on: what
 * it sent is sent no more when the daemon comes back.
 */
static void
given_up(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	const auto a2 = p.a->another();

	join(*a2, *p.b, *p.b, at);
	const Far w = p.open_window(ND_OP_FLAG_ALLOW_WRITE);
	stand_still(p);
	memset(a2->buffer, 'm', End::bytes);
	for (unsigned i = 0; i < 4; i++)
		WANT(ND_SUCCESS, a2->write(&request[0], {0, End::bytes}, w, 0));
	const int32_t ask = p.a->connect(at, "hello"), goodbye = a2->disconnect();
	WANT(p.a->word(ND_IO_TIMEOUT), p.a->ended(Request::connect, ask));
	WANT(p.a->by_the_pages() ? ND_IO_TIMEOUT : ND_TIMEOUT,
		a2->ended(Request::disconnect, goodbye));
	memset(a2->buffer, 'x', End::bytes);
	go_on();
	const auto a3 = p.a->another(), b3 = p.b->another();
	join(*b3, *a3, *p.a, p.a->listen()); /* b's listener may still bring what was given up */
	CHECK(memchr(p.b->buffer, 'x', End::bytes) == nullptr);
}

const Scenario of_silences[] = {
	{"good_means_acknowledged", good_means_acknowledged},
	{"heard_of", heard_of},
	{},
};
const Scenario of_patience[] = {
	{"slow_programs", slow_programs},
	{},
};
const Scenario of_limits_of_patience[] = {
	{"given_up", given_up},
	{},
};
