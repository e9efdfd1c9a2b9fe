/* SPDX-License-Identifier: BSD-3-Clause */
/* libndclient: shared receive queues. Part of ndclient.h. */
#ifndef NDCLIENT_SRQ_H
#define NDCLIENT_SRQ_H

#include "ndclient.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Receives for any number of queue pairs of one domain: each message, whichever of them it comes
 * to, takes the oldest receive, and the result comes through that queue pair's CQ with its context.
 * Results of different queue pairs may come in another order than receives were posted (R-ORD-02).
 * A sender that finds none waits until one is posted, however long (R-SR-06). A queue pair that
 * ends cancels only what its messages had taken (R-FL-08).
 *
 * depth: receives that wait there at most; one that was taken makes room at once, its buffer is the
 * application's again with the result. threshold: for nd_srq_notify(), 0: none.
 * ND_NOT_SUPPORTED: max_srq_depth is 0; ND_INVALID_PARAMETER_k: depth 3, max_sge 4, threshold 5
 * (more than depth); ND_INSUFFICIENT_RESOURCES: as of nd_qp_create().
 */
nd_status nd_srq_create(struct nd_pd *pd, uint32_t depth, uint32_t max_sge, uint32_t threshold,
	struct nd_srq **srq);
/* The same, with a wish for CPUs, as nd_cq_create_near(). ND_INVALID_PARAMETER_6: the group. */
nd_status nd_srq_create_near(struct nd_pd *pd, uint32_t depth, uint32_t max_sge, uint32_t threshold,
	uint16_t group, uint64_t mask, struct nd_srq **srq);
/* The CPUs of the daemon's thread that sends its notifications, one or several, as of
 * nd_cq_get_affinity(). It is another one than of completion queues; if it may run on CPUs of
 * several groups, those of the first are told. */
nd_status nd_srq_get_affinity(struct nd_srq *srq, uint16_t *group, uint64_t *mask);
/* Notifications complete with ND_CANCELED. ND_PENDING: queue pairs use it, and go on taking the
 * receives that were posted; those that no queue pair took vanish with it. */
nd_status nd_srq_close(struct nd_srq *srq);
/* At any time, queue pairs or not. Outcomes as of nd_qp_receive(). One thread at a time, and not
 * during nd_srq_modify(). */
nd_status nd_srq_receive(struct nd_srq *srq, void *context, const struct nd_sge *sge, uint32_t n);
/* 0: leave that one as it is. ND_BUFFER_OVERFLOW: more receives wait there than depth;
 * ND_INVALID_PARAMETER: more than max_srq_depth, or threshold above depth; for lack of memory
 * ND_INSUFFICIENT_RESOURCES; then nothing changed. A threshold arms once, for the callback or,
 * without one, ND_EVENT_SRQ_LIMIT: when fewer wait, at once if it is so already; an arm for another
 * threshold is gone then (R-SRQ-04). */
nd_status nd_srq_modify(struct nd_srq *srq, uint32_t depth, uint32_t threshold);
/*
 * Completes with ND_SUCCESS when fewer receives wait than the threshold, at once if it is so
 * already; never with threshold 0. Several may be outstanding: all complete together. Always
 * ND_PENDING if it succeeds. ND_INVALID_PARAMETER_2: ov is NULL.
 */
nd_status nd_srq_notify(struct nd_srq *srq, struct nd_overlapped *ov);
/* Pending notifications complete with ND_CANCELED. ND_SUCCESS. */
nd_status nd_srq_cancel(struct nd_srq *srq);
/* status: ND_SUCCESS, fewer receives wait than the threshold; or ND_DEVICE_REMOVED. */
typedef void (*nd_srq_callback)(void *context, nd_status status);
/* Give the queue its callback, for good; nd_srq_modify() arms for it. Statuses, and how it runs and
 * ends, are as for completion queues (nd_cq_set_callback(), nd_cq_close()). */
nd_status nd_srq_set_callback(struct nd_srq *srq, nd_srq_callback callback, void *context);

#ifdef __cplusplus
}
#endif

#endif
