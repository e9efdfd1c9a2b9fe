/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that is killed: another one of this program, which is a's. */
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "scenarios.hpp"

#define SEVERAL 3u

enum Step { ASKED, OFFERED, CONNECTED, TAKEN };

/* ---- the other process ------------------------------------------------------------------------- */

/* It stands at its step, and waits for its end. at: where it listens, if it does. */
static void
mortal_waits(const sockaddr_in &at = {})
{
	char none;

	CHECK(write(STDOUT_FILENO, &at, sizeof(at)) == sizeof(at));
	(void)!read(STDIN_FILENO, &none, 1); /* until the other process has ended */
	exit(1);
}

static void
mortal_connects(Pair &p, Step step, const sockaddr_in &to)
{
	std::vector<std::unique_ptr<End>> more;

	for (unsigned i = 0; step == CONNECTED && i < SEVERAL - 1; i++) {
		more.push_back(p.a->another());
		End &e = *more.back();
		WANT(ND_SUCCESS, e.ended(Request::connect, e.connect(to, "hello")));
		WANT(ND_SUCCESS, e.ended(Request::complete, e.complete()));
	}
	const int32_t ask = p.a->connect(to, "hello");
	if (step == ASKED)
		mortal_waits();
	WANT(ND_SUCCESS, p.a->ended(Request::connect, ask));
	if (step == CONNECTED)
		WANT(ND_SUCCESS, p.a->ended(Request::complete, p.a->complete()));
	mortal_waits();
}

/* What it does is told by its input: a step, and where the other one listens. */
static void
mortal(Pair &p)
{
	sockaddr_in to;
	Step step;

	CHECK(read(STDIN_FILENO, &step, sizeof(step)) == sizeof(step));
	CHECK(read(STDIN_FILENO, &to, sizeof(to)) == sizeof(to));
	if (step != TAKEN)
		mortal_connects(p, step, to);
	const sockaddr_in at = p.a->listen();
	CHECK(write(STDOUT_FILENO, &at, sizeof(at)) == sizeof(at));
	WANT(ND_SUCCESS, p.a->ended(Request::get, p.a->get_request(*p.a)));
	mortal_waits(at);
}

/* ---- this process ------------------------------------------------------------------------------ */

class Mortal {
	int to[2], from[2];
	pid_t process;

      public:
	Mortal(const Pair &p, Step step, const sockaddr_in &at)
	{
		CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
		process = vfork();
		if (process == 0) {
			dup2(to[0], STDIN_FILENO);
			dup2(from[1], STDOUT_FILENO);
			execl("/proc/self/exe", "facetest", p.words[1], "mortal", p.words[3],
				p.words[4], p.words[5], p.words[6], (char *)nullptr);
			_exit(127);
		}
		CHECK(process > 0);
		CHECK(write(to[1], &step, sizeof(step)) == sizeof(step));
		CHECK(write(to[1], &at, sizeof(at)) == sizeof(at));
		close(from[1]);
	}
	~Mortal()
	{
		close(from[0]);
		close(to[0]);
		close(to[1]);
	}
	sockaddr_in
	stands()
	{
		sockaddr_in at;

		CHECK(read(from[0], &at, sizeof(at)) == sizeof(at));
		return at;
	}
	void
	killed()
	{
		CHECK(kill(process, SIGKILL) == 0 && waitpid(process, nullptr, 0) == process);
	}
};

static int request[SEVERAL];

/* The asker is killed before it is answered, or when it is: we are refused. */
static void
dies_while_asking(Pair &p, Step step)
{
	const sockaddr_in at = p.b->listen();
	Mortal m(p, step, at);

	WANT(ND_SUCCESS, p.b->ended(Request::get, p.b->get_request(*p.b)));
	int32_t accept = ND_PENDING;
	if (step == OFFERED)
		accept = p.b->accept("welcome");
	m.stands();
	m.killed();
	if (step == ASKED) {
		wait_for_the_news(*p.b);
		accept = p.b->accept("welcome");
	}
	const int32_t outcome = p.b->ended(Request::accept, accept);
	CHECK(outcome == ND_CONNECTION_ABORTED ||
		(outcome == ND_CONNECTION_REFUSED && !p.b->by_the_pages()));
}

/* checks R-DISC-13[2,3] */
static void
dies_asking(Pair &p)
{
	dies_while_asking(p, ASKED);
}

/* checks R-DISC-13[2,3] */
static void
dies_with_the_answer(Pair &p)
{
	dies_while_asking(p, OFFERED);
}

/* checks R-DISC-13[1-3]: each of the connections that it had ends with it, by a disconnect. */
static void
dies_connected(Pair &p)
{
	const sockaddr_in at = p.b->listen();
	std::vector<std::unique_ptr<End>> ends;
	int32_t notices[SEVERAL];
	Mortal m(p, CONNECTED, at);

	for (unsigned i = 0; i < SEVERAL; i++) {
		ends.push_back(p.b->another());
		End &e = *ends.back();
		WANT(ND_SUCCESS, e.ended(Request::get, p.b->get_request(e)));
		WANT(ND_SUCCESS, e.ended(Request::accept, e.accept("welcome")));
		WANT(ND_SUCCESS, e.receive(&request[i], 0, 8));
		notices[i] = e.notify_disconnect();
	}
	m.stands();
	for (const auto &e : ends)
		CHECK(e->by_the_pages() || e->under_way(Request::notice));
	m.killed();
	for (unsigned i = 0; i < SEVERAL; i++) {
		End &e = *ends[i];
		WANT(ND_SUCCESS, e.ended(Request::notice, notices[i]));
		WANT(ND_SUCCESS, e.ended(Request::disconnect, e.disconnect()));
		WANT(ND_CANCELED, status_of(*p.b, &request[i]));
	}
}

/* checks R-DISC-13[1-3]: it has a request of ours, and a listener: we are refused, and so is who
 * asks for it later. */
static void
dies_being_asked(Pair &p)
{
	Mortal m(p, TAKEN, {});
	const sockaddr_in at = m.stands();
	const auto b2 = p.b->another();
	const int32_t ask = p.b->connect(at, "hello");

	m.stands();
	CHECK(p.b->under_way(Request::connect));
	m.killed();
	WANT(ND_CONNECTION_REFUSED, p.b->ended(Request::connect, ask));
	WANT(ND_CONNECTION_REFUSED, b2->ended(Request::connect, b2->connect(at, "hello")));
}

const Scenario of_deaths[] = {
	{"dies_asking", dies_asking},
	{"dies_with_the_answer", dies_with_the_answer},
	{"dies_connected", dies_connected},
	{"dies_being_asked", dies_being_asked},
	{},
};
const Scenario of_the_other_process[] = {
	{"mortal", mortal},
	{},
};
