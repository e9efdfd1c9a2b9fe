/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "wire/aeth.h"

Test(aeth, rnr_timer_codes)
{
	cr_expect_eq(roce_rnr_ns(0), 655360000u);
	cr_expect_eq(roce_rnr_ns(1), 10000u);
	cr_expect_eq(roce_rnr_ns(14), 1280000u);
	cr_expect_eq(roce_rnr_ns(25), 61440000u);
	cr_expect_eq(roce_rnr_ns(31), 491520000u);
	for (unsigned code = 32; code < 256; code++) /* of a syndrome, whose kind is above */
		cr_expect_eq(roce_rnr_ns((uint8_t)code), roce_rnr_ns(code % 32), "%u", code);
}
