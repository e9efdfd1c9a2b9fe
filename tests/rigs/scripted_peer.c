/* SPDX-License-Identifier: BSD-3-Clause */
#include <criterion/criterion.h>
#include <string.h>

#include "rigs/scripted_peer.h"

static unsigned
peer_tap(struct pair *p, unsigned from, const struct roce_pkt *pkt, uint64_t *late_ns, void *ctx)
{
	struct peer_tape *t = ctx;

	(void)p;
	(void)late_ns;
	if (from == 1 && t->n < PEER_TAPES)
		t->said[t->n++] = *pkt;
	return 0;
}

struct pair *
peer_with(struct peer_tape *t, struct pair_opts opts)
{
	struct pair *p;

	opts.mtu = PEER_MTU;
	if (!opts.set_psn)
		opts.sq_psn[0] = PEER_PSN;
	opts.set_psn = true;
	opts.sq_psn[1] = 500;
	opts.min_rnr_code = 14;
	p = pair_new(&opts);
	memset(t, 0, sizeof(*t));
	p->tap = peer_tap;
	p->tap_ctx = t;
	return p;
}

struct pair *
peer_new(struct peer_tape *t)
{
	return peer_with(t, (struct pair_opts){0});
}

struct roce_pkt
peer_packet(const struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes)
{
	return (struct roce_pkt){.opcode = opcode,
		.qpn = roce_qp_num(p->side[1].q[0].qp),
		.psn = psn & ROCE_PSN_MASK,
		.pkey = ROCE_PKEY_DEFAULT,
		.ackreq = true,
		.payload_bytes = bytes,
		.va = PAIR_VA,
		.rkey = p->side[1].key,
		.dma_bytes = bytes};
}

struct roce_pkt
peer_read_request(const struct pair *p, uint32_t psn, uint32_t at, uint32_t bytes)
{
	struct roce_pkt r = peer_packet(p, ROCE_READ_REQUEST, psn, 0);

	r.va = PAIR_VA + at;
	r.dma_bytes = bytes;
	return r;
}

void
peer_say(struct pair *p, const struct roce_pkt *pkt)
{
	static const uint8_t payload[ROCE_MTU_MAX] = {0xa5, 0x5a};

	pair_inject(p, 1, 0, pkt, payload);
}

void
peer_say_plain(struct pair *p, uint8_t opcode, uint32_t psn, uint32_t bytes)
{
	struct roce_pkt pkt = peer_packet(p, opcode, psn, bytes);

	peer_say(p, &pkt);
}

void
peer_heard(struct pair *p, struct peer_tape *t, unsigned n, uint8_t syndrome, uint32_t psn)
{
	peer_silent(p, t, n);
	cr_assert_eq(t->said[n - 1].syndrome, syndrome, "syndrome %x", t->said[n - 1].syndrome);
	cr_assert_eq(t->said[n - 1].psn, psn, "PSN %u", t->said[n - 1].psn);
}

void
peer_silent(struct pair *p, struct peer_tape *t, unsigned n)
{
	pair_turn(p, 1);
	cr_assert_eq(t->n, n, "%u packets instead of %u", t->n, n);
}
