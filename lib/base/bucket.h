/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bucket of tokens, kept as one moment: when it will be full again. It is empty while that is
 * farther away than all of its tokens but one take to come back.
 */
#ifndef BASE_BUCKET_H
#define BASE_BUCKET_H

#include <stdint.h>

struct base_bucket {
	uint64_t full_ns;
};

/* When there is a token, of burst that come back one each token_ns. */
static inline uint64_t
base_bucket_ready_ns(const struct base_bucket *b, uint64_t token_ns, uint64_t burst)
{
	const uint64_t others_ns = (burst - 1) * token_ns;

	return b->full_ns > others_ns ? b->full_ns - others_ns : 0;
}

static inline void
base_bucket_take(struct base_bucket *b, uint64_t now_ns, uint64_t token_ns)
{
	b->full_ns = (b->full_ns > now_ns ? b->full_ns : now_ns) + token_ns;
}

#endif
