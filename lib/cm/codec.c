/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>

#include "cm/codec.h"

#define MAD_HDR_BYTES	 24u
#define MSG_BYTES	 (ROCE_MAD_BYTES - MAD_HDR_BYTES)
#define MAD_BASE_VERSION 1u
#define CM_CLASS	 0x07u
#define CM_CLASS_VERSION 2u
#define MAD_METHOD_SEND	 0x03u
#define CM_ATTR_LAP	 0x19u
#define CM_ATTR_APR	 0x1au

/* Offsets in the MAD header. */
enum {
	OFF_BASE_VERSION = 0,
	OFF_CLASS = 1,
	OFF_CLASS_VERSION = 2,
	OFF_METHOD = 3,
	OFF_TID = 8,
	OFF_ATTR = 16,
};

/*
 * A field: bits wide, starting msb bits below the top of byte off of the message;
 * kept in the uint32_t, uint64_t or byte array of member_bytes at member.
 */
struct field {
	uint8_t off, msb, bits;
	uint8_t member_bytes;
	uint16_t member;
};

#define AT(m) (uint8_t)sizeof(((struct cm_mad *)0)->m), offsetof(struct cm_mad, m)
#define BITS(off, msb, w, m)                                                                       \
	{                                                                                          \
		off, msb, w, AT(m)                                                                 \
	}
#define BYTES(off, m)                                                                              \
	{                                                                                          \
		off, 0, 0, AT(m)                                                                   \
	}

static const struct field req_fields[] = {
	BITS(0, 0, 32, local_id),
	BITS(8, 0, 64, service_id),
	BITS(16, 0, 64, ca_guid),
	BITS(28, 0, 32, qkey),
	BITS(32, 0, 24, qpn),
	BITS(35, 0, 8, responder_resources),
	BITS(39, 0, 8, initiator_depth),
	BITS(43, 0, 5, remote_resp_timeout),
	BITS(43, 5, 2, transport),
	BITS(43, 7, 1, flow_control),
	BITS(44, 0, 24, psn),
	BITS(47, 0, 5, local_resp_timeout),
	BITS(47, 5, 3, retry_count),
	BITS(48, 0, 16, pkey),
	BITS(50, 0, 4, mtu),
	BITS(50, 5, 3, rnr_retry),
	BITS(51, 0, 4, max_retries),
	BITS(51, 4, 1, srq),
	BITS(51, 5, 3, ext_transport),
	BITS(52, 0, 16, slid),
	BITS(54, 0, 16, dlid),
	BYTES(56, sgid),
	BYTES(72, dgid),
	BITS(88, 0, 20, flow_label),
	BITS(91, 2, 6, rate),
	BITS(92, 0, 8, tclass),
	BITS(93, 0, 8, hop_limit),
	BITS(94, 0, 4, sl),
	BITS(94, 4, 1, subnet_local),
	BITS(95, 0, 5, ack_timeout),
};

static const struct field rep_fields[] = {
	BITS(0, 0, 32, local_id),
	BITS(4, 0, 32, remote_id),
	BITS(8, 0, 32, qkey),
	BITS(12, 0, 24, qpn),
	BITS(20, 0, 24, psn),
	BITS(24, 0, 8, responder_resources),
	BITS(25, 0, 8, initiator_depth),
	BITS(26, 0, 5, target_ack_delay),
	BITS(26, 5, 2, failover),
	BITS(26, 7, 1, flow_control),
	BITS(27, 0, 3, rnr_retry),
	BITS(27, 3, 1, srq),
	BITS(28, 0, 64, ca_guid),
};

static const struct field rtu_drep_fields[] = {
	BITS(0, 0, 32, local_id),
	BITS(4, 0, 32, remote_id),
};

static const struct field dreq_fields[] = {
	BITS(0, 0, 32, local_id),
	BITS(4, 0, 32, remote_id),
	BITS(8, 0, 24, qpn),
};

static const struct field rej_fields[] = {
	BITS(0, 0, 32, local_id),
	BITS(4, 0, 32, remote_id),
	BITS(8, 0, 2, which),
	BITS(9, 0, 7, ari_bytes),
	BITS(10, 0, 16, reason),
	BYTES(12, ari),
};

static const struct field mra_fields[] = {
	BITS(0, 0, 32, local_id),
	BITS(4, 0, 32, remote_id),
	BITS(8, 0, 2, which),
	BITS(9, 0, 5, service_timeout),
};

