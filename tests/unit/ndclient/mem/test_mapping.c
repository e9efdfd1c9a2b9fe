/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says is mapped: by either way of asking. */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ndclient/mem/mapping.h"

#define PAGE  4096u
#define PAGES 16u
#define BYTES (PAGES * PAGE)

static char *at;
static int file, other;

static void
set_up(void)
{
	file = memfd_create("file", MFD_CLOEXEC);
	other = memfd_create("other", MFD_CLOEXEC);
	cr_assert(ftruncate(file, BYTES) == 0 && ftruncate(other, BYTES) == 0);
	at = mmap(NULL, 3 * BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	at += BYTES; /* nothing else is next to it */
}

TestSuite(mapping, .init = set_up);

static char *
map(uint32_t page, uint32_t pages, int rights, int flags, int fd, uint32_t file_page)
{
	char *p = mmap(at + page * PAGE, pages * PAGE, rights, flags | MAP_FIXED, fd,
		(off_t)file_page * PAGE);

	cr_assert_eq(p, at + page * PAGE);
	return p;
}

static void
map_whole(void)
{
	map(0, PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
}

static bool
is_whole(void)
{
	return nd_mapping_is_of(at, BYTES, at, file);
}

/* The kernel that is asked, and its lines, say the same. */
Test(mapping, both_ways)
{
	for (int of_files = 0; of_files < 2; of_files++) {
		struct nd_mappings asked, read;
		struct nd_mapping a, r;
		uintptr_t from = 0;
		unsigned n = 0;

		map(3, 1, PROT_READ, MAP_SHARED, file, 5);
		map(4, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, other, 6);
		cr_assert(nd_mappings_open(&asked, of_files));
		if (asked.lines != NULL)
			cr_skip_test("a kernel that can't be asked (before Linux 6.11)");
		read = (struct nd_mappings){.fd = -1, .of_files = of_files};
		read.lines = fopen("/proc/self/maps", "re");
		for (; nd_mapping_at(&asked, from, &a); from = a.to, n++) {
			cr_assert(nd_mapping_at(&read, from, &r));
			cr_assert_eq(a.from, r.from);
			cr_assert_eq(a.rights, r.rights);
			cr_assert_eq(a.shared, r.shared);
			cr_assert_eq(a.inode, r.inode);
			cr_assert_eq(a.device, r.device);
			cr_assert_eq(a.offset, r.offset);
			cr_assert_eq(strncmp(a.name, r.name, 10), 0, "%s, %s", a.name, r.name);
		}
		cr_assert(!nd_mapping_at(&read, from, &r) || strcmp(r.name, "[vsyscall]") == 0);
		cr_assert_gt(n, 5);
		nd_mappings_close(&read);
		nd_mappings_close(&asked);
	}
}

Test(mapping, of_a_file)
{
	cr_assert_not(is_whole(), "nothing is");
	map_whole();
	cr_assert(is_whole());
	cr_assert(nd_mapping_is_of(at + PAGE, PAGE, at, file), "a part");
	cr_assert_not(nd_mapping_is_of(at, BYTES, at + PAGE, file), "at another offset");
	cr_assert_not(nd_mapping_is_of(at, BYTES, at, other), "another file");
	cr_assert_not(nd_mapping_is_of(at, BYTES + PAGE, at, file), "more than the file");
	mprotect(at + 5 * PAGE, PAGE, PROT_READ);
	cr_assert(is_whole(), "in parts");
}

Test(mapping, no_more_of_the_file)
{
	map_whole();
	munmap(at + 7 * PAGE, PAGE);
	cr_assert_not(is_whole(), "a hole");
	cr_assert(nd_mapping_is_of(at, 7 * PAGE, at, file));
	map_whole();
	munmap(at, PAGE);
	cr_assert_not(is_whole(), "a hole in front");
	map_whole();
	munmap(at + BYTES - PAGE, PAGE);
	cr_assert_not(is_whole(), "a hole at the end");
	map_whole();
	map(7, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	cr_assert_not(is_whole(), "other memory");
	map_whole();
	map(7, 1, PROT_READ | PROT_WRITE, MAP_SHARED, other, 7);
	cr_assert_not(is_whole(), "another file");
	map_whole();
	map(7, 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 8);
	cr_assert_not(is_whole(), "another part of the file");
	map_whole();
	map(7, 1, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 7);
	cr_assert_not(is_whole(), "a private view of it");
}

/* All of the file's, wherever they are, and nothing else. */
Test(mapping, found_wherever_it_is)
{
	struct nd_mappings all;
	struct nd_mapping m;
	uintptr_t from = 0;

	map_whole();
	map(2, 3, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	map(6, 1, PROT_READ | PROT_WRITE, MAP_SHARED, other, 6);
	cr_assert_eq(mremap(at + 9 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
			     at + BYTES + 4 * PAGE),
		at + BYTES + 4 * PAGE);
	const uint32_t want[][3] = {/* page, pages, of the file */
		{0, 2, 0}, {5, 1, 5}, {7, 2, 7}, {10, 6, 10}, {20, 1, 9}};

	cr_assert(nd_mappings_open(&all, true));
	for (unsigned i = 0; i < 5; i++, from = m.to) {
		cr_assert(nd_mapping_find(&all, from, file, &m));
		cr_assert_eq(m.from, (uintptr_t)at + want[i][0] * PAGE, "%u", i);
		cr_assert_eq(m.to - m.from, want[i][1] * PAGE);
		cr_assert_eq(m.offset, want[i][2] * PAGE);
	}
	cr_assert_not(nd_mapping_find(&all, from, file, &m));
	nd_mappings_close(&all);
}

Test(mapping, plain)
{
	int private = MAP_PRIVATE | MAP_ANONYMOUS, rw = PROT_READ | PROT_WRITE;
	char here;

	map(0, PAGES, rw, private, -1, 0);
	cr_assert(nd_mapping_is_plain(at, BYTES));
	cr_assert(nd_mapping_is_plain(at + 8 * PAGE, PAGE));
	cr_assert_not(nd_mapping_is_plain(at, BYTES + PAGE));
	cr_assert_not(nd_mapping_is_plain((char *)((uintptr_t)&here & -(uintptr_t)PAGE), PAGE),
		"a stack");
	map(4, 1, PROT_READ, private, -1, 0);
	cr_assert_not(nd_mapping_is_plain(at, BYTES), "not to be written");
	map(4, 1, rw, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	cr_assert_not(nd_mapping_is_plain(at, BYTES), "shared");
	map(4, 1, rw, MAP_PRIVATE, file, 4);
	cr_assert_not(nd_mapping_is_plain(at, BYTES), "a file");
	munmap(at + 4 * PAGE, PAGE);
	cr_assert_not(nd_mapping_is_plain(at, BYTES), "a hole");
}
