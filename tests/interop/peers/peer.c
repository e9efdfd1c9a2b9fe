/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <arpa/inet.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECONDS_MAX 120 /* a hang is a failure, also without a runner */

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} programs[] = {
	{"rc_pingpong", peer_rc_pingpong},
	{"srq_pingpong", peer_srq_pingpong},
	{"ud_pingpong", peer_ud_pingpong},
	{"udaddy", peer_udaddy},
	{"mckey", peer_mckey},
	{"ucmatose", peer_ucmatose},
	{"cmtime", peer_cmtime},
};

double
now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

uint32_t
peer_number(const char *option, const char *text, uint32_t min, uint32_t max)
{
	char *end;
	unsigned long n = strtoul(text, &end, 0);

	if (*text != 0 && *end == 0 && n >= min && n <= max)
		return (uint32_t)n;
	fprintf(stderr, "ndpeer: %s %s: must be %u to %u\n", option, text, min, max);
	exit(2);
}

void
peer_tell(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

void
peer_address(const char *text, uint16_t port, struct sockaddr_storage *addr, socklen_t *bytes)
{
	struct side s;

	side_address(&s, NULL, text);
	*addr = s.addr;
	*bytes = s.addr_bytes;
	/* The port is at one place in the addresses of both families. */
	((struct sockaddr_in *)addr)->sin_port = htons(port);
}

void
peer_open(struct side *s, const char *address, uint32_t cq_depth)
{
	if (address == NULL) {
		fprintf(stderr, "ndpeer: -b, our own address, is missing\n");
		exit(2);
	}
	memset(s, 0, sizeof(*s));
	side_address(s, NULL, address); /* the daemon is NDD_SOCKET's */
	side_open(s, cq_depth);
}

struct nd_result
peer_result(struct nd_cq *cq)
{
	double end = now_us() + PATIENCE_MS * 1e3;
	struct nd_result r;

	while (now_us() < end) {
		int32_t n = nd_cq_get_results(cq, &r, 1);

		if (n != 0) {
			WANT(ND_SUCCESS, n < 0 ? n : r.status);
			return r;
		}
		sched_yield();
	}
	WANT(ND_SUCCESS, ND_TIMEOUT);
	return r;
}

int
main(int argc, char **argv)
{
	alarm(SECONDS_MAX);
	for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]); i++)
		if (strcmp(programs[i].name, argv[1]) == 0)
			return programs[i].run(argc - 1, argv + 1);
	fprintf(stderr, "usage: ndpeer PROGRAM -b OUR_ADDRESS [OPTION]...\n");
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		fprintf(stderr, "  %s\n", programs[i].name);
	return 2;
}
