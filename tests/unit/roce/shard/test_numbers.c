/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that a peer must not guess: keys, queue pair numbers, first PSNs, secrets and tokens of
 * windows. The secrets are fixed, so that each test has one outcome. Counts must be those of a fair
 * coin, within five standard deviations, which one fair stream in 1.7 million exceeds.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "rigs/lone_shard.h"
#include "roce/mem/mr.h"
#include "roce/shard/qpn.h"
#include "roce/shard/shard.h"

#define N	(1u << 15)
#define SECRETS 8u
#define LAGS	16u

struct stream {
	const char *name;
	unsigned bits;
	void (*fill)(uint64_t secret, uint64_t *out, uint32_t n);
	/* The numbers of one secret are a permutation: none comes twice. */
	bool distinct;
};

static struct roce_shard *
shard_with(uint64_t secret, uint32_t max_mrs)
{
	struct roce_shard_cfg cfg = lone_config();

	cfg.secret[0] = secret;
	cfg.secret[1] = 7;
	cfg.max_mrs = max_mrs;
	return lone_shard_new(&cfg);
}

static void
fill_psns(uint64_t secret, uint64_t *out, uint32_t n)
{
	struct roce_shard *s = shard_with(secret, 1);

	for (uint32_t i = 0; i < n; i++)
		out[i] = roce_random_psn(s);
	free(s);
}

static void
fill_qpns(uint64_t secret, uint64_t *out, uint32_t n)
{
	const uint64_t secrets[2] = {secret, 7};
	struct roce_qpn_key key;

	roce_qpn_key_init(&key, secrets);
	for (uint32_t i = 0; i < n; i++)
		out[i] = roce_qpn_make(&key, 0, 0, i);
}

/* Regions that are registered in a row, as a server does that has just begun. */
static void
fill_keys(uint64_t secret, uint64_t *out, uint32_t n)
{
	struct roce_shard *s = shard_with(secret, 1u << ROCE_MR_BITS);
	uint32_t pd = roce_pd_create(s);
	static uint8_t mem[8];

	for (uint32_t i = 0; i < n; i++)
		out[i] = roce_mr_key(roce_mr_register(s, pd, 0, 8, mem, 0));
	free(s);
}

/* ... and one that is registered again and again. */
static void
fill_keys_again(uint64_t secret, uint64_t *out, uint32_t n)
{
	struct roce_shard *s = shard_with(secret, 1u << ROCE_MR_BITS);
	uint32_t pd = roce_pd_create(s);
	static uint8_t mem[8];

	for (uint32_t i = 0; i < n; i++) {
		struct roce_mr *mr = roce_mr_register(s, pd, 0, 8, mem, 0);

		out[i] = roce_mr_key(mr);
		cr_assert(roce_mr_deregister(s, mr));
	}
	free(s);
}

static void
fill_secrets(uint64_t secret, uint64_t *out, uint32_t n)
{
	struct roce_shard *s = shard_with(secret, 1);
	uint32_t pd = roce_pd_create(s), slot;

	for (uint32_t i = 0; i < n; i++)
		roce_mw_destroy(s, roce_mw_create(s, pd, &slot, &out[i]));
	free(s);
}

/* What a client binds through its window, one after the other. */
static void
fill_tokens(uint64_t secret, uint64_t *out, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = ndsh_window_token(0, secret * 0x9e3779b97f4a7c15u, i + 1);
}

static const struct stream streams[] = {
	{"first PSNs", 24, fill_psns, false},
	{"queue pair numbers", 24, fill_qpns, true},
	{"keys of many regions", 32, fill_keys, true},
	{"keys of one region after the other", 32, fill_keys_again, false},
	{"secrets of windows", 64, fill_secrets, true},
	{"tokens of a window", 14, fill_tokens, false},
};
#define STREAMS (sizeof(streams) / sizeof(streams[0]))

static uint64_t *
filled(const struct stream *st, uint64_t secret)
{
	uint64_t *x = calloc(N, sizeof(*x));

	cr_assert_not_null(x);
	st->fill(secret, x, N);
	return x;
}

/* Are so many heads in n throws possible with a fair coin? */
static bool
is_fair(uint64_t heads, uint64_t n)
{
	return fabs((double)heads - (double)n / 2) <= 5 * sqrt((double)n) / 2;
}

