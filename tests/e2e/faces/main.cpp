/* SPDX-License-Identifier: BSD-3-Clause */
/* facetest FACE SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B [PROCESS_B]; facetest --list. */
#include <arpa/inet.h>
#include <cstring>

#include "scenarios.hpp"

/* What a face may have beside what all have. */
enum Has : unsigned {
	RIGHTS = 1,   /* regions have rights of their own, and tokens for the peer */
	LIMITS = 2,   /* Connect and Accept are told limits of reads */
	SHARED = 4,   /* shared receive queues */
	REQUESTS = 8, /* asynchronous calls are requests, and peers' wait in a backlog */
	GIVES = 16,   /* a send can invalidate */
	LATE = 32,    /* regions whose pages come late */
};
static const struct Face {
	const char *name;
	NewEnd new_end;
	unsigned has;
} faces[] = {
	{"nd", new_nd, RIGHTS | LIMITS | SHARED | REQUESTS | GIVES | LATE},
	{"spi", new_spi, RIGHTS | LIMITS | SHARED | REQUESTS | LATE},
	{"spi1", new_spi1, REQUESTS | GIVES},
	{"kpi", new_kpi, RIGHTS | LIMITS | SHARED | GIVES},
};
/* Where a table runs is the runner's (face_cases.py). */
static const struct Table {
	const Scenario *scenarios;
	unsigned needs;
	const char *where = "link";
	bool moved = false; /* nothing is adopted */
} tables[] = {
	{of_messages, 0},
	{of_posts, 0},
	{of_notices, 0},
	{of_waiters, REQUESTS},
	{of_windows, 0},
	{of_gifts, GIVES},
	{of_regions, 0},
	{of_rights, RIGHTS},
	{of_late_pages, LATE},
	{of_losses, 0, "link", true},
	{of_connections, 0},
	{of_handshakes, 0},
	{of_attempts, REQUESTS},
	{of_limits, LIMITS},
	{of_listeners, 0},
	{of_backlogs, REQUESTS},
	{of_storms, 0},
	{of_crowds, REQUESTS},
	{of_ends, 0},
	{of_farewells, 0},
	{of_silences, 0},
	{of_deaths, 0},
	{of_the_other_process, 0, "other"},
	{of_shared, SHARED},
	{of_threads, 0},
	{of_outcomes, REQUESTS},
	{of_lost_words, 0, "lossy"},
	{of_older_peers, GIVES, "older"},
	{of_overtaken_answers, 0, "overtaken"},
	{of_patience, 0, "slow"},
	{of_limits_of_patience, 0, "silent"},
};

Result
next(End &e)
{
	Result r;

	while (!e.take(&r)) {
		WANT(ND_SUCCESS, e.arm(ND_CQ_NOTIFY_ANY));
		WANT(ND_SUCCESS, e.told());
	}
	return r;
}

int32_t
status_of(End &e, const void *context)
{
	const Result r = next(e);

	CHECK(r.context == context);
	return r.status;
}

int32_t
polled(End &e, const void *context)
{
	Result r;

	while (!e.take(&r))
		Sleep(1);
	CHECK(r.context == context);
	return r.status;
}

int32_t
Pair::ask(const sockaddr_in &at, const Words &words)
{
	const int32_t get = b->get_request(*b), asked = a->connect(at, words);

	WANT(ND_SUCCESS, b->ended(Request::get, get));
	return asked;
}

void
Pair::answer(int32_t asked, const Words &words)
{
	const int32_t accept = b->accept(words);

	WANT(ND_SUCCESS, a->ended(Request::connect, asked));
	WANT(ND_SUCCESS, a->ended(Request::complete, a->complete()));
	WANT(ND_SUCCESS, b->ended(Request::accept, accept));
}

void
Pair::meet(const Words &of_a, const Words &of_b)
{
	answer(ask(b->listen(), of_a), of_b);
}

void
join(End &active, End &passive, End &listening, const sockaddr_in &at)
{
	const int32_t get = listening.get_request(passive), ask = active.connect(at, "hello");

	WANT(ND_SUCCESS, passive.ended(Request::get, get));
	const int32_t accept = passive.accept("welcome");
	WANT(ND_SUCCESS, active.ended(Request::connect, ask));
	WANT(ND_SUCCESS, active.ended(Request::complete, active.complete()));
	WANT(ND_SUCCESS, passive.ended(Request::accept, accept));
}

Far
Pair::open_window(uint32_t flags)
{
	static int bound;
	Far told;

	WANT(ND_SUCCESS, b->bind(&bound, {0, End::bytes}, flags, &told));
	WANT(ND_SUCCESS, status_of(*b, &bound));
	return told;
}

void
wait_for_the_news(End &b)
{
	char data[256];
	uint32_t room = sizeof(data);
	int32_t hr;

	while ((hr = b.private_data(data, &room)) == ND_SUCCESS)
		Sleep(1);
	WANT(ND_CONNECTION_ABORTED, hr);
}

void
refused(Pair &p, const void *context, const void *receive)
{
	WANT(p.a->word(ND_ACCESS_VIOLATION), status_of(*p.a, context));
	WANT(ND_CANCELED, status_of(*p.b, receive));
}

static Place
place(const char *socket, const char *address)
{
	Place p = {socket, {}};

	p.address.sin_family = AF_INET;
	CHECK(inet_pton(AF_INET, address, &p.address.sin_addr) == 1);
	return p;
}

static void
list()
{
	for (auto &f : faces)
		for (auto &t : tables)
			for (auto s = t.scenarios; s->name != nullptr; s++)
				if ((t.needs & ~f.has) == 0)
					printf("%s %s %s\n", f.name, s->name, t.where);
}

static const Face &
face_named(const char *name)
{
	for (auto &f : faces)
		if (strcmp(f.name, name) == 0)
			return f;
	fprintf(stderr, "facetest: no face %s\n", name);
	exit(2);
}

/* The scenario of that name, and the table that has it. */
static const Scenario &
scenario_named(const char *name, unsigned has, const Table **table)
{
	for (auto &t : tables)
		for (auto s = t.scenarios; s->name != nullptr; s++)
			if (strcmp(s->name, name) == 0 && (t.needs & ~has) == 0) {
				*table = &t;
				return *s;
			}
	fprintf(stderr, "facetest: no scenario %s of this face\n", name);
	exit(2);
}

int
main(int argc, char **argv)
{
	const Table *table;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	if (argc != 7 && argc != 8) {
		fprintf(stderr, "usage: facetest FACE SCENARIO SOCKET_A ADDRESS_A SOCKET_B "
				"ADDRESS_B [PROCESS_B]\n");
		return 2;
	}
	const Face &f = face_named(argv[1]);
	const Scenario &s = scenario_named(argv[2], f.has, &table);
	if (table->moved)
		setenv("NDD_ADOPT", "never", 1);
	Pair p = {f.new_end(place(argv[3], argv[4])), f.new_end(place(argv[5], argv[6])),
		argc == 8 ? atoi(argv[7]) : 0, argv};

	s.run(p);
	return 0;
}
