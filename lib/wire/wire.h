/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RoCEv2 frames: from bytes to host-order values and back.
 *
 * Big-endian values exist only behind this header. Every bound of a received
 * frame is checked here and nowhere else: a struct roce_pkt that
 * roce_wire_parse() accepted has all its pointers and lengths inside the frame.
 */
#ifndef ROCE_WIRE_H
#define ROCE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCE_UDP_PORT	  4791
#define ROCE_VLAN_MASK	  0x0fffu
#define ROCE_VLAN_NOBODYS 0xffffu
#define ROCE_QPN_GSI	  1u
#define ROCE_QPN_MASK	  0xffffffu
#define ROCE_PSN_MASK	  0xffffffu
#define ROCE_PKEY_DEFAULT 0xffffu
#define ROCE_QKEY_GSI	  0x80010000u
#define ROCE_ICRC_BYTES	  4u
/* The bits of a traffic class that are no DSCP; all set: congestion experienced (RFC 3168). */
#define ROCE_TOS_ECN   0x03u
#define ROCE_TOS_ECT0  0x02u /* ECN-capable: whoever says so slows down when told of marks */
#define ROCE_TOS_CNP   0xc2u /* DSCP 48 and ECT(0), as hardware has it (W-CC-02) */
#define ROCE_MAD_BYTES 256u
#define ROCE_MTU_MAX   4096u
/* Ethernet + one VLAN tag + IPv6 + UDP + BTH + the longest extension headers (atomic). */
#define ROCE_HDR_MAX   (14u + 4u + 40u + 8u + 12u + 32u)
#define ROCE_FRAME_MAX (ROCE_HDR_MAX + ROCE_MTU_MAX + 3u + ROCE_ICRC_BYTES)
#define ROCE_MSG_MAX   (1u << 31) /* bytes in one message, W-REQ-02 */

/* A GID: an IPv6 address, or an IPv4 address as ::ffff:a.b.c.d (W-GID-01). */
struct roce_gid {
	uint8_t raw[16];
};

enum roce_opcode { /* whole BTH opcode byte, transport class included */
	ROCE_SEND_FIRST = 0x00,
	ROCE_SEND_MIDDLE = 0x01,
	ROCE_SEND_LAST = 0x02,
	ROCE_SEND_LAST_IMM = 0x03,
	ROCE_SEND_ONLY = 0x04,
	ROCE_SEND_ONLY_IMM = 0x05,
	ROCE_WRITE_FIRST = 0x06,
	ROCE_WRITE_MIDDLE = 0x07,
	ROCE_WRITE_LAST = 0x08,
	ROCE_WRITE_LAST_IMM = 0x09,
	ROCE_WRITE_ONLY = 0x0a,
	ROCE_WRITE_ONLY_IMM = 0x0b,
	ROCE_READ_REQUEST = 0x0c,
	ROCE_READ_RESP_FIRST = 0x0d,
	ROCE_READ_RESP_MIDDLE = 0x0e,
	ROCE_READ_RESP_LAST = 0x0f,
	ROCE_READ_RESP_ONLY = 0x10,
	ROCE_ACK = 0x11,
	ROCE_ATOMIC_ACK = 0x12,
	ROCE_CMP_SWAP = 0x13,
	ROCE_FETCH_ADD = 0x14,
	ROCE_SEND_LAST_INV = 0x16,
	ROCE_SEND_ONLY_INV = 0x17,
	ROCE_FLUSH = 0x1c,
	ROCE_ATOMIC_WRITE = 0x1d,
	ROCE_UD_SEND_ONLY = 0x64,
	ROCE_UD_SEND_ONLY_IMM = 0x65,
	ROCE_CNP = 0x81,
};

/* What an opcode is made of; roce_opcode_info[] has one entry per opcode byte. REQUEST and RESPONSE
 * mean RC: frames of UC and UD parse, but carry neither (W-PKT-10). */
enum {
	ROCE_OPF_VALID = 1u << 0,
	ROCE_OPF_REQUEST = 1u << 1,
	ROCE_OPF_RESPONSE = 1u << 2,
	ROCE_OPF_FIRST = 1u << 3, /* starts a message (FIRST or ONLY) */
	ROCE_OPF_LAST = 1u << 4,  /* ends a message (LAST or ONLY) */
	ROCE_OPF_RETH = 1u << 5,
	ROCE_OPF_AETH = 1u << 6,
	ROCE_OPF_ATOMIC = 1u << 7,
	ROCE_OPF_ATOMIC_ACK = 1u << 8,
	ROCE_OPF_IMM = 1u << 9,
	ROCE_OPF_IETH = 1u << 10,
	ROCE_OPF_DETH = 1u << 11,
	ROCE_OPF_FETH = 1u << 12,
	ROCE_OPF_PAYLOAD = 1u << 13, /* may carry payload */
	ROCE_OPF_SEND = 1u << 14,
	ROCE_OPF_WRITE = 1u << 15,
};
struct roce_opcode_desc {
	uint16_t flags;
	uint8_t hdr_bytes; /* BTH + extension headers */
	const char *name;  /* IBTA's name, e.g. "RC SEND First" */
};
extern const struct roce_opcode_desc roce_opcode_info[256];

