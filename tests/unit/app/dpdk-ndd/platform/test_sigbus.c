/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon survives pages that its clients take away from shared memory. */
#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "platform/sigbus.h"

/* A segment whose second page was cut off after it was mapped. */
static uint8_t *
broken_mapping(void)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	uint8_t *p;

	cr_assert_eq(ftruncate(fd, 8192), 0);
	p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	cr_assert_neq(p, MAP_FAILED);
	p[0] = 1;
	cr_assert_eq(ftruncate(fd, 4096), 0);
	close(fd);
	return p;
}

Test(sigbus, missing_page_reads_as_zero_and_is_reported)
{
	uint8_t *p = broken_mapping();
	uintptr_t low, high;

	cr_assert(ndd_sigbus_install());
	cr_assert(ndd_sigbus_guard(p, 8192));
	cr_assert_not(ndd_sigbus_broken(p, &low, &high));
	cr_assert_not(ndd_sigbus_happened());
	cr_assert_eq(*(volatile uint8_t *)(p + 5000), 0);
	cr_assert(ndd_sigbus_happened());
	cr_assert_not(ndd_sigbus_happened(), "reported once");
	cr_assert(ndd_sigbus_broken(p, &low, &high));
	cr_assert_eq(low, (uintptr_t)p + 4096);
	cr_assert_eq(high, (uintptr_t)p + 8192);
	cr_assert_eq(p[0], 1, "the other page is untouched");
	ndd_sigbus_unguard(p);
	cr_assert_not(ndd_sigbus_broken(p, &low, &high));
}

Test(sigbus, guards_are_reused)
{
	static uint8_t area[2][64];

	for (int i = 0; i < 100000; i++) {
		cr_assert(ndd_sigbus_guard(area[i & 1], 64));
		ndd_sigbus_unguard(area[i & 1]);
	}
}

/* As many as all sessions may have together: none is the last that a client could take. */
Test(sigbus, guards_do_not_run_out)
{
	const size_t page = 4096, count = 70000;
	uint8_t *area = mmap(NULL, count * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *broken = broken_mapping();

	cr_assert_neq(area, MAP_FAILED);
	for (size_t i = 0; i < count; i++)
		cr_assert(ndd_sigbus_guard(area + i * page, page), "guard %zu", i);
	cr_assert(ndd_sigbus_install());
	cr_assert(ndd_sigbus_guard(broken, 8192));
	cr_assert_eq(*(volatile uint8_t *)(broken + 5000), 0);
}

/* What lies on either side of one is not guarded, and goes on without when its neighbour goes. */
Test(sigbus, each_guard_has_its_own_pages)
{
	const uintptr_t gib = (uintptr_t)1 << 30;
	uint8_t *area =
		mmap(NULL, 2 * gib, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *border = (uint8_t *)(((uintptr_t)area + gib) & ~(gib - 1));
	int fd = memfd_create("test", MFD_CLOEXEC);
	uintptr_t low, high;

	cr_assert_neq(area, MAP_FAILED);
	cr_assert_eq(ftruncate(fd, 4 * 4096), 0);
	cr_assert_eq(mmap(border - 8192, 4 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			     fd, 0),
		border - 8192);
	cr_assert_eq(ftruncate(fd, 0), 0);
	cr_assert(ndd_sigbus_install());
	cr_assert(ndd_sigbus_guard(border - 8192, 3 * 4096));
	cr_assert(ndd_sigbus_guard(border + 4096, 4096));
	cr_assert_eq(*(volatile uint8_t *)border, 0);
	cr_assert(ndd_sigbus_broken(border - 8192, &low, &high));
	cr_assert_eq(low, (uintptr_t)border);
	cr_assert_eq(high, (uintptr_t)border + 4096);
	cr_assert_not(ndd_sigbus_broken(border + 4096, &low, &high));
	ndd_sigbus_unguard(border - 8192);
	cr_assert_eq(*(volatile uint8_t *)(border + 5000), 0);
	cr_assert(ndd_sigbus_broken(border + 4096, &low, &high));
	cr_assert_eq(low, (uintptr_t)border + 4096);
}

static void *
guard_and_unguard(void *stop)
{
	uint8_t *area = mmap(NULL, 64 * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned i = 0; __atomic_load_n((bool *)stop, __ATOMIC_RELAXED) == false; i++) {
		cr_assert(ndd_sigbus_guard(area + i % 32 * 4096, 32 * 4096));
		ndd_sigbus_unguard(area + i % 32 * 4096);
	}
	return NULL;
}

/* Faults are served while others come and go. */
Test(sigbus, a_fault_beside_an_update)
{
	pthread_t thread[2];
	bool stop = false;

	cr_assert(ndd_sigbus_install());
	for (int i = 0; i < 2; i++)
		cr_assert_eq(pthread_create(&thread[i], NULL, guard_and_unguard, &stop), 0);
	for (int i = 0; i < 2000; i++) {
		uint8_t *p = broken_mapping();

		cr_assert(ndd_sigbus_guard(p, 8192));
		cr_assert_eq(*(volatile uint8_t *)(p + 5000), 0);
		ndd_sigbus_unguard(p);
		munmap(p, 8192);
	}
	__atomic_store_n(&stop, true, __ATOMIC_RELAXED);
	for (int i = 0; i < 2; i++)
		cr_assert_eq(pthread_join(thread[i], NULL), 0);
}

Test(sigbus, a_fault_elsewhere_still_kills, .signal = SIGBUS)
{
	uint8_t *p = broken_mapping();

	cr_assert(ndd_sigbus_install());
	*(volatile uint8_t *)(p + 5000) = 1;
}
