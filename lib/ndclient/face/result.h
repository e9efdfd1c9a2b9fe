/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of the ND face. */
#ifndef ND_RESULT_H
#define ND_RESULT_H

#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"

/* The status of a completion with this transport outcome. profile: ND_PROFILE_*; wc_status:
 * NDSH_WC_*; op: enum ndsh_op. */
nd_status nd_status_of_wc(uint32_t profile, uint8_t wc_status, uint8_t op);
/* Fill *r from an entry, or what its context points to. profile: ND_PROFILE_*. */
void nd_result_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result *r);
void nd_result_brief_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result_brief *r);
struct nd_placed_result *nd_result_placed_of(uint32_t profile, const struct ndsh_cqe *e);
void nd_result_ex_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_result_ex *r);
void nd_ud_result_of(
	uint32_t profile, const struct ndsh_cqe *e, void *qp_context, struct nd_ud_result *r);

#endif
