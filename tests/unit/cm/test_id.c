/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers that can't be guessed, as far as counting shows it: some of them must say nothing about
 * the others. The secrets are fixed, so a test fails always or never; the bounds are six standard
 * deviations wide.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cm/id.h"
#include "cm/manager.h"

#define N	(1u << 16)
#define BITS	32u
#define SECRETS 4u

enum which { COMM_IDS, TRANSACTIONS, KINDS };

static struct roce_cm *
cm_of_secret(uint64_t a, uint64_t b)
{
	const struct roce_cm_cfg cfg = {
		.max_active = 1, .max_listeners = 1, .secret = {a, b}, .ca_guid = 1};
	void *mem = calloc(1, roce_cm_bytes(&cfg));

	return roce_cm_init(mem, &cfg);
}

/* N numbers of a manager, from this one on; of a transaction id, the half that is not the comm
 * id's. */
static uint32_t *
numbers_from(uint32_t first, uint64_t a, uint64_t b, enum which which)
{
	struct roce_cm *cm = cm_of_secret(a, b);
	uint32_t *x = malloc(N * sizeof(*x));

	cm->next_id = cm->next_tid = first;
	for (unsigned i = 0; i < N; i++)
		x[i] = which == COMM_IDS ? cm_new_id(cm) : (uint32_t)(cm_new_tid(cm, i) >> 32);
	free(cm);
	return x;
}

static uint32_t *
numbers_of(uint64_t a, uint64_t b, enum which which)
{
	return numbers_from(0, a, b, which);
}

static uint32_t *
numbers_of_secret(unsigned secret, enum which which)
{
	return numbers_of(secret, (uint64_t)secret << 40, which);
}

/* So many heads in n throws must be possible with a fair coin. */
static void
expect_fair(unsigned heads, unsigned n, const char *what, unsigned bit)
{
	const int64_t off =
		2 * (int64_t)heads - n; /* in halves of a deviation: n of them squared */

	cr_expect_lt(off * off, 36 * (int64_t)n, "%s, bit %u: %u of %u", what, bit, heads, n);
}

static void
expect_no_bias(const uint32_t *x, unsigned n, const char *what)
{
	for (unsigned bit = 0; bit < BITS; bit++) {
		unsigned ones = 0;

		for (unsigned i = 0; i < n; i++)
			ones += x[i] >> bit & 1;
		expect_fair(ones, n, what, bit);
	}
}

/* checks W-CM-40[6]: each bit is 1 as often as 0. */
Test(cm_id, w_cm_40_no_bit_has_a_bias)
{
	for (unsigned s = 0; s < SECRETS; s++) {
		for (unsigned which = 0; which < KINDS; which++) {
			uint32_t *x = numbers_of_secret(s, which);

			expect_no_bias(x, N, which == COMM_IDS ? "ids" : "transactions");
			free(x);
		}
	}
}

/* checks W-CM-40[6]: no bit of a number says whether the same one of the next is set, nor of the
 * one two or a thousand after it. */
Test(cm_id, w_cm_40_successive_numbers_have_nothing_in_common)
{
	static const unsigned distance[] = {1, 2, 3, 256, 1000};

	for (unsigned which = 0; which < KINDS; which++) {
		uint32_t *x = numbers_of_secret(1, which), *d = malloc(N * sizeof(*d));

		for (unsigned k = 0; k < sizeof(distance) / sizeof(distance[0]); k++) {
			const unsigned n = N - distance[k];

			for (unsigned i = 0; i < n; i++)
				d[i] = x[i] ^ x[i + distance[k]];
			expect_no_bias(d, n, "bits that change");
			for (unsigned i = 0; i < n; i++)
				d[i] = x[i + distance[k]] - x[i];
			expect_no_bias(d, n, "difference");
		}
		free(x);
		free(d);
	}
}

/* Bit i of a number and bit j of the next: set together as often as not. */
static void
expect_no_pair(const uint32_t *x, const uint32_t *y, unsigned n)
{
	for (unsigned i = 0; i < BITS; i++) {
		for (unsigned j = 0; j < BITS; j++) {
			unsigned same = 0;

			for (unsigned k = 0; k < n; k++)
				same += (x[k] >> i & 1) == (y[k] >> j & 1);
			expect_fair(same, n, "pair", i * BITS + j);
		}
	}
}

