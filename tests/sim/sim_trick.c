/* SPDX-License-Identifier: BSD-3-Clause */
/* What an insider sends over the connection, and what it makes of its honest engine's packets. */
#include <string.h>

#include "roce/qp/qp.h"
#include "sim.h"

#define FLOOD_MAX   48u
#define MESSAGE_MAX 6u /* packets */

static const uint8_t requests[] = {ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST,
	ROCE_SEND_LAST_IMM, ROCE_SEND_ONLY, ROCE_SEND_ONLY_IMM, ROCE_SEND_LAST_INV,
	ROCE_SEND_ONLY_INV, ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST,
	ROCE_WRITE_LAST_IMM, ROCE_WRITE_ONLY, ROCE_WRITE_ONLY_IMM, ROCE_READ_REQUEST, ROCE_CMP_SWAP,
	ROCE_FETCH_ADD, ROCE_FLUSH, ROCE_ATOMIC_WRITE};
static const uint8_t responses[] = {ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE,
	ROCE_READ_RESP_LAST, ROCE_READ_RESP_ONLY, ROCE_ATOMIC_ACK, ROCE_ACK, ROCE_ACK, ROCE_ACK};

/* ---- fields ---- */

static uint32_t
any_bytes(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;
	uint32_t mtu = x->ep->conn->mtu;

	switch (sim_below(w, 6)) {
	case 0:
		return mtu;
	case 1:
		return (uint32_t)sim_below(w, mtu + 1);
	case 2:
		return (uint32_t)sim_below(w, 64);
	case 3:
		return (uint32_t)sim_below(w, SIM_MTU_MAX + 1);
	case 4:
		return 0;
	default:
		return mtu < SIM_MTU_MAX ? mtu + (uint32_t)sim_below(w, 4) : mtu;
	}
}

/* An end of the victim's client: itself, or one that has another peer. */
static struct sim_ep *
any_end(struct sim_insider *x)
{
	struct sim_client *c = x->victim->client;
	struct sim_ep *ep = c->eps[sim_below(x->ep->w, c->n_eps)];

	return ep != NULL && !ep->gone && ep->qp != NULL ? ep : x->victim;
}

/* Keys that it was given, keys of other memory, keys of nothing. */
static void
any_key(struct sim_insider *x, struct roce_pkt *pkt)
{
	struct sim_world *w = x->ep->w;
	struct sim_ep *ep = sim_chance(w, 6000) ? x->victim : any_end(x);
	const struct sim_arena *arenas[] = {
		&ep->target, &ep->target, &ep->target, &ep->source, &ep->landing, sim_inbox(ep)};
	const struct sim_arena *a = arenas[sim_below(w, 6)];
	const struct sim_window *v = &ep->windows[sim_below(w, SIM_WINDOWS)];

	pkt->rkey = a->key;
	pkt->va = a->va + sim_below(w, a->bytes);
	if (sim_chance(w, 2000)) {
		pkt->rkey = v->token;
		if (v->fast != NULL)
			pkt->va = v->fast->base;
	}
	if (sim_chance(w, 1000))
		pkt->rkey ^= 1u << sim_below(w, 32);
	if (sim_chance(w, 500))
		pkt->va = UINT64_MAX - sim_below(w, 64);
	if (sim_chance(w, 5000))
		pkt->va &= ~UINT64_C(7);
}

static uint32_t
any_length(struct sim_insider *x, uint32_t payload)
{
	struct sim_world *w = x->ep->w;

	switch (sim_below(w, 8)) {
	case 0:
		return (uint32_t)sim_below(w, 8 * x->ep->conn->mtu);
	case 1:
		return ROCE_MSG_MAX + (uint32_t)sim_below(w, 3) - 1;
	case 2:
		return (uint32_t)sim_rand(w);
	case 3:
		return 0;
	default:
		return payload;
	}
}

static uint32_t
request_psn(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;
	uint32_t expected = x->victim->qp->recv_psn;

	switch (sim_below(w, 8)) {
	case 0:
		return roce_psn_add(expected, (uint32_t)sim_below(w, 8));
	case 1:
		return (expected - (uint32_t)sim_below(w, 40)) & ROCE_PSN_MASK;
	case 2:
		return (uint32_t)sim_rand(w) & ROCE_PSN_MASK;
	default:
		return expected;
	}
}

