/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one side of an engine pair says, packet by packet, and answers that the test makes up in the
 * other one's name: watched_... for requests of side 0, ear_... for responses of side 1.
 */
#ifndef OVERHEARD_H
#define OVERHEARD_H

#include "rigs/engine_pair.h"

/* ---- requests of side 0 ---------------------------------------------------------------------- */

#define WATCHED_PSN 100u /* of the first one, unless opts say otherwise */
#define WATCHED_MAX 4096u

struct watched {
	struct roce_pkt pkt[WATCHED_MAX];
	unsigned n;
	bool mute; /* nothing arrives, of either side */
};
extern struct watched watched;

struct pair *watched_pair(const struct pair_opts *opts, bool mute);
/* Say something to side 0 as its peer, without payload. */
void watched_answer(struct pair *p, uint8_t opcode, uint32_t psn, uint8_t syndrome);

/* NAKs that end a queue pair: the status of the request they name, and why the queue pair ends. */
#define WATCHED_FATAL_NAKS 3u
extern const struct watched_fatal_nak {
	uint8_t syndrome, status;
	enum roce_reason reason;
} watched_fatal_naks[WATCHED_FATAL_NAKS];

/* ---- responses of side 1 --------------------------------------------------------------------- */

#define EAR_PSN 100u /* of side 0's first request */
#define EAR_MTU 1024u
#define EAR_MAX 256u

/* What side 1 said; a test decides what of it arrives. */
struct ear {
	struct roce_pkt said[EAR_MAX];
	unsigned n;
	bool deaf; /* nothing of it arrives */
	bool (*lost)(const struct roce_pkt *pkt);
};

/* The MTU is EAR_MTU, unless opts say otherwise. */
struct pair *ear_pair(struct ear *e, struct pair_opts opts);
/* A request of side 0 to the start of side 1's region, which asks for an ACK. */
struct roce_pkt ear_request(const struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes);
/* An ACK or NAK for side 0. */
void ear_answer(struct pair *p, uint32_t psn, uint8_t syndrome);
/* Up to n frames of one side, and what the other makes of them: a wire without time. */
unsigned ear_pump(struct pair *p, unsigned from, unsigned n);

#endif
