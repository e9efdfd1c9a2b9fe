/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Is the peer of an idle queue pair still there? Nothing is counted while packets come and go: the
 * PSNs that both directions have reached tell whether anything was heard since the last look. If
 * not, and nothing waits for an answer either, a WRITE of no bytes is sent, which takes no receive,
 * names no memory, is executed by every RC peer that lets us write at all, and is acknowledged or
 * sent again like any other request: so whoever is silent ends as it does for a lost request.
 */
#include "roce/qp/keepalive.h"

#include "roce/qp/qp.h"
#include "roce/queue/wqe.h"
#include "roce/requester/requester.h"
#include "roce/shard/pool.h"
#include "roce/shard/shard.h"
#include "roce/shard/timer.h"
#include "roce/tx.h"

#define NS_PER_MS UINT64_C(1000000)

/* A whole round of PSNs between two looks would be taken for silence, and cost a probe. */
static uint32_t
mark(uint32_t una_psn, uint32_t recv_psn)
{
	return (una_psn + recv_psn) & ROCE_PSN_MASK;
}

static uint32_t
ms_left(const struct roce_shard *s, const struct roce_qp *qp)
{
	uint32_t left = qp->alive_ms - (uint32_t)(s->now_ns / NS_PER_MS);

	return left <= qp->keepalive_ms ? left : 0; /* above: it has passed */
}

static void
watch(struct roce_shard *s, struct roce_qp *qp)
{
	roce_timer_watch(s, qp, s->now_ns + ms_left(s, qp) * NS_PER_MS);
}

static void
look(struct roce_shard *s, struct roce_qp *qp)
{
	qp->alive_mark = mark(qp->una_psn, qp->recv_psn);
	qp->alive_ms = (uint32_t)(s->now_ns / NS_PER_MS) + qp->keepalive_ms;
}

/*
 * The queue of requests is empty. So the probe is the first of them as long as it lives, and what
 * it takes from sq_done now, it gives back at its end, before anybody reads that.
 */
static void
probe(struct roce_shard *s, struct roce_qp *qp)
{
	struct roce_wqe *w = roce_wqe_for_probe(s);

	roce_req_append(qp, w, 1);
	qp->sq_done--;
	/* Its answer is what was asked for, and no other sign. */
	qp->alive_mark = mark(qp->load_psn, qp->recv_psn);
	s->count.keepalives++;
	roce_tx_want(s, qp);
}

void
roce_keepalive_start(struct roce_shard *s, struct roce_qp *qp)
{
	look(s, qp);
	watch(s, qp);
}

void
roce_keepalive_run(struct roce_shard *s, struct roce_qp *qp)
{
	if (qp->state != ROCE_QPS_RTS && qp->state != ROCE_QPS_SQD)
		return;
	if (ms_left(s, qp) == 0) {
		bool silent = qp->alive_mark == mark(qp->una_psn, qp->recv_psn);

		look(s, qp);
		if (silent && qp->state == ROCE_QPS_RTS && qp->wq_head == NULL &&
			roce_wqe_for_send(s))
			probe(s, qp);
	}
	watch(s, qp);
}
