/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion, as RoCEv2 deals with it (W-CC-01): switches mark packets that say they are
 * ECN-capable; who receives a marked one tells its sender by a CNP; that one slows down.
 *
 * Included by internal.h.
 */
#ifndef ROCE_CC_H
#define ROCE_CC_H

/* Of a queue pair that met congestion, at its own index of roce_shard.ccs; zero before. */
struct roce_cc {
	/* What we saw of the peer's packets. */
	struct roce_link cnp_link; /* in roce_shard.cnps: a CNP is owed */
	uint64_t cnp_ns;	   /* no further one before */
};

/* A genuine packet of the peer was marked by the network, or brought word of marks on ours. */
void roce_cc_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* Our packets met congestion: so says the peer. */
void roce_cc_notified(struct roce_shard *s, struct roce_qp *qp);
/* The CNPs that are owed, into up to n slots; returns how many. */
unsigned roce_cc_tx(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n);
/* As if the queue pair had met none. */
void roce_cc_forget(struct roce_shard *s, struct roce_qp *qp);

#endif
