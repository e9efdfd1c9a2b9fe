/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An impostor knows all numbers of a connection, and says in one end's name what the other one
 * waits for, or nearly, but from another UDP port than that end's. The hosts of its world check
 * ports, so nothing it says may have an effect; and what honest ends say must not be dropped, nor
 * datagrams, which come from any port.
 */
#include <string.h>

#include "roce/qp/qp.h"
#include "sim.h"
#include "sim_impostor.h"
#include "sim_kind.h"

#define PAUSE_NS (200 * SIM_US)
#define ACTS_MAX 200u
#define BYTES	 8u

/* Ends of another kind take what port they like, and a new path brings a new one. */
void
sim_impostor_plan(struct sim_world *w)
{
	const struct sim_profile *p = w->profile;

	if (p->dialects + p->insiders + p->changes > 0 || !sim_chance(w, 1000))
		return;
	w->shard_cfg.check_source_port = UINT32_MAX;
	w->impostures = (unsigned)sim_below(w, ACTS_MAX);
	w->imposture_ns = sim_below(w, PAUSE_NS);
}

/* An end that knows the port that its peer sends such packets from, or NULL. */
static struct sim_ep *
victim(struct sim_world *w, bool request)
{
	struct sim_ep *ep = &w->conns[sim_below(w, w->n_conns)].ep[sim_below(w, 2)];

	if (ep->qp == NULL || ep->gone || !ep->peer->connected || ep->conn->state != SIM_CONN_UP)
		return NULL;
	return (request ? ep->qp->request_sport : ep->qp->response_sport) != 0 ? ep : NULL;
}

static uint8_t
opcode(struct sim_world *w, bool request)
{
	static const uint8_t requests[] = {ROCE_SEND_ONLY, ROCE_SEND_MIDDLE, ROCE_SEND_LAST,
		ROCE_WRITE_ONLY, ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST, ROCE_READ_REQUEST,
		ROCE_FETCH_ADD};
	static const uint8_t responses[] = {ROCE_ACK, ROCE_READ_RESP_FIRST, ROCE_READ_RESP_MIDDLE,
		ROCE_READ_RESP_LAST, ROCE_READ_RESP_ONLY, ROCE_ATOMIC_ACK};

	return request ? requests[sim_below(w, sizeof(requests))]
		       : responses[sim_below(w, sizeof(responses))];
}

/* What ep would understand, if it came from the right port. */
static struct roce_pkt
lie(struct sim_world *w, const struct sim_ep *ep, bool request, const uint8_t *payload)
{
	static const uint8_t syndromes[] = {ROCE_SYN_ACK, ROCE_SYN_RNR | 1, ROCE_SYN_NAK_SEQ,
		ROCE_SYN_NAK_INV_REQ, ROCE_SYN_NAK_REM_ACCESS, ROCE_SYN_NAK_REM_OP};
	uint8_t op = opcode(w, request);
	uint32_t psn = request ? ep->qp->recv_psn : ep->qp->una_psn;

	return (struct roce_pkt){.opcode = op,
		.qpn = ep->qpn,
		.psn = (psn + (uint32_t)sim_below(w, 4) - 1) & ROCE_PSN_MASK,
		.pkey = ROCE_PKEY_DEFAULT,
		.ackreq = true,
		.payload = payload,
		.payload_bytes = roce_opcode_info[op].flags & ROCE_OPF_PAYLOAD ? BYTES : 0,
		.va = ep->target.va,
		.rkey = ep->target.key,
		.dma_bytes = BYTES,
		.syndrome = syndromes[sim_below(w, sizeof(syndromes))]};
}

/* checks W-PKT-06[3,4,5] */
static void
act(struct sim_world *w)
{
	static uint8_t frame[SIM_WORDS_MAX], payload[BYTES];
	bool request = sim_chance(w, 5000);
	struct sim_ep *ep = victim(w, request);
	struct sim_words words = {.ip_id = (uint16_t)sim_rand(w)};
	struct roce_path path;

	if (ep == NULL)
		return;
	memset(payload, 0xe1, sizeof(payload));
	words.pkt = lie(w, ep, request, payload);
	path = ep->peer->attr.path;
	path.udp_sport ^= (uint16_t)(1 + sim_below(w, UINT16_MAX));
	path.tos |= (uint8_t)sim_below(w, 4);
	roce_hdr_tmpl_init(&words.tmpl, &path);
	sim_note(w, "impostor: %s psn %06x to conn %u%s, port %04x",
		roce_opcode_info[words.pkt.opcode].name, words.pkt.psn, ep->conn->number, ep->name,
		path.udp_sport);
	sim_kind(SIM_KIND_impostures);
	w->impostor_frames++;
	sim_net_send(
		w, ep->peer->client->shard->host->number, frame, sim_words_build(&words, frame));
}

uint64_t
sim_impostor_step(struct sim_world *w)
{
	return sim_now_and_then(w, act, &w->impostures, &w->imposture_ns, PAUSE_NS);
}

/* checks W-PKT-06[8] */
bool
sim_impostor_explains(const struct sim_world *w, uint64_t dropped)
{
	return dropped <= w->impostor_frames + w->net.duplicated;
}
