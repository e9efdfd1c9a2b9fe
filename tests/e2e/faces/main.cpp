/* SPDX-License-Identifier: BSD-3-Clause */
/* facetest FACE SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B; facetest --list. */
#include <arpa/inet.h>
#include <cstring>

#include "scenarios.hpp"

static const struct {
	const char *name;
	NewEnd new_end;
} faces[] = {
	{"nd", new_nd},
	{"spi", new_spi},
	{"spi1", new_spi1},
	{"kpi", new_kpi},
};
static const Scenario *const tables[] = {of_messages, of_windows, of_connections};

Result
next(End &e)
{
	Result r;

	while (!e.take(&r)) {
		WANT(ND_SUCCESS, e.arm(ND_CQ_NOTIFY_ANY));
		e.told();
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
	const sockaddr_in at = b->listen();
	const int32_t get = b->get_request(), ask = a->connect(at, "hello");

	WANT(ND_SUCCESS, b->ended(Request::get, get));
	const int32_t accept = b->accept("welcome");
	WANT(ND_SUCCESS, a->ended(Request::connect, ask));
	WANT(ND_SUCCESS, a->ended(Request::complete, a->complete()));
	WANT(ND_SUCCESS, b->ended(Request::accept, accept));
}

Far
Pair::open_window(uint32_t flags)
{
	static int bound;
	Far told;

	WANT(ND_SUCCESS, b->bind(&bound, 0, End::bytes, flags, &told));
	WANT(ND_SUCCESS, status_of(*b, &bound));
	return told;
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
		for (auto table : tables)
			for (auto s = table; s->name != nullptr; s++)
				printf("%s %s\n", f.name, s->name);
}

static NewEnd
face_named(const char *name)
{
	for (auto &f : faces)
		if (strcmp(f.name, name) == 0)
			return f.new_end;
	fprintf(stderr, "facetest: no face %s\n", name);
	exit(2);
}

static const Scenario &
scenario_named(const char *name)
{
	for (auto table : tables)
		for (auto s = table; s->name != nullptr; s++)
			if (strcmp(s->name, name) == 0)
				return *s;
	fprintf(stderr, "facetest: no scenario %s\n", name);
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
	const NewEnd new_end = face_named(argv[1]);
	const Scenario &s = scenario_named(argv[2]);
	Pair p = {new_end(place(argv[3], argv[4])), new_end(place(argv[5], argv[6]))};

	s.run(p);
	return 0;
}
