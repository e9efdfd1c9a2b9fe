/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is always true of a queue pair: between two calls of the engine, and at each entry of the
 * requester, the completer and the responder. Written down as code, so that tests can ask:
 *
 *  - PSNs of requests stand in order, una <= tx <= snd_max <= load, counted from una, and no more
 *    than 2^23 of them are in flight (W-PSN-02).
 *  - wq_head to wq_tail are the requests in flight, without gaps: una_psn lies in the first, tx_psn
 *    in wq_tx, and load_psn comes after the last. Those that were sent stand before all others.
 *    There is one for each slot of the send ring between sq_done and sq.next.
 *  - rd_out counts the READs and atomics among them that were sent.
 *  - If packets from una to tx wait for a response, there is a deadline; a deadline has an entry in
 *    the timer wheel. (After an RNR wait tx is una again, until the first packet has left.)
 *  - What is placed was received, and all of it is placed unless a mover still works on it.
 *  - A receive is in use while a SEND is under way; otherwise only when its first packet, or the
 *    last of a WRITE with immediate, found no room behind a mover and has to come again.
 *  - rd_pending counts the slots of the replay block with responses to send; rd_cur is one of them.
 *  - What a state can't have is not there: no requests before RTS, nothing at all before RTR; in
 *    ERR no timer, no windows, nothing to be sent but the last acknowledgement, and what is not yet
 *    flushed is in the list of what is to be.
 */
#ifndef ROCE_QP_CHECK_H
#define ROCE_QP_CHECK_H

#include "roce/assert.h"

struct roce_qp;
struct roce_shard;

/* What is wrong with qp, which is in use; NULL: nothing. Looks, and changes nothing. */
const char *roce_qp_check(const struct roce_shard *s, const struct roce_qp *qp);

/* Asked at the entries of builds that are for tests; costs nothing in release builds. */
#ifdef ROCE_CHECKS
#define roce_check_qp(s, qp) roce_assert(roce_qp_check(s, qp) == NULL)
#else
#define roce_check_qp(s, qp) ((void)0)
#endif

#endif
