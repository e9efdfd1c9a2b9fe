/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "common/number.h"

Test(app_number, sizes)
{
	uint64_t v;

	cr_assert(app_parse_size("64K", 1, UINT64_MAX, &v) && v == 65536);
	cr_assert(app_parse_size("8m", 1, UINT64_MAX, &v) && v == 8u << 20);
	cr_assert(app_parse_size("1G", 1, UINT64_MAX, &v) && v == 1u << 30);
	cr_assert(app_parse_size("0x10", 1, UINT64_MAX, &v) && v == 16);
	cr_assert(app_parse_size("2", 1, 2, &v) && v == 2);
	cr_assert_not(app_parse_size("2K", 1, 2047, &v));
	cr_assert_not(app_parse_size("64KB", 1, UINT64_MAX, &v));
	cr_assert_not(app_parse_size("K", 1, UINT64_MAX, &v));
	cr_assert_not(app_parse_size("-1", 0, UINT64_MAX, &v));
	cr_assert_not(app_parse_size(" 1", 0, UINT64_MAX, &v));
	cr_assert_not(app_parse_size("", 0, UINT64_MAX, &v));
	/* 2^44 G wraps 64 bits. */
	cr_assert_not(app_parse_size("17592186044416G", 0, UINT64_MAX, &v));
	cr_assert_not(app_parse_size("99999999999999999999", 0, UINT64_MAX, &v));
}

Test(app_number, numbers_and_seconds)
{
	uint64_t v;
	double s;

	cr_assert(app_parse_u64("0", 0, 5, &v) && v == 0);
	cr_assert_not(app_parse_u64("6", 0, 5, &v));
	cr_assert_not(app_parse_u64("5K", 0, UINT64_MAX, &v));
	cr_assert(app_parse_seconds("0.5", 0, 10, &s) && s == 0.5);
	cr_assert_not(app_parse_seconds("nan", 0, 10, &s));
	cr_assert_not(app_parse_seconds("11", 0, 10, &s));
	cr_assert_not(app_parse_seconds("1s", 0, 10, &s));
}
