/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a connection manager. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "cm/check.h"
#include "cm/manager.h"
#include "cm/stateless.h"

Test(cm_manager, configuration_out_of_range)
{
	struct roce_cm_cfg cfg = {.max_active = 1, .max_listeners = 1};

	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.max_active = 0;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg.max_active = UINT32_MAX;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg.max_active = 1;
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
	struct roce_cm_cfg cfg = {.max_active = 1u << 22, .max_listeners = 1};
	uint64_t mem[8] = {0};

	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.max_active++;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cr_expect_null(roce_cm_init(mem, &cfg));
	cfg = (struct roce_cm_cfg){.max_active = 1, .max_listeners = 1u << 16};
	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.max_listeners++;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg = (struct roce_cm_cfg){.max_active = 1, .max_listeners = 1, .source_rate = 1000000};
	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.source_rate++;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg.source_rate = 1;
	cfg.source_burst = 1000000;
	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.source_burst++;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	/* Parts that are too large, but whose sum overflows to a small number. */
	cfg = (struct roce_cm_cfg){.max_active = UINT32_MAX, .max_passive = 2, .max_listeners = 1};
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	cfg = (struct roce_cm_cfg){.max_active = 2, .max_passive = UINT32_MAX, .max_listeners = 1};
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
	/* Both parts together have the same limit. */
	cfg = (struct roce_cm_cfg){
		.max_active = 1u << 20, .max_passive = 3u << 20, .max_listeners = 1};
	cr_expect_gt(roce_cm_bytes(&cfg), 0);
	cfg.max_passive++;
	cr_expect_eq(roce_cm_bytes(&cfg), 0);
}

/* checks W-CM-60[1]: the values for a configuration that names none. */
Test(cm_manager, w_cm_60_defaults)
{
	const struct roce_cm_cfg cfg = {.max_active = 1, .max_listeners = 1, .max_retries = 15};
	struct roce_cm *cm = manager_new(&cfg);

	cr_expect_eq(cm->cfg.req_first_retry_ns, 200000000);
	cr_expect_eq(cm->cfg.give_up_ns, 10000000000);
	cr_expect_eq(cm->cfg.source_rate, 4000);
	cr_expect_eq(cm->cfg.source_burst, 8000);
	cr_expect_eq(roce_cm_next_deadline(cm), UINT64_MAX);
	free(cm);
}

/* What a configuration names is what holds. */
Test(cm_manager, what_is_configured_is_kept)
{
	const struct roce_cm_cfg cfg = {.max_active = 1,
		.max_listeners = 1,
		.req_first_retry_ns = 1,
		.give_up_ns = 2,
		.source_rate = 3,
		.source_burst = 4};
	struct roce_cm *cm = manager_new(&cfg);

	cr_expect_eq(cm->cfg.req_first_retry_ns, 1);
	cr_expect_eq(cm->cfg.give_up_ns, 2);
	cr_expect_eq(cm->cfg.source_rate, 3);
	cr_expect_eq(cm->cfg.source_burst, 4);
	free(cm);
}

/* All connections and listeners of a full manager are memory of their own: a sanitizer, and the
 * check of every invariant, would see an overlap. */
Test(cm_manager, every_place_can_be_used)
{
	static const uint32_t conns[] = {1, 15, 16, 17, 1000}, listeners[] = {1, 7, 100};

	for (unsigned i = 0; i < 15; i++) {
		const struct roce_cm_cfg cfg = {.max_active = conns[i % 5],
			.max_listeners = listeners[i / 5],
			.max_retries = 15};
		struct roce_cm *cm = manager_new(&cfg);
		struct roce_cm_addr addr = {.port = 1};
		struct roce_cm_connect c = {.qp.qpn = 2};
		struct roce_cm_usage u;

		cr_assert(roce_cm_reserve(cm, 0, cfg.max_active));
		for (uint32_t k = 0; k < cfg.max_active; k++, c.qp.qpn++)
			cr_assert_not_null(roce_cm_connect(cm, k, &c));
		cr_expect_null(roce_cm_connect(cm, 0, &c));
		for (uint32_t k = 0; k < cfg.max_listeners; k++, addr.port++)
			cr_assert_not_null(roce_cm_listen(cm, &addr, 0, 0, NULL, NULL));
		cr_expect_null(roce_cm_listen(cm, &addr, 0, 0, NULL, NULL));
		for (uint32_t k = 0; k < cfg.max_active; k += 16)
			cr_assert_null(roce_cm_check(cm));
		roce_cm_usage(cm, &u);
		cr_expect_eq(u.conns, cfg.max_active);
		cr_expect_eq(u.listeners, cfg.max_listeners);
		cr_expect_eq(u.timewait, 0);
		cr_expect_eq(roce_cm_counters(cm)->no_resources, 1);
		free(cm);
	}
}

