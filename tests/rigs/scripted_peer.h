/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The test is the peer of side 1 of an engine pair: it says whatever packet it likes, and sees all
 * that side 1 answers. Side 0 hears nothing and says nothing.
 */
#ifndef SCRIPTED_PEER_H
#define SCRIPTED_PEER_H

#include "rigs/engine_pair.h"

#define PEER_MTU   1024u
#define PEER_PSN   100u /* first PSN that side 1 expects */
#define PEER_TAPES 64u

/* Everything that side 1 says. */
struct peer_tape {
	struct roce_pkt said[PEER_TAPES];
	unsigned n;
};

/* Side 1 with these options; MTU, the RNR timer's code (14) and its PSN are set here, and the
 * peer's, unless opts say otherwise. */
struct pair *peer_with(struct peer_tape *t, struct pair_opts opts);
struct pair *peer_new(struct peer_tape *t);
/* A request of so many bytes to the start of side 1's region, which asks for an ACK. */
struct roce_pkt peer_packet(const struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes);
/* A READ of bytes from offset at. */
struct roce_pkt peer_read_request(const struct pair *p, uint32_t psn, uint32_t at, uint32_t bytes);
/* Hand side 1 this packet. Its payload begins with a5 5a, then zeroes. */
void peer_say(struct pair *p, const struct roce_pkt *pkt);
void peer_say_plain(struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes);
/* Side 1 has said n packets, and the last of them is this one. */
void peer_heard(struct pair *p, struct peer_tape *t, unsigned n, uint8_t syndrome, uint32_t psn);
/* Side 1 has said n packets. */
void peer_silent(struct pair *p, struct peer_tape *t, unsigned n);

#endif
