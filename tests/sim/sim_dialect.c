/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>

#include "cm/codec.h"
#include "roce/qp/qp.h"
#include "sim.h"
#include "sim_cc.h"

/* The sources are public; where the rules name one, it is the same. */
static const struct {
	const char *name, *source;
} dialects[SIM_DIALECTS] = {
	[SIM_DIALECT_NO_MIG] = {"M bit 0", "Linux drivers/infiniband/sw/rxe/rxe_req.c"},
	[SIM_DIALECT_LIMITED_KEY] = {"P_Key 0x7fff", "IBTA volume 1, chapter 10 (partitions)"},
	[SIM_DIALECT_ECT] = {"ECT(0) in every packet", "Linux drivers/infiniband/hw/mlx5/ah.c"},
	[SIM_DIALECT_MARKED] = {"marked on the way", "RFC 3168; IBTA volume 1, annex A17"},
	[SIM_DIALECT_BECN] = {"BECN in ACKs", "Linux drivers/infiniband/hw/hfi1/rc.c"},
	[SIM_DIALECT_PORTS] = {"source port per packet", "OCP MRC 1.0 (entropy values)"},
	[SIM_DIALECT_ONE_PORT] = {"source port 0xc000",
		"Linux drivers/infiniband/hw/irdma/verbs.c, hw/mlx5 (lowest RoCEv2 port)"},
	[SIM_DIALECT_CHECKSUM] = {"UDP checksum", "RFC 768, RFC 8200; IBTA volume 1, annex A17"},
	[SIM_DIALECT_PRIORITY_TAG] = {"priority tag, VLAN 0",
		"IEEE 802.1Q; Windows Server with DCB and no VLAN (learn.microsoft.com)"},
	[SIM_DIALECT_TRAILER] = {"trailer behind the packet", "IEEE 802.3 (minimum frame)"},
	[SIM_DIALECT_PAD] = {"pad bytes not 0", "IBTA volume 1, chapter 9 (ignored on receive)"},
	[SIM_DIALECT_HOPS] = {"TTL and IP identification",
		"Linux drivers/infiniband/sw/rxe/rxe_net.c (both are the kernel's)"},
	[SIM_DIALECT_NO_CREDITS] = {"ACK with credit code 0", "capture of ConnectX (W-AETH-04)"},
	[SIM_DIALECT_CREDITS] = {"ACK with credit code 30",
		"Linux drivers/infiniband/hw/irdma (ACKCREDS_DEFAULT 0x1e)"},
	[SIM_DIALECT_MSN_PACKETS] = {"MSN counts packets",
		"github.com/fpgasystems/fpga-network-stack, ib_transport_protocol.cpp"},
	[SIM_DIALECT_ACK_EACH] = {"an ACK per packet",
		"github.com/fpgasystems/fpga-network-stack, ib_transport_protocol.cpp"},
	[SIM_DIALECT_ACK_LATE] = {"late ACKs, one for many",
		"IBTA volume 1, chapter 9 (acknowledge coalescing)"},
	[SIM_DIALECT_ACK_ASKED] = {"no ACK of an unasked copy",
		"Linux drivers/infiniband/hw/hfi1/rc.c"},
	[SIM_DIALECT_ACK_COPY] = {"ACK with a copy's own PSN",
		"IBTA volume 1, chapter 9; github.com/fpgasystems/fpga-network-stack"},
	[SIM_DIALECT_NAK_FIRST] = {"NAK with the READ's first PSN",
		"Linux drivers/infiniband/sw/rxe/rxe_resp.c"},
	[SIM_DIALECT_NAK_EACH] = {"a NAK per packet out of order",
		"Linux drivers/infiniband/sw/rxe/rxe_comp.c (guards against it)"},
	[SIM_DIALECT_NAK_BEHIND_RNR] = {"0x60 behind an RNR NAK",
		"Linux drivers/infiniband/sw/rxe/rxe_resp.c (check_psn)"},
	[SIM_DIALECT_NAK_OPERATION] = {"0x63 for a SEND too long",
		"Linux drivers/infiniband/sw/rxe/rxe_resp.c (W-RXE-28)"},
	[SIM_DIALECT_RNR_IN_READ] = {"RNR NAK within a READ",
		"Linux drivers/infiniband/sw/rxe/rxe_resp.c (read_reply)"},
	[SIM_DIALECT_MIDDLE] = {"MIDDLE after a restart",
		"Linux drivers/infiniband/sw/rxe/rxe_resp.c (replay)"},
	[SIM_DIALECT_REPLAY_ALL] = {"all responses again",
		"IBTA volume 1, chapter 9 (a requester drops what it has)"},
	[SIM_DIALECT_KEEP] = {"keeps packets out of order",
		"IRN (SIGCOMM 2018); NVIDIA's selective repeat; W-NEG-06"},
	[SIM_DIALECT_READ_ALL] = {"READ again from its start",
		"github.com/fpgasystems/fpga-network-stack, retransmitter"},
	[SIM_DIALECT_HASTY] = {"sends again too early",
		"docs.nvidia.com/networking, adaptive retransmission"},
	[SIM_DIALECT_PATIENT] = {"waits longer than the RNR code",
		"Linux drivers/infiniband/sw/rxe/rxe_comp.c (jiffies)"},
	[SIM_DIALECT_ASK_ALWAYS] = {"AckReq in every packet", "IBTA volume 1, chapter 9"},
	[SIM_DIALECT_CNP] = {"CNPs", "capture of a ConnectX-4 Lx (W-CC-02)"},
	[SIM_DIALECT_NO_MRA] = {"no MRA", "IBTA volume 1, chapter 12 (optional)"},
	[SIM_DIALECT_SLOW_ANSWER] = {"REP or REJ after seconds",
		"docs.nvidia.com/networking, WinOF-2 (MaxCMRetries)"},
	[SIM_DIALECT_GSI_PORT] = {"MADs from port 0xd872",
		"Linux drivers/infiniband/sw/rxe/rxe_net.c"},
};

