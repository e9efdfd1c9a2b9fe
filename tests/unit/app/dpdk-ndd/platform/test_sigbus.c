/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon survives pages that its clients take away from shared memory. */
#include <criterion/criterion.h>
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

Test(sigbus, a_fault_elsewhere_still_kills, .signal = SIGBUS)
{
	uint8_t *p = broken_mapping();

	cr_assert(ndd_sigbus_install());
	*(volatile uint8_t *)(p + 5000) = 1;
}
