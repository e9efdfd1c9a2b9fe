/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndlife SOCKET ADDRESS PEER_SOCKET PEER_ADDRESS: a client that has objects of all kinds at two
 * daemons, and calls what the library has. A call that fails is made once more; if that fails, too,
 * both adapters are closed, and life begins again.
 *
 * Exit status 0: it came to its end, at the second try at the latest. Each call that failed is a
 * line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "life.h"

#define LIVES  2
#define LIFE_S 25

bool
life_succeeded(const char *what, nd_status got)
{
	if (got == ND_SUCCESS || got == ND_PENDING) /* what others use is closed later */
		return true;
	printf("failed: %s: %s: %s\n", what, nd_status_name(got), nd_last_error());
	CHECK(strncmp(nd_status_name(got), "ND_", 3) == 0);
	return false;
}

static bool
live(struct pair *p)
{
	static const struct {
		const char *name;
		bool (*step)(struct pair *p);
	} steps[] = {{"open", life_open}, {"memory", life_memory}, {"queues", life_queues},
		{"connect", life_connect}, {"transfer", life_transfer}, {"windows", life_windows},
		{"datagrams", life_datagrams}, {"notify", life_notify}, {"end", life_end}};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (!steps[i].step(p)) {
			printf("over: %s\n", steps[i].name);
			return false;
		}
	return true;
}

int
main(int argc, char **argv)
{
	bool whole = false;

	if (argc != 5)
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(LIFE_S);
	for (int i = 0; i < LIVES && !whole; i++) {
		struct pair p = {.a.name = "a", .b.name = "b"};

		side_address(&p.a, argv[1], argv[2]);
		side_address(&p.b, argv[3], argv[4]);
		whole = live(&p);
		if (p.a.adapter != NULL)
			nd_adapter_close(p.a.adapter);
		if (p.b.adapter != NULL)
			nd_adapter_close(p.b.adapter);
	}
	return whole ? 0 : 1;
}