#define SLOW_NS (50 * SIM_S) /* within 15 times 4.3 s, which a REQ asks for */

#define SPEAKS(d) (UINT64_C(1) << SIM_DIALECT_##d)

/* What is known of whole implementations (doc/rules/wire.md, "Peers"). */
static const uint64_t peers[] = {
	/* rxe */
	SPEAKS(NO_MIG) | SPEAKS(NAK_FIRST) | SPEAKS(NAK_BEHIND_RNR) | SPEAKS(NAK_OPERATION) |
		SPEAKS(RNR_IN_READ) | SPEAKS(MIDDLE) | SPEAKS(PATIENT) | SPEAKS(GSI_PORT),
	/* ConnectX */
	SPEAKS(ECT) | SPEAKS(MARKED) | SPEAKS(NO_CREDITS) | SPEAKS(ACK_LATE) | SPEAKS(HASTY) |
		SPEAKS(PATIENT) | SPEAKS(CNP),
	/* The same, with selective repeat, which it keeps for its own kind */
	SPEAKS(ECT) | SPEAKS(ACK_LATE) | SPEAKS(HASTY) | SPEAKS(KEEP) | SPEAKS(TRAILER),
	/* E810 */
	SPEAKS(CREDITS) | SPEAKS(ONE_PORT) | SPEAKS(ACK_LATE) | SPEAKS(HOPS),
	/* Windows on ConnectX */
	SPEAKS(ECT) | SPEAKS(PRIORITY_TAG) | SPEAKS(NO_MRA) | SPEAKS(SLOW_ANSWER) | SPEAKS(HASTY),
	/* ETH Zurich's FPGA network stack */
	SPEAKS(ACK_EACH) | SPEAKS(ACK_COPY) | SPEAKS(MSN_PACKETS) | SPEAKS(READ_ALL),
	/* hfi1's reading of the transport */
	SPEAKS(ACK_ASKED) | SPEAKS(BECN) | SPEAKS(ACK_LATE),
};
#define PEERS (sizeof(peers) / sizeof(peers[0]))

static uint64_t spoken[SIM_DIALECTS]; /* of all worlds so far */

const char *
sim_dialect_name(enum sim_dialect d)
{
	return dialects[d].name;
}

void
sim_dialect_print(void)
{
	for (unsigned d = 0; d < SIM_DIALECTS; d++)
		printf("dialect: %-30s %9lu  %s\n", dialects[d].name, (unsigned long)spoken[d],
			dialects[d].source);
}

bool
sim_dialect_all_spoken(void)
{
	bool all = true;

	for (unsigned d = 0; d < SIM_DIALECTS; d++) {
		if (spoken[d] == 0)
			printf("dialect never spoken: %s\n", dialects[d].name);
		all &= spoken[d] > 0;
	}
	return all;
}

bool
sim_speaks(const struct sim_ep *ep, enum sim_dialect d)
{
	return ep->speech != NULL && (ep->speech->speaks >> d & 1);
}

void
sim_spoke(struct sim_ep *ep, enum sim_dialect d)
{
	spoken[d]++;
	sim_note(ep->w, "conn %u%s: dialect: %s", ep->conn->number, ep->name, dialects[d].name);
}

