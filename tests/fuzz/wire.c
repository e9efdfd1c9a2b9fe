/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser alone: any bytes for a frame. What it accepts lies in the frame, and if it is built
 * anew from what was understood, the same is understood again.
 *
 * An input: a byte of FIX_*, then the frame.
 */
#include <string.h>

#include "fuzz.h"
#include "rigs/wire_rig.h"
#include "wire/build.h"
#include "wire/gsi.h"
#include "wire/icrc.h"

#define FIX_IPV4   1u /* its checksum */
#define FIX_LENGTH 2u /* of IP and UDP: what is there */
#define FRAME_MIN  (WIRE_RIG_L3 + ROCE_IPV6_BYTES + ROCE_UDP_BYTES)

static void
put_length(uint8_t *at, size_t bytes)
{
	at[0] = (uint8_t)(bytes >> 8);
	at[1] = (uint8_t)bytes;
}

/* Put right what the parser looks at first, so that it comes to damage elsewhere. */
static void
frame_fix(uint8_t *frame, size_t n, unsigned fix)
{
	uint8_t *ip = frame + WIRE_RIG_L3;
	size_t room = n - WIRE_RIG_L3;
	bool v6 = ip[0] >> 4 == 6;

	if (fix & FIX_LENGTH) {
		put_length(ip + (v6 ? 4 : 2), v6 ? room - ROCE_IPV6_BYTES : room);
		put_length(ip + (v6 ? ROCE_IPV6_BYTES : ROCE_IPV4_BYTES) + 4,
			room - (v6 ? ROCE_IPV6_BYTES : ROCE_IPV4_BYTES));
	}
	if ((fix & FIX_IPV4) && !v6 && (ip[0] & 15u) * 4u <= room)
		wire_rig_fix_checksum(ip);
}

static void
pkt_lies_within(const struct roce_pkt *pkt, const uint8_t *frame, size_t n)
{
	const uint8_t *end = frame + n;

	fuzz_need(pkt->l3 >= frame + ROCE_ETH_BYTES && pkt->l3 < end, "the IP header");
	fuzz_need(pkt->payload > pkt->l3 && pkt->payload <= end, "the payload");
	fuzz_need((size_t)(end - pkt->payload) >= pkt->payload_bytes + pkt->pad + ROCE_ICRC_BYTES,
		"%u bytes of payload", pkt->payload_bytes);
}

static bool
pkt_equal(const struct roce_pkt *a, const struct roce_pkt *b)
{
	return a->opcode == b->opcode && a->opflags == b->opflags && a->qpn == b->qpn &&
	       a->psn == b->psn && a->pkey == b->pkey && a->ackreq == b->ackreq &&
	       a->becn == b->becn && a->fecn == b->fecn && a->se == b->se && a->mig == b->mig &&
	       a->syndrome == b->syndrome && a->payload_bytes == b->payload_bytes &&
	       memcmp(a->ext, b->ext, sizeof(a->ext)) == 0 &&
	       memcmp(a->payload, b->payload, a->payload_bytes) == 0;
}

/* A packet of at most a path MTU is one that could be sent. */
static void
pkt_goes_round(const struct roce_pkt *pkt, const uint8_t *frame)
{
	static uint8_t again[ROCE_FRAME_MAX];
	struct roce_path path = wire_rig_path(frame, pkt);
	struct roce_hdr_tmpl tmpl;
	struct roce_pkt seen;
	uint32_t hdr, n;

	if (pkt->payload_bytes > ROCE_MTU_MAX)
		return;
	roce_hdr_tmpl_init(&tmpl, &path);
	hdr = roce_wire_build(again, &tmpl, pkt, 7);
	memcpy(again + hdr, pkt->payload, pkt->payload_bytes);
	n = roce_wire_seal(again, &tmpl, hdr, pkt->payload_bytes);
	fuzz_need(roce_wire_parse(again, n, &seen) == ROCE_WIRE_OK, "what was built");
	fuzz_need(roce_icrc_ok(&seen), "of what was built");
	fuzz_need(pkt_equal(pkt, &seen), "another packet was built");
	fuzz_need(roce_gsi_is_mad(pkt) == roce_gsi_is_mad(&seen), "a MAD or not");
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	struct fuzz_in in = {bytes, bytes + n};
	unsigned fix = (unsigned)fuzz_take(&in, 1);
	struct roce_pkt pkt;
	uint8_t *frame;

	n = fuzz_left(&in);
	frame = fuzz_copy(in.at, n);
	if (n >= FRAME_MIN)
		frame_fix(frame, n, fix);
	if (roce_wire_parse(frame, n, &pkt) == ROCE_WIRE_OK) {
		pkt_lies_within(&pkt, frame, n);
		(void)roce_icrc_ok(&pkt);
		pkt_goes_round(&pkt, frame);
	}
	free(frame);
	return 0;
}