/* AETH syndromes (W-AETH, table in 2.2). */
enum {
	ROCE_SYN_ACK = 0x1f, /* ACK, no credit limit */
	ROCE_SYN_RNR = 0x20, /* | timer code */
	ROCE_SYN_NAK_SEQ = 0x60,
	ROCE_SYN_NAK_INV_REQ = 0x61,
	ROCE_SYN_NAK_REM_ACCESS = 0x62,
	ROCE_SYN_NAK_REM_OP = 0x63,
};

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
	union { /* seldom asked for: as they stand in the BTH */
		uint8_t bth_bits[2];
		struct {
			uint8_t : 6;
			bool mig : 1, se : 1;
			uint8_t : 7;
			bool fecn : 1;
		};
	};
	uint16_t vlan_tci; /* of the innermost tag, 0 if untagged */
	uint16_t vlan;	   /* that it came in: 0: none; ROCE_VLAN_NOBODYS: two */
	bool tagged;
	uint8_t syndrome; /* AETH */
	union {		  /* other extension headers */
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

/* Source and destination GID of a parsed packet. */
void roce_pkt_src_gid(const struct roce_pkt *pkt, struct roce_gid *gid);
void roce_pkt_dst_gid(const struct roce_pkt *pkt, struct roce_gid *gid);

/* True if the ICRC behind the payload of a parsed packet is right (W-ICRC-05). */
bool roce_icrc_ok(const struct roce_pkt *pkt);

#define ROCE_HOP_LIMIT 64u /* of who has no other wish */

/* Where packets of one flow go: all that the lower headers need. */
struct roce_path {
	struct roce_gid sgid, dgid;
	uint8_t smac[6], dmac[6];
	uint16_t vlan_tci; /* used if tagged */
	bool tagged;
	bool class_priority; /* the priority in it is that of the traffic class */
	uint8_t tos, ttl;
	uint16_t udp_sport;
	uint32_t flow_label; /* IPv6, 20 bits */
};

/* The lower headers of a path, prepared once, patched per packet. */
struct roce_hdr_tmpl {
	uint8_t bytes[14 + 4 + 40 + 8];
	uint8_t len;	/* used bytes */
	uint8_t l3_off; /* where the IP header starts */
	bool v6 : 1, class_priority : 1;
	uint8_t tos;
	uint16_t vlan; /* 0: none */
	uint32_t csum; /* IPv4: ones' complement sum of the constant words */
};
void roce_hdr_tmpl_init(struct roce_hdr_tmpl *tmpl, const struct roce_path *path);

/*
 * Write the headers of pkt (opcode, se, mig, ackreq, becn, fecn, qpn, psn, pkey,
 * payload_bytes and the extension fields of its opcode) to buf, with final
 * lengths. Returns their size: the payload goes to buf + size, afterwards: this
 * may write over all ROCE_HDR_MAX bytes. ip_id is the IPv4 identification,
 * ignored for IPv6.
 */
uint32_t roce_wire_build(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, const struct roce_pkt *pkt, uint16_t ip_id);

/* Give the headers that roce_wire_build() wrote to buf another traffic class. */
void roce_wire_set_tos(uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint8_t tos);

/*
 * Write a congestion notification for the queue pair qpn at the other end (W-CC-02) to buf, as
 * roce_wire_build() does. Its priority in a VLAN is that of its class, unless the path has one for
 * all classes.
 */
uint32_t roce_wire_build_cnp(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint32_t qpn, uint16_t ip_id);

/*
 * Write pad and ICRC behind hdr_bytes of headers and payload_bytes of payload
 * at buf. Returns the frame's size. The CRC is taken over buf itself, so a
 * payload that its owner changes meanwhile can't make a wrong ICRC.
 */
uint32_t roce_wire_seal(
	uint8_t *buf, const struct roce_hdr_tmpl *tmpl, uint32_t hdr_bytes, uint32_t payload_bytes);

/* CRC-32 (IEEE 802.3, reflected), zlib's convention for crc; ISA-L behind it. */
uint32_t roce_crc32(uint32_t crc, const void *buf, size_t bytes);

/* PSN arithmetic (W-PSN-01): <0 older, 0 equal, >0 newer. */
static inline int32_t
roce_psn_diff(uint32_t a, uint32_t b)
{
	return (int32_t)((a - b) << 8) >> 8;
}
static inline uint32_t
roce_psn_add(uint32_t a, uint32_t n)
{
	return (a + n) & ROCE_PSN_MASK;
}

/* Wait that an RNR timer code asks for, in ns (2.2); code 0..31. */
uint64_t roce_rnr_ns(uint8_t code);
/* UDP source port of a flow label, or of the QPN pair if it is 0 (W-CM-71). */
uint16_t roce_flow_sport(uint32_t flow_label, uint32_t local_qpn, uint32_t remote_qpn);

bool roce_gid_is_v4(const struct roce_gid *gid);
void roce_gid_from_v4(struct roce_gid *gid, const uint8_t v4[4]);
static inline bool
roce_gid_equal(const struct roce_gid *a, const struct roce_gid *b)
{
	return __builtin_memcmp(a->raw, b->raw, 16) == 0;
}

#endif
