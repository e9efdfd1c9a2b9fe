/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Packets that are wrong in one thing, by rule from the opcode table: each opcode, to each of the
 * world's queue pairs, with each fault; and what has to become of it, from the rules of the wire
 * and not from the code. The world is as it was made: nothing posted, nothing outstanding.
 */
#ifndef FUZZ_MALFORMED_H
#define FUZZ_MALFORMED_H

#include "world.h"

enum malformed_rule {
	RULE_NONE,	   /* it fits, but for opcode and state */
	RULE_CUT,	   /* the frame ends early */
	RULE_VERSION,	   /* of the transport */
	RULE_UDP_LENGTH,   /* is not what IP says */
	RULE_SHORT_HEADER, /* all lengths agree, and leave out the end of the headers */
	RULE_PAD,	   /* another pad count */
	RULE_PAYLOAD,	   /* another number of bytes */
	RULE_PARTITION,
	RULE_QPN,
	RULE_ADDRESS,
	RULE_VLAN,
	RULE_Q_KEY,
	RULE_ICRC,
	RULE_PSN,
	RULE_KEY,
	RULE_RANGE,
	RULES,
};

struct malformed {
	unsigned opcode; /* 0..255 */
	enum world_qp qp;
	enum malformed_rule rule;
	unsigned variant;
};

/* What becomes of a packet; those of the engine have a counter. */
enum fate {
	FATE_PARSER, /* + enum roce_wire_err: the parser refuses it */
	FATE_UNKNOWN_QPN = ROCE_WIRE_ERR_COUNT,
	FATE_WRONG_CLASS,
	FATE_WRONG_STATE,
	FATE_WRONG_ADDRESS,
	FATE_WRONG_VLAN,
	FATE_WRONG_Q_KEY,
	FATE_WRONG_ICRC,
	FATE_DUPLICATE,
	FATE_OUT_OF_SEQUENCE,
	FATE_GHOST,
	FATE_NO_RECEIVE, /* a datagram without a place */
	FATE_NOT_READY,	 /* RNR NAK */
	FATE_REFUSED,	 /* a NAK that ends the queue pair */
	FATE_TAKEN,
	FATES,
};
extern const char *const fate_names[FATES];

/* From {0} on; false: that was the last one. */
bool malformed_next(struct malformed *m);
/* Its frame; returns its bytes. */
uint32_t malformed_build(
	const struct world *w, const struct malformed *m, uint8_t frame[ROCE_FRAME_MAX]);
enum fate malformed_fate(const struct malformed *m);
/* The frame reaches the world: what has become of it, by counters. FATES: by more than one. */
enum fate malformed_arrives(struct world *w, const uint8_t *frame, uint32_t bytes);

#endif
