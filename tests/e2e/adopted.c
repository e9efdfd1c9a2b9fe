/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is adopted where it lies, and given back. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "scenarios.h"

#define BYTES	 (1u << 20)
#define WORDS	 (BYTES / 2 / sizeof(uint64_t)) /* the second half is the peer's */
#define THREADS	 3u
#define ROUNDS	 25u
#define RIGHTS	 (ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ)
#define ADOPT	 (RIGHTS | ND_MR_FLAG_ADOPT)
#define IN_PLACE (RIGHTS | ND_MR_FLAG_IN_PLACE)
#define MOVED	 (RIGHTS | ND_MR_FLAG_DO_NOT_ADOPT)

static char *
anonymous(void)
{
	char *p = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

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

/* Private pages, shared with no one: dropped pages are zero. */
static void
is_private_again(char *at)
{
	CHECK(madvise(at, BYTES, MADV_DONTNEED) == 0);
	for (unsigned int i = 0; i < BYTES; i++)
		CHECK(at[i] == 0);
}

/* ---- threads that don't stop ----------------------------------------------------------------- */

static uint32_t stop;

struct storer {
	pthread_t thread;
	volatile uint64_t *word;
	unsigned int first;
	uint64_t rounds;
};

static void *
store(void *arg)
{
	struct storer *s = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		for (unsigned int i = s->first; i < WORDS; i += THREADS)
			s->word[i] = s->word[i] + 1;
		s->rounds++;
	}
	return NULL;
}

static void
under_stores(struct pair *p, char *at)
{
	struct storer s[THREADS];
	struct nd_mr *mr;

	for (unsigned int t = 0; t < THREADS; t++) {
		s[t] = (struct storer){.word = (volatile uint64_t *)(void *)at, .first = t};
		CHECK(pthread_create(&s[t].thread, NULL, store, &s[t]) == 0);
	}
	for (unsigned int i = 0; i < ROUNDS; i++) {
		WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, ADOPT, &mr));
		CHECK(side_adoption(&p->b).ranges == 1);
		peer_writes(p, at, mr, (int)i);
		WANT(ND_SUCCESS, nd_mr_close(mr));
		CHECK(side_adoption(&p->b).ranges == 0);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned int t = 0; t < THREADS; t++)
		pthread_join(s[t].thread, NULL);
	for (unsigned int t = 0; t < THREADS; t++) {
		CHECK(s[t].rounds > 0);
		for (unsigned int i = s[t].first; i < WORDS; i += THREADS)
			CHECK(s[t].word[i] == s[t].rounds);
	}
}

/* ---- as long as there are regions ------------------------------------------------------------ */

static void
with_regions(struct pair *p, char *at)
{
	struct nd_mr *whole, *part, *beyond;
	uint64_t adopted = side_adoption(&p->b).adopted;

	memset(at, 3, BYTES / 2);
	WANT(ND_SUCCESS, region_new(p->b.pd, at + 100, BYTES - 100, ADOPT, &whole));
	WANT(ND_SUCCESS, region_new(p->b.pd, at + 5000, BYTES / 2, ADOPT, &part));
	CHECK(side_adoption(&p->b).adopted == adopted + 1 && side_adoption(&p->b).bytes == BYTES);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, MOVED, &beyond));
	peer_writes(p, at, beyond, 7);
	WANT(ND_SUCCESS, nd_mr_close(beyond));
	WANT(ND_SUCCESS, nd_mr_deregister(whole, NULL));
	CHECK(side_adoption(&p->b).ranges == 1);
	WANT(ND_SUCCESS, nd_mr_register(whole, at + 100, BYTES - 100, IN_PLACE, NULL));
	CHECK(side_adoption(&p->b).adopted == adopted + 1);
	peer_writes(p, at, whole, 9);
	WANT(ND_SUCCESS, nd_mr_close(whole));
	WANT(ND_SUCCESS, nd_mr_close(part));
	CHECK(side_adoption(&p->b).ranges == 0 && side_adoption(&p->b).bytes == 0 &&
		side_adoption(&p->b).kept == 0);
	CHECK(at[0] == 3 && at[BYTES / 2 - 1] == 3 && at[BYTES / 2] == 9);
	is_private_again(at);
}

static void
child_is_apart(char *at)
{
	char first = at[0], last = at[BYTES - 1];
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		bool good = at[0] == first && at[BYTES - 1] == last;

		memset(at, 6, BYTES);
		_exit(good ? 0 : 1);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK(at[0] == first && at[BYTES - 1] == last);
}

