/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "common/tclass.h"

Test(app_tclass, dscp_is_the_upper_six_bits)
{
	uint32_t dscp = 99;

	cr_assert(app_parse_tclass("-T", "0", &dscp));
	cr_assert_eq(dscp, 0);
	cr_assert(app_parse_tclass("-T", "0x68", &dscp));
	cr_assert_eq(dscp, 26);
	cr_assert(app_parse_tclass("-T", "252", &dscp));
	cr_assert_eq(dscp, 63);
}

Test(app_tclass, the_bits_of_ecn_are_refused)
{
	static const char *const bad[] = {"1", "2", "3", "106", "255", "256", "-4", "x", ""};
	uint32_t dscp = 99;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		cr_assert_not(app_parse_tclass("-T", bad[i], &dscp), "'%s'", bad[i]);
	cr_assert_eq(dscp, 99, "a refused class changes nothing");
}
