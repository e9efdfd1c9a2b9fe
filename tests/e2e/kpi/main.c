/* SPDX-License-Identifier: BSD-3-Clause */
/* kpitest SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B [PROCESS_A]; kpitest --list. */
#include <arpa/inet.h>

#include "kpi.h"

struct place place_a, place_b;
int daemon_a;

static const struct {
	const char *name;
	void (*run)(void);
	bool listed; /* not, if it wants PROCESS_A */
} scenarios[] = {
	{"objects", objects, true},
	{"creates", creates, true},
	{"closes", closes, true},
	{"blocking", blocking, true},
	{"arguments", arguments, true},
	{"regions", regions, true},
	{"ordinary-region", ordinary_region, true},
	{"mappings", mappings, true},
	{"mapped", mapped, true},
	{"talk", talk, true},
	{"private-data", private_data, true},
	{"queues", queues, true},
	{"fast", fast, true},
	{"local-invalidate", local_invalidate, true},
	{"deferred", deferred, true},
	{"windows", windows, true},
	{"shared-receives", shared_receives, true},
	{"endpoints", endpoints, true},
	{"pauses", pauses, true},
	{"rejects", rejects, true},
	{"ends", ends, true},
	{"last-callbacks", last_callbacks, true},
	{"storm", storm, true},
	{"deferred-callbacks", deferred_callbacks, true},
	{"busy-callbacks", busy_callbacks, true},
	{"closed-in-callback", closed_in_callback, true},
	{"moderated", moderated, true},
	{"intervals", intervals, true},
	{"registers", registers, true},
	{"silent", silent, false},
	{"daemon-dies", daemon_dies, false},
};
#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

static struct place
place_of(const char *socket, const char *address)
{
	struct place p = {.socket = socket, .address.sin_family = AF_INET};

	CHECK(inet_pton(AF_INET, address, &p.address.sin_addr) == 1);
	return p;
}

int
main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < SCENARIOS; i++)
			if (scenarios[i].listed)
				puts(scenarios[i].name);
		return 0;
	}
	if (argc < 6 || argc > 7) {
		fprintf(stderr, "usage: kpitest SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B "
				"[PROCESS_A]\n");
		return 2;
	}
	place_a = place_of(argv[2], argv[3]);
	place_b = place_of(argv[4], argv[5]);
	daemon_a = argc == 7 ? atoi(argv[6]) : 0;
	for (size_t i = 0; i < SCENARIOS; i++) {
		if (strcmp(scenarios[i].name, argv[1]) != 0)
			continue;
		scenarios[i].run();
		return 0;
	}
	fprintf(stderr, "kpitest: no scenario %s\n", argv[1]);
	return 2;
}
