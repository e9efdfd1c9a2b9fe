/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the peer of an idle queue pair still there? Packets are not counted for that: the PSNs that
 * both directions have reached tell whether anything was received since the last check. If nothing
 * was, and no request waits for a response either, a probe is sent: a WRITE of no bytes with the
 * newest PSN that the peer has executed, as if its acknowledgement had been lost. A responder
 * acknowledges such a duplicate without judging or executing it (W-DUP-01), so no peer can refuse
 * it, not even one that permits no WRITEs, and it moves nothing there. If it is not acknowledged it
 * is sent again as any other request: a silent peer ends the queue pair as it does when it
 * acknowledges no request.
 */
#include "roce/qp/keepalive.h"

#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/wqe.h"
#include "roce/requester/requester.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"
#include "roce/tx.h"

#define NS_PER_MS UINT64_C(1000000)

/* If 2^24 PSNs passed between two checks, they may look the same: that costs one probe. */
static uint32_t
alive_sum(uint32_t una_psn, uint32_t recv_psn)
{
	return una_psn + recv_psn;
}

static uint32_t
qp_ms_left(const struct roce_shard *s, const struct roce_qp *qp)
{
	uint32_t left = qp->alive_ms - (uint32_t)(s->now_ns / NS_PER_MS);

	return left <= qp->keepalive_ms ? left : 0; /* above: it has passed */
}

static void
qp_watch_peer(struct roce_shard *s, struct roce_qp *qp)
{
	roce_timer_watch(s, qp, s->now_ns + qp_ms_left(s, qp) * NS_PER_MS);
}

static void
qp_mark_alive(struct roce_shard *s, struct roce_qp *qp)
{
	qp->alive_mark = alive_sum(qp->una_psn, qp->recv_psn);
	qp->alive_ms = (uint32_t)(s->now_ns / NS_PER_MS) + qp->keepalive_ms;
}

/*
 * The queue of requests is empty, so the probe is the first of it until it ends. It begins one PSN
 * before the next request, and is in flight from the start. It has no slot in the send ring: what
 * it takes from sq_done now, its end adds again, before the client is shown sq_done.
 */
static void
qp_send_probe(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w = roce_wqe_for_probe(s, roce_cq_principal(qp->send_cq));

	if (w == NULL)
		return;
	qp->una_psn = qp->tx_psn = qp->load_psn = roce_psn_add(qp->load_psn, ROCE_PSN_MASK);
	roce_req_append(qp, w, 1);
	w->bits |= ROCE_WQB_ISSUED; /* its PSN was */
	qp->sq_done--;
	s->count.keepalives++;
	roce_tx_want(s, qp);
}

void
roce_keepalive_start(struct roce_shard *s, struct roce_qp *qp)
{
	qp_mark_alive(s, qp);
	qp_watch_peer(s, qp);
}

void
roce_keepalive_run(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->state != ROCE_QPS_RTS) /* in SQD it rests: it starts again in RTS */
		return;
	if (qp_ms_left(s, qp) == 0) {
		bool silent = qp->alive_mark == alive_sum(qp->una_psn, qp->recv_psn);

		/* Before the probe: its acknowledgement does not count as traffic of its own. */
		qp_mark_alive(s, qp);
		if (silent && qp->wq_head == NULL)
			qp_send_probe(s, qp);
	}
	qp_watch_peer(s, qp);
}
