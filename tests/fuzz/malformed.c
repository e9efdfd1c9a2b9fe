/* SPDX-License-Identifier: BSD-3-Clause */
#include "malformed.h"

#include <string.h>

#include "base/bytes.h"
#include "wire/icrc.h"

#define CUTS 12u

const char *const fate_names[FATES] = {
	[ROCE_WIRE_NOT_ROCE] = "parser: no RoCEv2",
	[ROCE_WIRE_TRUNCATED] = "parser: truncated",
	[ROCE_WIRE_IP_HEADER] = "parser: IP header",
	[ROCE_WIRE_LENGTH] = "parser: length",
	[ROCE_WIRE_TVER] = "parser: version",
	[ROCE_WIRE_OPCODE] = "parser: opcode",
	[ROCE_WIRE_PKEY] = "parser: partition",
	[FATE_UNKNOWN_QPN] = "unknown queue pair",
	[FATE_WRONG_CLASS] = "wrong class",
	[FATE_WRONG_STATE] = "wrong state",
	[FATE_WRONG_ADDRESS] = "wrong address",
	[FATE_WRONG_VLAN] = "wrong VLAN",
	[FATE_WRONG_Q_KEY] = "wrong Q_Key",
	[FATE_WRONG_ICRC] = "wrong ICRC",
	[FATE_DUPLICATE] = "duplicate",
	[FATE_OUT_OF_SEQUENCE] = "out of sequence",
	[FATE_GHOST] = "ghost response",
	[FATE_NO_RECEIVE] = "datagram without a receive",
	[FATE_NOT_READY] = "receiver not ready",
	[FATE_REFUSED] = "refused",
	[FATE_TAKEN] = "taken",
};

/* ---- which there are ------------------------------------------------------------------------- */

static uint32_t
flags_of(const struct malformed *m)
{
	return roce_opcode_info[m->opcode].flags;
}

static bool
has_address(const struct malformed *m)
{
	return flags_of(m) & (ROCE_OPF_RETH | ROCE_OPF_ATOMIC);
}

/* How many variants a rule has for that opcode and queue pair; opcodes that there are not are for
 * the first rule alone. */
static unsigned
rule_variants(const struct malformed *m)
{
	if (m->rule != RULE_NONE && !(flags_of(m) & ROCE_OPF_VALID))
		return 0;
	switch (m->rule) {
	case RULE_CUT:
		return CUTS;
	case RULE_PAD:
	case RULE_PAYLOAD:
		return 3;
	case RULE_PSN:
		return 4;
	case RULE_UDP_LENGTH:
		return 2;
	case RULE_Q_KEY:
		return flags_of(m) & ROCE_OPF_DETH ? 1 : 0;
	case RULE_KEY:
	case RULE_RANGE:
		return has_address(m) ? 3 : 0;
	default:
		return 1;
	}
}

static bool
malformed_step(struct malformed *m)
{
	if (++m->variant < rule_variants(m))
		return true;
	m->variant = 0;
	if (++m->rule < RULES)
		return true;
	m->rule = RULE_NONE;
	if (++m->qp < WORLD_QPS)
		return true;
	m->qp = 0;
	return ++m->opcode < 256;
}

bool
malformed_next(struct malformed *m)
{
	do {
		if (!malformed_step(m))
			return false;
	} while (m->variant >= rule_variants(m));
	return true;
}

/* ---- frames ---------------------------------------------------------------------------------- */

/* Of a packet that fits: first and middle ones have a path MTU, a message ends with 8 bytes. */
static uint32_t
payload_that_fits(const struct malformed *m)
{
	uint32_t f = flags_of(m);

	if (!(f & ROCE_OPF_PAYLOAD))
		return 0;
	return f & ROCE_OPF_LAST || !(f & (ROCE_OPF_SEND | ROCE_OPF_WRITE)) ? 8 : WORLD_MTU;
}

static uint32_t
payload_of(const struct malformed *m)
{
	static const int32_t more[] = {4, -4, 2 * (int32_t)WORLD_MTU};

	if (m->rule != RULE_PAYLOAD)
		return payload_that_fits(m);
	if (!(flags_of(m) & ROCE_OPF_PAYLOAD))
		return 4 + 4 * m->variant;
	return payload_that_fits(m) + (uint32_t)more[m->variant];
}

