/* SPDX-License-Identifier: BSD-3-Clause */
/* Shards: the limits of a configuration, tables that run full and come back. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/mem/mr.h"
#include "roce/queue/cq.h"
#include "roce/shard/shard.h"

Test(shard, configurations_out_of_range)
{
	static _Alignas(64) uint8_t mem[sizeof(struct roce_shard)];

#define IS_TAKEN(field, value, taken)                                                              \
	do {                                                                                       \
		struct roce_shard_cfg c = lone_config();                                           \
		c.field = value;                                                                   \
		cr_assert_eq(roce_shard_bytes(&c) != 0, taken, #field " " #value);                 \
		if (!(taken))                                                                      \
			cr_assert_null(roce_shard_init(mem, &c), #field " " #value);               \
	} while (0)
#define RANGE(field, from, to)                                                                     \
	do {                                                                                       \
		IS_TAKEN(field, from, true);                                                       \
		IS_TAKEN(field, to, true);                                                         \
		IS_TAKEN(field, (to) + 1, false);                                                  \
		if ((from) > 0)                                                                    \
			IS_TAKEN(field, (from)-1, false);                                          \
	} while (0)
	RANGE(shard_id, 0, 7);
	RANGE(max_qps, 1, 131072);
	RANGE(max_mrs, 1, 262144);
	RANGE(max_cqs, 1, 1048576);
	RANGE(max_pds, 1, 1048576);
	RANGE(max_srqs, 0, 1048576);
	RANGE(max_wqes, 16, 4194304);
	RANGE(window, 16, 4096);
	IS_TAKEN(rto_floor_ns, 100000, true);
	IS_TAKEN(rto_floor_ns, 99999, false);
#undef RANGE
#undef IS_TAKEN
}

/* What limits.* of the configuration allows at most (doc/config.md), and at least. */
Test(shard, every_limit_of_the_configuration_is_taken)
{
	struct roce_shard_cfg c = lone_config();

	c.max_qps = 131072;
	c.max_cqs = 2 * c.max_qps;
	c.max_pds = c.max_srqs = c.max_qps;
	c.max_mrs = 262144;
	c.max_wqes = 4194304;
	cr_assert_gt(roce_shard_bytes(&c), 0);
	c.max_qps = c.max_mrs = c.max_pds = c.max_srqs = 1;
	c.max_cqs = 2;
	c.max_wqes = 64;
	cr_assert_gt(roce_shard_bytes(&c), 0);
}

static bool
is_zero(const void *p, size_t bytes)
{
	const uint8_t *b = p;

	while (bytes > 0 && b[bytes - 1] == 0)
		bytes--;
	return bytes == 0;
}

/* An entry that was never taken is as the host's memory was, but for the way to the next queue. */
Test(shard, fresh_tables_hold_nothing)
{
	const struct roce_shard_cfg cfg = lone_config();
	const struct roce_shard *s = lone_shard_new(&cfg);

	for (uint32_t i = 0; i < cfg.max_mrs; i++) {
		cr_assert(is_zero(&s->mrs[i], sizeof(s->mrs[i])), "region %u", i);
		cr_assert_eq(s->mr_free[i], i);
	}
	for (uint32_t i = 0; i < cfg.max_cqs; i++) {
		struct roce_cq cq = s->cqs[i];

		cq.next_free = NULL;
		cr_assert(is_zero(&cq, sizeof(cq)), "completion queue %u", i);
	}
}

Test(shard, tables_run_full_and_come_back)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	uint32_t pd = roce_pd_create(s);
	void *cq_mem = calloc(1, ndsh_cq_bytes(16) + 64), *block[LONE_QPS + 1];
	struct roce_cq *cq = roce_cq_create(s, NULL, cq_mem, 16, NULL);
	struct roce_qp *qp[LONE_QPS];
	uint32_t numbers[LONE_QPS * 20], n = 0;
	struct roce_qpn_key key;
	struct roce_usage u;

	roce_qpn_key_init(&key, cfg.secret);
	cr_assert_null(lone_qp_new(s, 0, cq, &block[0]), "PD 0");
	free(block[0]);
	cr_assert_null(lone_qp_new(s, 3, cq, &block[0]), "a PD that was not created");
	free(block[0]);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < LONE_QPS; i++) {
			qp[i] = lone_qp_new(s, pd, cq, &block[i]);
			cr_assert_not_null(qp[i]);
			numbers[n] = roce_qp_num(qp[i]);
			cr_assert_eq(roce_place_shard(roce_qpn_place(&key, numbers[n])), 5);
			cr_assert(numbers[n] > 1 && numbers[n] < 0xffffff);
			for (uint32_t k = n > LONE_QPS * 14 ? n - LONE_QPS * 14 : 0; k < n; k++)
				cr_assert_neq(numbers[k], numbers[n], "too early again");
			n++;
		}
		cr_assert_null(lone_qp_new(s, pd, cq, &block[LONE_QPS]));
		free(block[LONE_QPS]);
		cr_assert_not(roce_cq_destroy(s, cq));
		cr_assert_not(roce_pd_destroy(s, pd));
		for (unsigned i = 0; i < LONE_QPS; i++) {
			roce_qp_destroy(s, qp[i]);
			free(block[i]);
		}
	}
	cr_assert(roce_cq_destroy(s, cq));
	cr_assert(roce_pd_destroy(s, pd));
	cr_assert_not(roce_pd_destroy(s, pd), "twice");
	roce_shard_usage(s, &u);
	cr_assert_eq(u.qps + u.cqs + u.pds + u.mrs + u.wqes + u.timers, 0);
	free(cq_mem);
	free(s);
}

