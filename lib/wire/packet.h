/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A RoCEv2 packet in host-order values, and the parser that makes it from a frame.
 *
 * Every bound of a received frame is checked by the parser and nowhere else: a struct roce_pkt
 * that roce_wire_parse() accepted has all its pointers and lengths inside the frame.
 */
#ifndef ROCE_PACKET_H
#define ROCE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/gid.h"
#include "wire/opcode.h"
#include "wire/protocol.h"

/* roce_pkt.vlan of a packet with two VLAN tags: no station here is in a VLAN within a VLAN. */
#define ROCE_VLAN_NESTED 0xffffu

/* One packet in host order. Fields that the opcode does not carry are 0. */
struct roce_pkt {
	const uint8_t *l3;	/* IPv4 or IPv6 header (parse only) */
	const uint8_t *payload; /* parse only; build takes the payload after the headers */
	uint32_t payload_bytes; /* without pad */
	uint32_t qpn;		/* destination */
	uint32_t psn;
	uint16_t opflags; /* ROCE_OPF_* of the opcode (parse only) */
	uint16_t pkey;
	uint8_t opcode;
	uint8_t pad;
	uint8_t tos;
	bool v6;
	bool becn, ackreq;
	union { /* seldom needed: bytes 1 and 4 of the BTH */
		uint8_t bth_bits[2];
		struct {
			uint8_t : 6;
			bool mig : 1, se : 1;
			uint8_t : 7;
			bool fecn : 1;
		};
	};
	uint16_t vlan_tci; /* of the innermost tag, 0 if untagged */
	uint16_t vlan;	   /* VLAN of its tags; 0: none; ROCE_VLAN_NESTED: two of them */
	bool tagged;
	uint8_t syndrome; /* AETH */
	/* The ICRC was found right before the frame was parsed. roce_wire_parse() says no:
	 * nothing in a frame makes it so. */
	bool icrc_checked;
	union { /* other extension headers */
		uint64_t ext[8];
		struct {
			uint64_t va;	    /* RETH, AtomicETH */
			uint32_t rkey;	    /* RETH, AtomicETH */
			uint32_t dma_bytes; /* RETH */
			uint64_t swap_add, compare;
			uint64_t atomic_orig;
			uint32_t msn;  /* AETH */
			uint32_t imm;  /* ImmDt: the 4 bytes as they stood on the wire (memcpy) */
			uint32_t ieth; /* key to invalidate */
			uint32_t qkey, src_qpn;
			uint32_t feth;
		};
	};
};

/* Why a frame is not for the engine; each is a counter (W-PKT-..). */
enum roce_wire_err {
	ROCE_WIRE_OK,
	ROCE_WIRE_NOT_ROCE,  /* another protocol or UDP port: not ours, not an error */
	ROCE_WIRE_TRUNCATED, /* shorter than its own lengths say */
	ROCE_WIRE_IP_HEADER, /* version, IHL != 5, fragment, extension header, checksum */
	ROCE_WIRE_LENGTH,    /* IP, UDP and opcode lengths disagree (W-PKT-05, W-PKT-09) */
	ROCE_WIRE_TVER,	     /* W-PKT-11 */
	ROCE_WIRE_OPCODE,    /* unknown opcode (W-PKT-08) */
	ROCE_WIRE_PKEY,	     /* W-PKT-12 */
	ROCE_WIRE_ERR_COUNT,
};

/*
 * Parse one Ethernet frame of frame_bytes bytes (FCS not included; a trailer is
 * allowed, W-PKT-03). On ROCE_WIRE_OK *pkt is complete and points into frame.
 * The ICRC is not checked: see roce_icrc_ok(). pad is what the sender said; a pad
 * that does not fit payload_bytes is the responder's to refuse (W-RESP-09).
 */
enum roce_wire_err roce_wire_parse(const uint8_t *frame, size_t frame_bytes, struct roce_pkt *pkt);

/* UDP source port of a parsed packet. */
uint16_t roce_pkt_sport(const struct roce_pkt *pkt);

/* Source and destination GID of a parsed packet. */
void roce_pkt_src_gid(const struct roce_pkt *pkt, struct roce_gid *gid);
void roce_pkt_dst_gid(const struct roce_pkt *pkt, struct roce_gid *gid);

#endif
