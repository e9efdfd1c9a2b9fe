/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a connection manager. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cm/check.h"
#include "cm/manager.h"

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

static struct roce_cm *
manager_new(const struct roce_cm_cfg *cfg)
{
	void *mem = aligned_alloc(64, (roce_cm_bytes(cfg) + 63) & ~(size_t)63);

	memset(mem, 0, roce_cm_bytes(cfg));
	return roce_cm_init(mem, cfg);
}

Test(cm_manager, limits_of_the_configuration)
{
	struct roce_cm_cfg cfg = {.max_conns = 1u << 22, .max_listeners = 1};
	uint64_t mem[8] = {0};

	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.max_conns++;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cr_expect_null(roce_cm_init(mem, &cfg));
	cfg = (struct roce_cm_cfg){.max_conns = 1, .max_listeners = 1u << 16};
	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.max_listeners++;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
}

/* checks W-CM-60: the values for a configuration that names none. */
Test(cm_manager, w_cm_60_defaults)
{
	const struct roce_cm_cfg cfg = {.max_conns = 1, .max_listeners = 1, .max_retries = 15};
	struct roce_cm *cm = manager_new(&cfg);

	cr_expect_eq(cm->cfg.req_first_retry_ns, 200000000);
	cr_expect_eq(cm->cfg.give_up_ns, 10000000000);
	cr_expect_eq(roce_cm_next_deadline(cm), UINT64_MAX);
	free(cm);
}

/* All connections and listeners of a full manager are memory of their own: a sanitizer, and the
 * check of every invariant, would see an overlap. */
Test(cm_manager, every_place_can_be_used)
{
	static const uint32_t conns[] = {1, 15, 16, 17, 1000}, listeners[] = {1, 7, 100};

	for (unsigned i = 0; i < 15; i++) {
		const struct roce_cm_cfg cfg = {.max_conns = conns[i % 5],
			.max_listeners = listeners[i / 5],
			.max_retries = 15};
		struct roce_cm *cm = manager_new(&cfg);
		struct roce_cm_addr addr = {.port = 1};
		struct roce_cm_connect c = {.qp.qpn = 2};
		struct roce_cm_usage u;

		for (uint32_t k = 0; k < cfg.max_conns; k++, c.qp.qpn++)
			cr_assert_not_null(roce_cm_connect(cm, k, &c));
		cr_expect_null(roce_cm_connect(cm, 0, &c));
		for (uint32_t k = 0; k < cfg.max_listeners; k++, addr.port++)
			cr_assert_not_null(roce_cm_listen(cm, &addr, 0, 0, NULL, NULL));
		cr_expect_null(roce_cm_listen(cm, &addr, 0, 0, NULL, NULL));
		for (uint32_t k = 0; k < cfg.max_conns; k += 16)
			cr_assert_null(roce_cm_check(cm));
		roce_cm_usage(cm, &u);
		cr_expect_eq(u.conns, cfg.max_conns);
		cr_expect_eq(u.listeners, cfg.max_listeners);
		cr_expect_eq(u.timewait, 0);
		cr_expect_eq(roce_cm_counters(cm)->no_resources, 1);
		free(cm);
	}
}
