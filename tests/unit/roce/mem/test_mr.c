/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions: what a key opens, for local requests and for the peer. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/engine_pair.h"
#include "rigs/lone_shard.h"
#include "roce/mem/mr.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

/* checks R-MR-08[1,3], W-MEM-02 */
Test(mr, W_MEM_01_W_MEM_02_regions)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	uint32_t pd = roce_pd_create(s), keys[64], n = 0;
	const uint32_t local = ROCE_ACCESS_LOCAL_READ;
	const struct roce_qp qp = {.pd = pd};
	static uint8_t mem[64];

	cr_assert_null(roce_mr_register(s, pd, 0, 8, mem, NDSH_ACCESS_REMOTE_WRITE));
	cr_assert_null(roce_mr_register(s, pd, 0, 8, mem, NDSH_ACCESS_REMOTE_ATOMIC));
	cr_assert_null(roce_mr_register(s, pd, 0, 8, mem, 1u << 20));
	cr_assert_null(roce_mr_register(s, pd, UINT64_MAX - 6, 8, mem, 0));
	cr_assert_null(roce_mr_register(s, pd, 8, UINT64_MAX, mem, 0));
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
			for (unsigned off = 61; off < 68; off++)
				cr_assert_null(
					roce_mr_access(s, &qp, keys[n], 4096 * i + off, 4, local));
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

/* What lies behind the table opens nothing, even if it looks like a region. */
Test(mr, W_MEM_01_an_index_beyond_the_table)
{
	const struct roce_shard_cfg cfg = lone_config();
	struct roce_shard *s = lone_shard_new(&cfg);
	uint32_t pd = roce_pd_create(s), key = cfg.max_mrs << ROCE_KEY_BITS | 5;
	const struct roce_qp qp = {.pd = pd};
	struct roce_mr *behind = s->mrs + cfg.max_mrs;
	static uint8_t mem[64];

	*behind = (struct roce_mr){.host = mem,
		.bytes = sizeof(mem),
		.key = key,
		.pd = pd,
		.access = ROCE_ACCESS_LOCAL_READ,
		.kind = ROCE_MR_REGION};
	cr_assert_null(roce_mr_access(s, &qp, key, 0, 8, ROCE_ACCESS_LOCAL_READ));
	cr_assert_null(roce_mr_slot(s, key));
	free(s);
}

/* A region registered and gone, n times over; each of its keys. */
static void
keys_of_a_slot(const struct roce_shard_cfg *cfg, uint32_t *keys, uint32_t n)
{
	struct roce_shard *s = lone_shard_new(cfg);
	uint32_t pd = roce_pd_create(s);
	static uint8_t mem[64];

	for (uint32_t i = 0; i < n; i++) {
		struct roce_mr *mr = roce_mr_register(s, pd, 0, 8, mem, 0);

		keys[i] = roce_mr_key(mr);
		cr_assert(roce_mr_deregister(s, mr));
	}
	free(s);
}

/* checks W-MEM-01[2,3]: 14 bits of a key change from life to life of a slot, each about as often as
 * not, by a secret; what follows a key can't be told from it; none is 0, not even of slot 0. */
Test(mr, W_MEM_01_keys_are_random)
{
	enum { KEYS = 1u << 17, RANDOM = 14 };
	struct roce_shard_cfg cfg = lone_config();
	uint32_t *keys = calloc(KEYS, sizeof(*keys)), *others = calloc(KEYS, sizeof(*keys));
	uint32_t ones[32] = {0}, steps = 0, same = 0;

	cfg.max_mrs = 1;
	keys_of_a_slot(&cfg, keys, KEYS);
	cfg.secret[0]++;
	keys_of_a_slot(&cfg, others, KEYS);
	for (uint32_t i = 0; i < KEYS; i++) {
		cr_assert_neq(keys[i], 0);
		for (unsigned bit = 0; bit < 32; bit++)
			ones[bit] += keys[i] >> bit & 1;
		steps += i > 0 && keys[i] - keys[i - 1] == keys[1] - keys[0];
		same += keys[i] == others[i];
	}
	for (unsigned bit = 0; bit < 32; bit++)
		if (bit < RANDOM)
			cr_assert(ones[bit] > KEYS / 3 && ones[bit] < KEYS / 3 * 2, "bit %u", bit);
		else
			cr_assert_eq(ones[bit], 0, "the index is 0");
	cr_assert_lt(steps, 100);
	cr_assert_lt(same, 100, "the secret does not matter");
	free(others);
	free(keys);
}

/* ---- what the peer may do ---- */

/*
 * A request, then one refused, then one more; receives on both sides: checks R-CR-08, R-POST-03,
 * W-ERR-01[1,3], W-QP-02[2].
 */
