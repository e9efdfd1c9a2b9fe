/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>

#include "rigs/overheard.h"

struct watched watched;

const struct watched_fatal_nak watched_fatal_naks[WATCHED_FATAL_NAKS] = {
	{ROCE_SYN_NAK_INV_REQ, NDSH_WC_REM_INV_REQ_ERR, ROCE_REASON_NAK_INV_REQ},
	{ROCE_SYN_NAK_REM_ACCESS, NDSH_WC_REM_ACCESS_ERR, ROCE_REASON_NAK_REM_ACCESS},
	{ROCE_SYN_NAK_REM_OP, NDSH_WC_REM_OP_ERR, ROCE_REASON_NAK_REM_OP},
};

static unsigned
watched_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct watched *w = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0 && w->n < WATCHED_MAX)
		w->pkt[w->n++] = *pkt;
	return !w->mute;
}

struct pair *
watched_pair(const struct pair_opts *opts, bool mute)
{
	struct pair_opts with = *opts;
	struct pair *p;

	if (!with.set_psn) {
		with.set_psn = true;
		with.sq_psn[0] = WATCHED_PSN;
		with.sq_psn[1] = 500;
	}
	p = pair_new(&with);
	watched.n = 0;
	watched.mute = mute;
	p->tap = watched_tap;
	p->tap_ctx = &watched;
	return p;
}

void
watched_answer(struct pair *p, uint8_t opcode, uint32_t psn, uint8_t syndrome)
{
	pair_inject(p, 0, 0,
		&(struct roce_pkt){.opcode = opcode,
			.qpn = roce_qp_num(p->side[0].q[0].qp),
			.psn = psn & ROCE_PSN_MASK,
			.pkey = ROCE_PKEY_DEFAULT,
			.syndrome = syndrome},
		NULL);
	pair_turn(p, 0);
}

static unsigned
ear_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct ear *e = ctx;

	(void)p;
	(void)late_ns;
	if (from == 0)
		return 1;
	if (e->n < EAR_MAX)
		e->said[e->n++] = *pkt;
	return !e->deaf && (e->lost == NULL || !e->lost(pkt));
}

struct pair *
ear_pair(struct ear *e, struct pair_opts opts)
{
	struct pair *p;

	if (opts.mtu == 0)
		opts.mtu = EAR_MTU;
	opts.set_psn = true;
	opts.sq_psn[0] = EAR_PSN;
	opts.sq_psn[1] = 5000;
	p = pair_new(&opts);
	*e = (struct ear){.n = 0};
	p->tap = ear_tap;
	p->tap_ctx = e;
	return p;
}

struct roce_pkt
ear_request(const struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes)
{
	return (struct roce_pkt){.opcode = opcode,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.psn = psn & ROCE_PSN_MASK,
		.pkey = ROCE_PKEY_DEFAULT,
		.ackreq = true,
		.payload_bytes = opcode == ROCE_READ_REQUEST ? 0 : bytes,
		.va = PAIR_VA,
		.rkey = p->side[1].key,
		.dma_bytes = bytes};
}

void
ear_answer(struct pair *p, uint32_t psn, uint8_t syndrome)
{
	watched_answer(p, ROCE_ACK, psn, syndrome);
}

unsigned
ear_pump(struct pair *p, unsigned from, unsigned n)
{
	static uint8_t room[32][ROCE_FRAME_MAX];
	struct roce_tx_slot slot[32];
	struct roce_pkt pkt;

	for (unsigned i = 0; i < n; i++)
		slot[i].buf = room[i];
	roce_shard_poll_rings(p->side[from].shard, p->now_ns, 64);
	n = roce_shard_tx(p->side[from].shard, p->now_ns, slot, n);
	for (unsigned i = 0; i < n; i++) {
		cr_assert_eq(roce_wire_parse(slot[i].buf, slot[i].len, &pkt), ROCE_WIRE_OK);
		pair_rx(p, !from, &pkt);
		p->now_ns += 100;
	}
	return n;
}
