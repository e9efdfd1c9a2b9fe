/* SPDX-License-Identifier: BSD-3-Clause */
/* What the host learns of a queue pair: events, reasons, records. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "rigs/engine_pair.h"
#include "roce/qp/qp.h"
#include "roce/queue/cq.h"
#include "roce/queue/srq.h"
#include "roce/shard/event.h"
#include "roce/shard/shard.h"

/* ---- events ---- */

static const enum roce_event_type qp_events[] = {ROCE_EV_COMM_EST, ROCE_EV_SQ_DRAINED,
	ROCE_EV_CLIENT_BREACH, ROCE_EV_QP_ERROR, ROCE_EV_LAST_WQE};
#define QP_EVENTS 5u

/* In whatever order they happen, and however often: each is told once, and the establishment of the
 * connection first. */
Test(event, each_of_a_queue_pair_once_and_in_order)
{
	struct pair *p = pair_new(&(struct pair_opts){.ignore_events = true});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_event ev;

	qp->reason = ROCE_REASON_LOCAL_LEN;
	qp->syndrome = 0x61;
	for (unsigned set = 0; set < 1u << QP_EVENTS; set++) {
		for (unsigned i = QP_EVENTS; i-- > 0;)
			if (set & 1u << i) {
				roce_qp_event(s, qp, qp_events[i]);
				roce_qp_event(s, qp, qp_events[i]);
			}
		for (unsigned i = 0; i < QP_EVENTS; i++) {
			if (!(set & 1u << i))
				continue;
			cr_assert(roce_shard_event(s, &ev));
			cr_assert_eq(ev.type, qp_events[i], "%u: %u", set, ev.type);
			cr_assert_eq(ev.qp, qp);
			cr_assert_null(ev.cq);
			cr_assert_null(ev.srq);
			cr_assert_eq(ev.owner, &p->side[0].q[0]);
			cr_assert_eq(ev.reason, ROCE_REASON_LOCAL_LEN);
			cr_assert_eq(ev.syndrome, 0x61);
		}
		cr_assert_not(roce_shard_event(s, &ev), "%u", set);
	}
	pair_free(p);
}

/* Queues first, then queue pairs in the order in which something happened to them. */
Test(event, of_all_kinds_of_objects)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 3, .srq_depth = 8});
	struct pair_side *d = &p->side[1];
	struct roce_event ev;

	roce_qp_event(d->shard, d->q[2].qp, ROCE_EV_COMM_EST);
	roce_qp_event(d->shard, d->q[0].qp, ROCE_EV_SQ_DRAINED);
	roce_qp_event(d->shard, d->q[2].qp, ROCE_EV_LAST_WQE);
	roce_srq_arm(d->shard, d->srq, 1);
	roce_cq_fail(d->shard, d->cq);
	cr_assert(roce_shard_event(d->shard, &ev));
	cr_assert_eq(ev.type, ROCE_EV_CQ_ERROR);
	cr_assert(ev.cq == d->cq && ev.qp == NULL && ev.srq == NULL && ev.owner == d);
	cr_assert_eq(ev.reason, ROCE_REASON_CQ_FATAL);
	cr_assert(roce_shard_event(d->shard, &ev));
	cr_assert_eq(ev.type, ROCE_EV_SRQ_LIMIT);
	cr_assert(ev.srq == d->srq && ev.qp == NULL && ev.cq == NULL && ev.owner == d);
	cr_assert(roce_shard_event(d->shard, &ev));
	cr_assert(ev.type == ROCE_EV_COMM_EST && ev.qp == d->q[2].qp);
	cr_assert(roce_shard_event(d->shard, &ev));
	cr_assert(ev.type == ROCE_EV_LAST_WQE && ev.qp == d->q[2].qp);
	cr_assert(roce_shard_event(d->shard, &ev));
	cr_assert(ev.type == ROCE_EV_SQ_DRAINED && ev.qp == d->q[0].qp);
	cr_assert_not(roce_shard_event(d->shard, &ev));
	pair_free(p);
}

/* Nothing is told of what is gone, nor of the life before a reset. */
Test(event, of_an_object_that_is_gone)
{
	struct pair *p = pair_new(&(struct pair_opts){.qps = 3});
	struct pair_side *d = &p->side[0];
	struct roce_event ev;

	for (unsigned i = 0; i < 3; i++)
		roce_qp_event(d->shard, d->q[i].qp, ROCE_EV_COMM_EST);
	cr_assert_eq(roce_qp_modify(d->shard, d->q[0].qp, p->now_ns, ROCE_QPS_RESET, 0, NULL),
		ROCE_MODIFY_OK);
	for (unsigned side = 0; side < 2; side++) {
		roce_qp_destroy(p->side[side].shard, p->side[side].q[2].qp);
		free(p->side[side].q[2].block);
	}
	p->opts.qps = 2;
	cr_assert(roce_shard_event(d->shard, &ev));
	cr_assert_eq(ev.qp, d->q[1].qp);
	cr_assert_not(roce_shard_event(d->shard, &ev));
	pair_free(p);
}

/* ---- records ---- */

Test(event, records_tell_what_happened)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_qp_record rec[8];
	unsigned n;

	pair_write_by_key(p, 1, PAIR_VA, p->side[1].key ^ 1, 8);
	cr_assert(pair_run(p, PAIR_LONG));
	n = roce_qp_records(p->side[0].q[0].qp, rec);
	cr_assert_eq(n, 2);
	cr_assert_eq(rec[0].kind_psn >> 24, ROCE_REC_NAK_RECEIVED);
	cr_assert_eq(rec[0].detail, ROCE_SYN_NAK_REM_ACCESS);
	cr_assert_eq(rec[1].kind_psn >> 24, ROCE_REC_ERROR);
	cr_assert_eq(rec[1].detail, ROCE_REASON_NAK_REM_ACCESS);
	pair_free(p);
}

/* The newest eight, oldest first, however many there were. */
Test(event, the_last_eight_records)
{
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_shard *s = p->side[0].shard;
	struct roce_qp *qp = p->side[0].q[0].qp;
	struct roce_qp_record rec[9];

	for (uint32_t n = 0; n < 40; n++) {
		uint32_t kept = n < 8 ? n : 8;

		rec[kept].detail = UINT32_MAX;
		cr_assert_eq(roce_qp_records(qp, rec), kept);
		cr_assert_eq(rec[kept].detail, UINT32_MAX, "there is no more room");
		for (uint32_t i = 0; i < kept; i++) {
			uint32_t of = n - kept + i;

			cr_assert_eq(rec[i].now_ns, 1000 + of);
			cr_assert_eq(rec[i].kind_psn,
				ROCE_REC_ERROR << 24 | (0xfffff0 + of) % (1 << 24));
			cr_assert_eq(rec[i].detail, of);
		}
		s->now_ns = 1000 + n;
		roce_qp_note(s, qp, ROCE_REC_ERROR, 0xfffff0 + n, n);
	}
	pair_free(p);
}

/* All different, so that operators can tell them apart, and also for numbers that are none. */
Test(event, every_reason_has_words)
{
	for (int r = 0; r < ROCE_REASON_COUNT; r++) {
		cr_assert_str_neq(roce_reason_name((enum roce_reason)r), "unknown");
		for (int other = 0; other < r; other++)
			cr_assert_str_neq(roce_reason_name((enum roce_reason)r),
				roce_reason_name((enum roce_reason)other));
	}
	cr_assert_str_eq(roce_reason_name(ROCE_REASON_COUNT), "unknown");
}