/* A child's stores are its own, and what it reads was there. */
static void
with_children(struct pair *p, char *at)
{
	struct nd_mr *mr;

	memset(at, 5, BYTES);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, ADOPT, &mr));
	child_is_apart(at);
	peer_writes(p, at, mr, 11);
	WANT(ND_SUCCESS, nd_mr_close(mr));
	CHECK(at[0] == 5 && at[BYTES / 2] == 11);
}

/* ---- what is not adopted --------------------------------------------------------------------- */

static void
falls_back(struct pair *p, char *at, size_t bytes, enum nd_adopt_reason why)
{
	uint64_t before = side_adoption(&p->b).not_adopted[why];
	struct nd_result result;
	struct nd_mr *mr;

	WANT(ND_SUCCESS, region_new(p->b.pd, at, bytes, ADOPT, &mr));
	CHECK(side_adoption(&p->b).not_adopted[why] == before + 1);
	memset(p->a.buf, 0x42, bytes);
	WANT(ND_SUCCESS, side_reach(&p->a, 1, at, (uint32_t)bytes, nd_mr_remote_token(mr)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(memcmp(at, p->a.buf, bytes) == 0);
	WANT(ND_SUCCESS, nd_mr_close(mr));
	WANT(ND_NOT_SUPPORTED, region_new(p->b.pd, at, bytes, IN_PLACE, &mr));
	CHECK(side_adoption(&p->b).not_adopted[why] == before + 2);
}

static void
others(struct pair *p, char *at)
{
	char here[ND_ADOPT_BYTES_MIN];
	char *shared = mmap(NULL, ND_ADOPT_BYTES_MIN, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct nd_mr *mr;

	CHECK(shared != MAP_FAILED);
	falls_back(p, at, 4095, ND_ADOPT_TOO_SMALL);
	falls_back(p, at + 8, ND_ADOPT_BYTES_MIN - 8, ND_ADOPT_TOO_SMALL);
	falls_back(p, shared, ND_ADOPT_BYTES_MIN, ND_ADOPT_KIND);
	falls_back(p, here, sizeof(here), ND_ADOPT_STACK);
	CHECK(mprotect(at, 4096, PROT_READ) == 0);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES,
				 ND_MR_FLAG_ALLOW_REMOTE_READ | ND_MR_FLAG_ADOPT, &mr));
	WANT(ND_SUCCESS, nd_mr_close(mr));
	CHECK(mprotect(at, 4096, PROT_READ | PROT_WRITE) == 0);
	CHECK(side_adoption(&p->b).not_adopted[ND_ADOPT_KIND] == 3);
	WANT(ND_INVALID_PARAMETER, nd_adoption(p->b.adapter, NULL));
	munmap(shared, ND_ADOPT_BYTES_MIN);
}

/* The way back is barred: the pages stay the segment's, and the memory works as any other. */
static void
kept(struct pair *p)
{
	char *at = anonymous();
	struct rlimit before, none;
	struct nd_mr *mr;

	memset(at, 17, BYTES);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, ADOPT, &mr));
	CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
	none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
	CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
	WANT(ND_SUCCESS, nd_mr_close(mr));
	CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
	CHECK(side_adoption(&p->b).kept == 1 && side_adoption(&p->b).ranges == 0);
	CHECK(at[0] == 17 && at[BYTES - 1] == 17);
	child_is_apart(at);
	falls_back(p, at, BUFFER_BYTES, ND_ADOPT_KIND);
	munmap(at, BYTES);
}

/* checks R-MR-11: adopted in use, given back with the last region or with the adapter. */
void
scenario_adopted(struct pair *p)
{
	char *at = anonymous();
	struct nd_mr *mr;

	pair_open(p);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, ADOPT, &mr));
	if (side_adoption(&p->b).not_adopted[ND_ADOPT_SYSTEM] != 0) { /* it works all the same */
		peer_writes(p, at, mr, 1);
		pair_close(p);
		printf("this system does not let memory be adopted; ");
		return;
	}
	WANT(ND_SUCCESS, nd_mr_close(mr));
	with_regions(p, at);
	with_children(p, at);
	others(p, at);
	kept(p);
	memset(at, 0, BYTES);
	under_stores(p, at);
	memset(at, 13, BYTES);
	WANT(ND_SUCCESS, region_new(p->b.pd, at, BYTES, ADOPT, &mr));
	pair_close(p); /* with the region */
	CHECK(at[0] == 13 && at[BYTES - 1] == 13);
	is_private_again(at);
	munmap(at, BYTES);
}
