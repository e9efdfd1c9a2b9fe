/* SPDX-License-Identifier: BSD-3-Clause */
/* The check of a queue pair's invariants finds each one that is broken, and says which. */
#include <criterion/criterion.h>

#include "rigs/engine_pair.h"
#include "roce/mem/moved.h"
#include "roce/qp/check.h"
#include "roce/qp/qp.h"
#include "roce/qp/replay.h"
#include "roce/shard/shard.h"

/* Do what breaks it, ask, and put the queue pair back. */
#define EXPECT(s, qp, broken, complaint)                                                           \
	do {                                                                                       \
		const struct roce_qp saved = *(qp);                                                \
		const char *wrong;                                                                 \
		broken;                                                                            \
		wrong = roce_qp_check(s, qp);                                                      \
		cr_expect_not_null(wrong, "%s: no complaint", #broken);                            \
		if (wrong != NULL)                                                                 \
			cr_expect_str_eq(wrong, complaint, "%s: %s", #broken, wrong);              \
		*(qp) = saved;                                                                     \
		cr_assert_null(roce_qp_check(s, qp));                                              \
	} while (0)

/* Queue pair 0 of a pair, whose requests have left and are not answered: a WRITE, a READ and a
 * WRITE of two packets of which one has left. */
static struct pair *
start(struct roce_shard **s, struct roce_qp **qp)
{
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 1024, .window = 16});

	*s = p->side[0].shard;
	*qp = p->side[0].q[0].qp;
	cr_assert_null(roce_qp_check(*s, *qp));
	pair_write(p, 0, 0, 1, 0, 0, 64, 0);
	pair_read(p, 0, 0, 2, 4096, 4096, 3000, 0);
	pair_write(p, 0, 0, 3, 0, 8192, 20 * 1024, 0);
	pair_turn(p, 0);
	cr_assert_not_null((*qp)->wq_tx);
	cr_assert_eq((*qp)->rd_out, 1);
	return p;
}

Test(qp_check, identity)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = start(&s, &qp);

	EXPECT(s, qp, qp->qpn = 0, "no queue pair number");
	EXPECT(s, qp, qp->state = ROCE_QPS_COUNT, "no such state");
	EXPECT(s, qp, qp->state = ROCE_QPS_UD_RTS, "state and kind of queue pair disagree");
	EXPECT(s, qp, qp->rx_bits |= ROCE_RXB_DATAGRAMS, "state and kind of queue pair disagree");
	EXPECT(s, qp, qp->state = ROCE_QPS_UC_RTS, "state and reliability of queue pair disagree");
	EXPECT(s, qp, qp->unreliable = true, "state and reliability of queue pair disagree");
	EXPECT(s, qp, qp->pd = 0, "no protection domain");
	EXPECT(s, qp, qp->send_cq = NULL, "no completion queue, or no page");
	EXPECT(s, qp, qp->recv_cq = NULL, "no completion queue, or no page");
	EXPECT(s, qp, qp->moved = &s->moved[(qp - s->qps) + 1],
		"the state of moved memory is another queue pair's");
	EXPECT(s, qp, qp->binder ^= 1, "the windows are another queue pair's");
	pair_run(p, 1000000000);
	pair_free(p);
}

Test(qp_check, bits_and_timer)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = start(&s, &qp);
	struct base_link none = {0};

	EXPECT(s, qp, qp->tx_bits |= ROCE_TXB_RNR_WAIT;
		qp->deadline_ns = 0, "it waits as an RNR NAK said, without a deadline");
	EXPECT(s, qp, qp->tx_bits |= ROCE_TXB_DRAINING, "it is draining, and not in SQD");
	EXPECT(s, qp, qp->rx_bits |= ROCE_RXB_PACED, "it is paced, and met no congestion");
	EXPECT(s, qp, qp->retry_left = qp->retry + 1, "more retries are left than there were");
	EXPECT(s, qp, qp->rnr_left = qp->rnr_retry + 1, "more retries are left than there were");
	EXPECT(s, qp, qp->ack_owed = ROCE_OWED_FATAL + 1,
		"no such acknowledgement, or no such message");
	EXPECT(s, qp, qp->rx_msg = ROCE_MSG_WRITE + 1,
		"no such acknowledgement, or no such message");
	EXPECT(s, qp, qp->timer_link = none, "a deadline that the timer wheel does not know");
	EXPECT(s, qp, qp->deadline_ns = 0, "packets wait for a response, and have no deadline");
	s->moved[qp - s->qps].sink_full = true;
	EXPECT(s, qp, qp->moved = &s->moved[qp - s->qps], "it waits for room, and no mover knows");
	pair_run(p, 1000000000);
	pair_free(p);
}

