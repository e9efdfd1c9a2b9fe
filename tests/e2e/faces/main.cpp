/* SPDX-License-Identifier: BSD-3-Clause */
/* facetest FACE SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B; facetest --list. */
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
};
static const struct Face {
	const char *name;
	NewEnd new_end;
	unsigned has;
} faces[] = {
	{"nd", new_nd, RIGHTS | LIMITS | SHARED | REQUESTS | GIVES},
	{"spi", new_spi, RIGHTS | LIMITS | SHARED | REQUESTS},
	{"spi1", new_spi1, REQUESTS | GIVES},
	{"kpi", new_kpi, RIGHTS | LIMITS | SHARED | GIVES},
};
static const struct {
	const Scenario *scenarios;
	unsigned needs;
} tables[] = {
	{of_messages, 0},
	{of_posts, 0},
	{of_notices, 0},
	{of_waiters, REQUESTS},
	{of_windows, 0},
	{of_gifts, GIVES},
	{of_regions, 0},
	{of_rights, RIGHTS},
	{of_connections, 0},
	{of_handshakes, 0},
	{of_attempts, REQUESTS},
	{of_limits, LIMITS},
	{of_listeners, 0},
	{of_backlogs, REQUESTS},
	{of_ends, 0},
	{of_shared, SHARED},
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

void
Pair::meet()
{
	join(*a, *b, *b, b->listen());
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
					printf("%s %s\n", f.name, s->name);
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

static const Scenario &
scenario_named(const char *name, unsigned has)
{
	for (auto &t : tables)
		for (auto s = t.scenarios; s->name != nullptr; s++)
			if (strcmp(s->name, name) == 0 && (t.needs & ~has) == 0)
				return *s;
	fprintf(stderr, "facetest: no scenario %s of this face\n", name);
	exit(2);
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		list();
		return 0;
	}
	if (argc != 7) {
		fprintf(stderr,
			"usage: facetest FACE SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B\n");
		return 2;
	}
	const Face &f = face_named(argv[1]);
	const Scenario &s = scenario_named(argv[2], f.has);
	Pair p = {f.new_end(place(argv[3], argv[4])), f.new_end(place(argv[5], argv[6]))};

	s.run(p);
	return 0;
}
