/* SPDX-License-Identifier: BSD-3-Clause */
// The program in C++, and what only C++ can tell of the headers, with C++'s library behind them.
#include "wide_program.c"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

static const GUID a = {1, 2, 3, {4}}, b = {1, 2, 3, {5}};

static bool
compare(REFIID x, REFIID y)
{
	return x == y && !(x != y) && IsEqualGUID(x, y) && IsEqualIID(x, y);
}

// Run before main(): a failure ends the program.
static const bool checked = [] {
	wchar_t name[8];
	volatile unsigned count = 1;

	wcscpy_s(name, L"seven..");
	if (!compare(a, a) || compare(a, b) || wcscmp(name, L"seven..") != 0)
		abort();
	if (std::min(1ul, 2ul) != min(1u, 2ul) || max(3, 2) != 3)
		abort();
	if (InterlockedIncrement(&count) != 2 || InterlockedCompareExchange(&count, 0, 0) != 2)
		abort();
	return true;
}();