static uint32_t
response_psn(struct sim_insider *x)
{
	const struct roce_qp *qp = x->victim->qp;
	struct sim_world *w = x->ep->w;
	uint32_t out = roce_psn_from(qp->snd_max, qp->una_psn);

	if (sim_chance(w, 4000))
		return qp->una_psn;
	if (sim_chance(w, 1000))
		return (uint32_t)sim_rand(w) & ROCE_PSN_MASK;
	return roce_psn_add(qp->una_psn, (uint32_t)sim_below(w, out + 2) - (sim_below(w, 4) == 0));
}

static uint8_t
any_syndrome(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;

	switch (sim_below(w, 6)) {
	case 0:
		return (uint8_t)sim_rand(w);
	case 1:
		return (uint8_t)(ROCE_SYN_RNR | (1 + sim_below(w, 13)));
	case 2:
		return (uint8_t)(ROCE_SYN_NAK_SEQ + sim_below(w, 5));
	case 3:
		return ROCE_SYN_NAK_SEQ;
	default:
		return ROCE_SYN_ACK;
	}
}

/* ---- packets ---- */

/* Within its rights, if it has any: else a message. */
static void
make_proper(struct sim_insider *x, struct roce_pkt *pkt)
{
	struct sim_world *w = x->ep->w;
	uint32_t mtu = x->ep->conn->mtu, size = (uint32_t)sim_below(w, mtu + 1);
	const struct sim_arena *t = &x->victim->target;

	pkt->opcode = ROCE_SEND_ONLY;
	if ((x->access & NDSH_ACCESS_REMOTE_WRITE) && sim_chance(w, 4000))
		pkt->opcode = ROCE_WRITE_ONLY;
	if ((x->access & NDSH_ACCESS_REMOTE_READ) && sim_chance(w, 4000))
		pkt->opcode = ROCE_READ_REQUEST;
	if ((x->access & NDSH_ACCESS_REMOTE_ATOMIC) && sim_chance(w, 1000))
		pkt->opcode = ROCE_FETCH_ADD;
	pkt->opflags = roce_opcode_info[pkt->opcode].flags;
	pkt->rkey = t->key;
	pkt->va = t->va + 8 * sim_below(w, (t->bytes - 5 * mtu) / 8);
	pkt->dma_bytes = pkt->opcode == ROCE_READ_REQUEST ? (uint32_t)sim_below(w, 5 * mtu) : size;
	pkt->payload_bytes = (pkt->opflags & ROCE_OPF_PAYLOAD) ? size : 0;
}

/* Memory of the victim, or of its client's other connections, that this peer has no right to. */
static const struct sim_arena *
closed_memory(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;
	struct sim_ep *other = any_end(x);

	switch (sim_below(w, 3)) {
	case 0:
		return &x->victim->landing;
	case 1:
		return sim_chance(w, 5000) ? &x->victim->source : &x->victim->inbox;
	default:
		return other == x->victim ? &x->victim->inbox : &other->target;
	}
}

static void
begin(struct sim_insider *x, struct sim_words *words, uint8_t opcode, uint32_t psn)
{
	struct sim_world *w = x->ep->w;
	struct roce_pkt *pkt = &words->pkt;

	sim_words_ack(words, x->ep, any_syndrome(x), psn);
	pkt->opcode = opcode;
	pkt->opflags = roce_opcode_info[opcode].flags;
	pkt->ackreq = sim_chance(w, 5000);
	pkt->se = sim_chance(w, 2000);
	pkt->becn = sim_chance(w, 200);
	pkt->msn = (uint32_t)sim_rand(w);
	if (pkt->opflags & ROCE_OPF_PAYLOAD)
		pkt->payload_bytes = any_bytes(x);
	any_key(x, pkt);
	pkt->ieth = pkt->rkey;
	pkt->dma_bytes = any_length(x, pkt->payload_bytes);
	pkt->swap_add = sim_rand(w);
	pkt->compare = sim_rand(w);
	pkt->imm = (uint32_t)sim_rand(w);
}

static void
send_it(struct sim_insider *x, struct sim_words *words)
{
	static uint8_t frame[SIM_WORDS_MAX];
	struct sim_host *h = x->ep->client->shard->host;

	if (words->pkt.payload_bytes > 0 && words->pkt.payload == NULL)
		words->pkt.payload = sim_random_bytes(x->ep->w, words->pkt.payload_bytes);
	sim_net_send(x->ep->w, h->number, frame, sim_words_build(words, frame));
}

static void
request(struct sim_insider *x)
{
	struct sim_words words;

	begin(x, &words, requests[sim_below(x->ep->w, sizeof(requests))], request_psn(x));
	if (x->gentle && words.pkt.psn == x->victim->qp->recv_psn) {
		if (x->victim->qp->rx_msg != ROCE_MSG_NONE)
			return;
		make_proper(x, &words.pkt);
	}
	send_it(x, &words);
	sim_insider_did(x, SIM_TRICK_REQUEST);
}

