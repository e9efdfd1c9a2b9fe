/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion, as RoCEv2 deals with it (W-CC-01): switches mark packets that say they are
 * ECN-capable; the receiver of a marked one tells its sender by a CNP; the sender slows down.
 *
 *	cc.c		marks and CNPs that come, CNPs that go
 *	rate.c		how fast: the rate of a queue pair that was told to slow down
 *	pace.c		when: queue pairs that wait for their time to send
 */
#ifndef ROCE_CC_H
#define ROCE_CC_H

#include <assert.h>

#include "base/list.h"
#include "roce/cc/rate.h"
#include "roce/roce.h"

/* Of a queue pair that met congestion, at its own index of roce_shard.ccs; zero before. */
struct roce_cc {
	/* What we saw of the peer's packets. */
	struct base_link cnp_link; /* in roce_shard.cnps: a CNP is owed */
	uint64_t cnp_ns;	   /* no further one before */
	/* What we were told of ours, if the queue pair is ROCE_RXB_PACED. */
	struct roce_rate rate;
	uint64_t next_ns;     /* when the next packet is due */
	bool responses_first; /* in the next turn, if it has requests, too */
};
static_assert(sizeof(struct roce_cc) == 64, "one line");

/* A genuine packet of the peer was marked by the network, or brought word of marks on ours. */
void roce_cc_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* Our packets met congestion: so says the peer. */
void roce_cc_notified(struct roce_shard *s, struct roce_qp *qp);
/* The CNPs that are owed, into up to n slots; returns how many. */
unsigned roce_cc_tx(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n);
/* As if the queue pair had met none. */
void roce_cc_forget(struct roce_shard *s, struct roce_qp *qp);

#endif
