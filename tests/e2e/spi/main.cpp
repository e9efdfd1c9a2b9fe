/* SPDX-License-Identifier: BSD-3-Clause */
/* spitest SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B PID_B; spitest --list. PID: of the daemon. */
#include <arpa/inet.h>

#include "v1.hpp"

Place place_a, place_b;
pid_t daemon_b;

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
	{"adapters", adapters},
	{"regions_of_others", regions_of_others},
	{"tokens_of_others", tokens_of_others},
	{"low_queues", low_queues},
	{"two_queues", two_queues},
	{"near_queues", near_queues},
	{"batches", batches},
	{"packets", packets},
	{"two_takers", two_takers},
	{"closed_queue", closed_queue},
	{"nowhere", nowhere},
	{"ports", ports},
	{"v1_objects", v1_objects},
	{"v1_references", v1_references},
	{"v1_orders", v1_orders},
	{"v1_sizes", v1_sizes},
	{"v1_arguments", v1_arguments},
	{"v1_posts", v1_posts},
	{"v1_cancels", v1_cancels},
	{"v1_port", v1_port},
	{"v1_memory", v1_memory},
	{"v1_registrations", v1_registrations},
	{"v1_adapters", v1_adapters},
	{"v1_talk", v1_talk},
	{"v1_batches", v1_batches},
	{"v1_results", v1_results},
	{"v1_inline", v1_inline},
	{"v1_statuses", v1_statuses},
	{"v1_no_receive", v1_no_receive},
	{"v1_descriptor", v1_descriptor},
	{"v1_windows", v1_windows},
	{"v1_invalidated", v1_invalidated},
	{"v1_late", v1_late},
	{"v1_released", v1_released},
	{"v1_bad_token", v1_bad_token},
	{"v1_connecting", v1_connecting},
	{"v1_rejects", v1_rejects},
	{"v1_goodbyes", v1_goodbyes},
	{"v1_meets_v2", v1_meets_v2},
	{"v1_silent", v1_silent},
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
	if (argc != 7) {
		fprintf(stderr, "usage: spitest SCENARIO SOCKET_A ADDRESS_A SOCKET_B ADDRESS_B PID_B\n");
		return 2;
	}
	place_a = place(argv[2], argv[3]);
	place_b = place(argv[4], argv[5]);
	daemon_b = (pid_t)atoi(argv[6]);
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