/* Some say the opposite of others. */
static uint64_t
without_contradictions(uint64_t speaks)
{
	static const uint64_t pairs[][2] = {
		{SPEAKS(ACK_EACH), SPEAKS(ACK_LATE)},
		{SPEAKS(ACK_COPY), SPEAKS(ACK_ASKED)},
		{SPEAKS(NO_CREDITS), SPEAKS(CREDITS)},
		{SPEAKS(PORTS), SPEAKS(ONE_PORT)},
		{SPEAKS(NAK_EACH), SPEAKS(KEEP)},
	};

	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if ((speaks & pairs[i][0]) && (speaks & pairs[i][1]))
			speaks &= ~pairs[i][1];
	return speaks;
}

/* One of those that exist, or a mixture that may exist one day. */
static uint64_t
choose(struct sim_world *w)
{
	uint64_t speaks = 0;

	if (sim_chance(w, 5000))
		return peers[sim_below(w, PEERS)];
	for (unsigned d = 0; d < SIM_DIALECTS; d++)
		if (sim_chance(w, 1500))
			speaks |= UINT64_C(1) << d;
	return without_contradictions(speaks);
}

static void
learn(struct sim_ep *ep)
{
	struct sim_world *w = ep->w;
	uint64_t speaks = choose(w);

	ep->speech = sim_alloc(w, sizeof(*ep->speech));
	*ep->speech = (struct sim_speech){
		.speaks = speaks, .late_ns = SIM_NEVER, .hasty_ns = SIM_NEVER, .cnp_ns = SIM_NEVER};
	for (unsigned d = 0; d < SIM_DIALECTS && sim_is_noted(w); d++)
		if (speaks >> d & 1)
			sim_note(w, "conn %u%s speaks: %s", ep->conn->number, ep->name,
				dialects[d].name);
}

/* Errors that some report in a way of their own are rare, and so are those that report them. */
static void
plan_refusal(struct sim_conn *c)
{
	struct sim_world *w = c->ep[0].w;

	if (c->poison == SIM_POISON_NONE && sim_chance(w, w->profile->poison / 2)) {
		c->poison = SIM_POISON_DEREGISTER;
		c->villain = &c->ep[sim_below(w, 2)];
		c->poison_at = (unsigned)sim_below(w, c->villain->quota / 2 + 1);
	}
	if (c->villain == NULL || c->villain->peer->speech == NULL || !sim_chance(w, 7500))
		return;
	if (c->poison == SIM_POISON_DEREGISTER)
		c->villain->peer->speech->speaks |= SPEAKS(NAK_FIRST);
	if (c->poison == SIM_POISON_RECV_SMALL)
		c->villain->peer->speech->speaks |= SPEAKS(NAK_OPERATION);
}

/* Called when both ends know their hosts: within one there is no other implementation. */
void
sim_dialect_plan(struct sim_conn *c)
{
	struct sim_world *w = c->ep[0].w;

	if (c->ep[0].client->shard->host->address == c->ep[1].client->shard->host->address ||
		c->insider != NULL)
		return;
	for (unsigned i = 0; i < 2; i++)
		if (sim_chance(w, w->profile->dialects))
			learn(&c->ep[i]);
	plan_refusal(c);
}

/* ---- on the way out ---- */

void
sim_say(struct sim_ep *ep, struct sim_words *words)
{
	static uint8_t frame[SIM_WORDS_MAX];
	struct sim_host *h = ep->client->shard->host;

	sim_accent(ep, words);
	sim_net_send(ep->w, h->number, frame, sim_words_build(words, frame));
}

/* The end at h that sends this packet, if it has a dialect, or is or meets an insider. */
static struct sim_ep *
speaker(struct sim_host *h, const struct roce_pkt *pkt, const uint8_t *frame)
{
	struct sim_world *w = h->w;

	for (unsigned i = 0; i < 2 * w->n_conns; i++) {
		struct sim_ep *ep = &w->conns[i / 2].ep[i % 2], *to = ep->peer;

		if ((ep->speech != NULL || ep->conn->insider != NULL) && ep->qp != NULL &&
			!ep->gone && to->qp != NULL && to->qpn == pkt->qpn &&
			ep->client->shard->host == h &&
			memcmp(to->client->shard->host->mac, frame, 6) == 0)
			return ep;
	}
	return NULL;
}

