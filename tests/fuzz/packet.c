/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The peer of each queue pair, which sends any packet. A packet begins as one that fits: from the
 * peer's address, with the number of the queue pair and a PSN near the one that comes next; its
 * ICRC is right unless the input wants it wrong.
 */
#include <string.h>

#include "roce/qp/qp.h"
#include "wire/icrc.h"
#include "world.h"

#define PAYLOAD_MAX (2u * WORLD_MTU)
#define FILL	    0x5a /* of payloads: not WORLD_SECRET */
#define PSN_ANY	    127

enum damage { /* of one packet in two */
	WRONG_ICRC,
	WRONG_PKEY,
	WRONG_ADDRESS,
	WRONG_VLAN,
	WRONG_BYTES, /* before the ICRC is taken */
	WRONG_PAD,
	TOO_SHORT,
	CONGESTED,
	OTHER_PORT, /* UDP's */
	DAMAGES = 16,
};

static const uint8_t opcodes[] = {ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST,
	ROCE_SEND_LAST_IMM, ROCE_SEND_ONLY, ROCE_SEND_ONLY_IMM, ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE,
	ROCE_WRITE_LAST, ROCE_WRITE_LAST_IMM, ROCE_WRITE_ONLY, ROCE_WRITE_ONLY_IMM,
	ROCE_READ_REQUEST, ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE, ROCE_READ_RESP_LAST,
	ROCE_READ_RESP_ONLY, ROCE_ACK, ROCE_ATOMIC_ACK, ROCE_CMP_SWAP, ROCE_FETCH_ADD,
	ROCE_SEND_LAST_INV, ROCE_SEND_ONLY_INV, ROCE_FLUSH, ROCE_ATOMIC_WRITE, ROCE_UD_SEND_ONLY,
	ROCE_UD_SEND_ONLY_IMM, ROCE_CNP, ROCE_ACK, ROCE_ACK};

static uint32_t
some_payload(struct fuzz_in *in)
{
	static const uint16_t sizes[] = {
		0, 1, 3, 4, 8, WORLD_MTU, WORLD_MTU, WORLD_MTU - 1, WORLD_MTU + 1, WORLD_MTU + 4};
	unsigned which = fuzz_below(in, 16);

	return which < 10 ? sizes[which] : (uint32_t)fuzz_take(in, 2) % PAYLOAD_MAX;
}

/* Requests: the next one, or so many away from it; responses: to the newest packet. */
static uint32_t
some_psn(struct world *w, const struct roce_qp *qp, uint32_t opflags)
{
	int8_t away = (int8_t)fuzz_take(w->in, 1);
	struct roce_qp_attr a;

	(void)roce_qp_query(qp, &a);
	if (away == PSN_ANY)
		return (uint32_t)fuzz_take(w->in, 3);
	if (opflags & ROCE_OPF_RESPONSE)
		return (a.sq_psn - 1u + (uint32_t)away) & ROCE_PSN_MASK;
	return (a.rq_psn + (uint32_t)away) & ROCE_PSN_MASK;
}

static void
ext_choose(struct world *w, struct roce_pkt *pkt, uint32_t f)
{
	if (f & (ROCE_OPF_RETH | ROCE_OPF_ATOMIC)) {
		pkt->va = world_va(w);
		pkt->rkey = world_key(w);
	}
	if (f & ROCE_OPF_RETH) {
		pkt->dma_bytes = (uint32_t)fuzz_take(w->in, 2);
		if (pkt->dma_bytes == 0)
			pkt->dma_bytes = pkt->payload_bytes;
		else if (pkt->dma_bytes == 0xffff)
			pkt->dma_bytes = (uint32_t)fuzz_take(w->in, 4);
	}
	if (f & ROCE_OPF_ATOMIC) {
		pkt->swap_add = fuzz_take(w->in, 1);
		pkt->compare = fuzz_take(w->in, 1) * UINT64_C(0x0101010101010101);
	}
	if (f & ROCE_OPF_AETH) {
		pkt->syndrome = (uint8_t)fuzz_take(w->in, 1);
		pkt->msn = (uint32_t)fuzz_take(w->in, 1);
	}
	if (f & ROCE_OPF_IETH)
		pkt->ieth = world_key(w);
	if (f & ROCE_OPF_IMM)
		pkt->imm = 7;
	if (f & ROCE_OPF_DETH) {
		pkt->qkey = fuzz_below(w->in, 8) ? WORLD_Q_KEY : (uint32_t)fuzz_take(w->in, 4);
		pkt->src_qpn =
			fuzz_below(w->in, 2) ? WORLD_PEER_QPN : roce_qp_num(w->q[WORLD_UD].qp);
	}
}

static void
path_to(struct world *w, unsigned which, struct roce_path *p)
{
	const uint8_t group[4] = {239, 1, 2, 3};
	struct roce_qp_attr a;

	world_attr(w, which < WORLD_QPS ? which : WORLD_UD, &a);
	*p = world_path_back(&a.path);
	if (which > WORLD_QPS)
		roce_gid_from_v4(&p->dgid, group);
}

