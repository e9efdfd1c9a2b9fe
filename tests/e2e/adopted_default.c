/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is adopted although nobody asked for it, and what keeps it from that. */
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"

#define BYTES	     (1u << 20)
#define RIGHTS	     (ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ)
#define TRIES	     200u
#define PAUSE	     25000u /* us */
#define MUCH	     (200u << 20)
#define MANY	     150u
#define MANY_ADOPTED 128u
#define SMALL	     32u /* as many as are adopted */
#define SMALL_BYTES  4096u

/* Writes of a come to the second half, as they were sent. */
static void
peer_writes(struct pair *p, char *at, const struct nd_mr *mr, int value)
{
	struct nd_result result;

	memset(p->a.buf, value, BUFFER_BYTES);
	WANT(ND_SUCCESS,
		side_reach(&p->a, 1, at + BYTES / 2, BUFFER_BYTES, nd_mr_remote_token(mr)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(memcmp(at + BYTES / 2, p->a.buf, BUFFER_BYTES) == 0);
}

/* Not adopted, for that reason; and it works. */
static void
refused(struct pair *p, char *at, size_t bytes, uint32_t flags, enum nd_adopt_reason why)
{
	uint64_t before = side_adoption(&p->b).not_adopted[why];
	struct nd_mr *mr;

	WANT(ND_SUCCESS, region_new(p->b.pd, at, bytes, RIGHTS | flags, &mr));
	CHECK(side_adoption(&p->b).ranges == 0);
	CHECK(side_adoption(&p->b).not_adopted[why] == before + 1);
	if (bytes == BYTES)
		peer_writes(p, at, mr, (int)why);
	WANT(ND_SUCCESS, nd_mr_close(mr));
}

/* What was in the way is gone, but the library does not look each time. */
static bool
adopted(struct pair *p, char *at, struct nd_mr **mr)
{
	for (unsigned int i = 0; i < TRIES; i++) {
		WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, RIGHTS, mr));
		if (side_adoption(&p->b).ranges == 1)
			return true;
		WANT(ND_SUCCESS, nd_mr_close(*mr));
		usleep(PAUSE);
	}
	return false;
}

static int
ring_new(void)
{
	struct io_uring_params params = {0};

	return (int)syscall(SYS_io_uring_setup, 4, &params);
}

static void
reasons(struct pair *p, char *at)
{
	int ring = ring_new();
	struct nd_mr *mr;

	if (ring >= 0) {
		refused(p, at, BYTES, 0, ND_ADOPT_PINS);
		close(ring);
	}
	CHECK(adopted(p, at, &mr));
	WANT(ND_SUCCESS, nd_mr_close(mr));
	refused(p, at, BYTES, ND_MR_FLAG_DO_NOT_ADOPT, ND_ADOPT_OFF);
	refused(p, at, BYTES, ND_MR_FLAG_DO_NOT_SECURE_VM, ND_ADOPT_OFF);
	refused(p, at, 4095, 0, ND_ADOPT_TOO_SMALL);
	refused(p, at + 8, ND_ADOPT_BYTES_MIN - 8, 0, ND_ADOPT_TOO_SMALL);
	CHECK(madvise(at + 4096, 4096, MADV_DONTFORK) == 0);
	refused(p, at, BYTES, 0, ND_ADOPT_ADVICE);
	CHECK(madvise(at + 4096, 4096, MADV_DOFORK) == 0);
	WANT(ND_SUCCESS, nd_mr_create(p->b.pd, &mr));
	WANT(ND_INVALID_PARAMETER_3,
		nd_mr_register(mr, at, BYTES, ND_MR_FLAG_ADOPT | ND_MR_FLAG_DO_NOT_ADOPT, NULL));
	WANT(ND_INVALID_PARAMETER_3,
		nd_mr_register(mr, at, BYTES, ND_MR_FLAG_IN_PLACE | ND_MR_FLAG_DO_NOT_ADOPT, NULL));
	WANT(ND_SUCCESS, nd_mr_close(mr));
}

static bool
all_are(const char *at, int value)
{
	for (unsigned int i = 0; i < BYTES; i++)
		if (at[i] != value)
			return false;
	return true;
}

/* The child has what was there at the fork, whatever its parent, or a peer, stores later. */
static void
with_child(struct pair *p, char *at)
{
	int go[2], status;
	struct nd_mr *mr;
	pid_t child;

	CHECK(adopted(p, at, &mr));
	CHECK(pipe(go) == 0);
	memset(at, 5, BYTES);
	child = fork();
	CHECK(child >= 0);
	if (child == 0) {
		char byte;
		bool good = read(go[0], &byte, 1) == 1 && all_are(at, 5);

		memset(at, 6, BYTES);
		_exit(good ? 0 : 1);
	}
	memset(at, 7, BYTES / 2);
	peer_writes(p, at, mr, 9);
	CHECK(write(go[1], "", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(at[0] == 7 && at[BYTES / 2] == 9 && at[BYTES - 1] == 5);
	WANT(ND_SUCCESS, nd_mr_close(mr));
	CHECK(side_adoption(&p->b).ranges == 0 && side_adoption(&p->b).kept == 0);
	CHECK(at[0] == 7 && at[BYTES / 2] == 9 && at[BYTES - 1] == 5);
	CHECK(madvise(at, BYTES, MADV_DONTNEED) == 0 && all_are(at, 0));
	close(go[0]);
	close(go[1]);
}

/* Pages that may be pinned at the end stay, so that nothing is stored to others. */
static void
with_pins(struct pair *p)
{
	char *at = map_anonymous(BYTES, MAP_PRIVATE);
	struct nd_mr *mr;
	int ring;

	memset(at, 3, BYTES);
	CHECK(adopted(p, at, &mr));
	ring = ring_new();
	if (ring < 0) {
		printf("no io_uring; ");
	} else {
		WANT(ND_SUCCESS, nd_mr_close(mr));
		CHECK(side_adoption(&p->b).kept == 1 && side_adoption(&p->b).ranges == 0);
		CHECK(all_are(at, 3));
		close(ring);
	}
	munmap(at, BYTES);
}

/* A program that registers for each transfer pays for a few of them, not for all. */
static void
in_a_loop(struct pair *p, char *at)
{
	unsigned int i;
	struct nd_mr *mr;

	for (i = 0; i < TRIES && side_adoption(&p->b).not_adopted[ND_ADOPT_BRIEF] == 0; i++) {
		WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, RIGHTS, &mr));
		if (side_adoption(&p->b).ranges == 0)
			usleep(PAUSE);
		WANT(ND_SUCCESS, nd_mr_close(mr));
	}
	CHECK(side_adoption(&p->b).not_adopted[ND_ADOPT_BRIEF] == 1);
	refused(p, at, BYTES, 0, ND_ADOPT_BRIEF);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, RIGHTS | ND_MR_FLAG_ADOPT, &mr));
	CHECK(side_adoption(&p->b).ranges == 1); /* what is asked for is done */
	WANT(ND_SUCCESS, nd_mr_close(mr));
}

