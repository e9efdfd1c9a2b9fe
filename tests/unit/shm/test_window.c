/* SPDX-License-Identifier: BSD-3-Clause */
/* Tokens of memory windows. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "shm/ndsh_ring.h"
#include "base/siphash.h"

#define SLOT(token) ((token) >> NDSH_TOKEN_KEY_BITS)

/* The one of 16 bytes: key and message are 00 01 .. 0f. */
Test(shm_siphash, published_vector)
{
	const uint64_t key[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

	cr_expect(eq(u64, ndsh_siphash(key, key[0], key[1]), 0x3f2acc7f57c29bdb));
}

/* checks R-MW-06[2] */
Test(shm_window, R_MW_06_each_bind_has_another_token)
{
	const uint32_t starts[] = {0, 1, 0x7ffffff0, 0xfffff000};

	for (uint64_t secret = 0; secret < 8; secret++)
		for (uint32_t i = 0; i < 4; i++)
			for (uint32_t n = 0; n < 20000; n++) {
				uint32_t g = starts[i] + n;
				uint32_t slot = (uint32_t)secret * 37449; /* 0 .. 2^18 - 1 */
				uint32_t token = ndsh_window_token(slot, secret, g);

				cr_assert(ne(u32, token, ndsh_window_token(slot, secret, g + 1)),
					"%u", g);
				cr_assert(ne(u32, token, 0));
				cr_assert(eq(u32, SLOT(token), slot));
			}
}

/* Client and daemon may be of different versions: what a token is made of stays as it is. In the
 * last two rows a draw is that of a neighbour: the odd one of the two draws again, and what it gets
 * next in the very last is 0. */
Test(shm_window, tokens_are_what_they_were)
{
	static const struct {
		uint32_t slot;
		uint64_t secret;
		uint32_t generation, token;
	} rows[] = {
		{0, 0, 0, 0x2976},
		{0, 1, 0, 0x2a4a},
		{3, 1, 7, 0xdd4a},
		{3, 2, 7, 0xc2d8},
		{0x3ffff, 3, UINT32_MAX, 0xffffc725},
		{5, 1, 28400, 0x14c76},
		{5, 1, 28401, 0x14708},
		{0, 1, 325190381, 0x2815},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect(
			eq(u32, ndsh_window_token(rows[i].slot, rows[i].secret, rows[i].generation),
				rows[i].token),
			"row %zu", i);
}

/* Not a number that counts up, and not the same for two windows or two lives of one slot. */
Test(shm_window, tokens_depend_on_everything)
{
	uint32_t seen[1u << (NDSH_TOKEN_KEY_BITS - 5)] = {0}, distinct = 0, same = 0;

	for (uint32_t g = 0; g < 16384; g++) {
		uint32_t key = ndsh_window_token(5, 1, g) & ((1u << NDSH_TOKEN_KEY_BITS) - 1);

		distinct += !(seen[key / 32] >> key % 32 & 1);
		seen[key / 32] |= 1u << key % 32;
		same += ndsh_window_token(5, 2, g) == ndsh_window_token(5, 1, g);
	}
	/* 16384 draws of 16383 values hit 63.2 % of them, give or take 0.3 %. */
	cr_expect(distinct > 10100 && distinct < 10600, "%u", distinct);
	cr_expect(lt(u32, same, 20));
}