static const struct field sidr_req_fields[] = {
	BITS(0, 0, 32, local_id),
	BITS(4, 0, 16, pkey),
	BITS(8, 0, 64, service_id),
};

static const struct field sidr_rep_fields[] = {
	BITS(0, 0, 32, local_id),
	BITS(4, 0, 8, status),
	BITS(5, 0, 8, ari_bytes),
	BITS(8, 0, 24, qpn),
	BITS(12, 0, 64, service_id),
	BITS(20, 0, 32, qkey),
	BYTES(24, ari),
};

struct layout {
	const struct field *fields;
	uint8_t n_fields;
	uint8_t priv_off; /* private data: from here to the end of the message */
};
#define LAYOUT(f, priv)                                                                            \
	{                                                                                          \
		f, sizeof(f) / sizeof((f)[0]), priv                                                \
	}

static const struct layout layouts[] = {
	[CM_ATTR_REQ - CM_ATTR_REQ] = LAYOUT(req_fields, 140),
	[CM_ATTR_MRA - CM_ATTR_REQ] = LAYOUT(mra_fields, 10),
	[CM_ATTR_REJ - CM_ATTR_REQ] = LAYOUT(rej_fields, 84),
	[CM_ATTR_REP - CM_ATTR_REQ] = LAYOUT(rep_fields, 36),
	[CM_ATTR_RTU - CM_ATTR_REQ] = LAYOUT(rtu_drep_fields, 8),
	[CM_ATTR_DREQ - CM_ATTR_REQ] = LAYOUT(dreq_fields, 12),
	[CM_ATTR_DREP - CM_ATTR_REQ] = LAYOUT(rtu_drep_fields, 8),
	[CM_ATTR_SIDR_REQ - CM_ATTR_REQ] = LAYOUT(sidr_req_fields, 16),
	[CM_ATTR_SIDR_REP - CM_ATTR_REQ] = LAYOUT(sidr_rep_fields, 96),
};
_Static_assert(MSG_BYTES - 8 == CM_PRIV_BYTES, "RTU has the longest private data");

