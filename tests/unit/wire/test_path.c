/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "wire/path.h"

/*
 * checks W-CM-71[1-4]: the formula of W-CM-71, worked out elsewhere: each half of the label,
 * both at once, a label that is too long, no label with small numbers and with those whose
 * product fills 48 bits.
 */
Test(path, W_CM_71_source_port_of_a_flow)
{
	static const struct {
		uint32_t label, local, remote;
		uint16_t port;
	} rows[] = {
		{0x12345, 0x0, 0x0, 0xe341},
		{0x1, 0x5, 0x7, 0xc001},
		{0x3fff, 0x1, 0x1, 0xffff},
		{0x4000, 0x1, 0x1, 0xc001},
		{0xfffff, 0x1, 0x1, 0xffc0},
		{0xfc03f, 0x9, 0x9, 0xc000},
		{0x100001, 0x3, 0x4, 0xc001},
		{0x100000, 0x11, 0x12, 0xc132},
		{0x0, 0x11, 0x12, 0xc132},
		{0x0, 0xabcdef, 0x123456, 0xc3c8},
		{0x0, 0xffffff, 0xffffff, 0xff21},
		{0x0, 0x800001, 0xfedcba, 0xf93a},
		{0x0, 0x100000, 0x10, 0xc010},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(roce_flow_sport(rows[i].label, rows[i].local, rows[i].remote),
			rows[i].port, "row %zu", i);
		cr_expect_eq(roce_flow_sport(rows[i].label, rows[i].remote, rows[i].local),
			rows[i].port, "row %zu: the other direction", i);
	}
	for (uint32_t a = 0x111; a < 0x1000000; a = a * 3 + 1)
		cr_expect_geq(roce_flow_sport(0, a, 0x112), 0xc000);
}
