/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory windows of verbs, whose tokens end as the client likes. */
#include "attack.h"

#define WINDOWS 256u
#define DEPTH	1024u

struct window {
	uint32_t id, token;
};

/* As many as there can be. */
static uint32_t
windows_make(struct raw *r, enum ndsh_mw_type type, struct window w[WINDOWS])
{
	uint32_t n = 0;

	for (; n < WINDOWS; n++) {
		struct ndsh_mw_create m = {{.type = NDSH_MSG_MW_CREATE}, r->pd, type};
		struct ndsh_mw_create_reply reply = {.mw = 0};

		if (raw_ask(r, &m, &reply, NULL) != NDSH_OK)
			break;
		w[n] = (struct window){reply.mw, (uint32_t)reply.secret};
	}
	return n;
}

static void
window_next(struct window *w)
{
	const uint32_t chosen = (1u << NDSH_MW_CHOSEN_BITS) - 1;

	w->token = (w->token & ~chosen) | ((w->token + 1) & chosen);
}

static struct ndsh_swr
bind_of(const struct duo *d, const struct window *w, uint64_t bytes)
{
	return (struct ndsh_swr){
		.raddr = (uintptr_t)d->r.base + d->r.bytes / 2,
		.rkey = w->token,
		.arg = {bytes, NDSH_ACCESS_REMOTE_READ | (uint64_t)d->key << 32},
		.ctrl = NDSH_CTRL(NDSH_OP_BIND, 0, NDSH_WRF_SILENT, 0),
	};
}

/* The next requests of one window: those of type 1 are bound again and again, and those of type 2
 * are invalidated in between. */
static uint32_t
window_turn(struct duo *d, struct window *w, enum ndsh_mw_type type)
{
	struct ndsh_swr wr;

	window_next(w);
	wr = bind_of(d, w, 4096);
	ndsh_sq_push(&d->qp.sq, &wr, &wr.sge0, NULL);
	if (type == NDSH_MW_TYPE_1)
		return 1;
	wr = (struct ndsh_swr){
		.rkey = w->token, .ctrl = NDSH_CTRL(NDSH_OP_INVALIDATE, 0, NDSH_WRF_SILENT, 0)};
	ndsh_sq_push(&d->qp.sq, &wr, &wr.sge0, NULL);
	return 2;
}

/* A full ring of them, all the time. */
static void
storms(struct target *t, uint32_t type)
{
	struct window w[WINDOWS];
	struct duo d;
	uint32_t n = 0, next = 0;

	if (duo_begin(&d, t, DEPTH))
		n = windows_make(&d.r, type, w);
	attack_starts(t);
	while (n > 0 && attacking(t) && !duo_over(&d)) {
		uint32_t room = DEPTH - (d.qp.sq.next - ndsh_load32(&d.qp.page->sq_done));

		while (room >= 2)
			room -= window_turn(&d, &w[next++ % n], type);
		raw_ring(&d.r, &d.qp);
		attack_pause_us(20);
	}
	duo_end(&d);
}

/* A bind that is wrong in one way or several. It ends the queue pair, and the next one is for
 * another. */
static struct ndsh_swr
wrong_bind(const struct duo *d, struct window *w)
{
	struct ndsh_swr wr = bind_of(d, w, raw_random(2) ? 4096 : 0);
	const uint32_t how = raw_random(64);

	if (how & 1)
		wr.rkey ^= 1u << raw_random(32);
	if (how & 2)
		wr.raddr += (uint64_t)raw_random(UINT32_MAX) << raw_random(32);
	if (how & 4)
		wr.arg[0] = (uint64_t)raw_random(UINT32_MAX) << raw_random(33);
	if (how & 8)
		wr.arg[1] ^= 1ull << (32 + raw_random(32));
	if (how & 16)
		wr.arg[1] |= raw_random(UINT32_MAX);
	if (how & 32)
		wr.ctrl = NDSH_CTRL(raw_random(2) ? NDSH_OP_INVALIDATE : NDSH_OP_SEND_INV, 0, 0, 0);
	return wr;
}

/* Requests to one queue pair until it has ended. */
static bool
queue_pair_misused(struct duo *d, struct window *w, uint32_t n)
{
	d->r.carved = d->peer.carved = RAW_SEGMENT_BYTES / 2;
	if (!duo_by_hand(d, &d->qp, &d->peer_qp, 16, 7))
		return false;
	for (int i = 0; i < 15 && !duo_over(d); i++) {
		struct ndsh_swr wr = wrong_bind(d, &w[raw_random(n)]);

		raw_post(&d->r, &d->qp, &wr);
		attack_pause_us(50);
	}
	return raw_ask_id(&d->r, NDSH_MSG_QP_DESTROY, d->qp.id, NULL) == NDSH_OK &&
	       raw_ask_id(&d->peer, NDSH_MSG_QP_DESTROY, d->peer_qp.id, NULL) == NDSH_OK;
}

/* A session that has ended for it is followed by another. */
static void
garbage(struct target *t, uint32_t type)
{
	struct window w[WINDOWS];
	struct duo d;
	uint32_t n;

	while (attacking(t)) {
		n = duo_open(&d, t, RAW_SEGMENT_BYTES, 64) ? windows_make(&d.r, type, w) : 0;
		while (n > 0 && attacking(t) && queue_pair_misused(&d, w, n))
			;
		duo_end(&d);
	}
}

const struct attack window_attacks[] = {
	{"window-type-1-storm", storms, NDSH_MW_TYPE_1, true},
	{"window-type-2-storm", storms, NDSH_MW_TYPE_2, true},
	{"window-type-1-garbage", garbage, NDSH_MW_TYPE_1},
	{"window-type-2-garbage", garbage, NDSH_MW_TYPE_2},
	{0},
};
