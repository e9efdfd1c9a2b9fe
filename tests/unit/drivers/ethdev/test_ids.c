/* SPDX-License-Identifier: BSD-3-Clause */
/* PCI's numbers, as DPDK's buses tell them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "ethdev/ethdev.h"

Test(ethdev_ids, of_a_bus)
{
	static const char *const others[] = {
		NULL, "", "vendor_id=8086", "device_id=1, vendor_id=2"};
	struct port_ids ids = {1, 2};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		cr_expect(not(ethdev_ids_of_bus(others[i], &ids)), "%zu", i);
	cr_expect(eq(u16, ids.vendor, 1));
	cr_expect(eq(u16, ids.device, 2));
	cr_assert(ethdev_ids_of_bus("vendor_id=15b3, device_id=1017", &ids));
	cr_expect(eq(u16, ids.vendor, 0x15b3));
	cr_expect(eq(u16, ids.device, 0x1017));
}
