/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Pages exchanged under threads that don't stop to use them: there and back, as memory is adopted
 * and given back. No store is lost, of whichever thread.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ndclient/mem/exchange.h"

#define BYTES	(1u << 20)
#define WORDS	(BYTES / sizeof(uint64_t))
#define THREADS 4u
#define SHARED	WORDS - 1    /* all add to it */
#define LINE	(WORDS - 64) /* from here on the kernel stores */
#define ROUNDS	60u

static uint64_t *memory;
static int file;
static uint32_t stop;

struct storer {
	pthread_t thread;
	unsigned first;
	uint64_t rounds, added;
};

static bool
stopped(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED) != 0;
}

/* Each word of its own goes up by one in each round, by a plain load and a plain store. */
static void *
store(void *arg)
{
	struct storer *s = arg;
	volatile uint64_t *w = memory;

	while (!stopped()) {
		for (unsigned i = s->first; i < LINE; i += THREADS)
			w[i] = w[i] + 1;
		s->rounds++;
		__atomic_fetch_add(&memory[SHARED], 1, __ATOMIC_RELAXED);
		s->added++;
	}
	return NULL;
}

/* The kernel stores for a system call; r: how many words it was right about. */
static void *
read_into(void *arg)
{
	uint64_t *r = arg;
	int fd[2];

	cr_assert_eq(pipe(fd), 0);
	while (!stopped()) {
		uint64_t sent = *r * UINT64_C(0x9e3779b97f4a7c15);

		cr_assert_eq(write(fd[1], &sent, sizeof(sent)), (ssize_t)sizeof(sent));
		cr_assert_eq(read(fd[0], &memory[LINE], sizeof(sent)), (ssize_t)sizeof(sent));
		cr_assert_eq(memory[LINE], sent);
		++*r;
	}
	close(fd[0]);
	close(fd[1]);
	return NULL;
}

static bool
kernel_is_held(void)
{
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static void *
pages(bool shared)
{
	void *p = shared ? mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
			 : mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	cr_assert_neq(p, MAP_FAILED);
	return p;
}

static void
exchange(bool to_shared)
{
	int fd = nd_exchange_open(&(bool){false});

	cr_assert_geq(fd, 0);
	cr_assert(nd_exchange(fd, memory, BYTES, pages(to_shared)));
}

static void
set_up(void)
{
	int fd = nd_exchange_open(&(bool){false});

	if (fd < 0)
		cr_skip_test("no userfaultfd that protects shared memory (Linux 5.19)");
	close(fd);
	memory = pages(false);
	file = memfd_create("exchange", MFD_CLOEXEC);
	cr_assert(file >= 0 && ftruncate(file, BYTES) == 0);
}

TestSuite(exchange, .init = set_up, .timeout = 120);

Test(exchange, no_store_is_lost)
{
	struct storer s[THREADS];
	bool held = kernel_is_held();
	uint64_t reads = 0, added = 0;
	pthread_t reader;

	for (unsigned t = 0; t < THREADS; t++) {
		s[t] = (struct storer){.first = t};
		pthread_create(&s[t].thread, NULL, store, &s[t]);
	}
	if (held)
		pthread_create(&reader, NULL, read_into, &reads);
	for (unsigned i = 0; i < 2 * ROUNDS; i++)
		exchange(i % 2 == 0);
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	if (held)
		pthread_join(reader, NULL);
	for (unsigned t = 0; t < THREADS; t++)
		pthread_join(s[t].thread, NULL);
	for (unsigned t = 0; t < THREADS; t++) {
		cr_assert_gt(s[t].rounds, 0);
		added += s[t].added;
		for (unsigned i = s[t].first; i < LINE; i += THREADS)
			cr_assert_eq(memory[i], s[t].rounds, "word %u: %lu, not %lu", i,
				(unsigned long)memory[i], (unsigned long)s[t].rounds);
	}
	cr_assert_eq(memory[SHARED], added);
}

/* What is there afterwards is the file's; and then it is not. */
Test(exchange, the_pages_are_others)
{
	uint64_t *other = pages(true);

	memory[0] = 1;
	exchange(true);
	cr_assert_eq(other[0], 1);
	memory[0] = 2;
	other[WORDS - 1] = 3;
	cr_assert_eq(other[0], 2);
	cr_assert_eq(memory[WORDS - 1], 3);
	exchange(false);
	memory[0] = 4;
	cr_assert_eq(other[0], 2);
	cr_assert_eq(memory[WORDS - 1], 3);
}

/* Memory that the kernel does not let this process hold stays as it is: here, another holds it. */
Test(exchange, refused)
{
	void *copy = pages(true);
	int fd = nd_exchange_open(&(bool){false}), other = nd_exchange_open(&(bool){false});
	struct uffdio_register reg = {
		.range = {(uintptr_t)memory, BYTES}, .mode = UFFDIO_REGISTER_MODE_WP};

	cr_assert_eq(ioctl(other, UFFDIO_REGISTER, &reg), 0);
	memory[0] = 5;
	cr_assert_not(nd_exchange(fd, memory, BYTES, copy));
	memory[1] = 6;
	cr_assert_eq(memory[0], 5);
	cr_assert_eq(((uint64_t *)copy)[1], 0);
	cr_assert_eq(munmap(copy, BYTES), 0);
}

/* A thread that exchanged its own stack would sleep for ever. */
Test(exchange, own_stack)
{
	char here[64] = "";

	cr_assert(nd_exchange_is_own(here, sizeof(here)));
	cr_assert(nd_exchange_is_own(&errno, 1));
	cr_assert_not(nd_exchange_is_own(memory, BYTES));
}

/* As a program's own does, that wants to hear of mappings: UCX's takes four arguments. */
void *
mremap(void *from, size_t old_bytes, size_t new_bytes, int flags, ...)
{
	return (void *)syscall(SYS_mremap, from, old_bytes, new_bytes, flags & ~MREMAP_FIXED);
}

Test(exchange, a_program_has_its_own_mremap)
{
	uint8_t *copy = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	uint8_t *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *other = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	bool of_kernel;

	cr_assert(copy != MAP_FAILED && at != MAP_FAILED && other != MAP_FAILED);
	memset(at, 7, BYTES);
	cr_assert(nd_exchange(nd_exchange_open(&of_kernel), at, BYTES, copy));
	at[9] = 8;
	cr_assert_eq(other[9], 8);
	cr_assert_eq(other[10], 7);
}
