/* SPDX-License-Identifier: BSD-3-Clause */
/* Wide strings as Windows has them: what is printed, where it goes, and arguments. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndwin/ndwin_text.h"

static char text[1000];

/* stdout goes into a file of memory, which printed() reads. */
static int
catch_stdout(void)
{
	int fd = memfd_create("stdout", 0);
	wchar_t path[64];

	swprintf(path, 64, L"/proc/self/fd/%d", fd);
	cr_assert(ne(ptr, ndwin_wfreopen(path, L"w", stdout), NULL));
	return fd;
}

static char *
printed(int fd)
{
	ssize_t n;

	fflush(stdout);
	n = pread(fd, text, sizeof(text) - 1, 0);
	cr_assert(ge(long, n, 0));
	text[n] = '\0';
	cr_assert(zero(int, ftruncate(fd, 0)));
	rewind(stdout);
	return text;
}

Test(ndwin_text, strings_are_wide_where_windows_has_them_so)
{
	int fd = catch_stdout();

	cr_expect(eq(int,
		ndwin_wprintf(
			L"%s|%ls|%S|%hs|%ws|%-6s|%.2s", L"a", L"b", "c", "d", L"e", L"f", L"ghi"),
		19));
	cr_expect(eq(str, printed(fd), "a|b|c|d|e|f     |gh"));
}

Test(ndwin_text, characters_numbers_and_lengths)
{
	int fd = catch_stdout();

	ndwin_wprintf(L"%c%hc%C|%I64d|%I64x|%Id|%I32u|%lld|%5d|%08x|%p|%.2f|%%|%*d", L'a', 'b', 'c',
		-(1ll << 40), 1ull << 40, (ssize_t)-7, 5u, 1ll << 33, 42, 0xBEEFu, (void *)0x10,
		1.5, 4, 9);
	cr_expect(eq(str, printed(fd),
		"abc|-1099511627776|10000000000|-7|5|8589934592|   42|0000beef|0x10|1.50|%|   9"));
}

/* A stream of bytes before and after. */
Test(ndwin_text, printf_may_be_used_beside_it)
{
	int fd = catch_stdout();

	ndwin_wprintf(L"one, ");
	printf("two, ");
	ndwin_wprintf(L"%s", L"three");
	cr_expect(eq(str, printed(fd), "one, two, three"));
}

Test(ndwin_text, a_format_that_breaks_off_is_an_error)
{
	int fd = catch_stdout();
	const wchar_t *const broken_off[] = {L"a%", L"b%I64", L"c%-0", L"d%h", L"e%ll", L"f%%%"};

	for (size_t i = 0; i < sizeof(broken_off) / sizeof(broken_off[0]); i++)
		cr_expect(eq(int, ndwin_wprintf(broken_off[i]), -1));
	cr_expect(eq(str, printed(fd), ""));
}

Test(ndwin_text, what_the_locale_does_not_have_is_an_error)
{
	int fd = catch_stdout();

	cr_expect(eq(int, ndwin_wprintf(L"\x20AC"), -1));
	cr_expect(eq(ptr, ndwin_wfreopen(L"\x20AC", L"r", stdin), NULL));
	cr_assert(ne(ptr, setlocale(LC_ALL, "C.UTF-8"), NULL));
	cr_expect(eq(int, ndwin_wprintf(L"\x20AC%s", L"\x20AC"), 6));
	cr_expect(eq(str, printed(fd), "\xE2\x82\xAC\xE2\x82\xAC"));
}

static int
three(int argc, wchar_t **argv)
{
	cr_expect(eq(int, argc, 3));
	cr_expect(eq(wcs, argv[0], (wchar_t *)L"program"));
	cr_expect(eq(wcs, argv[1], (wchar_t *)L""));
	cr_expect(eq(wcs, argv[2], (wchar_t *)L"-x"));
	cr_expect(eq(ptr, argv[3], NULL));
	return 17;
}

Test(ndwin_text, arguments_become_wide)
{
	char *argv[] = {"program", "", "-x", NULL}, *bad[] = {"\xFF", NULL};

	cr_expect(eq(int, ndwin_wmain(3, argv, three), 17));
	cr_assert(ne(ptr, setlocale(LC_ALL, "C.UTF-8"), NULL));
	cr_expect(eq(int, ndwin_wmain(1, bad, three), -1));
}