Test(qp_check, requests_in_flight)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = start(&s, &qp);
	struct roce_wqe *second = qp->wq_head->next;
	struct roce_wqe *last = qp->wq_tail;

	cr_assert_eq(last, second->next);
	EXPECT(s, qp, qp->tx_psn |= 1u << 24, "a PSN of more than 24 bits");
	EXPECT(s, qp, qp->snd_max = roce_psn_add(qp->una_psn, 1u << 23 | 1),
		"too many PSNs in flight");
	EXPECT(s, qp, qp->tx_psn = roce_psn_add(qp->snd_max, 1),
		"tx_psn is not between una_psn and snd_max");
	EXPECT(s, qp, qp->tx_psn = qp->una_psn, "tx_psn is not in wq_tx");
	EXPECT(s, qp, qp->una_psn = roce_psn_add(qp->una_psn, 1),
		"una_psn is not in the oldest request");
	EXPECT(s, qp, qp->load_psn = roce_psn_add(qp->load_psn, 1),
		"load_psn is not behind the last request");
	EXPECT(s, qp, qp->wq_tail = second, "wq_tail is not the last request");
	EXPECT(s, qp, qp->wq_tx = NULL, "requests that were not sent, and no wq_tx");
	EXPECT(s, qp, qp->wq_tx = (struct roce_wqe *)s, "wq_tx is no request in flight");
	EXPECT(s, qp, qp->rd_out++, "rd_out is not the number of READs and atomics in flight");
	EXPECT(s, qp, qp->sq_done--, "slots of the send ring and requests in flight disagree");
	EXPECT(s, qp, qp->wq_head = qp->wq_tx = NULL, "requests that were not sent, and no wq_tx");
	EXPECT(s, qp, qp->wq_head = qp->wq_tx = NULL;
		qp->load_psn = qp->tx_psn, "PSNs in flight that belong to no request");
	pair_run(p, 1000000000);
	pair_free(p);
}

/* The requests themselves; the queue pair stays as it is. */
Test(qp_check, each_request)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = start(&s, &qp);
	struct roce_wqe *second = qp->wq_head->next;
	const struct roce_wqe kept = *second;

	second->first_psn = roce_psn_add(second->first_psn, 1);
	cr_expect_str_eq(roce_qp_check(s, qp), "the PSNs of two requests do not follow each other");
	*second = kept;
	second->npsn = 0;
	cr_expect_str_eq(
		roce_qp_check(s, qp), "a request without PSNs, or a local operation with some");
	*second = kept;
	second->bits &= (uint8_t)~ROCE_WQB_ISSUED;
	cr_expect_str_eq(roce_qp_check(s, qp), "snd_max is behind a request that was never sent");
	*second = kept;
	second->next = second;
	cr_expect_not_null(roce_qp_check(s, qp), "a circle ends");
	*second = kept;
	cr_assert_null(roce_qp_check(s, qp));
	pair_run(p, 1000000000);
	pair_free(p);
}

Test(qp_check, responder)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = pair_new(&(struct pair_opts){.mtu = 1024, .moved = true});
	struct roce_wqe w = {.bytes = 10};
	struct roce_moved moved;

	s = p->side[0].shard;
	qp = p->side[0].q[0].qp;
	moved = (struct roce_moved){.qp = qp, .placing = true, .mark_psn = 3};
	EXPECT(s, qp, qp->rx_msg = ROCE_MSG_SEND, "a SEND under way, and no receive that holds it");
	EXPECT(s, qp, qp->rx_msg = ROCE_MSG_SEND; qp->rx_wqe = &w;
		qp->rx_bytes = 11, "a SEND under way, and no receive that holds it");
	EXPECT(s, qp, qp->rx_wqe = &w, "a receive in use, and no message that takes it");
	EXPECT(s, qp, qp->rx_msg = ROCE_MSG_WRITE;
		qp->rx_left = 0, "a WRITE under way of which nothing is left");
	EXPECT(s, qp, qp->rq_done++, "slots of the receive ring and the receive in use disagree");
	EXPECT(s, qp, qp->recv_psn |= 1u << 24, "a PSN of more than 24 bits");
	EXPECT(s, qp, qp->recv_psn = roce_psn_add(qp->recv_psn, 1),
		"something received is not placed, and no mover works on it");
	s->moved[qp - s->qps] = moved;
	EXPECT(s, qp, qp->moved = &s->moved[qp - s->qps]; qp->placed_psn = 2;
		qp->recv_psn = 2, "placed_psn, the mark and recv_psn are not in order");
	s->moved[qp - s->qps].qp = NULL;
	EXPECT(s, qp, qp->moved = &s->moved[qp - s->qps]; qp->placed_psn = 2;
		qp->recv_psn = 4, "the state of moved memory is another queue pair's");
	s->moved[qp - s->qps] = (struct roce_moved){0};
	pair_free(p);
}