/* A domain in use stays; the number of one that is gone is no domain. */
Test(shard, protection_domains)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	uint32_t pd[3];
	struct roce_usage u;

	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < 3; i++) {
			pd[i] = roce_pd_create(s);
			cr_assert(pd[i] >= 1 && pd[i] <= 3);
			for (unsigned k = 0; k < i; k++)
				cr_assert_neq(pd[k], pd[i]);
		}
		cr_assert_eq(roce_pd_create(s), 0, "there are no more");
		cr_assert(roce_pd_get(s, pd[1]));
		cr_assert(roce_pd_get(s, pd[1]));
		cr_assert_not(roce_pd_destroy(s, pd[1]));
		roce_pd_put(s, pd[1]);
		cr_assert_not(roce_pd_destroy(s, pd[1]));
		roce_pd_put(s, pd[1]);
		for (unsigned i = 0; i < 3; i++) {
			cr_assert(roce_pd_destroy(s, pd[(i + round) % 3]));
			cr_assert_not(roce_pd_destroy(s, pd[(i + round) % 3]));
			cr_assert_not(roce_pd_get(s, pd[(i + round) % 3]));
		}
		roce_shard_usage(s, &u);
		cr_assert_eq(u.pds, 0);
	}
	cr_assert_not(roce_pd_get(s, 0));
	cr_assert_not(roce_pd_get(s, 4));
	cr_assert_not(roce_pd_get(s, UINT32_MAX));
	cr_assert_not(roce_pd_destroy(s, 0));
	cr_assert_not(roce_pd_destroy(s, UINT32_MAX));
	free(s);
}

/* Whatever stands behind the table: here the numbers that are free. */
Test(shard, the_number_behind_the_last_protection_domain)
{
	enum { PDS = 16 };
	struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s;
	uint32_t pd[PDS];

	cfg.max_pds = PDS;
	s = lone_shard_new(&cfg);
	for (unsigned i = 0; i < PDS; i++)
		pd[i] = roce_pd_create(s);
	for (unsigned i = 0; i < PDS; i++) {
		cr_assert(roce_pd_destroy(s, pd[i]));
		cr_assert_not(roce_pd_destroy(s, PDS + 1));
		cr_assert_not(roce_pd_get(s, PDS + 1));
		cr_assert_eq(roce_pd_create(s), pd[i]);
	}
	free(s);
}

/*
 * What is drawn from the secret differs from draw to draw, from use to use, from shard to shard
 * and from secret to secret. checks W-PSN-04[4]
 */
Test(shard, W_PSN_04_what_is_drawn_from_the_secret)
{
	enum { N = 2000 };
	struct roce_shard_cfg cfg[3] = {lone_config(), lone_config(), lone_config()};
	struct roce_shard *s[3];
	uint32_t same = 0, ones[24] = {0};

	cfg[1].shard_id = 4;
	cfg[2].secret[1]++;
	for (unsigned i = 0; i < 3; i++)
		s[i] = lone_shard_new(&cfg[i]);
	for (unsigned n = 0; n < N; n++) {
		uint64_t a = roce_shard_random(s[0], 1), b = roce_shard_random(s[1], 1);
		uint64_t c = roce_shard_random(s[2], 1);

		cr_assert(a != b && a != c && b != c);
		cr_assert_neq(roce_shard_random(s[0], 1), a);
	}
	for (unsigned n = 0, last = 0; n < N; n++) {
		uint32_t psn = roce_random_psn(s[0]);

		cr_assert_leq(psn, 0xffffffu);
		same += psn == last;
		last = psn;
		for (unsigned bit = 0; bit < 24; bit++)
			ones[bit] += psn >> bit & 1;
	}
	cr_assert_lt(same, 3);
	for (unsigned bit = 0; bit < 24; bit++)
		cr_assert(ones[bit] > N * 2 / 5 && ones[bit] < N * 3 / 5, "bit %u", bit);
	for (unsigned i = 0; i < 3; i++)
		free(s[i]);
}
