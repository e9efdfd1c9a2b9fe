/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair: all that the engine knows of it. */
#ifndef ROCE_QP_H
#define ROCE_QP_H

#include <assert.h>

#include "base/list.h"
#include "roce/queue/wqe.h"
#include "roce/roce.h"
#include "roce/ud/datagram.h"
#include "wire/psn.h"

struct roce_moved;
struct roce_read_block;

#define ROCE_RECORDS 8u

enum {				      /* roce_qp.tx_bits */
	ROCE_TXB_RNR_WAIT = 1u << 0,  /* the timer is the RNR timer */
	ROCE_TXB_RESTARTED = 1u << 1, /* went back, no progress since (W-TMR-05) */
	ROCE_TXB_BURST = 1u << 2,     /* next packet is the first of a retransmission burst */
	ROCE_TXB_BLOCKED = 1u << 3,   /* has work, waits for progress */
	ROCE_TXB_RTT = 1u << 4,	      /* a round trip is being measured */
	ROCE_TXB_STARVED = 1u << 5,   /* tx_link may be among its principal's that found no room */
	ROCE_TXB_CHARGED = 1u << 6,   /* a retry was spent since the peer's last answer */
	ROCE_TXB_DRAINING = 1u << 7,  /* in SQD, and ROCE_EV_SQ_DRAINED not yet told */
	ROCE_TXB_RNR_MET = 1u << 8,   /* an RNR NAK came since the last progress */
	ROCE_TXB_LATE = 1u << 9,      /* a timeout came since the last progress */
	ROCE_TXB_TIMED = 1u << 10,  /* a round trip ended since progress last ended the doubling */
	ROCE_TXB_ANSWER = 1u << 11, /* of its turns of one frame the next is for a response */
	ROCE_TXB_KEEPALIVE = 1u << 12, /* keepalive_ms is not 0 */
};
enum {				      /* roce_qp.rx_bits */
	ROCE_RXB_NAK_SENT = 1u << 0,  /* W-RESP-02 */
	ROCE_RXB_RNR_SENT = 1u << 1,  /* W-RESP-03 */
	ROCE_RXB_EST = 1u << 2,	      /* first request was seen */
	ROCE_RXB_LAST_WQE = 1u << 3,  /* ROCE_EV_LAST_WQE was told */
	ROCE_RXB_HELD = 1u << 4,      /* nothing new before the newest atomic is executed */
	ROCE_RXB_DATAGRAMS = 1u << 5, /* it was started by roce_ud_start(): for life */
	ROCE_RXB_CC = 1u << 6,	      /* met congestion: its struct roce_cc is in use */
	ROCE_RXB_PACED = 1u << 7,     /* ... on its own way, too: it sends at a rate */
};
enum roce_msg { ROCE_MSG_NONE, ROCE_MSG_SEND, ROCE_MSG_WRITE };
enum roce_ack_owed { /* what the responder has to tell the peer */
	ROCE_OWED_NONE,
	ROCE_OWED_ACK,
	ROCE_OWED_NAK_SEQ,
	ROCE_OWED_RNR,
	ROCE_OWED_FATAL,
};

struct roce_qp {
	/* Lines 0 and 1: identity and path, for every packet in either direction. */
	_Alignas(64) uint8_t state; /* enum roce_qp_state */
	uint8_t mtu_shift;
	uint16_t ip_id;
	uint32_t qpn, dest_qpn;
	uint32_t pd;
	union {
		struct {
			struct roce_hdr_tmpl tmpl;
			/* UDP source ports of the peer's packets; 0: not known (rx.c) */
			uint16_t request_sport, response_sport;
		};
		struct roce_ud ud; /* of datagrams: they have no path */
	};
	uint16_t port;
	uint16_t tx_bits;
	uint32_t handle;
	uint8_t rx_bits;
	uint8_t ack_owed;   /* enum roce_ack_owed owed */
	uint8_t rd_pending; /* slots with responses to send */
	uint8_t timeout_code;
	uint32_t flight; /* of its packets, as its principal counts them (shard/flight.h) */
	struct roce_moved *moved; /* or NULL */
	struct ndsh_qp_page *page;

	/* Line 2: requester and completer. PSNs in order: una <= tx <= snd_max <= load. */
	uint32_t una_psn;  /* oldest not acknowledged, or not placed (READ) */
	uint32_t tx_psn;   /* next to send */
	uint32_t snd_max;  /* behind the newest ever sent: responses from there on are ghosts */
	uint32_t load_psn; /* first of the next request to be fetched */
	/* In flight: the first, NULL if there is none; the last, if there is one; that with tx_psn,
	 * NULL if all are sent. */
	struct roce_wqe *wq_head, *wq_tail, *wq_tx;
	uint64_t deadline_ns; /* 0: nothing to wait for */
	uint32_t sq_done;
	uint16_t unacked; /* packets since the last AckReq */
	uint8_t rd_out;	  /* READs and atomics sent and not complete */
	uint8_t backoff;  /* how often the wait is doubled: by timeouts, until a round trip ends */
	struct roce_cq *send_cq;