void
sim_dialect_send(struct sim_host *h, const uint8_t *frame, uint32_t bytes)
{
	uint32_t was = sim_actor_set(h->w, SIM_ACTOR_HOST(h->number));
	struct sim_ep *ep = NULL;
	struct sim_words words;

	if (h->w->profile->dialects + h->w->profile->insiders > 0 &&
		sim_words_parse(&words, frame, bytes) &&
		(words.pkt.opflags & (ROCE_OPF_REQUEST | ROCE_OPF_RESPONSE)))
		ep = speaker(h, &words.pkt, frame);
	if (ep != NULL)
		sim_actor_set(h->w, sim_ep_actor(ep));
	if (ep == NULL || (ep->conn->insider != NULL && !sim_insider_said(ep, &words)))
		sim_net_send(h->w, h->number, frame, bytes);
	else if (ep->speech != NULL && (words.pkt.opflags & ROCE_OPF_REQUEST))
		sim_request_said(ep, &words);
	else if (ep->speech != NULL)
		sim_response_said(ep, &words);
	sim_actor_set(h->w, was);
}

/* ---- on the way in ---- */

static struct sim_ep *
listener(struct sim_shard *sh, const struct roce_pkt *pkt)
{
	for (unsigned i = 0; i < sh->client.n_eps; i++) {
		struct sim_ep *ep = sh->client.eps[i];

		if (ep != NULL && ep->speech != NULL && ep->qp != NULL && !ep->gone &&
			ep->qpn == pkt->qpn)
			return ep;
	}
	return NULL;
}

void
sim_dialect_rx(
	struct sim_shard *sh, const struct sim_frame *f, struct roce_pkt *pkt, struct roce_qp *qp)
{
	uint32_t was = sh->host->w->draws.actor;
	struct sim_ep *ep = NULL;

	if ((pkt->opflags & (ROCE_OPF_REQUEST | ROCE_OPF_RESPONSE)) && !f->damaged &&
		sh->host->w->profile->dialects > 0)
		ep = listener(sh, pkt);
	if (ep != NULL)
		sim_actor_set(sh->host->w, sim_ep_actor(ep));
	if (ep != NULL && (pkt->opflags & ROCE_OPF_RESPONSE))
		sim_response_heard(ep, pkt);
	if (ep != NULL && (pkt->opflags & ROCE_OPF_REQUEST))
		sim_request_heard(ep, f, pkt);
	else
		sim_cc_rx(sh, pkt, qp);
	sim_actor_set(sh->host->w, was);
}

/* ---- what is due ---- */

void
sim_speech_wake(struct sim_ep *ep, uint64_t at_ns)
{
	ep->w->dialect_ns = sim_earlier(ep->w->dialect_ns, at_ns);
}

void
sim_dialect_run(struct sim_world *w)
{
	if (w->now_ns < w->dialect_ns)
		return;
	w->dialect_ns = SIM_NEVER;
	for (unsigned i = 0; i < 2 * w->n_conns; i++) {
		struct sim_ep *ep = &w->conns[i / 2].ep[i % 2];
		struct sim_speech *s = ep->speech;

		if (s == NULL || ep->qp == NULL || ep->gone || ep->client->shard->host->dead)
			continue;
		sim_actor_set(w, sim_ep_actor(ep));
		sim_responder_run(ep);
		sim_requester_run(ep);
		sim_speech_wake(ep, sim_earlier(s->late_ns, sim_earlier(s->hasty_ns, s->cnp_ns)));
	}
	sim_actor_set(w, SIM_ACTOR_WORLD);
}

/* ---- connection managers ---- */

bool
sim_dialect_mad(struct sim_ep *ep, uint32_t attr, struct sim_frame *f)
{
	struct sim_words words;

	if (attr == CM_ATTR_MRA && sim_speaks(ep, SIM_DIALECT_NO_MRA)) {
		sim_spoke(ep, SIM_DIALECT_NO_MRA);
		return false;
	}
	if (sim_speaks(ep, SIM_DIALECT_GSI_PORT) && sim_words_parse(&words, f->data, f->bytes)) {
		static uint8_t frame[SIM_WORDS_MAX];

		sim_words_sport(&words, 0xd872);
		sim_check(ep->w, sim_words_build(&words, frame) == f->bytes, "a longer MAD");
		memcpy(f->data, frame, f->bytes);
		sim_spoke(ep, SIM_DIALECT_GSI_PORT);
	}
	return true;
}

uint64_t
sim_dialect_delay(struct sim_ep *ep)
{
	if (!sim_speaks(ep, SIM_DIALECT_SLOW_ANSWER) || !sim_chance(ep->w, 5000))
		return 0;
	sim_spoke(ep, SIM_DIALECT_SLOW_ANSWER);
	return sim_below(ep->w, SLOW_NS);
}

bool
sim_dialect_refused(const struct sim_ep *ep)
{
	return ep->speech != NULL && ep->speech->refused;
}