static uint64_t
get_be(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

static void
put_be(uint8_t *p, unsigned bytes, uint64_t v)
{
	for (unsigned i = bytes; i-- > 0; v >>= 8)
		p[i] = (uint8_t)v;
}

/* The bytes that a bit field touches, and how far its last bit is from their end. */
static unsigned
field_bytes(const struct field *f)
{
	return (f->msb + f->bits + 7u) / 8;
}

static unsigned
field_shift(const struct field *f)
{
	return field_bytes(f) * 8 - f->msb - f->bits;
}

static uint64_t
field_mask(const struct field *f)
{
	return UINT64_MAX >> (64 - f->bits);
}

static void
field_decode(const struct field *f, const uint8_t *msg, struct cm_mad *m)
{
	uint8_t *member = (uint8_t *)m + f->member;
	uint64_t v;
	uint32_t v32;

	if (f->bits == 0) {
		memcpy(member, msg + f->off, f->member_bytes);
		return;
	}
	v = get_be(msg + f->off, field_bytes(f)) >> field_shift(f) & field_mask(f);
	v32 = (uint32_t)v;
	if (f->member_bytes == sizeof(v))
		memcpy(member, &v, sizeof(v));
	else
		memcpy(member, &v32, sizeof(v32));
}

static void
field_encode(const struct field *f, uint8_t *msg, const struct cm_mad *m)
{
	const uint8_t *member = (const uint8_t *)m + f->member;
	uint64_t v = 0, around;
	uint32_t v32;

	if (f->bits == 0) {
		memcpy(msg + f->off, member, f->member_bytes);
		return;
	}
	if (f->member_bytes == sizeof(v)) {
		memcpy(&v, member, sizeof(v));
	} else {
		memcpy(&v32, member, sizeof(v32));
		v = v32;
	}
	around = get_be(msg + f->off, field_bytes(f));
	put_be(msg + f->off, field_bytes(f), around | (v & field_mask(f)) << field_shift(f));
}

static const struct layout *
layout_of(uint32_t attr)
{
	if (attr < CM_ATTR_REQ || attr > CM_ATTR_SIDR_REP)
		return NULL;
	return &layouts[attr - CM_ATTR_REQ];
}

enum cm_decode
cm_mad_decode(struct cm_mad *m, const uint8_t mad[ROCE_MAD_BYTES])
{
	const uint8_t *msg = mad + MAD_HDR_BYTES;
	const struct layout *l;

	memset(m, 0, sizeof(*m));
	if (mad[OFF_BASE_VERSION] != MAD_BASE_VERSION)
		return CM_DECODE_MALFORMED;
	if (mad[OFF_CLASS] != CM_CLASS)
		return CM_DECODE_FOREIGN;
	if (mad[OFF_CLASS_VERSION] != CM_CLASS_VERSION || mad[OFF_METHOD] != MAD_METHOD_SEND)
		return CM_DECODE_MALFORMED;
	m->tid = get_be(mad + OFF_TID, 8);
	m->attr = (uint32_t)get_be(mad + OFF_ATTR, 2);
	if (m->attr == CM_ATTR_LAP || m->attr == CM_ATTR_APR)
		return CM_DECODE_FOREIGN;
	l = layout_of(m->attr);
	if (l == NULL)
		return CM_DECODE_MALFORMED;
	for (unsigned i = 0; i < l->n_fields; i++)
		field_decode(&l->fields[i], msg, m);
	m->priv_bytes = MSG_BYTES - l->priv_off;
	memcpy(m->priv, msg + l->priv_off, m->priv_bytes);
	return m->ari_bytes <= CM_ARI_BYTES ? CM_DECODE_OK : CM_DECODE_MALFORMED;
}

void
cm_mad_encode(uint8_t mad[ROCE_MAD_BYTES], const struct cm_mad *m)
{
	const struct layout *l = layout_of(m->attr);
	uint8_t *msg = mad + MAD_HDR_BYTES;

	memset(mad, 0, ROCE_MAD_BYTES);
	mad[OFF_BASE_VERSION] = MAD_BASE_VERSION;
	mad[OFF_CLASS] = CM_CLASS;
	mad[OFF_CLASS_VERSION] = CM_CLASS_VERSION;
	mad[OFF_METHOD] = MAD_METHOD_SEND;
	put_be(mad + OFF_TID, 8, m->tid);
	put_be(mad + OFF_ATTR, 2, m->attr);
	for (unsigned i = 0; i < l->n_fields; i++)
		field_encode(&l->fields[i], msg, m);
	memcpy(msg + l->priv_off, m->priv, MSG_BYTES - l->priv_off);
}

/* ---- RDMA IP CM header (annex A11) ---- */

enum {
	OFF_IP_VERSION = 1,
	OFF_IP_PORT = 2,
	OFF_IP_SRC = 4,
	OFF_IP_DST = 20,
};

static bool
ip_addr_decode(struct roce_gid *gid, const uint8_t *bytes, bool v6)
{
	if (v6) {
		memcpy(gid->raw, bytes, 16);
		return !roce_gid_is_v4(gid);
	}
	roce_gid_from_v4(gid, bytes + 12);
	return true;
}

static void
ip_addr_encode(uint8_t *bytes, const struct roce_gid *gid)
{
	if (roce_gid_is_v4(gid))
		memcpy(bytes + 12, gid->raw + 12, 4);
	else
		memcpy(bytes, gid->raw, 16);
}

bool
cm_ip_hdr_decode(struct cm_ip_hdr *h, const uint8_t bytes[CM_IP_HDR_BYTES])
{
	const unsigned family = bytes[OFF_IP_VERSION] >> 4;

	if (bytes[0] != 0 || (family != 4 && family != 6))
		return false;
	h->src_port = (uint16_t)get_be(bytes + OFF_IP_PORT, 2);
	return ip_addr_decode(&h->src, bytes + OFF_IP_SRC, family == 6) &&
	       ip_addr_decode(&h->dst, bytes + OFF_IP_DST, family == 6);
}

void
cm_ip_hdr_encode(uint8_t bytes[CM_IP_HDR_BYTES], const struct cm_ip_hdr *h)
{
	memset(bytes, 0, CM_IP_HDR_BYTES);
	bytes[OFF_IP_VERSION] = roce_gid_is_v4(&h->src) ? 0x40 : 0x60;
	put_be(bytes + OFF_IP_PORT, 2, h->src_port);
	ip_addr_encode(bytes + OFF_IP_SRC, &h->src);
	ip_addr_encode(bytes + OFF_IP_DST, &h->dst);
}
