/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hostile insider: one end of a connection has all that its peer gave it (addresses, QPNs, PSNs,
 * keys, the connection manager's ids) and knows the rest, and uses it as it likes. Behind it our
 * engine goes on as an honest end, so that its peer, the victim, gets into every state; what that
 * engine sends is now and then changed, repeated or withheld.
 *
 * What must hold: the victim's other connections are as their models say; of the victim's memory
 * nothing changes and nothing is told but what was opened to this peer, and receives and results
 * of its own requests; each of these completes once, in order, with a status that a hostile peer
 * can bring about; and the connection can be ended.
 *
 *	sim_insider.c	the plan, the end, and what the models ask
 *	sim_trick.c	packets
 *	sim_trick_mad.c	messages of the connection manager
 */
#ifndef SIM_INSIDER_H
#define SIM_INSIDER_H

#include "sim_ops.h"
#include "sim_words.h"

#define SIM_MADS 4u

enum sim_trick {
	SIM_TRICK_REQUEST,
	SIM_TRICK_THEFT,
	SIM_TRICK_MESSAGE,
	SIM_TRICK_RESPONSE,
	SIM_TRICK_FLOOD,
	SIM_TRICK_RAW,
	SIM_TRICK_CNP,
	SIM_TRICK_NEIGHBOUR,
	SIM_TRICK_CHANGED,
	SIM_TRICK_TWICE,
	SIM_TRICK_WITHHELD,
	SIM_TRICK_MAD,
	SIM_TRICKS,
};
struct sim_insider {
	struct sim_ep *ep, *victim;
	uint32_t access;   /* to the victim's target */
	unsigned patience; /* tricks to come */
	bool mute;	   /* of its honest engine nothing is sent */
	bool raw;	   /* ... and never was */
	bool gentle;	   /* it avoids what ends the connection at once */
	uint32_t pause_ns; /* about, between two tricks */
	uint64_t next_ns;
	const struct sim_arena *coveted;       /* what it last asked for without a right, or NULL */
	uint8_t mad[SIM_MADS][ROCE_MAD_BYTES]; /* that it sent */
	unsigned n_mads;
	uint32_t pd; /* the victim's, on this connection alone */
};

/* sim_insider.c */
void sim_insider_print(void);
bool sim_insider_all_tricks(void);
void sim_insider_plan(struct sim_conn *c);
void sim_insider_did(struct sim_insider *x, enum sim_trick trick);
/* Around the creation of what belongs to the victim. */
uint32_t sim_insider_pd_enter(struct sim_ep *ep);
/* Both ends are gone. */
void sim_insider_over(struct sim_conn *c);
/* What it may do with the target of ep. */
uint32_t sim_insider_access(const struct sim_ep *ep, uint32_t access);
bool sim_insider_windows(const struct sim_ep *ep);
/* When to look again. */
uint64_t sim_insider_step(struct sim_conn *c);
/* A frame leaves the insider's engine, or the victim's. True: that was all. */
bool sim_insider_said(struct sim_ep *from, struct sim_words *words);
void sim_insider_record(struct sim_conn *c, const struct sim_host *from, const uint8_t *mad);
/* The model. */
bool sim_insider_send_ok(const struct sim_ep *ep, const struct sim_op *op, uint8_t status);
bool sim_insider_recv_ok(const struct sim_ep *ep, uint8_t status);
void sim_insider_fetched(struct sim_ep *ep, const struct sim_op *op);
void sim_insider_received(struct sim_ep *ep, const struct sim_recv *r, const struct ndsh_cqe *e);
void sim_insider_memory(const struct sim_ep *ep);

/* sim_trick.c */
void sim_trick(struct sim_insider *x);
bool sim_trick_said(struct sim_insider *x, struct sim_words *words);
/* sim_trick_mad.c */
void sim_trick_mad(struct sim_insider *x);

#endif