static uint32_t
dma_of(const struct malformed *m)
{
	uint32_t f = flags_of(m);

	return f & ROCE_OPF_LAST ? 8 : 2 * WORLD_MTU;
}

static uint32_t
psn_of(const struct malformed *m, const struct roce_qp_attr *a)
{
	static const uint32_t away[] = {1, 0x7fffff, ROCE_PSN_MASK, 0x800001};
	uint32_t psn = flags_of(m) & ROCE_OPF_RESPONSE ? a->sq_psn - 1u : a->rq_psn;

	return (psn + (m->rule == RULE_PSN ? away[m->variant] : 0)) & ROCE_PSN_MASK;
}

static uint32_t
key_of(const struct world *w, const struct malformed *m)
{
	if (m->rule != RULE_KEY)
		return w->rw_key;
	return m->variant == 0 ? w->rw_key ^ 1 : m->variant == 1 ? w->neighbour_key : 0;
}

/* One byte before the region, one behind it, and far away. */
static uint64_t
va_of(const struct malformed *m)
{
	const uint64_t region = WORLD_VA + WORLD_AT_RW * WORLD_PAGE, end = region + 4 * WORLD_PAGE;
	uint32_t step = flags_of(m) & ROCE_OPF_ATOMIC ? 8 : 1;

	if (m->rule != RULE_RANGE)
		return region;
	return m->variant == 0	 ? region - step
	       : m->variant == 1 ? end - dma_of(m) + step
				 : UINT64_MAX - 7;
}

static struct roce_pkt
pkt_of(const struct world *w, const struct malformed *m, const struct roce_qp_attr *a)
{
	bool known = flags_of(m) & ROCE_OPF_VALID;

	return (struct roce_pkt){.opcode = known ? (uint8_t)m->opcode : ROCE_SEND_ONLY,
		.qpn = roce_qp_num(w->q[m->qp].qp) ^ (m->rule == RULE_QPN ? 0x800000u : 0),
		.psn = psn_of(m, a),
		.pkey = m->rule == RULE_PARTITION ? 0x7ffe : ROCE_PKEY_DEFAULT,
		.ackreq = true,
		.payload_bytes = payload_of(m),
		.va = va_of(m),
		.rkey = key_of(w, m),
		.dma_bytes = dma_of(m),
		.ieth = w->rw_key,
		.qkey = WORLD_Q_KEY ^ (m->rule == RULE_Q_KEY)};
}

