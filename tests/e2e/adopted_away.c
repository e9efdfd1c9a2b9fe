/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the application unmaps, maps anew, or moves, while it is adopted. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"

#define BYTES  (1u << 20)
#define PAGE   4096u
#define RIGHTS (ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ)
#define ADOPT  (RIGHTS | ND_MR_FLAG_ADOPT)

static char *
map_at(char *at, int flags)
{
	char *p = mmap(at, BYTES, PROT_READ | PROT_WRITE,
		flags | MAP_ANONYMOUS | (at != NULL ? MAP_FIXED : 0), -1, 0);

	CHECK(p != MAP_FAILED && (at == NULL || p == at));
	return p;
}

static char *
adopted(struct pair *p, struct nd_mr **mr)
{
	char *at = map_at(NULL, MAP_PRIVATE);

	memset(at, 1, BYTES);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, ADOPT, mr));
	return at;
}

static void
peer_writes(struct pair *p, char *at, const struct nd_mr *mr, int value)
{
	struct nd_result result;

	memset(p->a.buf, value, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_reach(&p->a, 1, at, BUFFER_BYTES, nd_mr_remote_token(mr)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
}

static bool
all_are(const char *at, int value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (at[i] != value)
			return false;
	return true;
}

/* Does what a child stores reach this process? */
static bool
is_shared(char *at)
{
	char before = *at;
	pid_t child = fork();
	bool shared;
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		*at = (char)(before + 1);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	shared = *at != before;
	*at = before;
	return shared;
}

/* Asks the kernel, by a read() of the byte that is there. */
static bool
is_writable(char *at)
{
	bool yes;
	int fd[2];

	CHECK(pipe(fd) == 0 && write(fd[1], at, 1) == 1);
	yes = read(fd[0], at, 1) == 1;
	close(fd[0]);
	close(fd[1]);
	return yes;
}

/* New memory at the same address, while the old region lives: a new region there is of the new
 * memory, and the end of the old one does not touch it. */
static void
mapped_anew(struct pair *p, int flags)
{
	uint64_t refused = side_adoption(&p->b).not_adopted[ND_ADOPT_KIND];
	struct nd_mr *old, *mr;
	char *at = adopted(p, &old);

	CHECK(munmap(at, BYTES) == 0);
	map_at(at, flags);
	memset(at, 5, BYTES);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, ADOPT, &mr));
	CHECK(side_adoption(&p->b).not_adopted[ND_ADOPT_KIND] == refused + 1);
	peer_writes(p, at, mr, 7);
	CHECK(all_are(at, 7, BUFFER_BYTES) && all_are(at + BUFFER_BYTES, 5, BYTES - BUFFER_BYTES));
	peer_writes(p, at, old, 9); /* into pages that nobody sees */
	CHECK(all_are(at, 7, BUFFER_BYTES));
	CHECK(is_shared(at) == ((flags & MAP_SHARED) != 0));
	WANT(ND_SUCCESS, nd_mr_close(old));
	CHECK(all_are(at, 7, BUFFER_BYTES) && all_are(at + BUFFER_BYTES, 5, BYTES - BUFFER_BYTES));
	CHECK(is_shared(at) == ((flags & MAP_SHARED) != 0));
	peer_writes(p, at, mr, 11);
	CHECK(all_are(at, 11, BUFFER_BYTES));
	WANT(ND_SUCCESS, nd_mr_close(mr));
	CHECK(side_adoption(&p->b).ranges == 0 && side_adoption(&p->b).kept == 0);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, ADOPT, &mr)); /* now the address is free */
	CHECK(side_adoption(&p->b).ranges == !(flags & MAP_SHARED));
	WANT(ND_SUCCESS, nd_mr_close(mr));
	munmap(at, BYTES);
}

/* A hole with other memory in it, a part that can't be written, and one that was moved: what is
 * left of the segment is private again, with its bytes and rights. */
static void
in_pieces(struct pair *p)
{
	struct nd_mr *mr;
	char *at = adopted(p, &mr), *room = map_at(NULL, MAP_PRIVATE), *hole = at + 16 * PAGE,
	     *constant = at + 64 * PAGE, *moved = at + 128 * PAGE;

	for (uint32_t i = 0; i < BYTES; i += PAGE)
		memset(at + i, (int)(i / PAGE % 100), PAGE);
	CHECK(mmap(hole, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1,
		      0) == hole);
	*hole = 77;
	CHECK(mprotect(constant, PAGE, PROT_READ) == 0);
	CHECK(mremap(moved, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room) == room);
	CHECK(is_shared(hole));
	CHECK(!is_shared(at) && !is_shared(room));
	WANT(ND_SUCCESS, nd_mr_close(mr));
	CHECK(side_adoption(&p->b).ranges == 0 && side_adoption(&p->b).kept == 0);
	CHECK(is_shared(hole) && *hole == 77);
	CHECK(!is_writable(constant) && is_writable(at) && is_writable(room));
	for (uint32_t i = 0; i < BYTES; i += PAGE)
		if (at + i != hole && at + i != moved)
			CHECK(all_are(at + i, (int)(i / PAGE % 100), PAGE));
	CHECK(all_are(room, 128 % 100, PAGE));
	CHECK(madvise(room, PAGE, MADV_DONTNEED) == 0 && *room == 0);
	CHECK(madvise(at, PAGE, MADV_DONTNEED) == 0 && *at == 0);
	CHECK(madvise(constant, PAGE, MADV_DONTNEED) == 0 && *constant == 0);
	munmap(at, BYTES);
	munmap(room, BYTES);
}

void
scenario_adopted_away(struct pair *p)
{
	struct nd_mr *mr;
	char *at;

	pair_open(p);
	at = adopted(p, &mr);
	WANT(ND_SUCCESS, nd_mr_close(mr));
	munmap(at, BYTES);
	if (side_adoption(&p->b).not_adopted[ND_ADOPT_SYSTEM] != 0) {
		pair_close(p);
		printf("this system does not let memory be adopted; ");
		return;
	}
	mapped_anew(p, MAP_PRIVATE);
	mapped_anew(p, MAP_SHARED);
	in_pieces(p);
	pair_close(p);
}