	/* Line 3: responder. */
	uint32_t recv_psn;   /* ePSN: next to be received */
	uint32_t placed_psn; /* all before it are executed and visible: what ACKs follow */
	uint32_t msn;
	uint8_t access;
	uint8_t rx_msg; /* enum roce_msg under way */
	uint8_t ack_syndrome;
	uint8_t reason;
	uint32_t ack_psn;
	uint32_t rx_rkey;
	uint64_t rx_va; /* WRITE: where the next payload goes */
	uint32_t rx_left, rx_bytes;
	struct roce_wqe *rx_wqe; /* receive in use */
	struct base_link ack_link;

	/* Lines 4 and 5: requests, from the ring to the timer. */
	struct ndsh_sq sq;
	struct base_link ring_link;
	uint64_t ring_ns; /* when the send ring last had work */
	struct base_link tx_link;
	struct base_link timer_link;
	uint64_t timer_tick;
	uint64_t rtt_ns;    /* when the measured packet left */
	uint64_t charge_ns; /* last answer of the peer, or last timeout that cost a retry */
	uint32_t rtt_psn, srtt_ns;

	/* Line 6: requests of several SGEs, READs and atomics, and what is needed when something
	 * goes wrong. */
	struct roce_sge_pos tx_pos;
	uint64_t rnr_ns; /* first RNR NAK since the last progress; 0: none */
	uint32_t rnr_give_up_ms;
	uint32_t gap_psn; /* the responder's: newest out-of-sequence PSN dropped */
	uint8_t min_rnr_code, retry, rnr_retry;
	uint8_t retry_left, rnr_left;
	uint8_t syndrome;
	uint8_t rd_next, rd_cur; /* next slot to fill; slot being answered */
	uint8_t max_rd, max_dest_rd;
	uint8_t events;	 /* 1 << enum roce_event_type */
	bool unreliable; /* UC, for life */
	uint32_t rq_done;
	struct roce_cq *recv_cq;

	/* Line 7: receives. */
	struct ndsh_rq rq;
	struct roce_srq *srq; /* or NULL */
	struct roce_sge_pos recv_pos;

	/* Line 8: READs and atomics, ours and the peer's. */
	struct roce_sge_pos read_pos;
	struct roce_read_block *reads;
	/* Keepalive: the PSNs of both directions at the last check; when to check again */
	union {
		struct {
			uint32_t alive_mark, alive_ms;
		};
		/* UC, which has no keepalive: requests from before the send side was started again,
		 * to be flushed */
		uint32_t restart_left;
	};
	/* Cold. */
	struct base_link event_link, flush_link, send_cq_link, recv_cq_link;
	void *owner;
	uint32_t next_free; /* index */
	uint32_t binder;    /* of the windows that are bound through it (mem/mw.h) */
	uint8_t generation, record_next, record_count;
	uint8_t door;	       /* of its peer (mem/door.h), since it has a path */
	uint32_t keepalive_ms; /* 0: none */
	struct roce_qp_record record[ROCE_RECORDS];
};
static_assert(offsetof(struct roce_qp, una_psn) == 128, "line 2");
static_assert(offsetof(struct roce_qp, recv_psn) == 192, "line 3");
static_assert(offsetof(struct roce_qp, sq) == 256, "line 4");
static_assert(offsetof(struct roce_qp, rq) == 448, "line 7");
static_assert(sizeof(struct roce_qp) <= 768, "thousands of idle queue pairs are normal");

static inline void
roce_tx_clear(struct roce_qp *qp, unsigned bits)
{
	qp->tx_bits &= (uint16_t)~bits;
}

/* Its packets say that they are ECN-capable, so it is one that slows down (cc/cc.c). */
static inline bool
roce_reacts(const struct roce_qp *qp)
{
	return (qp->tmpl.tos & ROCE_TOS_ECN) != 0;
}

/* Is it an unreliable connection that has a peer? */
static inline bool
roce_qp_is_uc(const struct roce_qp *qp)
{
	return qp->state >= ROCE_QPS_UC_RTR;
}

/* Was psn sent, and is it not acknowledged? */
static inline bool
roce_qp_in_flight(const struct roce_qp *qp, uint32_t psn)
{
	return roce_psn_from(psn, qp->una_psn) < roce_psn_from(qp->snd_max, qp->una_psn);
}

static inline uint32_t
roce_qp_mtu(const struct roce_qp *qp)
{
	return 1u << qp->mtu_shift;
}

/* PSNs that len bytes take (W-PSN-03). */
static inline uint32_t
roce_npsn(const struct roce_qp *qp, uint32_t len)
{
	uint32_t mtu = roce_qp_mtu(qp);

	return len <= mtu ? 1 : (uint32_t)(((uint64_t)len + mtu - 1) >> qp->mtu_shift);
}

/* Forget all but the QPN and what creation gave. */
void roce_qp_clear(struct roce_qp *qp);

#endif
