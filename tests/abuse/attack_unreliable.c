/* SPDX-License-Identifier: BSD-3-Clause */
/* Unreliable connections, whose senders wait for nothing that the peer says. */
#include "attack.h"

#define DEPTH 256u
#define PSN   7u

enum unreliable {
	UNRELIABLE_WRITE,
	UNRELIABLE_SMALL,
	UNRELIABLE_NO_RECEIVE,
	UNRELIABLE_WRONG_KEY, /* each packet of it is dropped, and the connection goes on */
};

static struct ndsh_swr
make_request(const struct duo *d, enum unreliable what)
{
	struct ndsh_swr w;

	switch (what) {
	case UNRELIABLE_WRITE:
		return duo_request(d, NDSH_OP_WRITE, 1u << 20);
	case UNRELIABLE_NO_RECEIVE:
		return duo_request(d, NDSH_OP_SEND, 64);
	case UNRELIABLE_WRONG_KEY:
		w = duo_request(d, NDSH_OP_WRITE, 8);
		w.rkey ^= 1;
		return w;
	default:
		return duo_request(d, NDSH_OP_WRITE, 1);
	}
}

static bool
duo_start(struct duo *d, const struct target *t)
{
	return duo_open(d, t, RAW_SEGMENT_BYTES, DEPTH * 2) && duo_unreliable(d, DEPTH, PSN);
}

/* As many as leave. */
static void
floods(struct target *t, uint32_t what)
{
	struct duo d;
	struct ndsh_swr w;
	uint32_t room = DEPTH / 2;

	if (!duo_start(&d, t))
		return;
	w = make_request(&d, (enum unreliable)what);
	while (attacking(t) && !duo_over(&d)) {
		struct ndsh_cqe done[64];
		uint32_t n = ndsh_cq_poll(&d.cq.reader, done, 64);

		for (room += n; room > 0; room--)
			raw_post(&d.r, &d.qp, &w);
		if (n == 0)
			attack_pause_us(50);
	}
	attack_hold(t);
	duo_end(&d);
}

/* The same from the other daemon to the one that is attacked. */
static void
peer_floods(struct target *t, uint32_t what)
{
	struct target other = *t;

	other.socket = t->peer_socket;
	other.peer_socket = t->socket;
	floods(&other, what);
}

/* A request that can't be sent stops the send side; RTS starts it again. */
static void
failures(struct target *t, uint32_t arg)
{
	struct duo d;
	struct ndsh_swr bad;

	(void)arg;
	if (!duo_start(&d, t))
		return;
	bad = duo_request(&d, NDSH_OP_WRITE, 64);
	bad.sge0.key ^= 1;
	while (attacking(t)) {
		struct ndsh_cqe done[64];

		for (int i = 0; i < 8; i++)
			raw_post(&d.r, &d.qp, &bad);
		if (raw_state(&d.r, &d.qp, NDSH_QPS_RTS) == RAW_GONE)
			break;
		while (ndsh_cq_poll(&d.cq.reader, done, 64) > 0)
			;
	}
	duo_end(&d);
}

/* Full rings, and RESET: all of it is thrown away. */
static void
resets(struct target *t, uint32_t arg)
{
	struct duo d;
	struct ndsh_swr w;

	(void)arg;
	if (!duo_start(&d, t))
		return;
	w = duo_request(&d, NDSH_OP_WRITE, 1u << 20);
	while (attacking(t)) {
		for (uint32_t i = 0; i < DEPTH; i++)
			raw_post(&d.r, &d.qp, &w);
		if (raw_state(&d.r, &d.qp, NDSH_QPS_RESET) == RAW_GONE ||
			raw_uc_by_hand(&d.r, &d.qp, &d.peer.addr, d.peer_qp.qpn, PSN) != NDSH_OK)
			break;
	}
	attack_hold(t);
	duo_end(&d);
}

const struct attack unreliable_attacks[] = {
	{"unreliable-writes", floods, UNRELIABLE_WRITE},
	{"unreliable-writes-small", floods, UNRELIABLE_SMALL},
	{"unreliable-failures-loop", failures, 0},
	{"unreliable-reset-loop", resets, 0},
	{"peer-unreliable-writes", peer_floods, UNRELIABLE_WRITE},
	{"peer-unreliable-writes-small", peer_floods, UNRELIABLE_SMALL},
	{"peer-unreliable-sends-unreceived", peer_floods, UNRELIABLE_NO_RECEIVE},
	{"peer-unreliable-wrong-keys", peer_floods, UNRELIABLE_WRONG_KEY},
	{0},
};
