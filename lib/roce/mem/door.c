/* SPDX-License-Identifier: BSD-3-Clause */
#include "roce/mem/door.h"

#include "base/siphash.h"
#include "roce/qp/qp.h"
#include "roce/shard/shard.h"

static_assert(ROCE_DOORS == 1u << 3, "three bits of a hash");

/* Keyed: nobody can choose an address that shares its door with another one. */
uint8_t
roce_door_of(const struct roce_shard *s, const struct roce_gid *peer)
{
	return (uint8_t)(ndsh_siphash_address(s->cfg.secret, peer->raw) % ROCE_DOORS);
}

bool
roce_door_open(const struct roce_shard *s, uint32_t pd, uint8_t door)
{
	return s->doors[pd - 1].due_ns[door] <= s->now_ns + ROCE_GUESSES * ROCE_GUESS_NS;
}

bool
roce_door_guess(struct roce_shard *s, const struct roce_qp *qp)
{
	uint64_t *due_ns = &s->doors[qp->pd - 1].due_ns[qp->door];
	bool before = roce_door_open(s, qp->pd, qp->door), after;

	if (*due_ns < s->now_ns)
		*due_ns = s->now_ns;
	*due_ns += ROCE_GUESS_NS;
	after = roce_door_open(s, qp->pd, qp->door);
	s->count.doors_closed += before && !after;
	return after;
}
