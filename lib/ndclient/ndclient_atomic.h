/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient: atomics. Part of ndclient.h. */
#ifndef NDCLIENT_ATOMIC_H
#define NDCLIENT_ATOMIC_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of a region: peers may do atomics there; local write too. */
#define ND_MR_FLAG_ALLOW_REMOTE_ATOMIC 0x00010001u

/*
 * Atomics on eight bytes of the peer's, a number in its own byte order: fetch-and-add adds to it,
 * compare-and-swap stores swap if it is compare. What it was comes to sge, one of eight bytes, in
 * our byte order. Each is done once, whatever the network loses, and in one step for the CPUs of
 * the peer too, if they use atomic instructions on the same eight bytes. Memory of the peer's that
 * is not of nd_alloc() is changed by its library, as with all else that happens there.
 *
 * Atomics count with reads against the limit of the connection, and a fence waits for them. The
 * region there needs ND_MR_FLAG_ALLOW_REMOTE_ATOMIC; windows and fast-register regions never grant
 * it (ND_ACCESS_VIOLATION in the result). ND_SUCCESS and refusals as of the posts in ndclient.h,
 * and
 *   ND_INVALID_PARAMETER_2  sge is NULL or has not eight bytes; _3: remote_address is no multiple
 *                           of eight
 *   ND_INVALID_PARAMETER_6  flags of fetch-and-add, _7: of compare-and-swap (legal: SILENT, FENCE,
 *                           DEFER)
 *   ND_NOT_SUPPORTED        the daemon is older than this
 * Our extension: ND 2 has no such calls. One thread at a time per queue.
 */
nd_status nd_qp_fetch_add(struct nd_qp *qp, void *context, const struct nd_sge *sge,
	uint64_t remote_address, uint32_t remote_token, uint64_t add, uint32_t flags);
nd_status nd_qp_compare_swap(struct nd_qp *qp, void *context, const struct nd_sge *sge,
	uint64_t remote_address, uint32_t remote_token, uint64_t compare, uint64_t swap,
	uint32_t flags);

#ifdef __cplusplus
}
#endif

#endif
