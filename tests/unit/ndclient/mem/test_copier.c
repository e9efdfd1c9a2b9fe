/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies from and to memory that is not there, or not to be written, as a whole or in part: they
 * fail, each by itself, and this process lives. By the system call and by a pipe.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndclient/mem/copier.h"
#include "ndclient/mem/exchange.h"

#define PAGE 4096u
#define N    NDSH_MOVER_BATCH

static uint8_t staging[N * PAGE];
static uint8_t *memory; /* N pages */
static struct nd_copier copier;
static const struct ndsh_mover mover = {.staging = staging};

static void
set_up(void)
{
	memory = mmap(NULL, N * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_neq(memory, MAP_FAILED);
	memset(memory, 1, N * PAGE);
	memset(staging, 2, sizeof(staging));
	nd_copier_init(&copier);
}

static void
tear_down(void)
{
	nd_copier_fini(&copier);
	munmap(memory, N * PAGE);
}

TestSuite(copier, .init = set_up, .fini = tear_down, .timeout = 60);

static struct ndsh_cqe
command(uint8_t op, uint32_t at, uint32_t bytes, uint32_t staged)
{
	return (struct ndsh_cqe){
		.context = (uintptr_t)memory + at, .bytes = bytes, .data = staged, .op = op};
}

static uint32_t
run(const struct ndsh_cqe *c, uint32_t n, bool by_pipe)
{
	copier.by_pipe = by_pipe;
	return nd_copier_run(&copier, &mover, c, n);
}

static bool
all_are(const uint8_t *at, int value, uint32_t bytes)
{
	for (uint32_t i = 0; i < bytes; i++)
		if (at[i] != value)
			return false;
	return true;
}

/* A batch at once, of lengths that are no multiple of anything, from and to staging that is in one
 * piece or not. */
static void
lengths(bool by_pipe)
{
	for (uint32_t bytes = 1; bytes <= PAGE; bytes = bytes * 3 - bytes / 2) {
		struct ndsh_cqe in[N], out[N];

		for (uint32_t i = 0; i < N; i++) {
			in[i] = command(NDSH_MOVE_IN, i * PAGE + (i * 7) % (PAGE - bytes + 1),
				bytes, i * bytes);
			out[i] = command(NDSH_MOVE_OUT,
				(uint32_t)(in[i].context - (uintptr_t)memory), bytes, i * PAGE);
		}
		for (uint32_t i = 0; i < N * bytes; i++)
			staging[i] = (uint8_t)(i * 31 + i / 251);
		cr_assert_eq(run(in, N, by_pipe), 0);
		for (uint32_t i = 0; i < N; i++)
			cr_assert_eq(memcmp((void *)in[i].context, staging + i * bytes, bytes), 0);
		memset(staging, 0, sizeof(staging));
		cr_assert_eq(run(out, N, by_pipe), 0);
		for (uint32_t i = 0; i < N; i++)
			cr_assert_eq(memcmp((void *)in[i].context, staging + i * PAGE, bytes), 0);
	}
}

Test(copier, every_length)
{
	lengths(false);
	cr_assert_not(copier.by_pipe, "this system has the call");
}

Test(copier, every_length_by_pipe)
{
	lengths(true);
}

/* What is moved with others, and what is moved by itself, in turns; or all of it by itself. */
static uint32_t
bytes_of(uint32_t i, bool small)
{
	return small && i % 3 != 0 ? ND_COPIER_PACKED - i : PAGE - 5;
}

/* Some pages of a batch have gone, or can't be written: those commands fail, the others don't. */
static void
some_fail(bool by_pipe, uint32_t pages, bool readable, bool small)
{
	struct ndsh_cqe in[N], out[N];

	for (uint32_t i = 0; i < N; i++) {
		in[i] = command(NDSH_MOVE_IN, i * PAGE + 5, bytes_of(i, small), i * PAGE);
		out[i] = command(NDSH_MOVE_OUT, i * PAGE + 5, bytes_of(i, small), i * PAGE);
		if (pages >> i & 1)
			cr_assert_eq(readable ? mprotect(memory + i * PAGE, PAGE, PROT_READ)
					      : munmap(memory + i * PAGE, PAGE),
				0);
	}
	cr_assert_eq(run(in, N, by_pipe), pages);
	for (uint32_t i = 0; i < N; i++)
		if (readable || !(pages >> i & 1))
			cr_assert(all_are(
				memory + i * PAGE + 5, pages >> i & 1 ? 1 : 2, bytes_of(i, small)));
	memset(staging, 3, sizeof(staging));
	cr_assert_eq(run(out, N, by_pipe), readable ? 0 : pages);
	for (uint32_t i = 0; i < N; i++)
		cr_assert(all_are(staging + i * PAGE,
			!(pages >> i & 1) ? 2
			: readable	  ? 1
					  : 3,
			bytes_of(i, small)));
}

/* Two packets for one slot: the first at its place, the second so far behind, in pieces. */
struct slot_use {
	uint32_t place, first, offset, second, pieces;
};

static bool
fits_slot(const struct slot_use *u)
{
	return u->place + u->first <= PAGE && u->place + u->offset + u->second <= PAGE &&
	       u->first > u->offset && u->second >= u->pieces;
}

/*
 * A slot is given to another packet while commands for the one before it are under way: in their
 * order, they leave it as if they had been run one by one. Each piece is small, and copied with
 * others, or large; small ones for other slots come before and between.
 */
static void
one_slot(const struct slot_use *u, bool by_pipe)
{
	const uint32_t each = u->second / u->pieces, end = u->offset + u->pieces * each;
	const uint32_t slot = 4 * PAGE + u->place;
	const uint8_t *at = staging + slot;
	struct ndsh_cqe c[5] = {command(NDSH_MOVE_OUT, 0, 64, 2 * PAGE),
		command(NDSH_MOVE_OUT, PAGE, u->first, slot),
		command(NDSH_MOVE_OUT, 2 * PAGE, 64, 6 * PAGE)};

	for (uint32_t i = 0; i < u->pieces; i++)
		c[3 + i] = command(
			NDSH_MOVE_OUT, 3 * PAGE + i * each, each, slot + u->offset + i * each);
	for (uint32_t i = 0; i < 4; i++)
		memset(memory + i * PAGE, 10 + (int)i, PAGE);
	memset(staging, 2, sizeof(staging));
	cr_assert_eq(run(c, 3 + u->pieces, by_pipe), 0);
	cr_assert(all_are(staging, 2, 2 * PAGE));
	cr_assert(all_are(staging + 2 * PAGE, 10, 64));
	cr_assert(all_are(staging + 6 * PAGE, 12, 64));
	cr_assert(all_are(staging + 2 * PAGE + 64, 2, slot - 2 * PAGE - 64));
	cr_assert(all_are(at, 11, u->offset));
	cr_assert(all_are(at + u->offset, 13, end - u->offset), "%u, then %u at %u in %u", u->first,
		u->second, u->offset, u->pieces);
	if (u->first > end)
		cr_assert(all_are(at + end, 11, u->first - end));
}

Test(copier, a_slot_that_is_given_to_another)
{
	static const uint32_t sizes[] = {1, 2, 8, 64, 1000, ND_COPIER_PACKED, ND_COPIER_PACKED + 1,
		ND_COPIER_PACKED + 8, 4088, PAGE};
	enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

	for (unsigned k = 0; k < 16 * SIZES * SIZES; k++) {
		const struct slot_use u = {.place = k / 2 % 2 * 8,
			.offset = k / 4 % 2 * 8,
			.pieces = 1 + k / 8 % 2,
			.first = sizes[k / 16 % SIZES],
			.second = sizes[k / 16 / SIZES]};

		if (fits_slot(&u))
			one_slot(&u, k % 2);
	}
}

static const uint32_t patterns[] = {1, 0x80000000, 0x6b310d5a, 0xffffffff};

Test(copier, memory_that_has_gone)
{
	for (unsigned k = 0; k < 16; k++) {
		some_fail(k % 2, patterns[k / 4], false, k / 2 % 2);
		tear_down();
		set_up();
	}
}

Test(copier, memory_that_cannot_be_written)
{
	for (unsigned k = 0; k < 16; k++) {
		some_fail(k % 2, patterns[k / 4], true, k / 2 % 2);
		tear_down();
		set_up();
	}
}

/* A file that is shorter than its mapping: a store would end in SIGBUS. */
Test(copier, file_that_was_cut)
{
	int fd = memfd_create("cut", 0);
	struct ndsh_cqe c[2] = {
		command(NDSH_MOVE_IN, 0, PAGE, 0), command(NDSH_MOVE_IN, PAGE, PAGE, 0)};

	cr_assert_eq(ftruncate(fd, 2 * PAGE), 0);
	cr_assert_eq(mmap(memory, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
		memory);
	cr_assert_eq(ftruncate(fd, PAGE), 0);
	cr_assert_eq(run(c, 2, false), 2);
	cr_assert_eq(run(c, 2, true), 2);
	cr_assert(all_are(memory, 2, PAGE));
	close(fd);
}

/* checks R-ORD-07: the last byte comes last, behind the seven before it, and those behind the rest:
 * a byte that can't be stored shows what was stored before. */
Test(copier, the_last_byte_comes_last)
{
	for (unsigned k = 0; k < 2; k++) {
		for (uint32_t missing = 1; missing <= 2; missing++) {
			struct ndsh_cqe c = command(NDSH_MOVE_IN, PAGE / 2 + missing, PAGE / 2, 0);

			tear_down();
			set_up();
			munmap(memory + PAGE, PAGE);
			cr_assert_eq(run(&c, 1, k == 1), 1);
			cr_assert(all_are(
				memory + PAGE / 2 + missing, 2, PAGE / 2 - (missing == 1 ? 1 : 8)));
		}
	}
}

/* The values of atomics, and words that are not there or not to be written. */
Test(copier, atomics)
{
	struct ndsh_move_atomic a = {.swap_add = 5, .compare = 9, .result = PAGE};
	struct ndsh_cqe c[3] = {command(NDSH_MOVE_FETCH_ADD, 8, 8, 0),
		command(NDSH_MOVE_CMP_SWAP, PAGE, 8, 0), command(NDSH_MOVE_FETCH_ADD, 16, 8, 0)};
	uint64_t *word = (uint64_t *)(void *)memory;

	memcpy(staging, &a, sizeof(a));
	word[1] = 4;
	word[2] = 100;
	word[PAGE / 8] = 9;
	cr_assert_eq(run(c, 3, false), 0);
	cr_assert_eq(word[1], 9);
	cr_assert_eq(word[2], 105);
	cr_assert_eq(word[PAGE / 8], 5);
	cr_assert_eq(*(uint64_t *)(void *)(staging + PAGE), 100);
	mprotect(memory + PAGE, PAGE, PROT_READ);
	cr_assert_eq(run(c, 3, false), 2);
	cr_assert_eq(word[PAGE / 8], 5);
	munmap(memory + PAGE, PAGE);
	cr_assert_eq(run(c, 3, false), 2);
	cr_assert_eq(word[1], 19);
}

static void *
exchange_over(void *arg)
{
	(void)arg;
	usleep(20000);
	cr_assert_eq(mprotect(memory, PAGE, PROT_READ | PROT_WRITE), 0);
	nd_exchange_unlock();
	return NULL;
}

/* While pages are being exchanged they may be out of reach: that is no failure. */
Test(copier, waits_for_an_exchange)
{
	struct ndsh_cqe c[2] = {
		command(NDSH_MOVE_IN, 0, PAGE, 0), command(NDSH_MOVE_IN, PAGE, PAGE, 0)};
	pthread_t other;

	nd_exchange_lock();
	cr_assert_eq(mprotect(memory, PAGE, PROT_READ), 0);
	pthread_create(&other, NULL, exchange_over, NULL);
	cr_assert_eq(run(c, 2, false), 0);
	pthread_join(other, NULL);
	cr_assert(all_are(memory, 2, 2 * PAGE));
}
