/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Dialects: what other implementations do differently, and may do. Both ends of a connection are
 * our engine. What an end that has a dialect says and hears is changed between its engine and the
 * network, as if that other implementation had said or heard it; the exact model of all that comes
 * out (sim_model.c) stays what it is.
 *
 *	sim_dialect.c	which there are and where they come from, who speaks which, how often
 *	sim_accent.c	fields of each packet
 *	sim_responder.c	an end that answers
 *	sim_requester.c	an end that asks
 *	sim_words.c	frames taken apart and put together
 */
#ifndef SIM_DIALECT_H
#define SIM_DIALECT_H

#include "sim_words.h"

enum sim_dialect {
	/* Fields. */
	SIM_DIALECT_NO_MIG,
	SIM_DIALECT_LIMITED_KEY,
	SIM_DIALECT_ECT,
	SIM_DIALECT_MARKED,
	SIM_DIALECT_BECN,
	SIM_DIALECT_PORTS,
	SIM_DIALECT_ONE_PORT,
	SIM_DIALECT_CHECKSUM,
	SIM_DIALECT_PRIORITY_TAG,
	SIM_DIALECT_TRAILER,
	SIM_DIALECT_PAD,
	SIM_DIALECT_HOPS,
	SIM_DIALECT_NO_CREDITS,
	SIM_DIALECT_CREDITS,
	SIM_DIALECT_MSN_PACKETS,
	/* Responders. */
	SIM_DIALECT_ACK_EACH,
	SIM_DIALECT_ACK_LATE,
	SIM_DIALECT_ACK_ASKED,
	SIM_DIALECT_ACK_COPY,
	SIM_DIALECT_NAK_FIRST,
	SIM_DIALECT_NAK_EACH,
	SIM_DIALECT_NAK_BEHIND_RNR,
	SIM_DIALECT_NAK_OPERATION,
	SIM_DIALECT_RNR_IN_READ,
	SIM_DIALECT_MIDDLE,
	SIM_DIALECT_REPLAY_ALL,
	SIM_DIALECT_KEEP,
	/* Requesters. */
	SIM_DIALECT_READ_ALL,
	SIM_DIALECT_HASTY,
	SIM_DIALECT_PATIENT,
	SIM_DIALECT_ASK_ALWAYS,
	SIM_DIALECT_CNP,
	/* Connection managers. */
	SIM_DIALECT_NO_MRA,
	SIM_DIALECT_SLOW_ANSWER,
	SIM_DIALECT_GSI_PORT,
	SIM_DIALECTS,
};

#define SIM_READS 32u /* READs and atomics of one direction that are remembered */
#define SIM_SAID  64u /* packets of requests that are kept, by PSN */
#define SIM_KEPT  8u  /* packets that came too early */

struct sim_read { /* or an atomic */
	uint32_t first, n, bytes;
	uint64_t va;
	bool atomic;
};
struct sim_reads {
	struct sim_read of[SIM_READS];
	unsigned count; /* so far */
};
struct sim_copy {
	uint8_t *frame; /* NULL: never used */
	uint32_t bytes; /* 0: empty */
	uint32_t psn, end;
};

/* What one end has to remember to speak its dialects. */
struct sim_speech {
	uint64_t speaks;	       /* 1 << enum sim_dialect */
	struct sim_reads heard, asked; /* the peer's, its own */
	/* It answers. */
	struct sim_copy late; /* an ACK */
	uint64_t late_ns;
	uint32_t told; /* newest PSN that was answered, if any_told */
	uint32_t rnr_psn, broken_psn;
	struct sim_copy kept[SIM_KEPT];
	bool any_told, rnr_open, overrun, broken;
	bool refused; /* it sent a NAK that ends the connection */
	bool over;    /* ... and is silent since */
	/* It asks. */
	struct sim_copy said[SIM_SAID];
	uint64_t hasty_ns, cnp_ns;
};

/* sim_dialect.c */
const char *sim_dialect_name(enum sim_dialect d);
void sim_dialect_print(void);
/* True: each did what it is about at least once, in all worlds so far. */
bool sim_dialect_all_spoken(void);
void sim_dialect_plan(struct sim_conn *c);
/* A frame leaves a host. */
void sim_dialect_send(struct sim_host *h, const uint8_t *frame, uint32_t bytes);
/* A packet of a connection reaches its shard. */
void sim_dialect_rx(
	struct sim_shard *sh, const struct sim_frame *f, struct roce_pkt *pkt, struct roce_qp *qp);
/* What is due by itself. */
void sim_dialect_run(struct sim_world *w);
/* False: the message is not sent. */
bool sim_dialect_mad(struct sim_ep *ep, uint32_t attr, struct sim_frame *f);
/* How much longer its application takes to answer a REQ. */
uint64_t sim_dialect_delay(struct sim_ep *ep);
/* It refused a request for good. */
bool sim_dialect_refused(const struct sim_ep *ep);
bool sim_speaks(const struct sim_ep *ep, enum sim_dialect d);
/* It did what the dialect is about. */
void sim_spoke(struct sim_ep *ep, enum sim_dialect d);
/* Run again at that time. */
void sim_speech_wake(struct sim_ep *ep, uint64_t at_ns);
/* The packet leaves, with the accent of its sender. */
void sim_say(struct sim_ep *ep, struct sim_words *words);

/* sim_accent.c */
void sim_accent(struct sim_ep *ep, struct sim_words *words);

/* sim_responder.c */
void sim_response_said(struct sim_ep *ep, struct sim_words *words);
void sim_request_heard(struct sim_ep *ep, const struct sim_frame *f, struct roce_pkt *pkt);
void sim_responder_run(struct sim_ep *ep);

/* sim_requester.c */
void sim_request_said(struct sim_ep *ep, struct sim_words *words);
void sim_response_heard(struct sim_ep *ep, struct roce_pkt *pkt);
void sim_requester_run(struct sim_ep *ep);

/* sim_words.c */
struct sim_read *sim_read_of(struct sim_reads *r, uint32_t psn);
void sim_read_note(struct sim_reads *r, const struct roce_pkt *pkt, uint32_t mtu);
void sim_copy_keep(struct sim_world *w, struct sim_copy *c, const uint8_t *frame, uint32_t bytes);

#endif
