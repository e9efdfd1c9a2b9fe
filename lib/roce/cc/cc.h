/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Congestion, as RoCEv2 deals with it (W-CC-01): switches mark packets that say they are
 * ECN-capable; who receives a marked one tells its sender by a CNP; that one slows down.
 *
 *	cc.c		marks and CNPs that come, CNPs that go
 *	rate.c	how fast: the rate of a queue pair that was told to slow down
 *	pace.c	when: queue pairs that wait for their time to send
 *
 * Included by internal.h.
 */
#ifndef ROCE_CC_H
#define ROCE_CC_H

/* Rates are bytes in a millisecond: from 10 Mb/s to 100 Gb/s. */
#define ROCE_RATE_MIN 1250u
#define ROCE_RATE_MAX 12500000u

struct roce_rate {
	uint64_t period_ns; /* end of the period under way */
	uint32_t now;	    /* 0: no limit */
	uint32_t target;    /* what it was before the last cut, or where it is going from there */
	uint32_t bytes;	    /* sent since the last raise for bytes */
	uint16_t alpha;	    /* of 65,536: how congested the way is, as far as we were told */
	uint8_t times, volumes; /* raises since the last cut: for periods, for bytes */
};

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

#define ROCE_PACE_SHIFT 13u /* ns per slot, as a power of two: 8.2 us */
#define ROCE_PACE_SLOTS 64u

/* Who waits for the time of his next packet, by that time. */
struct roce_pace {
	uint64_t map;  /* slots that may have some */
	uint64_t tick; /* that was looked at last */
	struct base_link slot[ROCE_PACE_SLOTS];
};

/* cc.c: a genuine packet of the peer was marked by the network, or brought word of marks on ours */
void roce_cc_rx(struct roce_shard *s, struct roce_qp *qp, const struct roce_pkt *pkt);
/* Our packets met congestion: so says the peer. */
void roce_cc_notified(struct roce_shard *s, struct roce_qp *qp);
/* The CNPs that are owed, into up to n slots; returns how many. */
unsigned roce_cc_tx(struct roce_shard *s, struct roce_tx_slot *slots, unsigned n);
/* As if the queue pair had met none. */
void roce_cc_forget(struct roce_shard *s, struct roce_qp *qp);

/* rate.c: congestion was met at now_ns by who can't have been faster than most. False: that was
 * known, the rate stays. */
bool roce_rate_cut(struct roce_rate *r, uint64_t now_ns, uint32_t most, uint64_t rtt_ns);
/* Bring the rate up to now_ns. False: there is no limit any more. */
bool roce_rate_recover(struct roce_rate *r, uint64_t now_ns);
/* That many bytes left. Returns how long they keep the line busy, in ns. */
uint64_t roce_rate_sent(struct roce_rate *r, uint64_t bytes);

/* pace.c: the turn of a queue pair that is ROCE_RXB_PACED, as tx_turn() */
unsigned roce_pace_turn(
	struct roce_shard *s, struct roce_qp *qp, struct roce_tx_slot *slots, unsigned n);
/* Whose time has come, joins the senders. */
void roce_pace_release(struct roce_shard *s);
/* When that will be, for the first of them; UINT64_MAX: nobody waits. */
uint64_t roce_pace_next(const struct roce_pace *p);

#endif
