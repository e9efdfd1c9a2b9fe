/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames taken apart and put together again, with other fields. */
#ifndef SIM_WORDS_H
#define SIM_WORDS_H

#include "sim_types.h"
#include "wire/build.h"

#define SIM_WORDS_TRAILER 64u
#define SIM_WORDS_MAX	  (ROCE_FRAME_MAX + SIM_WORDS_TRAILER)

struct sim_words {
	const uint8_t *frame; /* where it came from, with its payload; NULL: from nowhere */
	uint32_t bytes;
	struct roce_pkt pkt;
	struct roce_hdr_tmpl tmpl;
	uint16_t ip_id, tag; /* tag: TCI of a tag in front; 0: none */
	uint8_t pad;	     /* value of pad bytes */
	uint8_t trailer;     /* bytes behind the ICRC */
	bool checksum;	     /* a UDP checksum that is right */
};
/* False: no RoCEv2 packet. */
bool sim_words_parse(struct sim_words *words, const uint8_t *frame, uint32_t bytes);
/* Set fields of the lower headers. */
void sim_words_tos(struct sim_words *words, uint8_t tos);
void sim_words_ttl(struct sim_words *words, uint8_t ttl);
void sim_words_sport(struct sim_words *words, uint16_t sport);
/* Of no frame: an acknowledgement of an end to its peer. */
void sim_words_ack(
	struct sim_words *words, const struct sim_ep *ep, uint8_t syndrome, uint32_t psn);
/* What an engine is about to send: sim_wire.c */
void sim_wire_check(struct sim_shard *sh, const uint8_t *frame, uint32_t bytes);
/* frame has room for SIM_WORDS_MAX bytes. Returns how many there are. */
uint32_t sim_words_build(const struct sim_words *words, uint8_t *frame);

#endif