static void
refused_write(uint64_t raddr, uint32_t key_xor, uint32_t bytes)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	pair_recv(p, 0, 0, 10, 0, 64);
	pair_recv(p, 1, 0, 20, 0, 64);
	pair_recv(p, 1, 0, 21, 0, 64);
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_write_by_key(p, 2, raddr, p->side[1].key ^ key_xor, bytes);
	pair_write(p, 0, 0, 3, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	pair_expect(p, 0, 3, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 0, 10, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 1, 20, NDSH_WC_FLUSH_ERR);
	pair_expect(p, 1, 21, NDSH_WC_FLUSH_ERR);
	pair_expect_dead(p, 0, 0, ROCE_REASON_NAK_REM_ACCESS);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	cr_assert_eq(roce_shard_counters(p->side[1].shard)->tx_nak_fatal, 1);
	/* Posted to a dead queue pair: flushed too. */
	pair_write(p, 0, 0, 4, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 4, NDSH_WC_FLUSH_ERR);
	pair_free(p);
}

/* checks W-MEM-01[1], W-RESP-13[2,7] */
Test(mr, W_RESP_13_key)
{
	for (unsigned bit = 0; bit < 32; bit++)
		refused_write(PAIR_VA, 1u << bit, 8);
}

/* checks W-RESP-13[5,6,7] */
Test(mr, W_RESP_13_range)
{
	refused_write(PAIR_VA + PAIR_ARENA - 7, 0, 8);
	refused_write(PAIR_VA - 1, 0, 8);
	refused_write(PAIR_VA + PAIR_ARENA, 0, 1);
	refused_write(UINT64_MAX, 0, 8);
	refused_write(UINT64_MAX - 6, 0, 8);
	refused_write(PAIR_VA + 1, 0, PAIR_ARENA);
	refused_write(0, 0, 1);
}

/* checks R-POST-06[3] */
Test(mr, W_RESP_12_length_0_needs_no_key)
{
	struct pair *p = pair_new(&(struct pair_opts){0});

	pair_write_by_key(p, 1, 12345, 0xdeadbeef, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_free(p);
}

/* checks W-RESP-13[4] */
Test(mr, W_RESP_13_region_without_the_right)
{
	struct pair *p = pair_new(&(struct pair_opts){
		.mr_access = NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_READ});

	pair_read(p, 0, 0, 1, 0, 0, 8, 0);
	pair_write(p, 0, 0, 2, 0, 0, 8, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	pair_free(p);
}

/* checks R-MR-02[4], W-RESP-13[3] */
Test(mr, W_RESP_13_other_protection_domain)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[1].shard;
	uint32_t pd = roce_pd_create(s);
	struct roce_mr *mr = roce_mr_register(s, pd, PAIR_VA, 4096, p->side[1].arena,
		NDSH_ACCESS_LOCAL_WRITE | NDSH_ACCESS_REMOTE_WRITE);

	pair_write_by_key(p, 1, PAIR_VA, roce_mr_key(mr), 8);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	cr_assert_not(roce_pd_destroy(s, pd), "in use by the region");
	roce_mr_deregister(s, mr);
	cr_assert(roce_pd_destroy(s, pd));
	pair_free(p);
}

static unsigned
deregister_tap(
	struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	const unsigned *when = ctx; /* frame of side 0, frame of side 1 */

	(void)pkt;
	(void)late_ns;
	if (p->side[1].mr != NULL && when[from] != 0 && p->sent[from] == when[from]) {
		roce_mr_deregister(p->side[1].shard, p->side[1].mr);
		p->side[1].mr = NULL;
	}
	return 1;
}

/* checks R-MR-06[2,3], R-MR-07[3], W-RESP-13[8] */
Test(mr, W_RESP_13_revoked_in_the_middle_of_a_write)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});
	unsigned when[2] = {3, 0};

	p->tap = deregister_tap;
	p->tap_ctx = when;
	pair_write(p, 0, 0, 1, 0, 0, 256 * 64, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_REM_ACCESS_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	pair_free(p);
}

/* checks R-MR-06[2,3], R-MR-07[3], W-RESP-13[9] */
Test(mr, W_RESP_13_revoked_in_the_middle_of_a_read)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 256});
	unsigned when[2] = {0, 5};

	p->tap = deregister_tap;
	p->tap_ctx = when;
	pair_write(p, 0, 0, 1, 0, 0, 8, 0);
	pair_read(p, 0, 0, 2, 0, 0, 256 * 100, 0);
	cr_assert(pair_run(p, PAIR_LONG));
	pair_expect(p, 0, 1, NDSH_WC_SUCCESS);
	pair_expect(p, 0, 2, NDSH_WC_REM_ACCESS_ERR);
	pair_expect_dead(p, 1, 0, ROCE_REASON_SENT_REM_ACCESS);
	cr_assert_lt(p->sent[1], 64, "no byte of a dead region leaves");
	pair_free(p);
}
