/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/eal_rig.h"

#include <criterion/criterion.h>
#include <rte_eal.h>
#include <stdio.h>

void
eal_rig_start(const char *vdev)
{
	static char device[256];
	static char *argv[] = {"test", "--no-huge", "--no-shconf", "--no-pci", "--no-telemetry",
		"-m", "64", "--log-level=*:error", "-l", "0", "--iova-mode=va", NULL, NULL};
	int argc = 11;

	if (vdev != NULL) {
		(void)snprintf(device, sizeof(device), "--vdev=%s", vdev);
		argv[argc++] = device;
	}
	cr_assert_geq(rte_eal_init(argc, argv), 0);
}

struct rte_mempool *
eal_rig_pool(unsigned mbufs)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("frames", mbufs, 0, 0, 2048, 0);

	cr_assert_not_null(pool);
	return pool;
}