static void
damage_before(struct world *w, enum damage d, struct roce_pkt *pkt, struct roce_path *path)
{
	if (d == WRONG_PKEY)
		pkt->pkey = (uint16_t)fuzz_take(w->in, 2);
	else if (d == WRONG_ADDRESS)
		path->sgid.raw[14] ^= 1;
	else if (d == WRONG_VLAN) {
		path->tagged = true;
		path->vlan_tci = (uint16_t)fuzz_take(w->in, 1);
	} else if (d == CONGESTED) {
		path->tos |= ROCE_TOS_ECN;
		pkt->fecn = true;
	} else if (d == OTHER_PORT) {
		path->udp_sport ^= 1;
	}
}

/* Bytes behind the lower headers are anything; the ICRC is that of the result. */
static uint32_t
damage_after(struct world *w, enum damage d, uint8_t *f, const struct roce_hdr_tmpl *t,
	uint32_t hdr, uint32_t payload)
{
	uint32_t n;

	if (d == WRONG_BYTES) {
		for (unsigned k = 1 + fuzz_below(w->in, 3); k > 0; k--) {
			unsigned at = fuzz_below(w->in, 48);

			if (t->len + at < hdr)
				f[t->len + at] = (uint8_t)fuzz_take(w->in, 1);
		}
	}
	if (d == WRONG_PAD)
		f[t->len + 1] ^= (uint8_t)((1 + fuzz_below(w->in, 3)) << 4);
	n = roce_wire_seal(f, t, hdr, payload);
	if (d == WRONG_ICRC)
		f[n - 1] ^= 1;
	if (d == TOO_SHORT)
		n -= 1 + fuzz_below(w->in, 64) % n;
	return n;
}

enum roce_wire_err
world_frame(struct world *w, const uint8_t *frame, uint32_t n)
{
	uint8_t *exact = fuzz_copy(frame, n);
	const struct roce_group *g;
	enum roce_wire_err err;
	struct roce_pkt pkt;

	err = roce_wire_parse(exact, n, &pkt);
	if (err == ROCE_WIRE_OK && pkt.qpn != ROCE_QPN_MULTICAST) {
		uint32_t place = roce_qpn_place(&w->qpn_key, pkt.qpn);

		roce_shard_rx(w->s, w->now_ns, &pkt, roce_shard_rx_seek(w->s, place, &pkt));
	} else if (err == ROCE_WIRE_OK) {
		g = roce_groups_find(w->groups, &pkt, 0);
		if (g != NULL)
			roce_shard_multicast(w->s, w->now_ns, &pkt, w->groups, g);
	}
	free(exact);
	return err;
}

/* What is dropped for its UDP port leaves the queue pair as it is (W-PKT-06). */
static void
frame_for(struct world *w, const struct roce_qp *qp, const uint8_t *frame, uint32_t n)
{
	const struct roce_counters *c = roce_shard_counters(w->s);
	uint64_t dropped = c->rx_wrong_source_port;
	struct roce_qp before = *qp;

	(void)world_frame(w, frame, n);
	fuzz_need(c->rx_wrong_source_port == dropped || memcmp(&before, qp, sizeof(before)) == 0,
		"another packet, and it left a trace");
}

void
world_raw_frame(struct world *w)
{
	uint32_t n = (uint32_t)fuzz_take(w->in, 2);

	if (n > fuzz_left(w->in))
		n = (uint32_t)fuzz_left(w->in);
	(void)world_frame(w, w->in->at, n);
	w->in->at += n;
}

void
world_packet(struct world *w)
{
	static uint8_t frame[ROCE_HDR_MAX + PAYLOAD_MAX + 8];
	unsigned which = fuzz_below(w->in, WORLD_QPS + 2), op = fuzz_below(w->in, 31);
	unsigned bits = fuzz_below(w->in, 256);
	struct roce_pkt pkt = {.pkey = ROCE_PKEY_DEFAULT,
		.qpn = (uint32_t)(which < WORLD_QPS    ? roce_qp_num(w->q[which].qp)
				  : which == WORLD_QPS ? fuzz_take(w->in, 3)
						       : ROCE_QPN_MULTICAST),
		.ackreq = bits & 1,
		.se = bits >> 1 & 1,
		.becn = (bits >> 2 & 7) == 7};
	enum damage damage = bits >> 5 & 1 ? fuzz_below(w->in, DAMAGES) : DAMAGES;
	const struct roce_qp *qp = w->q[which < WORLD_QPS ? which : WORLD_RTS].qp;
	struct roce_hdr_tmpl tmpl;
	struct roce_path path;
	uint32_t f, hdr;

	pkt.opcode = op < sizeof(opcodes) ? opcodes[op] : (uint8_t)fuzz_take(w->in, 1);
	if (w->unreliable && !(bits & 0x40) && (pkt.opcode & ROCE_CLASS_MASK) == 0)
		pkt.opcode |= ROCE_CLASS_UC;
	f = roce_opcode_info[pkt.opcode].flags;
	pkt.psn = some_psn(w, qp, f);
	if (f & ROCE_OPF_PAYLOAD)
		pkt.payload_bytes = some_payload(w->in);
	ext_choose(w, &pkt, f);
	path_to(w, which, &path);
	damage_before(w, damage, &pkt, &path);
	roce_hdr_tmpl_init(&tmpl, &path);
	memset(frame, 0, ROCE_HDR_MAX);
	hdr = roce_wire_build(frame, &tmpl, &pkt, 7);
	memset(frame + hdr, FILL, pkt.payload_bytes + 8);
	frame_for(w, qp, frame, damage_after(w, damage, frame, &tmpl, hdr, pkt.payload_bytes));
}
