/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys and addresses that packets and descriptors name: mostly such as there are. */
#include "world.h"

uint32_t
world_key(struct world *w)
{
	uint32_t mw = w->mw_token.generation, fr = w->fr_token.generation;

	switch (fuzz_below(w->in, 12)) {
	case 0:
		return w->ro_key;
	case 1:
		return w->neighbour_key;
	case 2:
		return ndsh_window_token(w->mw_token.slot, w->mw_token.secret, mw);
	case 3:
		return ndsh_window_token(w->fr_token.slot, w->fr_token.secret, fr);
	case 4:
		return ndsh_window_token(w->fr_token.slot, w->fr_token.secret, 0);
	case 5:
		return w->moved_key;
	case 6:
		return roce_mr_key(w->all);
	case 7:
		return (uint32_t)fuzz_take(w->in, 4);
	case 8:
		return w->keyed[fuzz_below(w->in, WORLD_KEYED)].token;
	default:
		return w->rw_key;
	}
}

uint64_t
world_va(struct world *w)
{
	static const uint32_t pages[] = {WORLD_AT_RW, WORLD_AT_RW, WORLD_AT_RW, WORLD_AT_RW + 4,
		WORLD_AT_RO, WORLD_AT_RO + 2, WORLD_AT_FAST, WORLD_AT_FAST + 4, WORLD_AT_NEIGHBOUR,
		0};
	unsigned which = fuzz_below(w->in, 14);
	uint64_t offset = fuzz_take(w->in, 2);

	if (which < 10)
		return WORLD_VA + pages[which] * WORLD_PAGE + (int16_t)offset;
	if (which < 13)
		return (uintptr_t)w->moved + offset % WORLD_MOVED;
	return offset | fuzz_take(w->in, 6) << 16;
}
