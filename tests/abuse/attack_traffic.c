/* SPDX-License-Identifier: BSD-3-Clause */
/* What an accomplice at the peer's daemon does to the one that is attacked. */
#include "attack.h"

enum traffic {
	TRAFFIC_READ,
	TRAFFIC_WRITE,
	TRAFFIC_SMALL,
	TRAFFIC_ATOMIC,
	TRAFFIC_NO_RECEIVE,
	TRAFFIC_RECEIVED,
};

static struct ndsh_swr
traffic_request(const struct duo *d, enum traffic what)
{
	switch (what) {
	case TRAFFIC_READ:
		return duo_peer_request(d, NDSH_OP_READ, 1u << 20);
	case TRAFFIC_WRITE:
		return duo_peer_request(d, NDSH_OP_WRITE, 1u << 20);
	case TRAFFIC_ATOMIC:
		return duo_peer_request(d, NDSH_OP_FETCH_ADD, 8);
	case TRAFFIC_SMALL:
		return duo_peer_request(d, NDSH_OP_WRITE, 1);
	default:
		return duo_peer_request(d, NDSH_OP_SEND, 8);
	}
}

static void
traffic(struct target *t, uint32_t what)
{
	struct duo d;
	struct ndsh_swr w;
	uint32_t room = 128;

	if (!duo_begin(&d, t, 256))
		return;
	w = traffic_request(&d, (enum traffic)what);
	while (attacking(t) && !duo_over(&d)) {
		struct ndsh_cqe done[64];
		uint32_t n = ndsh_cq_poll(&d.peer_cq.reader, done, 64);

		(void)ndsh_cq_poll(&d.cq.reader, done, 64);
		for (room += n; room > 0; room--) {
			if (what == TRAFFIC_RECEIVED)
				raw_receive(&d.r, &d.qp, 64, d.key);
			raw_post(&d.peer, &d.peer_qp, &w);
		}
		if (n == 0)
			attack_pause_us(50);
	}
	attack_hold(t);
	duo_end(&d);
}

/* Keys by guess; each wrong one costs a connection. */
static void
guesses(struct target *t, uint32_t arg)
{
	struct duo d;
	struct ndsh_swr w;

	(void)arg;
	if (!duo_open(&d, t, RAW_SEGMENT_BYTES, 64))
		return;
	while (attacking(t)) {
		d.r.carved = d.peer.carved = RAW_SEGMENT_BYTES / 2;
		if (!duo_by_hand(&d, &d.qp, &d.peer_qp, 16, 7))
			break;
		w = duo_peer_request(&d, NDSH_OP_READ, 8);
		w.rkey = raw_random(64) << NDSH_TOKEN_KEY_BITS |
			 raw_random(1u << NDSH_TOKEN_KEY_BITS);
		raw_post(&d.peer, &d.peer_qp, &w);
		for (int i = 0; i < 20 && ndsh_load32(&d.peer_qp.page->dead) == 0; i++)
			attack_pause_us(50);
		(void)raw_ask_id(&d.r, NDSH_MSG_QP_DESTROY, d.qp.id, NULL);
		(void)raw_ask_id(&d.peer, NDSH_MSG_QP_DESTROY, d.peer_qp.id, NULL);
	}
	duo_end(&d);
}

const struct attack traffic_attacks[] = {
	{"peer-reads", traffic, TRAFFIC_READ},
	{"peer-writes", traffic, TRAFFIC_WRITE},
	{"peer-writes-small", traffic, TRAFFIC_SMALL},
	{"peer-atomics", traffic, TRAFFIC_ATOMIC},
	{"peer-sends-unreceived", traffic, TRAFFIC_NO_RECEIVE},
	{"peer-sends-received", traffic, TRAFFIC_RECEIVED},
	{"peer-guesses-keys", guesses, 0},
	{0},
};
