/* SPDX-License-Identifier: BSD-3-Clause */
/* spitest SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B; spitest --list. */
#include <arpa/inet.h>

#include "spi.hpp"

Place place_a, place_b;

static const struct {
	const char *name;
	void (*run)();
} scenarios[] = {
	{"objects", objects},
	{"references", references},
	{"orders", orders},
	{"sizes", sizes},
	{"arguments", arguments},
	{"cancels", cancels},
	{"releases", releases},
	{"twice", twice},
	{"events", events},
	{"talk", talk},
	{"windows", windows},
	{"shared", shared},
	{"listeners", listeners},
	{"rejects", rejects},
	{"storm", storm},
};

static Place
place(const char *socket, const char *address)
{
	Place p = {socket, {}};

	p.address.sin_family = AF_INET;
	CHECK(inet_pton(AF_INET, address, &p.address.sin_addr) == 1);
	return p;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (auto &s : scenarios)
			puts(s.name);
		return 0;
	}
	if (argc != 6) {
		fprintf(stderr, "usage: spitest SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B\n");
		return 2;
	}
	place_a = place(argv[2], argv[3]);
	place_b = place(argv[4], argv[5]);
	WANT(ND_SUCCESS, NdStartup());
	for (auto &s : scenarios) {
		if (strcmp(s.name, argv[1]) != 0)
			continue;
		s.run();
		WANT(ND_SUCCESS, NdCleanup());
		return 0;
	}
	fprintf(stderr, "spitest: no scenario %s\n", argv[1]);
	return 2;
}