/*
 * Nothing is wrong with it but the key, or an end that is one byte too far. checks W-INV-02,
 * W-RESP-13[2,5]
 */
static void
theft(struct sim_insider *x)
{
	static const uint8_t opcodes[] = {ROCE_WRITE_ONLY, ROCE_WRITE_ONLY, ROCE_READ_REQUEST,
		ROCE_READ_REQUEST, ROCE_FETCH_ADD, ROCE_SEND_ONLY_INV};
	const struct roce_qp *qp = x->victim->qp;
	struct sim_world *w = x->ep->w;
	const struct sim_arena *a = closed_memory(x);
	const struct sim_ep *other = any_end(x);
	struct sim_words words;
	struct roce_pkt *pkt = &words.pkt;

	if (qp->rx_msg != ROCE_MSG_NONE)
		return;
	begin(x, &words, opcodes[sim_below(w, sizeof(opcodes))], qp->recv_psn);
	if (pkt->opflags & ROCE_OPF_PAYLOAD)
		pkt->payload_bytes = 1 + (uint32_t)sim_below(w, x->ep->conn->mtu);
	pkt->dma_bytes = pkt->payload_bytes;
	if (pkt->opcode == ROCE_READ_REQUEST)
		pkt->dma_bytes = 16 + (uint32_t)sim_below(w, x->ep->conn->mtu);
	pkt->rkey = a->key;
	pkt->va = a->va + 8 * sim_below(w, (a->bytes - SIM_MTU_MAX / 4) / 8);
	if (sim_chance(w, 2000) && !(pkt->opflags & ROCE_OPF_ATOMIC)) {
		pkt->rkey = x->victim->target.key;
		pkt->va = x->victim->target.va + x->victim->target.bytes - pkt->dma_bytes + 1;
	}
	if (pkt->opflags & ROCE_OPF_IETH) {
		pkt->payload_bytes = 0;
		pkt->ieth = other == x->victim ? a->key
					       : other->windows[sim_below(w, SIM_WINDOWS)].token;
	}
	if (pkt->opcode == ROCE_READ_REQUEST)
		x->coveted = a;
	send_it(x, &words);
	sim_insider_did(x, SIM_TRICK_THEFT);
}

/* The payload that the victim awaits, as often as not. */
static void
response(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;
	const struct roce_qp *qp = x->victim->qp;
	const struct roce_wqe *head = qp->wq_head;
	struct sim_words words;
	struct roce_pkt *pkt = &words.pkt;

	begin(x, &words, responses[sim_below(w, sizeof(responses))], response_psn(x));
	if (x->gentle && pkt->opcode == ROCE_ACK && pkt->syndrome > ROCE_SYN_NAK_SEQ)
		pkt->syndrome = ROCE_SYN_ACK;
	if (x->gentle && pkt->opcode != ROCE_ACK && (head == NULL || head->op != NDSH_OP_READ))
		return;
	if (head != NULL && (pkt->opflags & ROCE_OPF_PAYLOAD) &&
		(x->gentle || sim_chance(w, 6000))) {
		uint32_t index = roce_psn_from(qp->una_psn, head->first_psn);

		pkt->psn = qp->una_psn;
		pkt->syndrome = ROCE_SYN_ACK;
		if (index + 1 == head->npsn) {
			pkt->opcode = index == 0 ? ROCE_READ_RESP_ONLY : ROCE_READ_RESP_LAST;
			pkt->payload_bytes = head->bytes - index * x->ep->conn->mtu;
		} else {
			pkt->opcode = index == 0 ? ROCE_READ_RESP_FIRST : ROCE_READ_RESP_MIDDLE;
			pkt->payload_bytes = x->ep->conn->mtu;
		}
		if (sim_chance(w, x->gentle ? 500 : 3000)) /* more than was asked for */
			pkt->payload_bytes += 1 + (uint32_t)sim_below(w, 64);
		if (pkt->payload_bytes > SIM_MTU_MAX)
			pkt->payload_bytes = 0;
	}
	send_it(x, &words);
	sim_insider_did(x, SIM_TRICK_RESPONSE);
}

