/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "ndperf/pattern.h"

Test(ndperf_pattern, check_accepts_what_fill_made_and_finds_each_wrong_byte)
{
	uint8_t buf[67];

	for (size_t n = 0; n <= sizeof(buf); n++) {
		pattern_fill(buf, n, 3, 1000);
		cr_assert_eq(pattern_check(buf, n, 3, 1000), n);
		for (size_t at = 0; at < n; at++) {
			buf[at] ^= 0x10;
			cr_assert_eq(pattern_check(buf, n, 3, 1000), at);
			buf[at] ^= 0x10;
		}
	}
}

Test(ndperf_pattern, fill_stays_inside_its_buffer)
{
	uint8_t buf[32];

	for (size_t n = 0; n < 24; n++) {
		memset(buf, 0xa5, sizeof(buf));
		pattern_fill(buf, n, 0, 0);
		for (size_t i = n; i < sizeof(buf); i++)
			cr_assert_eq(buf[i], 0xa5);
	}
}

Test(ndperf_pattern, other_message_queue_pair_and_direction_differ)
{
	uint8_t buf[64];

	pattern_fill(buf, sizeof(buf), 1, 5);
	cr_assert_lt(pattern_check(buf, sizeof(buf), 1, 6), 8);
	cr_assert_lt(pattern_check(buf, sizeof(buf), 2, 5), 8);
	cr_assert_lt(pattern_check(buf, sizeof(buf), 1 + PATTERN_BACK, 5), 8);
	cr_assert_lt(pattern_check(buf + 8, sizeof(buf) - 8, 1, 5), 8);
}