/* checks W-MEM-01[2,5] */
Test(numbers, no_bit_is_more_often_set_than_not)
{
	for (size_t k = 0; k < STREAMS; k++)
		for (uint64_t secret = 1; secret <= SECRETS; secret++) {
			uint64_t *x = filled(&streams[k], secret);
			uint64_t ones[64] = {0};

			for (uint32_t i = 0; i < N; i++)
				for (unsigned bit = 0; bit < streams[k].bits; bit++)
					ones[bit] += x[i] >> bit & 1;
			for (unsigned bit = 0; bit < streams[k].bits; bit++)
				cr_expect(is_fair(ones[bit], N), "%s: bit %u is set %lu times",
					streams[k].name, bit, ones[bit]);
			free(x);
		}
}

static uint64_t
mask_of(unsigned bits)
{
	return UINT64_MAX >> (64 - bits);
}

/* Bits of one number are those of another as often as not. */
static uint64_t
bits_alike(const uint64_t *a, const uint64_t *b, uint32_t n, unsigned bits)
{
	const uint64_t mask = mask_of(bits);
	uint64_t alike = 0;

	for (uint32_t i = 0; i < n; i++)
		alike += (uint64_t)__builtin_popcountll(~(a[i] ^ b[i]) & mask);
	return alike;
}

Test(numbers, none_tells_of_those_behind_it)
{
	for (size_t k = 0; k < STREAMS; k++)
		for (uint64_t secret = 1; secret <= SECRETS; secret++) {
			uint64_t *x = filled(&streams[k], secret);

			for (uint32_t lag = 1; lag <= LAGS; lag++) {
				uint32_t n = N - lag;
				uint64_t alike = bits_alike(x, x + lag, n, streams[k].bits);

				cr_expect(is_fair(alike, (uint64_t)n * streams[k].bits),
					"%s: %lu bits as %u before", streams[k].name, alike, lag);
			}
			free(x);
		}
}

/* ... nor do the steps between them. */
Test(numbers, no_step_comes_more_often_than_by_chance)
{
	for (size_t k = 0; k < STREAMS; k++) {
		uint64_t *x = filled(&streams[k], 1);
		const uint64_t mask = mask_of(streams[k].bits);
		uint32_t same = 0;

		for (uint32_t i = 2; i < N; i++)
			same += ((x[i] - x[i - 1]) & mask) == ((x[i - 1] - x[i - 2]) & mask);
		cr_expect(same <= 3 + (streams[k].bits < 32 ? N >> streams[k].bits : 0) * 3,
			"%s: %u steps as before", streams[k].name, same);
		free(x);
	}
}

Test(numbers, other_secrets_make_others)
{
	for (size_t k = 0; k < STREAMS; k++) {
		uint64_t *x = filled(&streams[k], 1);

		for (uint64_t secret = 2; secret <= SECRETS; secret++) {
			uint64_t *y = filled(&streams[k], secret);
			uint64_t alike = bits_alike(x, y, N, streams[k].bits);

			cr_expect(is_fair(alike, (uint64_t)N * streams[k].bits),
				"%s: %lu bits as by another secret", streams[k].name, alike);
			free(y);
		}
		free(x);
	}
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Of n numbers out of 2^bits, about n^2 / 2^(bits + 1) have come before. */
Test(numbers, repeat_as_seldom_as_may_be)
{
	for (size_t k = 0; k < STREAMS; k++) {
		uint64_t *x = filled(&streams[k], 1);
		const double mean = ldexp((double)N * N, -(int)streams[k].bits - 1);
		uint32_t again = 0;

		for (uint32_t i = 1; i < N; i++)
			cr_expect_neq(x[i], x[i - 1], "%s: twice in a row", streams[k].name);
		if (mean < N / 4) { /* else most of all numbers are there */
			qsort(x, N, sizeof(*x), by_value);
			for (uint32_t i = 1; i < N; i++)
				again += x[i] == x[i - 1];
			cr_expect(again <= (streams[k].distinct ? 0 : mean + 5 * sqrt(mean) + 3),
				"%s: %u come again, %f are to be expected", streams[k].name, again,
				mean);
		}
		free(x);
	}
}