/* FIRST, MIDDLE, LAST with PSNs in sequence, most of the time: each may be another packet. */
static void
message(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;
	uint32_t n = 2 + (uint32_t)sim_below(w, MESSAGE_MAX), mtu = x->ep->conn->mtu;
	uint32_t psn = x->victim->qp->recv_psn;
	uint32_t last = 1 + (uint32_t)sim_below(w, mtu);
	bool write = sim_chance(w, 5000) && (!x->gentle || (x->access & NDSH_ACCESS_REMOTE_WRITE));
	uint8_t first = write ? ROCE_WRITE_FIRST : ROCE_SEND_FIRST;

	if (x->gentle && x->victim->qp->rx_msg != ROCE_MSG_NONE)
		return;
	if (x->gentle && n > 5)
		n = 5; /* what a receive has room for */

	for (uint32_t i = 0; i < n; i++, psn = roce_psn_add(psn, 1)) {
		uint8_t opcode = i == 0 ? first : i + 1 < n ? first + 1 : first + 2;
		struct sim_words words;

		if (!x->gentle && sim_chance(w, 500))
			opcode = requests[sim_below(w, sizeof(requests))];
		begin(x, &words, opcode, psn);
		words.pkt.payload_bytes = !(words.pkt.opflags & ROCE_OPF_PAYLOAD) ? 0
					  : i + 1 < n				  ? mtu
										  : last;
		words.pkt.rkey = x->victim->target.key;
		words.pkt.va = x->victim->target.va + sim_below(w, mtu);
		words.pkt.dma_bytes = (n - 1) * mtu + last;
		if (!x->gentle && sim_chance(w, 2000))
			words.pkt.dma_bytes = any_length(x, last);
		if (sim_chance(w, 300))
			continue;
		send_it(x, &words);
	}
	sim_insider_did(x, SIM_TRICK_MESSAGE);
}

/* The same again and again, or READs without number. */
static void
flood(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;
	uint32_t n = 8 + (uint32_t)sim_below(w, FLOOD_MAX);
	bool reads = !x->gentle && sim_chance(w, 5000);
	struct sim_words words;
	uint32_t psn = x->victim->qp->recv_psn;

	if (sim_chance(w, 5000))
		begin(x, &words, requests[sim_below(w, sizeof(requests))], request_psn(x));
	else
		begin(x, &words, responses[sim_below(w, sizeof(responses))], response_psn(x));
	if (x->gentle && ((words.pkt.opflags & ROCE_OPF_REQUEST) || words.pkt.opcode != ROCE_ACK ||
				 words.pkt.syndrome > 0x60))
		words.pkt.psn =
			(words.pkt.opflags & ROCE_OPF_REQUEST ? psn : x->victim->qp->una_psn) - 1;
	for (; n > 0; n--, psn = roce_psn_add(psn, 1)) {
		if (reads) {
			begin(x, &words, sim_chance(w, 8000) ? ROCE_READ_REQUEST : ROCE_FETCH_ADD,
				psn);
			words.pkt.dma_bytes = 1;
			words.pkt.rkey = x->victim->target.key;
			words.pkt.va = x->victim->target.va;
		}
		send_it(x, &words);
	}
	sim_insider_did(x, SIM_TRICK_FLOOD);
}

/* Bits of the transport header that no codec here would set: opcodes that are none, a pad that does
 * not fit, versions, reserved bits; with an ICRC that is right. */
