/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "wire/psn.h"

/* checks W-PSN-01[1,2] */
Test(psn, W_PSN_01_arithmetic)
{
	cr_expect_eq(roce_psn_diff(0, 0xffffff), 1);
	cr_expect_eq(roce_psn_diff(0xffffff, 0), -1);
	cr_expect_eq(roce_psn_diff(5, 5), 0);
	cr_expect_eq(roce_psn_diff(0x7fffff, 0), 0x7fffff);
	cr_expect_eq(roce_psn_diff(0x800000, 0), -0x800000);
	cr_expect_eq(roce_psn_add(0xfffffe, 3), 1u);
}
