/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory regions. A key is {index in the table, random}; all 32 bits are compared (W-MEM-01), and
 * roce_mr_access() is the one place where a key and an address become a pointer.
 */
#include "roce/internal.h"

#define KEY_DOMAIN   2u
#define REMOTE_WRITE (NDSH_ACCESS_REMOTE_WRITE | NDSH_ACCESS_REMOTE_ATOMIC)

static uint32_t
make_key(struct roce_shard *s, uint32_t index)
{
	uint32_t key;

	do /* 0 says "free" */
		key = index << ROCE_KEY_BITS |
		      ((uint32_t)roce_shard_random(s, KEY_DOMAIN) & ((1u << ROCE_KEY_BITS) - 1));
	while (key == 0);
	return key;
}

struct roce_mr *
roce_mr_register(struct roce_shard *s, uint32_t pd, uint64_t va, uint64_t bytes, void *host,
	uint32_t access)
{
	uint32_t index = s->mr_free_head;
	struct roce_mr *mr;

	if (index == ROCE_NONE || (access & ~(uint32_t)NDSH_ACCESS_MASK) != 0 || va + bytes < va)
		return NULL;
	if ((access & REMOTE_WRITE) && !(access & NDSH_ACCESS_LOCAL_WRITE))
		return NULL; /* W-MEM-02 */
	if (!roce_pd_get(s, pd))
		return NULL;
	mr = &s->mrs[index];
	s->mr_free_head = mr->next_free;
	*mr = (struct roce_mr){ .host = host, .va = va, .bytes = bytes, .pd = pd, .access = access,
		.key = make_key(s, index) };
	s->usage.mrs++;
	return mr;
}

uint32_t
roce_mr_key(const struct roce_mr *mr)
{
	return mr->key;
}

bool
roce_mr_deregister(struct roce_shard *s, struct roce_mr *mr)
{
	uint32_t index = (uint32_t)(mr - s->mrs);

	roce_assert(index < s->cfg.max_mrs && mr->key != 0);
	roce_pd_put(s, mr->pd);
	*mr = (struct roce_mr){ .next_free = ROCE_NONE };
	if (s->mr_free_head == ROCE_NONE)
		s->mr_free_head = index;
	else
		s->mrs[s->mr_free_tail].next_free = index;
	s->mr_free_tail = index;
	s->usage.mrs--;
	return true;
}

/* W-RESP-13; right is 0 for the local read that every region grants. */
uint8_t *
roce_mr_access(struct roce_shard *s, uint32_t key, uint32_t pd, uint64_t va, uint64_t bytes,
	uint32_t right)
{
	uint32_t index = key >> ROCE_KEY_BITS;
	const struct roce_mr *mr;
	uint64_t off;

	if (roce_unlikely(index >= s->cfg.max_mrs))
		return NULL;
	mr = &s->mrs[index];
	off = va - mr->va; /* an address below the region wraps to a huge offset */
	if (roce_unlikely(mr->key != key || key == 0 || mr->pd != pd ||
			  (mr->access & right) != right || off > mr->bytes ||
			  bytes > mr->bytes - off))
		return NULL;
	return mr->host + off;
}
