/* SPDX-License-Identifier: BSD-3-Clause */
/* Between packets and scatter/gather lists. */
#ifndef ROCE_SGE_H
#define ROCE_SGE_H

#include <stdbool.h>
#include <stdint.h>

#include "roce/mem/copy.h"

struct roce_qp;
struct roce_sge_pos;
struct roce_shard;
struct roce_wqe;

/* A piece of a message or packet: what lies in one SGE. */
struct roce_piece {
	uint64_t va;
	uint32_t key, bytes;
};

/* Do the keys of all SGEs of w permit right? */
bool roce_sge_check(
	struct roce_shard *s, const struct roce_qp *qp, const struct roce_wqe *w, uint32_t right);
/* Copy bytes of w's data, from byte from on, to dst. False: no pointer leads to all of them. */
bool roce_sge_gather(struct roce_shard *s, const struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, uint8_t *dst, uint32_t bytes);
/* The other way. LATER may leave a part in place: the same bytes come again. */
enum roce_copy roce_sge_scatter(struct roce_shard *s, struct roce_qp *qp, struct roce_sge_pos *pos,
	const struct roce_wqe *w, uint32_t from, const uint8_t *src, uint32_t bytes);

#endif
