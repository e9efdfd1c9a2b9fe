/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of a shard: numbers and keys that tell nothing, tables that run full, the timer wheel. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/engine_pair.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/responder/replay.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"

#define QPS 64u

static struct roce_shard_cfg
config(void)
{
	return (struct roce_shard_cfg){.shard_id = 5,
		.max_qps = QPS,
		.max_cqs = 2,
		.max_pds = 3,
		.max_mrs = 8,
		.max_wqes = 64,
		.secret = {11, 22},
		.rto_floor_ns = 1000000,
		.window = 64};
}

static struct roce_shard *
shard_new(const struct roce_shard_cfg *cfg)
{
	size_t bytes = roce_shard_bytes(cfg);
	void *mem = aligned_alloc(64, bytes);

	cr_assert_gt(bytes, 0);
	return roce_shard_init(memset(mem, 0, bytes), cfg);
}

Test(objects, configurations_out_of_range)
{
#define REFUSED(field, value)                                                                      \
	do {                                                                                       \
		struct roce_shard_cfg c = config();                                                \
		c.field = value;                                                                   \
		cr_assert_eq(roce_shard_bytes(&c), 0, #field " " #value);                          \
	} while (0)
	REFUSED(shard_id, 8);
	REFUSED(max_qps, 0);
	REFUSED(max_qps, 131073);
	REFUSED(max_mrs, 262145);
	REFUSED(max_cqs, 0);
	REFUSED(max_pds, 0);
	REFUSED(max_wqes, 15);
	REFUSED(max_wqes, 4194305);
	REFUSED(rto_floor_ns, 99999);
	REFUSED(window, 15);
	REFUSED(window, 4097);
#undef REFUSED
}

/* What limits.* of the configuration allows at most (doc/config.md), and at least. */
Test(objects, every_limit_of_the_configuration_is_taken)
{
	struct roce_shard_cfg c = config();

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

Test(objects, the_permutation_of_numbers_is_one)
{
	const uint64_t secret[2] = {0x123456789abcdef0, 0x0fedcba987654321};
	uint8_t *seen = calloc(1u << 24, 1);
	struct roce_qpn_key key;
	uint32_t close = 0, last = 0;

	roce_qpn_key_init(&key, secret);
	for (uint32_t i = 0; i < 1u << 24; i++) {
		uint32_t qpn = roce_qpn_make(&key, i >> 21, i >> 17 & 15, i & 0x1ffff);

		cr_assert_lt(qpn, 1u << 24);
		cr_assert_eq(seen[qpn]++, 0);
		close += qpn - last + 256 < 512;
		last = qpn;
		if (i % 65537 == 0) {
			cr_assert_eq(roce_qpn_place(&key, qpn), i);
			cr_assert_eq(roce_place_shard(i), i >> 21);
		}
	}
	cr_assert_lt(close, 2000, "neighbours are no neighbours: %u", close);
	free(seen);
}

static struct roce_qp *
qp_new(struct roce_shard *s, uint32_t pd, struct roce_cq *cq, void **block)
{
	const struct ndsh_qp_dims dims = {4, 4, 1, 1, 0};
	struct ndsh_qp_layout l;

	ndsh_qp_layout(&dims, &l);
	*block = aligned_alloc(64, (l.total_bytes + 63) & ~63u);
	memset(*block, 0, l.total_bytes);
	return roce_qp_create(
		s, &(struct roce_qp_cfg){
			   .pd = pd, .send_cq = cq, .recv_cq = cq, .shared = *block, .dims = dims});
}

Test(objects, tables_run_full_and_come_back)
{
	const struct roce_shard_cfg cfg = config();
	struct roce_shard *s = shard_new(&cfg);
	uint32_t pd = roce_pd_create(s);
	void *cq_mem = calloc(1, ndsh_cq_bytes(16) + 64), *block[QPS + 1];
	struct roce_cq *cq = roce_cq_create(s, cq_mem, 16, NULL);
	struct roce_qp *qp[QPS];
	uint32_t numbers[QPS * 20], n = 0;
	struct roce_qpn_key key;
	struct roce_usage u;

	roce_qpn_key_init(&key, cfg.secret);
	cr_assert_null(qp_new(s, 0, cq, &block[0]), "PD 0");
	free(block[0]);
	cr_assert_null(qp_new(s, 3, cq, &block[0]), "a PD that was not created");
	free(block[0]);
	for (unsigned round = 0; round < 20; round++) {
		for (unsigned i = 0; i < QPS; i++) {
			qp[i] = qp_new(s, pd, cq, &block[i]);
			cr_assert_not_null(qp[i]);
			numbers[n] = roce_qp_num(qp[i]);
			cr_assert_eq(roce_place_shard(roce_qpn_place(&key, numbers[n])), 5);
			cr_assert(numbers[n] > 1 && numbers[n] < 0xffffff);
			for (uint32_t k = n > QPS * 14 ? n - QPS * 14 : 0; k < n; k++)
				cr_assert_neq(numbers[k], numbers[n], "too early again");
			n++;
		}
		cr_assert_null(qp_new(s, pd, cq, &block[QPS]));
		free(block[QPS]);
		cr_assert_not(roce_cq_destroy(s, cq));
		cr_assert_not(roce_pd_destroy(s, pd));
		for (unsigned i = 0; i < QPS; i++) {
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

/* checks R-MR-08 */
Test(objects, W_MEM_01_W_MEM_02_regions)
{
	const struct roce_shard_cfg cfg = config();
	struct roce_shard *s = shard_new(&cfg);
	uint32_t pd = roce_pd_create(s), keys[64], n = 0;
	const uint32_t local = ROCE_ACCESS_LOCAL_READ;
	const struct roce_qp qp = {.pd = pd};
	static uint8_t mem[64];

	cr_assert_null(roce_mr_register(s, pd, 0, 8, mem, NDSH_ACCESS_REMOTE_WRITE));
	cr_assert_null(roce_mr_register(s, pd, 0, 8, mem, NDSH_ACCESS_REMOTE_ATOMIC));
	cr_assert_null(roce_mr_register(s, pd, 0, 8, mem, 1u << 20));
	cr_assert_null(roce_mr_register(s, pd, UINT64_MAX - 6, 8, mem, 0));
	cr_assert_null(roce_mr_register(s, 2, 0, 8, mem, 0), "no such PD");
	for (unsigned round = 0; round < 8; round++) {
		struct roce_mr *mr[8];

		for (unsigned i = 0; i < 8; i++) {
			mr[i] = roce_mr_register(s, pd, 4096 * i, 64, mem, 0);
			cr_assert_not_null(mr[i]);
			keys[n] = roce_mr_key(mr[i]);
			for (unsigned k = 0; k < n; k++)
				cr_assert_neq(keys[k], keys[n]);
			cr_assert_eq(
				roce_mr_access(s, &qp, keys[n], 4096 * i + 60, 4, local), mem + 60);
			cr_assert_null(roce_mr_access(s, &qp, keys[n], 4096 * i + 61, 4, local));
			cr_assert_null(roce_mr_access(
				s, &qp, keys[n], 4096 * i, 1, NDSH_ACCESS_REMOTE_READ));
			n++;
		}
		cr_assert_null(roce_mr_register(s, pd, 0, 8, mem, 0), "full");
		for (unsigned i = 0; i < 8; i++) {
			cr_assert(roce_mr_deregister(s, mr[i]));
			cr_assert_null(roce_mr_access(s, &qp, keys[n - 8 + i], 4096 * i, 1, local));
		}
	}
	cr_assert_null(roce_mr_access(s, &qp, 0, 0, 0, local), "key 0");
	cr_assert_null(roce_mr_access(s, &qp, UINT32_MAX, 0, 0, local), "no such index");
	free(s);
}

Test(objects, replay_blocks_go_from_the_one_longest_at_rest)
{
	const struct roce_shard_cfg cfg = config();
	struct roce_shard *s = shard_new(&cfg);
	const uint32_t blocks = QPS / 4 + 16;
	uint32_t pd = roce_pd_create(s);
	void *cq_mem = calloc(1, ndsh_cq_bytes(16) + 64), *block[QPS];
	struct roce_cq *cq = roce_cq_create(s, cq_mem, 16, NULL);
	struct roce_qp *qp[QPS];

	s->now_ns = 5000000000;
	for (unsigned i = 0; i < QPS; i++)
		qp[i] = qp_new(s, pd, cq, &block[i]);
	for (unsigned i = 0; i < blocks; i++)
		cr_assert_not_null(roce_reads_get(s, qp[i]));
	cr_assert_null(roce_reads_get(s, qp[blocks]), "all were used just now");
	s->now_ns += 2000000000;
	roce_reads_get(s, qp[0]);
	cr_assert_not_null(roce_reads_get(s, qp[blocks]));
	cr_assert_not_null(qp[0]->reads, "used again meanwhile");
	cr_assert_null(qp[1]->reads);
	qp[2]->rd_pending = 1;
	cr_assert_null(roce_reads_get(s, qp[1]), "the next one still answers");
	qp[2]->rd_pending = 0;
	cr_assert_not_null(roce_reads_get(s, qp[1]));
	cr_assert_null(qp[2]->reads);
	for (unsigned i = 0; i < QPS; i++) {
		roce_qp_destroy(s, qp[i]);
		free(block[i]);
	}
	cr_assert(base_list_empty(&s->reads_lru));
	free(cq_mem);
	free(s);
}

/* ---- timer wheel -------------------------------------------------------------------------- */

static void
fire_at(uint64_t start, uint64_t in_ns)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;

	s->now_ns = start;
	roce_timer_set(s, qp, start + in_ns);
	cr_assert_leq(roce_shard_next_deadline(s), start + in_ns + (1u << ROCE_WHEEL_SHIFT));
	/* As a host does it: look when the wheel says so. */
	for (unsigned looks = 0; qp->deadline_ns != 0; looks++) {
		uint64_t t = roce_shard_next_deadline(s);

		cr_assert_lt(looks, 1000);
		t = t > s->now_ns ? t : s->now_ns + 1;
		cr_assert_leq(t, start + in_ns + (1u << ROCE_WHEEL_SHIFT), "late");
		roce_shard_timers(s, t, 8);
		cr_assert(qp->deadline_ns != 0 || t >= start + in_ns, "early");
	}
	cr_assert_eq(roce_shard_next_deadline(s), UINT64_MAX);
	pair_free(p);
}

Test(timer, never_early_and_at_most_one_tick_late)
{
	static const uint64_t in[] = {1, 10000, 32767, 32768, 32769, 1000000, 134217727, 134217728,
		134217729, 500000000, 10000000000};

	for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++) {
		fire_at(1000000000, in[i]);
		fire_at(1000000000 + 32767, in[i]);
	}
}

Test(timer, a_deadline_moves_forward_lazily_and_back_at_once)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	uint64_t t = 5000000000;

	s->now_ns = t;
	roce_timer_set(s, qp, t + 1000000);
	roce_timer_set(s, qp, t + 9000000);
	roce_shard_timers(s, t + 8000000, 8);
	cr_assert_neq(qp->deadline_ns, 0);
	roce_timer_set(s, qp, t + 8500000);
	roce_shard_timers(s, t + 8600000, 8);
	cr_assert_eq(qp->deadline_ns, 0);
	roce_timer_set(s, qp, t + 100000000);
	roce_timer_set(s, qp, t + 10000000);
	roce_shard_timers(s, t + 11000000, 8);
	cr_assert_eq(qp->deadline_ns, 0, "moved back");
	pair_free(p);
}

Test(timer, the_budget_holds)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 8});
	struct roce_shard *s = p->side[0].shard;
	unsigned ran = 0;

	s->now_ns = 1000000000;
	for (unsigned i = 0; i < 8; i++)
		roce_timer_set(s, p->side[0].q[i].qp, 1001000000);
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = roce_shard_timers(s, 2000000000, 2);

		cr_assert_eq(n, 2);
		ran += n;
	}
	cr_assert_eq(ran, 8);
	cr_assert_eq(roce_shard_timers(s, 2000000000, 2), 0);
	pair_free(p);
}
