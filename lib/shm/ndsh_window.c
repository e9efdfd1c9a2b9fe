/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tokens of memory windows and fast-register regions. The token of a bind, or of a registration,
 * must be known when the post returns (R-MW-06, R-FR-05), so it is derived on both sides, from a
 * secret of the object and the number of the bind.
 */
#include "ndsh_ring.h"
#include "base/siphash.h"

#define KEY_MASK ((1u << NDSH_TOKEN_KEY_BITS) - 1)

static uint32_t
key_draw(uint64_t secret, uint32_t slot, uint32_t generation, uint64_t count)
{
	const uint64_t key[2] = {secret, 0};

	return (uint32_t)ndsh_siphash(key, (uint64_t)generation << 32 | slot, count) & KEY_MASK;
}

/* Never 0: neither is the token then, in slot 0. */
static uint32_t
first_draw(uint64_t secret, uint32_t slot, uint32_t generation)
{
	uint64_t count = 0;
	uint32_t bits;

	do
		bits = key_draw(secret, slot, generation, count++);
	while (bits == 0);
	return bits;
}

/* Each must differ from its neighbours. Even generations take what they draw and odd ones draw
 * until it fits, so none depends on a row of others before it. */
uint32_t
ndsh_window_token(uint32_t slot, uint64_t secret, uint32_t generation)
{
	uint32_t bits = first_draw(secret, slot, generation);

	if (generation & 1) {
		uint32_t before = first_draw(secret, slot, generation - 1);
		uint32_t after = first_draw(secret, slot, generation + 1);

		for (uint64_t count = 0; bits == 0 || bits == before || bits == after; count++)
			bits = key_draw(secret, slot, generation, count);
	}
	return slot << NDSH_TOKEN_KEY_BITS | bits;
}
