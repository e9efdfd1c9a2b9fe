/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient: fast-register regions and privileged tokens, as NDK has them. Part of ndclient.h. */
#ifndef NDCLIENT_FAST_H
#define NDCLIENT_FAST_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A fast-register region is a list of pages, taken anywhere from memory of nd_alloc(), that look
 * like one piece at addresses of the application's choice. Registering is a request in a send
 * queue, without a round trip to the daemon, and so is its end: nd_qp_invalidate_fr(), the peer's
 * send with the remote token, or a read with ND_OP_FLAG_READ_LOCAL_INVALIDATE. Create, initialize
 * once, then register, use and invalidate any number of times, close (R-FR-01).
 *
 * A registration belongs to the protection domain: every queue pair of it may use and end it, their
 * peers too if they have the token and a remote right, and it outlives the queue pair that made it.
 */
struct nd_fr;

#define ND_PAGE_BYTES 4096u

nd_status nd_fr_create(struct nd_pd *pd, struct nd_fr **fr);
/*
 * max_pages: of one registration; remote_access: not 0, registrations may give the peer rights.
 * ND_IMPLEMENTATION_LIMIT: more than nd_adapter_info.max_fast_register_pages (R-FR-02);
 * ND_INVALID_PARAMETER: 0 pages; ND_INVALID_DEVICE_STATE: done already; ND_NOT_SUPPORTED: the
 * daemon is older than these regions.
 */
nd_status nd_fr_initialize(struct nd_fr *fr, uint32_t max_pages, int remote_access);
/* In any state. Afterwards no request reaches memory through it; those that try fail. NULL does
 * nothing. */
nd_status nd_fr_close(struct nd_fr *fr);
/* For nd_sge.token, with addresses of the registration; the same one from nd_fr_initialize() on, 0
 * before. */
uint32_t nd_fr_local_token(const struct nd_fr *fr);
/* For the peer, as nd_mr_remote_token(): of the last nd_qp_fast_register(), known as soon as that
 * has returned, another one each time (R-FR-05); 0 before the first. */
uint32_t nd_fr_remote_token(const struct nd_fr *fr);

/*
 * Register bytes that begin at offset in the first of count pages, at the address base. pages:
 * their addresses, multiples of ND_PAGE_BYTES, copied before the call returns. base is a number
 * that is never dereferenced; it has the same offset in a page. flags: SILENT_SUCCESS, READ_FENCE,
 * DEFER, ALLOW_READ and ALLOW_WRITE for the peer (the latter is local write too),
 * ALLOW_LOCAL_WRITE; local read is always granted. Takes effect before any later request of the
 * queue pair (R-ORD-08).
 *
 * ND_SUCCESS and refusals as of the other posts, ND_NO_MORE_ENTRIES also if four registrations of
 * this region are under way, and
 *   ND_INVALID_PARAMETER     fr of another domain; no pages, or more than max_pages; a page,
 *                            offset, bytes or base that does not fit the others (R-FR-03);
 *                            unknown flags
 *   ND_INVALID_DEVICE_STATE  fr was not initialized
 *   ND_ACCESS_VIOLATION      rights for the peer, without remote_access (R-FR-04)
 * Results: ND_INVALID_DEVICE_REQUEST, it was registered (R-FR-06), or a later post through another
 * queue pair was faster; ND_ACCESS_VIOLATION, a page that is not of nd_alloc(). Like every failed
 * request they end the connection.
 */
nd_status nd_qp_fast_register(struct nd_qp *qp, void *context, struct nd_fr *fr,
	const uint64_t *pages, uint32_t count, uint32_t offset, uint64_t bytes, uint64_t base,
	uint32_t flags);
/* Take it back, as nd_qp_invalidate() does with a window: the registration of the last
 * nd_qp_fast_register(). Starts when all earlier requests of the queue pair are finished.
 * ND_INVALID_PARAMETER: fr of another domain, flags (legal: SILENT, FENCE, DEFER). */
nd_status nd_qp_invalidate_fr(struct nd_qp *qp, void *context, struct nd_fr *fr, uint32_t flags);
/* What it is to invalidate an ordinary region, which must not be done: the result is
 * ND_INVALID_DEVICE_REQUEST, the region stays as it is, and the connection ends (R-INV-01). For
 * interfaces that take either kind by one call, as NDK's. Statuses as of nd_qp_invalidate_fr(). */
nd_status nd_qp_invalidate_mr(struct nd_qp *qp, void *context, struct nd_mr *mr, uint32_t flags);

/* A token for SGEs over any memory of nd_alloc(), to be read and written, in queue pairs of this
 * domain; the peer can do nothing with it (R-FR-08). The same one each time. ND_NOT_SUPPORTED: the
 * daemon is too old. */
nd_status nd_pd_privileged_token(struct nd_pd *pd, uint32_t *token);

/*
 * Flags of requests have other values in NDK. Bring NDK's, for a request of that type (enum
 * nd_request_type; ND_REQUEST_SEND stands for both sends), to those of the calls here: nothing is
 * passed through. RDMA_READ_SINK means nothing here and is dropped. ND_INVALID_PARAMETER: a flag
 * that this request does not have there; *flags is 0 then.
 */
#define NDK_OP_FLAG_SILENT_SUCCESS	       0x00000001u
#define NDK_OP_FLAG_READ_FENCE		       0x00000002u
#define NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT     0x00000004u
#define NDK_OP_FLAG_ALLOW_REMOTE_READ	       0x00000008u
#define NDK_OP_FLAG_ALLOW_LOCAL_WRITE	       0x00000010u
#define NDK_OP_FLAG_ALLOW_REMOTE_WRITE	       0x00000030u
#define NDK_OP_FLAG_INLINE		       0x00000040u
#define NDK_OP_FLAG_RDMA_READ_SINK	       0x00000080u
#define NDK_OP_FLAG_RDMA_READ_LOCAL_INVALIDATE 0x00000100u
#define NDK_OP_FLAG_DEFER		       0x00000200u
nd_status nd_flags_of_ndk(uint32_t type, uint32_t ndk_flags, uint32_t *flags);

#ifdef __cplusplus
}
#endif
#endif