struct area {
	const uint8_t *begin, *end;
};

static int
by_place(const void *a, const void *b)
{
	const struct area *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

static struct area
area_of(const void *array, size_t n, size_t bytes)
{
	return (struct area){array, (const uint8_t *)array + n * bytes};
}

/* Each array begins at a cache line, behind what is in front of it and without a line in between;
 * the last one ends where the memory does. So whatever order they have, the memory is all that is
 * needed, and no more. */
Test(cm_manager, arrays_fill_the_memory)
{
	static const uint32_t conns[] = {1, 8, 15, 16, 17, 64, 1000};

	for (unsigned i = 0; i < sizeof(conns) / sizeof(conns[0]); i++) {
		const struct roce_cm_cfg cfg = {
			.max_active = conns[i], .max_listeners = 1 + i, .max_retries = 15};
		struct roce_cm *cm = manager_new(&cfg);
		const uint32_t n_buckets = cm->bucket_mask + 1;
		struct area areas[7 + CM_TABLES] = {
			area_of(cm, 1, sizeof(*cm)),
			area_of(cm->conns, conns[i], sizeof(struct roce_cm_conn)),
			area_of(LIST_FIRST(&cm->free_listeners), 1 + i,
				sizeof(struct roce_cm_listener)),
			area_of(cm->listeners, cm->listener_mask + 1,
				sizeof(struct cm_listener_list)),
			area_of(cm->heap, conns[i], sizeof(struct roce_cm_conn *)),
			area_of(cm->stateless, CM_STATELESS, sizeof(struct cm_answer)),
			area_of(cm->sources, CM_SCOPES * CM_SOURCES, sizeof(struct cm_source)),
		};

		for (unsigned t = 0; t < CM_TABLES; t++)
			areas[7 + t] = area_of(cm->buckets[t], n_buckets, sizeof(struct cm_bucket));
		qsort(areas, 7 + CM_TABLES, sizeof(areas[0]), by_place);
		for (unsigned k = 1; k < 7 + CM_TABLES; k++) {
			cr_expect_eq((uintptr_t)areas[k].begin % 64, 0);
			cr_expect_geq(areas[k].begin, areas[k - 1].end);
			cr_expect_lt(areas[k].begin - areas[k - 1].end, 64);
		}
		cr_expect_eq((const uint8_t *)cm + roce_cm_bytes(&cfg), areas[6 + CM_TABLES].end);
		free(cm);
	}
}

/* A power of two of buckets, at least one for each connection, and not twice as many as that takes:
 * finding one takes the same time in a large table. */
Test(cm_manager, buckets_for_all_connections)
{
	static const uint32_t conns[] = {1, 15, 16, 17, 31, 32, 33, 1000},
			      buckets[] = {16, 16, 16, 32, 32, 32, 64, 1024};

	for (unsigned i = 0; i < sizeof(conns) / sizeof(conns[0]); i++) {
		const struct roce_cm_cfg cfg = {
			.max_active = conns[i], .max_listeners = 1, .max_retries = 15};
		struct roce_cm *cm = manager_new(&cfg);

		cr_expect_eq(cm->bucket_mask + 1, buckets[i], "%u connections", conns[i]);
		free(cm);
	}
}