/* A header with another number of bytes than all lengths told; the IPv4 checksum follows. */
static void
lengths_shrink(uint8_t *frame, const struct roce_hdr_tmpl *t, uint32_t bytes, bool of_udp_alone)
{
	uint8_t *ip = frame + t->l3_off, *udp = frame + t->len - ROCE_UDP_BYTES;
	uint8_t *length = ip + (t->v6 ? 4 : 2);
	uint32_t sum = 0;

	roce_put_be16(udp + 4, (uint16_t)(roce_get_be16(udp + 4) - bytes));
	if (of_udp_alone)
		return;
	roce_put_be16(length, (uint16_t)(roce_get_be16(length) - bytes));
	if (t->v6)
		return;
	roce_put_be16(ip + 10, 0);
	for (unsigned i = 0; i < ROCE_IPV4_BYTES; i += 2)
		sum += roce_get_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	roce_put_be16(ip + 10, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
}

static uint32_t
cut_at(const struct roce_hdr_tmpl *t, uint32_t hdr, uint32_t n, unsigned variant)
{
	const uint32_t at[CUTS] = {0, ROCE_ETH_BYTES - 1, t->l3_off, t->l3_off + 1,
		t->len - ROCE_UDP_BYTES - 1, t->len - ROCE_UDP_BYTES, t->len - 1, t->len,
		t->len + ROCE_BTH_BYTES - 1, hdr, n - ROCE_ICRC_BYTES, n - 1};

	return at[variant];
}

uint32_t
malformed_build(const struct world *w, const struct malformed *m, uint8_t frame[ROCE_FRAME_MAX])
{
	struct roce_hdr_tmpl tmpl;
	struct roce_qp_attr a;
	struct roce_path path;
	struct roce_pkt pkt;
	uint32_t hdr, n;

	world_attr(w, m->qp, &a);
	pkt = pkt_of(w, m, &a);
	path = world_path_back(&a.path);
	if (m->rule == RULE_ADDRESS) /* datagrams may come from anywhere, not to anywhere */
		(m->qp == WORLD_UD ? &path.dgid : &path.sgid)->raw[14] ^= 1;
	if (m->rule == RULE_VLAN) {
		path.tagged = true;
		path.vlan_tci ^= 7;
	}
	roce_hdr_tmpl_init(&tmpl, &path);
	memset(frame, 0, ROCE_FRAME_MAX);
	hdr = roce_wire_build(frame, &tmpl, &pkt, 7);
	frame[tmpl.len] = (uint8_t)m->opcode;
	if (m->rule == RULE_VERSION)
		frame[tmpl.len + 1] |= 1;
	if (m->rule == RULE_PAD)
		frame[tmpl.len + 1] ^= (uint8_t)((m->variant + 1) << 4);
	if (m->rule == RULE_UDP_LENGTH)
		lengths_shrink(frame, &tmpl, m->variant == 0 ? 4 : (uint32_t)-4, true);
	if (m->rule == RULE_SHORT_HEADER)
		lengths_shrink(frame, &tmpl, pkt.payload_bytes + 4, false);
	n = roce_wire_seal(frame, &tmpl, hdr, pkt.payload_bytes);
	if (m->rule == RULE_ICRC)
		frame[n - 1] ^= 0x80;
	return m->rule == RULE_CUT ? cut_at(&tmpl, hdr, n, m->variant) : n;
}

/* ---- what has to become of them -------------------------------------------------------------- */

static enum fate
fate_at_parser(const struct malformed *m)
{
	uint32_t f = flags_of(m);

	if (m->rule == RULE_CUT)
		return FATE_PARSER + ROCE_WIRE_TRUNCATED;
	if (m->rule == RULE_UDP_LENGTH) /* W-PKT-05 */
		return FATE_PARSER + ROCE_WIRE_LENGTH;
	if (m->rule == RULE_VERSION) /* W-PKT-11 */
		return FATE_PARSER + ROCE_WIRE_TVER;
	if (!(f & ROCE_OPF_VALID)) /* W-PKT-08 */
		return FATE_PARSER + ROCE_WIRE_OPCODE;
	if (m->rule == RULE_SHORT_HEADER) /* W-PKT-09 */
		return FATE_PARSER + ROCE_WIRE_LENGTH;
	if ((m->rule == RULE_PAD || m->rule == RULE_PAYLOAD) && !(f & ROCE_OPF_PAYLOAD))
		return FATE_PARSER + ROCE_WIRE_LENGTH;
	if (m->rule == RULE_PARTITION && m->opcode != ROCE_CNP) /* W-PKT-12, W-CC-03 */
		return FATE_PARSER + ROCE_WIRE_PKEY;
	return FATE_PARSER + ROCE_WIRE_OK;
}

/* Of a packet for a queue pair of its class, in a state for it; FATE_TAKEN: its own. */
static enum fate
fate_at_gates(const struct malformed *m)
{
	switch (m->rule) {
	case RULE_ADDRESS: /* W-PKT-14 */
		return FATE_WRONG_ADDRESS;
	case RULE_VLAN: /* W-PKT-02 */
		return FATE_WRONG_VLAN;
	case RULE_Q_KEY: /* W-PKT-13 */
		return FATE_WRONG_Q_KEY;
	case RULE_ICRC: /* W-ICRC-05 */
		return FATE_WRONG_ICRC;
	default:
		return FATE_TAKEN;
	}
}

/* The payload that the receiver sees: a pad count more is a byte less. */
static uint32_t
payload_seen(const struct malformed *m)
{
	return payload_of(m) - (m->rule == RULE_PAD ? m->variant + 1 : 0);
}

/* A WRITE that begins a message (W-RESP-09). */
static bool
write_fits(const struct malformed *m)
{
	return payload_seen(m) == (flags_of(m) & ROCE_OPF_LAST ? dma_of(m) : WORLD_MTU);
}

/* The next request that the responder expects, before any other (W-RESP). */
static enum fate
fate_of_request(const struct malformed *m)
{
	uint32_t f = flags_of(m);
	bool fetches = m->opcode == ROCE_READ_REQUEST || (f & ROCE_OPF_ATOMIC);

	if (!(f & ROCE_OPF_FIRST)) /* no message is under way */
		return FATE_REFUSED;
	if (!(f & (ROCE_OPF_SEND | ROCE_OPF_WRITE)) && !fetches) /* W-PKT-08 */
		return FATE_REFUSED;
	/* There is no receive: that is seen before lengths and keys (W-RESP-08). */
	if (f & (ROCE_OPF_SEND | ROCE_OPF_IMM))
		return FATE_NOT_READY;
	if (!fetches && !write_fits(m))
		return FATE_REFUSED;
	if (has_address(m) && (m->rule == RULE_KEY || m->rule == RULE_RANGE))
		return FATE_REFUSED;
	return FATE_TAKEN;
}

static enum fate
fate_of_connection(const struct malformed *m)
{
	uint32_t f = flags_of(m);
	bool at_responder = m->qp != WORLD_INIT && m->qp != WORLD_ERR;
	bool cnp = m->opcode == ROCE_CNP, request = f & ROCE_OPF_REQUEST;

	if (m->qp == WORLD_ERR && (f & ROCE_OPF_DETH)) /* those of datagrams end in it as well */
		return FATE_WRONG_STATE;
	if (!(f & (ROCE_OPF_REQUEST | ROCE_OPF_RESPONSE)) && !cnp) /* W-PKT-10 */
		return FATE_WRONG_CLASS;
	if (!at_responder || ((f & ROCE_OPF_RESPONSE) && m->qp == WORLD_RTR)) /* W-PKT-15 */
		return FATE_WRONG_STATE;
	if (fate_at_gates(m) != FATE_TAKEN)
		return fate_at_gates(m);
	if (cnp)
		return FATE_TAKEN;
	if (!request) /* nothing is outstanding (W-COMP-01) */
		return FATE_GHOST;
	if (m->rule == RULE_PSN)
		return m->variant < 2 ? FATE_OUT_OF_SEQUENCE : FATE_DUPLICATE;
	return fate_of_request(m);
}

enum fate
malformed_fate(const struct malformed *m)
{
	if (fate_at_parser(m) != FATE_PARSER + ROCE_WIRE_OK)
		return fate_at_parser(m);
	if (m->rule == RULE_QPN)
		return FATE_UNKNOWN_QPN;
	if (m->qp != WORLD_UD)
		return fate_of_connection(m);
	if (!(flags_of(m) & ROCE_OPF_DETH))
		return FATE_WRONG_CLASS;
	return fate_at_gates(m) != FATE_TAKEN ? fate_at_gates(m) : FATE_NO_RECEIVE;
}

/* ---- what has become of them ----------------------------------------------------------------- */

static enum fate
fate_counted(const struct roce_counters *c)
{
	const struct {
		uint64_t count;
		enum fate fate;
	} counters[] = {
		{c->rx_unknown_qpn, FATE_UNKNOWN_QPN},
		{c->rx_wrong_class, FATE_WRONG_CLASS},
		{c->rx_wrong_state, FATE_WRONG_STATE},
		{c->rx_wrong_address, FATE_WRONG_ADDRESS},
		{c->rx_wrong_vlan, FATE_WRONG_VLAN},
		{c->rx_wrong_q_key, FATE_WRONG_Q_KEY},
		{c->rx_icrc_error, FATE_WRONG_ICRC},
		{c->rx_duplicate, FATE_DUPLICATE},
		{c->rx_out_of_sequence, FATE_OUT_OF_SEQUENCE},
		{c->rx_ghost_response, FATE_GHOST},
		{c->rx_datagram_no_receive, FATE_NO_RECEIVE},
		{c->tx_rnr, FATE_NOT_READY},
		{c->tx_nak_fatal, FATE_REFUSED},
	};
	enum fate fate = FATE_TAKEN;

	for (unsigned i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (counters[i].count == 0)
			continue;
		if (counters[i].count > 1 || fate != FATE_TAKEN)
			return FATES;
		fate = counters[i].fate;
	}
	return fate;
}

enum fate
malformed_arrives(struct world *w, const uint8_t *frame, uint32_t bytes)
{
	enum roce_wire_err err = world_frame(w, frame, bytes);

	world_turn(w);
	return err != ROCE_WIRE_OK ? FATE_PARSER + err : fate_counted(roce_shard_counters(w->s));
}
