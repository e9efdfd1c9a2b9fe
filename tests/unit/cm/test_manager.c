/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a connection manager. */
#include <criterion/criterion.h>

#include "cm/cm.h"

Test(cm_manager, configuration_out_of_range)
{
	struct roce_cm_cfg cfg = {.max_conns = 1, .max_listeners = 1};

	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.max_conns = 0;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg.max_conns = UINT32_MAX;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg.max_conns = 1;
	cfg.max_listeners = 0;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
}
