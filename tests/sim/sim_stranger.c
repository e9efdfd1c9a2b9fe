/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stranger in the network sends what no queue pair did, from addresses of others: datagrams with
 * the right key, which count like any other, and frames that must leave no trace.
 */
#include <stdlib.h>
#include <string.h>

#include "sim.h"

#define PAUSE_NS  (2 * SIM_MS)
#define VLAN_ZERO 0xe000u /* a priority, and no VLAN */

enum trick {
	HONEST,
	PRIORITY, /* tagged, in no VLAN */
	WRONG_KEY,
	PRIVILEGED_KEY,
	WRONG_ADDRESS,
	IN_A_VLAN,
	DAMAGED_PAYLOAD,
	CONNECTIONS_OPCODE,
	TO_CONNECTION,
	TRICKS,
};

struct forgery {
	struct roce_path path;
	struct roce_pkt pkt;
	uint8_t *data;
};

static void
apply(struct sim_world *w, enum trick trick, struct forgery *f)
{
	static const uint8_t opcodes[] = {ROCE_SEND_ONLY, ROCE_SEND_FIRST, ROCE_WRITE_ONLY,
		ROCE_READ_REQUEST, ROCE_ACK, ROCE_ATOMIC_ACK};

	switch (trick) {
	case PRIORITY:
	case IN_A_VLAN:
		f->path.tagged = true;
		f->path.vlan_tci = VLAN_ZERO;
		if (trick == IN_A_VLAN)
			f->path.vlan_tci |= (uint16_t)(1 + sim_below(w, 4094));
		break;
	case WRONG_KEY:
		f->pkt.qkey ^= 1u << sim_below(w, 32);
		break;
	case PRIVILEGED_KEY:
		f->pkt.qkey = ROCE_QKEY_GSI;
		break;
	case WRONG_ADDRESS:
		f->path.dgid.raw[15] ^= 0x10;
		break;
	case CONNECTIONS_OPCODE:
		f->pkt.opcode = opcodes[sim_below(w, sizeof(opcodes))];
		if (!(roce_opcode_info[f->pkt.opcode].flags & ROCE_OPF_PAYLOAD))
			f->pkt.payload_bytes = 0;
		break;
	case TO_CONNECTION:
		f->pkt.qpn = w->conns[sim_below(w, w->n_conns)].ep[sim_below(w, 2)].qpn;
		break;
	default:
		break;
	}
}

static void
deliver(struct sim_world *w, const struct forgery *f, enum trick trick, unsigned from)
{
	uint8_t *frame = sim_alloc(w, ROCE_FRAME_MAX);
	struct roce_hdr_tmpl tmpl;
	uint32_t hdr, bytes;

	roce_hdr_tmpl_init(&tmpl, &f->path);
	hdr = roce_wire_build(frame, &tmpl, &f->pkt, (uint16_t)f->pkt.psn);
	memcpy(frame + hdr, f->data, f->pkt.payload_bytes);
	bytes = roce_wire_seal(frame, &tmpl, hdr, f->pkt.payload_bytes);
	if (trick == DAMAGED_PAYLOAD && f->pkt.payload_bytes > 0) {
		frame[hdr + sim_below(w, f->pkt.payload_bytes)] ^= (uint8_t)(1u << sim_below(w, 8));
		w->net.corrupted++;
	}
	sim_net_send(w, from, frame, bytes);
}

static void
act(struct sim_world *w)
{
	const struct sim_ud *u = &w->uds[sim_below(w, w->n_uds)];
	unsigned from = (unsigned)sim_below(w, SIM_ADDRESSES);
	enum trick trick = sim_chance(w, 4000) ? HONEST : (enum trick)sim_below(w, TRICKS);
	struct forgery f = {
		.path = sim_path_to(&w->hosts[0], u->client->shard->host->address, u->v6),
		.pkt = {.opcode = ROCE_UD_SEND_ONLY_IMM,
			.qpn = u->qpn,
			.qkey = u->q_key,
			.psn = (uint32_t)sim_rand(w) & ROCE_PSN_MASK,
			.pkey = ROCE_PKEY_DEFAULT,
			.src_qpn = (uint32_t)sim_rand(w) & ROCE_QPN_MASK,
			.imm = (uint32_t)sim_rand(w),
			.se = sim_chance(w, 5000),
			.payload_bytes = (uint32_t)sim_below(w, SIM_MTU_MAX + 1)},
	};

	f.path.sgid = sim_path_to(&w->hosts[0], from, u->v6).dgid; /* any host, or none */
	f.path.ttl = (uint8_t)sim_rand(w);
	f.data = sim_random_bytes(w, f.pkt.payload_bytes);
	*sim_dgram_new(w) = (struct sim_dgram){.src_qpn = f.pkt.src_qpn,
		.psn = f.pkt.psn,
		.qpn = f.pkt.qpn,
		.q_key = f.pkt.qkey,
		.imm = f.pkt.imm,
		.bytes = f.pkt.payload_bytes,
		.has_imm = true,
		.se = f.pkt.se,
		.data = f.data};
	apply(w, trick, &f);
	sim_note(w, "stranger: trick %u on ud %u, %u bytes", trick, u->number, f.pkt.payload_bytes);
	deliver(w, &f, trick, 0);
}

uint64_t
sim_stranger_step(struct sim_world *w)
{
	return sim_now_and_then(w, act, &w->strangers, &w->stranger_ns, PAUSE_NS);
}
