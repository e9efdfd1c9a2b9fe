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
}