static void
raw(struct sim_insider *x)
{
	static uint8_t frame[SIM_WORDS_MAX];
	struct sim_world *w = x->ep->w;
	struct sim_words words;
	uint32_t bytes, bits = 1 + (uint32_t)sim_below(w, 4);

	begin(x, &words, requests[sim_below(w, sizeof(requests))], request_psn(x));
	if (x->gentle && words.pkt.psn == x->victim->qp->recv_psn)
		words.pkt.psn = roce_psn_add(words.pkt.psn, 1 + (uint32_t)sim_below(w, 64));
	if (words.pkt.payload_bytes > 0)
		words.pkt.payload = sim_random_bytes(w, words.pkt.payload_bytes);
	bytes = sim_words_build(&words, frame);
	if (sim_chance(w, 3000))
		frame[words.tmpl.len] = (uint8_t)sim_rand(w);
	for (; bits > 0; bits--) {
		uint32_t bit = (uint32_t)sim_below(w, 8 * ROCE_BTH_BYTES);

		if (bit / 8 < 5 || bit / 8 > 7) /* the number of the queue pair stays */
			frame[words.tmpl.len + bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	bytes -= ROCE_ICRC_BYTES; /* pad and all are sealed again */
	sim_check(w, (bytes - words.tmpl.len) % 4 == 0, "an odd packet");
	bytes = roce_wire_seal(frame, &words.tmpl, bytes, 0);
	sim_net_send(w, x->ep->client->shard->host->number, frame, bytes);
	sim_insider_did(x, SIM_TRICK_RAW);
}

static void
cnps(struct sim_insider *x)
{
	uint8_t frame[ROCE_HDR_MAX + ROCE_CNP_ZEROS + ROCE_ICRC_BYTES];
	uint32_t n = 1 + (uint32_t)sim_below(x->ep->w, FLOOD_MAX), hdr, bytes;
	struct sim_words words;

	sim_words_ack(&words, x->ep, 0, 0);
	hdr = roce_wire_build_cnp(frame, &words.tmpl, x->victim->qpn, 0);
	bytes = roce_wire_seal(frame, &words.tmpl, hdr, 0);
	for (; n > 0; n--)
		sim_net_send(x->ep->w, x->ep->client->shard->host->number, frame, bytes);
	sim_insider_did(x, SIM_TRICK_CNP);
}

/* A queue pair of the victim's host that has a peer with another address: only that counts.
 * checks W-PKT-14 */
static void
neighbour(struct sim_insider *x)
{
	struct sim_world *w = x->ep->w;
	struct sim_ep *ep = any_end(x);
	struct sim_words words;

	if (ep == x->victim || ep->qp == NULL ||
		ep->peer->client->shard->host->address == x->ep->client->shard->host->address)
		return;
	if (sim_chance(w, 5000))
		begin(x, &words, requests[sim_below(w, sizeof(requests))], ep->qp->recv_psn);
	else
		begin(x, &words, responses[sim_below(w, sizeof(responses))], ep->qp->una_psn);
	words.pkt.qpn = ep->qpn;
	words.pkt.rkey = ep->target.key;
	words.pkt.va = ep->target.va;
	words.pkt.dma_bytes = words.pkt.payload_bytes;
	send_it(x, &words);
	sim_insider_did(x, SIM_TRICK_NEIGHBOUR);
}

void
sim_trick(struct sim_insider *x)
{
	/* What is refused ends the connection: so it comes last, or early. */
	if (x->patience == 0 || (!x->gentle && sim_chance(x->ep->w, 1000))) {
		theft(x);
		return;
	}
	switch (sim_below(x->ep->w, 16)) {
	case 0:
	case 1:
	case 2:
	case 3:
		request(x);
		break;
	case 4:
	case 5:
	case 6:
		response(x);
		break;
	case 7:
	case 8:
		message(x);
		break;
	case 9:
	case 10:
		raw(x);
		break;
	case 11:
		flood(x);
		break;
	case 12:
		cnps(x);
		break;
	case 13:
	case 14:
		neighbour(x);
		break;
	default:
		sim_trick_mad(x);
		break;
	}
}

/* ---- packets of its honest engine ---- */

static void
change(struct sim_insider *x, struct roce_pkt *pkt)
{
	struct sim_world *w = x->ep->w;

	switch (x->gentle ? 7 : sim_below(w, 8)) {
	case 0:
		pkt->psn = roce_psn_add(pkt->psn, (uint32_t)sim_below(w, 5) - 2);
		break;
	case 1:
		pkt->rkey ^= 1u << sim_below(w, 32);
		break;
	case 2:
		pkt->va += sim_below(w, 4096) - 2048;
		break;
	case 3:
		pkt->dma_bytes = any_length(x, pkt->payload_bytes);
		break;
	case 4:
		pkt->syndrome = any_syndrome(x);
		break;
	case 5:
		if (pkt->payload_bytes > 0)
			pkt->payload_bytes -= (uint32_t)sim_below(w, pkt->payload_bytes);
		break;
	case 6:
		pkt->ieth ^= 1u << sim_below(w, 32);
		break;
	default:
		pkt->ackreq = !pkt->ackreq;
		break;
	}
}

/* True: it was sent, or is not to be. */
bool
sim_trick_said(struct sim_insider *x, struct sim_words *words)
{
	struct sim_world *w = x->ep->w;

	if (x->patience == 0)
		return x->mute;
	if (x->mute || sim_chance(w, 50)) {
		sim_insider_did(x, SIM_TRICK_WITHHELD);
		return true;
	}
	if (sim_chance(w, 100)) {
		sim_insider_did(x, SIM_TRICK_TWICE);
		send_it(x, words);
	}
	if (!sim_chance(w, 200))
		return false;
	change(x, &words->pkt);
	sim_insider_did(x, SIM_TRICK_CHANGED);
	send_it(x, words);
	return true;
}