Test(qp_check, replay_block)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_read_block *b;

	s = p->side[1].shard;
	qp = p->side[1].q[0].qp;
	pair_read(p, 0, 0, 1, 0, 0, 64, 0);
	pair_run(p, 1000000000);
	b = qp->reads;
	cr_assert_not_null(b);
	EXPECT(s, qp, qp->rd_next = ROCE_RD_ATOMIC_MAX, "no such replay slot");
	EXPECT(s, qp, qp->rd_cur = ROCE_RD_ATOMIC_MAX, "no such replay slot");
	EXPECT(s, qp, qp->rd_pending++,
		"rd_pending is not the number of slots with responses to send");
	b->slot[5].pending = true;
	cr_expect_str_eq(roce_qp_check(s, qp),
		"rd_pending is not the number of slots with responses to send");
	qp->rd_pending++;
	cr_expect_str_eq(roce_qp_check(s, qp), "rd_cur is no slot with responses to send");
	qp->rd_pending--;
	b->slot[5].pending = false;
	EXPECT(s, qp, qp->rx_bits |= ROCE_RXB_HELD, "it is held, and no atomic waits");
	qp->reads = b + 1;
	cr_expect_str_eq(roce_qp_check(s, qp), "the replay block is another queue pair's");
	qp->reads = b;
	pair_free(p);
}

Test(qp_check, states_without_a_connection)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_wqe w = {0};

	s = p->side[0].shard;
	qp = p->side[0].q[0].qp;
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RESET, 0, NULL), ROCE_MODIFY_OK);
	EXPECT(s, qp, qp->wq_head = &w, "requests before RTR");
	EXPECT(s, qp, qp->rx_wqe = &w, "requests before RTR");
	EXPECT(s, qp, qp->rd_out = 1, "READs or moved memory before RTR");
	EXPECT(s, qp, qp->ack_owed = ROCE_OWED_ACK, "something to send before RTR");
	EXPECT(s, qp, qp->tx_link.next = &qp->tx_link, "something to send before RTR");
	EXPECT(s, qp, qp->flush_link.next = &qp->flush_link,
		"a timer, or something to flush, before RTR");
	qp->state = ROCE_QPS_RTR;
	EXPECT(s, qp, qp->wq_head = &w, "requests in RTR");
	qp->state = ROCE_QPS_RESET;
	pair_free(p);
}

Test(qp_check, error)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = pair_new(&(struct pair_opts){.ignore_events = true});
	struct roce_wqe w = {0};

	s = p->side[0].shard;
	qp = p->side[0].q[0].qp;
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_ERR, 0, NULL), ROCE_MODIFY_OK);
	EXPECT(s, qp, qp->wq_tx = &w, "requests to send in ERR");
	EXPECT(s, qp, qp->timer_link.next = &qp->timer_link, "a timer in ERR");
	EXPECT(s, qp, qp->rx_bits |= ROCE_RXB_CC, "congestion in ERR");
	EXPECT(s, qp, qp->ring_link.next = &qp->ring_link, "the send ring is polled in ERR");
	EXPECT(s, qp, qp->ack_owed = ROCE_OWED_RNR, "an acknowledgement in ERR that tells nothing");
	EXPECT(s, qp, qp->wq_head = &w, "requests in ERR that will not be flushed");
	EXPECT(s, qp, qp->rx_wqe = &w, "requests in ERR that will not be flushed");
	pair_free(p);
}

Test(qp_check, datagrams)
{
	struct roce_shard *s;
	struct roce_qp *qp;
	struct pair *p = pair_new(&(struct pair_opts){0});
	struct roce_wqe w = {0}, more = {.next = &w};

	s = p->side[0].shard;
	qp = p->side[0].q[0].qp;
	cr_assert_eq(roce_qp_modify(s, qp, p->now_ns, ROCE_QPS_RESET, 0, NULL), ROCE_MODIFY_OK);
	qp->state = ROCE_QPS_UD_RTS;
	qp->rx_bits = ROCE_RXB_DATAGRAMS;
	EXPECT(s, qp, qp->wq_head = &more, "several datagrams in flight");
	EXPECT(s, qp, qp->wq_head = &w, "slots of the send ring and requests in flight disagree");
	EXPECT(s, qp, qp->rx_wqe = &w, "a receive in use between two datagrams");
	EXPECT(s, qp, qp->rq_done++, "a receive in use between two datagrams");
	EXPECT(s, qp, qp->ack_owed = ROCE_OWED_ACK,
		"a datagram queue pair with something to acknowledge");
	qp->rx_bits = 0;
	qp->state = ROCE_QPS_RESET;
	pair_free(p);
}
