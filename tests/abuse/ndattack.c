/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ndattack ATTACK SOCKET PEER_SOCKET MILLISECONDS: a client that does what no client may do, or
 * too much of what each client may; --list prints the names of the attacks. It says when it begins.
 * The daemon may give any answer, and end its sessions. The runner checks that other clients do not
 * notice. Exit status 0: it attacked for that long; 3: it could not begin, or gave up.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "attack.h"

#define PREPARATION_NS 5000000000u
#define PAST_THE_END_S 20 /* then the daemon does not let it go */

static const struct attack *const themes[] = {socket_attacks, message_attacks, object_attacks,
	ring_attacks, work_attacks, memory_attacks, connection_attacks, datagram_attacks,
	traffic_attacks, unreliable_attacks, window_attacks, held_attacks, crowd_attacks};
#define THEMES (sizeof(themes) / sizeof(themes[0]))

static uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void
attack_starts(struct target *t)
{
	t->end_ns = clock_ns() + t->ms * 1000000u;
	printf("attacking\n");
	fflush(stdout);
}

bool
attacking(const struct target *t)
{
	return clock_ns() < t->end_ns;
}

void
attack_pause_us(uint32_t us)
{
	usleep(us);
}

void
attack_hold(const struct target *t)
{
	while (attacking(t))
		usleep(10000);
}

static void
print_names(void)
{
	for (size_t i = 0; i < THEMES; i++)
		for (const struct attack *a = themes[i]; a->name != NULL; a++)
			printf("%s\n", a->name);
}

static const struct attack *
find_attack(const char *name)
{
	for (size_t i = 0; i < THEMES; i++)
		for (const struct attack *a = themes[i]; a->name != NULL; a++)
			if (strcmp(a->name, name) == 0)
				return a;
	return NULL;
}

int
main(int argc, char **argv)
{
	struct rlimit files;
	struct target t;
	const struct attack *a;

	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		print_names();
		return 0;
	}
	a = argc == 5 ? find_attack(argv[1]) : NULL;
	if (a == NULL) {
		fprintf(stderr, "usage: ndattack ATTACK SOCKET PEER_SOCKET MILLISECONDS\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	t = (struct target){argv[2], argv[3], strtoull(argv[4], NULL, 0), 0};
	alarm((unsigned int)(t.ms / 1000 + PAST_THE_END_S));
	t.end_ns = clock_ns() + PREPARATION_NS;
	if (!a->prepares)
		attack_starts(&t);
	a->run(&t, a->arg);
	if (attacking(&t)) {
		fprintf(stderr, "%s gave up\n", a->name);
		return 3;
	}
	return 0;
}