/* Each adopted range makes the next one dearer: many are registered without it, at once. */
static void
many(struct pair *p)
{
	char *at = map_anonymous(2ul * MANY * ND_ADOPT_BYTES_MIN, MAP_PRIVATE);
	struct nd_mr *mr[MANY];

	for (unsigned int i = 0; i < MANY; i++) {
		char *here = at + 2ul * i * ND_ADOPT_BYTES_MIN;

		/* A mapping of its own. */
		CHECK(mprotect(here + ND_ADOPT_BYTES_MIN, ND_ADOPT_BYTES_MIN, PROT_NONE) == 0);
		WANT(ND_SUCCESS, region_new(p->b.pd, here, ND_ADOPT_BYTES_MIN, RIGHTS, &mr[i]));
	}
	CHECK(side_adoption(&p->b).ranges == MANY_ADOPTED);
	CHECK(side_adoption(&p->b).not_adopted[ND_ADOPT_RESOURCES] == MANY - MANY_ADOPTED);
	for (unsigned int i = 0; i < MANY; i++)
		WANT(ND_SUCCESS, nd_mr_close(mr[i]));
	munmap(at, 2ul * MANY * ND_ADOPT_BYTES_MIN);
}

/* Pages that were laid out for transfers, however few. They take no place, and no trust, of large
 * ranges. */
static void
small_ones(struct pair *p, char *at)
{
	struct nd_mr *mr[SMALL + 1], *large;
	struct nd_result result;

	for (unsigned int i = 0; i <= SMALL; i++)
		WANT(ND_SUCCESS, region_new(p->b.pd, at + 2ul * i * SMALL_BYTES, SMALL_BYTES,
					 RIGHTS, &mr[i]));
	CHECK(side_adoption(&p->b).ranges == SMALL);
	CHECK(side_adoption(&p->b).not_adopted[ND_ADOPT_RESOURCES] == 1);
	for (unsigned int i = 0; i <= SMALL; i++) {
		char *to = at + 2ul * i * SMALL_BYTES;

		memset(p->a.buf, (int)i + 1, SMALL_BYTES);
		WANT(ND_SUCCESS, side_reach(&p->a, 1, to, SMALL_BYTES, nd_mr_remote_token(mr[i])));
		WANT(ND_SUCCESS, side_result(&p->a, &result));
		CHECK(memcmp(to, p->a.buf, SMALL_BYTES) == 0);
		WANT(ND_SUCCESS, nd_mr_close(mr[i]));
	}
	refused(p, at, SMALL_BYTES, 0, ND_ADOPT_BRIEF);
	CHECK(adopted(p, at, &large));
	WANT(ND_SUCCESS, nd_mr_close(large));
}

/* The kernel tells of a mapping after it has counted its pages: too much for a small part. */
static void
part_of_much(struct pair *p)
{
	char *at = map_anonymous(MUCH, MAP_PRIVATE);
	struct nd_mr *mr;

	refused(p, at, BYTES, 0, ND_ADOPT_ADVICE);
	refused(p, at + MUCH / 2, ND_ADOPT_BYTES_MIN, 0, ND_ADOPT_ADVICE);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, RIGHTS | ND_MR_FLAG_ADOPT, &mr));
	CHECK(side_adoption(&p->b).ranges == 1);
	WANT(ND_SUCCESS, nd_mr_close(mr));
	munmap(at, MUCH);
}

/* checks R-MR-11: adopted by default, in sessions of its own for what counts in one. */
void
scenario_adopted_default(struct pair *p)
{
	char *at = map_anonymous(BYTES, MAP_PRIVATE);
	struct nd_mr *mr;

	pair_open(p);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, RIGHTS, &mr));
	WANT(ND_SUCCESS, nd_mr_close(mr));
	if (side_adoption(&p->b).not_adopted[ND_ADOPT_SYSTEM] != 0) {
		pair_close(p);
		printf("this system does not let memory be adopted; ");
		return;
	}
	reasons(p, at);
	pair_close(p);
	pair_open(p);
	with_child(p, at);
	with_pins(p);
	pair_close(p);
	pair_open(p);
	part_of_much(p);
	pair_close(p);
	pair_open(p);
	small_ones(p, at);
	pair_close(p);
	pair_open(p);
	many(p);
	pair_close(p);
	pair_open(p);
	in_a_loop(p, at);
	pair_close(p);
	munmap(at, BYTES);
}
