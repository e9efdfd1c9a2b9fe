/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "wire/path.h"

Test(path, W_CM_71_source_port_of_a_flow)
{
	cr_expect_eq(roce_flow_sport(0x12345, 0, 0), 0xc000 | ((0x12345 & 0x3fff) ^ 4));
	for (uint32_t a = 0x111; a < 0x1000000; a = a * 3 + 1) {
		cr_expect_eq(roce_flow_sport(0, a, 0x112), roce_flow_sport(0, 0x112, a));
		cr_expect_geq(roce_flow_sport(0, a, 0x112), 0xc000);
	}
}