/* checks W-CM-40[6] */
Test(cm_id, w_cm_40_no_bit_tells_another_of_the_next)
{
	for (unsigned which = 0; which < KINDS; which++) {
		uint32_t *x = numbers_of_secret(2, which);

		expect_no_pair(x, x + 1, N / 4);
		free(x);
	}
}

/* A message shows both: the comm id tells nothing of the transaction's half. */
Test(cm_id, ids_and_transactions_have_nothing_in_common)
{
	uint32_t *x = numbers_of_secret(3, COMM_IDS), *y = numbers_of_secret(3, TRANSACTIONS);

	expect_no_pair(x, y, N / 4);
	free(x);
	free(y);
}

/* checks W-CM-40[6]: nor do two numbers 65,536 ids apart, whose counters have the same low half. */
Test(cm_id, w_cm_40_distant_numbers_have_nothing_in_common)
{
	for (unsigned which = 0; which < KINDS; which++) {
		uint32_t *x = numbers_from(0, 1, 2, which),
			 *y = numbers_from(1u << 16, 1, 2, which);

		expect_no_pair(x, y, N / 4);
		for (unsigned i = 0; i < N; i++)
			x[i] ^= y[i];
		expect_no_bias(x, N, "bits that change");
		free(x);
		free(y);
	}
}

/* Each bit of the secret changes each bit of a number as often as not. */
Test(cm_id, every_bit_of_the_secret_counts)
{
	for (unsigned which = 0; which < KINDS; which++) {
		uint32_t *x = numbers_of(0, 0, which);

		for (unsigned bit = 0; bit < 128; bit += 9) {
			const uint64_t one = UINT64_C(1) << bit % 64;
			uint32_t *y = numbers_of(bit < 64 ? one : 0, bit < 64 ? 0 : one, which);

			for (unsigned i = 0; i < N; i++)
				y[i] ^= x[i];
			expect_no_bias(y, N, "after one bit of the secret");
			free(y);
		}
		free(x);
	}
}

static int
by_value(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* checks W-CM-40[3,7] */
Test(cm_id, w_cm_40_no_number_comes_twice)
{
	for (unsigned which = 0; which < KINDS; which++) {
		uint32_t *x = numbers_of_secret(4, which);

		qsort(x, N, sizeof(*x), by_value);
		for (unsigned i = 1; i < N; i++)
			cr_assert_neq(x[i], x[i - 1]);
		free(x);
	}
}

static uint32_t
id_at(struct roce_cm *cm, uint32_t counter)
{
	cm->next_id = counter;
	return cm_new_id(cm);
}

static uint32_t
halves_swapped(uint32_t x)
{
	return x << 16 | x >> 16;
}

/* checks W-CM-40[6]: rounds that were all the same would be their own way back, with the halves
 * swapped: an id would tell the counter of another one, and that one's value. */
Test(cm_id, w_cm_40_a_number_does_not_lead_to_another)
{
	struct roce_cm *cm = cm_of_secret(6, 7);

	for (uint32_t i = 0; i < 1000; i++) {
		const uint32_t id = id_at(cm, i);

		cr_assert_neq(id_at(cm, id), i);
		cr_assert_neq(id_at(cm, halves_swapped(id)), halves_swapped(i));
	}
	free(cm);
}

/* 0 stands for none (W-CM-48): with this secret the number at this counter would be it, so the next
 * one is taken. */
Test(cm_id, w_cm_40_no_id_is_zero)
{
	struct roce_cm *cm = cm_of_secret(1, 2);
	const uint32_t of_zero = 0x61d31528;

	cr_expect_neq(id_at(cm, of_zero), 0);
	cr_expect_eq(cm->next_id, of_zero + 2);
	free(cm);
}

/* Numbers fall into equal parts of the range equally often: 255 degrees of freedom. */
Test(cm_id, numbers_are_spread_evenly)
{
	for (unsigned which = 0; which < KINDS; which++) {
		uint32_t *x = numbers_of_secret(5, which);
		unsigned count[256] = {0};
		double chi = 0;

		for (unsigned i = 0; i < N; i++)
			count[x[i] >> 24]++;
		for (unsigned b = 0; b < 256; b++)
			chi += (count[b] - N / 256.0) * (count[b] - N / 256.0) / (N / 256.0);
		cr_expect_lt((chi - 255) * (chi - 255), 36 * 2 * 255, "%f", chi);
		free(x);
	}
}
