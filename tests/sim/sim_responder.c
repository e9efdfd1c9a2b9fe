/* SPDX-License-Identifier: BSD-3-Clause */
/* An end that answers as others do. */
#include "roce/qp/qp.h"
#include "sim.h"

#define LATE_NS	   (100 * SIM_US) /* well below any timeout (W-ACK-02) */
#define NAK_INV	   ROCE_SYN_NAK_INV_REQ
#define NAK_REM_OP ROCE_SYN_NAK_REM_OP

static void
say_ack(struct sim_ep *ep, uint8_t syndrome, uint32_t psn)
{
	struct sim_words words;

	sim_words_ack(&words, ep, syndrome, psn);
	sim_say(ep, &words);
}

/* ---- acknowledgements ---- */

static void
answered(struct sim_speech *s, uint32_t psn)
{
	if (!s->any_told || roce_psn_diff(psn, s->told) > 0)
		s->told = psn;
	s->any_told = true;
}

/* One for each packet since the last. READs and atomics have been answered by themselves. */
static void
ack_each(struct sim_ep *ep, struct sim_words *words)
{
	struct sim_speech *s = ep->speech;
	uint32_t end = words->pkt.psn, n = roce_psn_from(end, s->told);

	if (s->any_told && n > 1 && n <= SIM_SAID) {
		for (uint32_t psn = roce_psn_add(s->told, 1); psn != end;
			psn = roce_psn_add(psn, 1)) {
			struct sim_words one = *words;

			if (sim_read_of(&s->heard, psn) != NULL)
				continue;
			one.pkt.psn = psn;
			sim_say(ep, &one);
			sim_spoke(ep, SIM_DIALECT_ACK_EACH);
		}
	}
	sim_say(ep, words);
}

/* The newest stands for those before it. */
static void
ack_late(struct sim_ep *ep, const struct sim_words *words)
{
	struct sim_speech *s = ep->speech;

	if (s->late.bytes > 0)
		sim_spoke(ep, SIM_DIALECT_ACK_LATE);
	else
		s->late_ns = ep->w->now_ns + sim_below(ep->w, LATE_NS);
	sim_copy_keep(ep->w, &s->late, words->frame, words->bytes);
	s->late.psn = words->pkt.psn;
	sim_speech_wake(ep, s->late_ns);
}

/* What follows at psn acknowledges it (W-ACK-04, W-ACK-06). */
static void
replace_late(struct sim_ep *ep, uint32_t psn)
{
	struct sim_speech *s = ep->speech;

	if (s->late.bytes > 0 && roce_psn_diff(s->late.psn, psn) < 0) {
		s->late.bytes = 0;
		s->late_ns = SIM_NEVER;
		sim_spoke(ep, SIM_DIALECT_ACK_LATE);
	}
}

static void
said_ack(struct sim_ep *ep, struct sim_words *words)
{
	if (sim_speaks(ep, SIM_DIALECT_ACK_EACH))
		ack_each(ep, words);
	else if (sim_speaks(ep, SIM_DIALECT_ACK_LATE) && words->frame != NULL)
		ack_late(ep, words);
	else
		sim_say(ep, words);
	answered(ep->speech, words->pkt.psn);
}

/* ---- refusals ---- */

/* checks W-COMP-06 */
static void
said_fatal(struct sim_ep *ep, struct sim_words *words)
{
	struct roce_pkt *pkt = &words->pkt;
	const struct sim_read *read = sim_read_of(&ep->speech->heard, pkt->psn);

	if (read != NULL && read->first != pkt->psn && sim_speaks(ep, SIM_DIALECT_NAK_FIRST)) {
		pkt->psn = read->first;
		sim_spoke(ep, SIM_DIALECT_NAK_FIRST);
	}
	if (pkt->syndrome == NAK_INV && ep->conn->poison == SIM_POISON_RECV_SMALL &&
		sim_speaks(ep, SIM_DIALECT_NAK_OPERATION)) {
		pkt->syndrome = NAK_REM_OP;
		sim_spoke(ep, SIM_DIALECT_NAK_OPERATION);
	}
	ep->speech->refused = true;
	sim_say(ep, words);
}

/* rxe takes the packets behind for a loss, once. */
static void
nak_behind_rnr(struct sim_ep *ep)
{
	ep->speech->rnr_open = ep->speech->overrun = false;
	say_ack(ep, ROCE_SYN_NAK_SEQ, ep->speech->rnr_psn);
	sim_spoke(ep, SIM_DIALECT_NAK_BEHIND_RNR);
}

static void
said_rnr(struct sim_ep *ep, struct sim_words *words)
{
	struct sim_speech *s = ep->speech;

	sim_say(ep, words);
	s->rnr_psn = words->pkt.psn;
	s->rnr_open = sim_speaks(ep, SIM_DIALECT_NAK_BEHIND_RNR);
	if (s->rnr_open && s->overrun)
		nak_behind_rnr(ep);
}

static void
said_acknowledge(struct sim_ep *ep, struct sim_words *words)
{
	uint8_t syndrome = words->pkt.syndrome;

	if (syndrome >> 5 == 0) {
		said_ack(ep, words);
		return;
	}
	replace_late(ep, words->pkt.psn);
	if (syndrome >> 5 == 1)
		said_rnr(ep, words);
	else if (syndrome >= NAK_INV)
		said_fatal(ep, words);
	else
		sim_say(ep, words);
}

/* ---- responses of READs ---- */

/* The region was deregistered in the middle of a READ: the rest is refused by a NAK with the PSN of
 * the request, and then there is silence. checks W-COMP-06 */
static bool
refuse_rest(struct sim_ep *ep, const struct roce_pkt *pkt)
{
	struct sim_conn *c = ep->conn;
	struct sim_speech *s = ep->speech;
	const struct sim_read *read = sim_read_of(&s->heard, pkt->psn);

	if (read == NULL || read->atomic || read->first == pkt->psn || c->poison_done ||
		c->poison != SIM_POISON_DEREGISTER || c->villain != ep->peer ||
		c->state != SIM_CONN_UP || !sim_speaks(ep, SIM_DIALECT_NAK_FIRST))
		return false;
	c->poison_done = c->dying = true;
	s->refused = s->over = true;
	sim_arena_deregister(ep->client, &ep->target);
	say_ack(ep, ROCE_SYN_NAK_REM_ACCESS, read->first);
	sim_ep_to_error(ep);
	sim_spoke(ep, SIM_DIALECT_NAK_FIRST);
	return true;
}

/* Without memory for the next response rxe refuses the rest by an RNR NAK with the PSN of the
 * request. Nothing behind it is answered before the request comes again. */
static bool
break_off(struct sim_ep *ep, const struct roce_pkt *pkt)
{
	struct sim_speech *s = ep->speech;
	const struct sim_read *read = sim_read_of(&s->heard, pkt->psn);

	if (read == NULL || read->atomic || read->first == pkt->psn || ep->conn->rnr_retry != 7 ||
		!sim_speaks(ep, SIM_DIALECT_RNR_IN_READ) || !sim_chance(ep->w, 1000))
		return false;
	s->broken = true;
	s->broken_psn = pkt->psn;
	say_ack(ep, ROCE_SYN_RNR | ep->conn->rnr_code, read->first);
	sim_spoke(ep, SIM_DIALECT_RNR_IN_READ);
	return true;
}

/* checks W-COMP-09, W-RXE-23 */
static void
go_on(struct sim_ep *ep, struct roce_pkt *pkt)
{
	const struct sim_read *read = sim_read_of(&ep->speech->heard, pkt->psn);
	bool only = pkt->opcode == ROCE_READ_RESP_ONLY;

	if (read == NULL || read->first == pkt->psn ||
		!(only || pkt->opcode == ROCE_READ_RESP_FIRST) ||
		!sim_speaks(ep, SIM_DIALECT_MIDDLE))
		return;
	pkt->opcode = only ? ROCE_READ_RESP_LAST : ROCE_READ_RESP_MIDDLE;
	pkt->opflags = roce_opcode_info[pkt->opcode].flags;
	sim_spoke(ep, SIM_DIALECT_MIDDLE);
}

void
sim_response_said(struct sim_ep *ep, struct sim_words *words)
{
	struct sim_speech *s = ep->speech;
	struct roce_pkt *pkt = &words->pkt;
	bool fatal = pkt->opcode == ROCE_ACK && pkt->syndrome >= NAK_INV;

	if (s->over)
		return;
	/* The rest had come before, so the request does not come again. */
	if (s->broken && roce_psn_diff(ep->peer->qp->una_psn, s->broken_psn) > 0)
		s->broken = false;
	if (s->broken && roce_psn_diff(pkt->psn, s->broken_psn) >= 0 && !fatal)
		return;
	if (pkt->opcode == ROCE_ACK) {
		said_acknowledge(ep, words);
		return;
	}
	replace_late(ep, pkt->psn);
	if (refuse_rest(ep, pkt) || break_off(ep, pkt))
		return;
	go_on(ep, pkt);
	sim_say(ep, words);
	answered(s, pkt->psn);
}

void
sim_responder_run(struct sim_ep *ep)
{
	struct sim_speech *s = ep->speech;
	struct sim_words words;

	if (s->late.bytes == 0 || ep->w->now_ns < s->late_ns)
		return;
	if (ep->qp->rd_pending > 0) { /* W-ACK-03 */
		s->late_ns = ep->w->now_ns + 10 * SIM_US;
		return;
	}
	s->late_ns = SIM_NEVER;
	sim_check(ep->w, sim_words_parse(&words, s->late.frame, s->late.bytes), "a copy is broken");
	s->late.bytes = 0;
	sim_say(ep, &words);
}

/* ---- requests ---- */

/* The answer begins where the READ did. */
static void
replay_all(struct sim_ep *ep, struct roce_pkt *pkt)
{
	const struct sim_read *read = sim_read_of(&ep->speech->heard, pkt->psn);

	if (read == NULL || read->atomic || read->first == pkt->psn)
		return;
	pkt->psn = read->first;
	pkt->va = read->va;
	pkt->dma_bytes = read->bytes;
	sim_spoke(ep, SIM_DIALECT_REPLAY_ALL);
}

/* True: that was all that is made of a SEND or WRITE that comes again. */
static bool
heard_copy(struct sim_ep *ep, const struct roce_pkt *pkt)
{
	if (!(pkt->opflags & (ROCE_OPF_SEND | ROCE_OPF_WRITE)))
		return false;
	if (sim_speaks(ep, SIM_DIALECT_ACK_ASKED) && !pkt->ackreq) {
		sim_spoke(ep, SIM_DIALECT_ACK_ASKED);
		return true;
	}
	if (sim_speaks(ep, SIM_DIALECT_ACK_COPY) && ep->qp->rd_pending == 0 &&
		roce_psn_diff(pkt->psn, ep->qp->placed_psn) < 0 && !ep->speech->broken) {
		say_ack(ep, ROCE_SYN_ACK, pkt->psn);
		sim_spoke(ep, SIM_DIALECT_ACK_COPY);
		return true;
	}
	return false;
}

static void
to_engine(struct sim_ep *ep, const struct roce_pkt *pkt)
{
	struct roce_qp *qp = ep->qp;
	uint32_t expected = qp->recv_psn;

	sim_srq_rx(ep->client->shard, pkt, qp);
	if (pkt->psn == expected && qp->recv_psn != expected &&
		!(pkt->opflags & (ROCE_OPF_SEND | ROCE_OPF_WRITE)))
		sim_read_note(&ep->speech->heard, pkt, ep->conn->mtu);
}

/* ---- packets that come too early ---- */

static void
keep(struct sim_ep *ep, const struct sim_frame *f, const struct roce_pkt *pkt)
{
	struct sim_copy *c = &ep->speech->kept[pkt->psn % SIM_KEPT];

	if (roce_psn_from(pkt->psn, ep->qp->recv_psn) >= SIM_KEPT)
		return;
	sim_copy_keep(ep->w, c, f->data, f->bytes);
	c->psn = pkt->psn;
}

/* The gap is filled: those behind it are not awaited again. An acknowledgement then
 * reaches beyond what was sent again (W-NEG-06). */
static void
use_kept(struct sim_ep *ep)
{
	for (;;) {
		uint32_t expected = ep->qp->recv_psn;
		struct sim_copy *c = &ep->speech->kept[expected % SIM_KEPT];
		struct roce_pkt pkt;

		if (c->bytes == 0 || c->psn != expected || (ep->qp->rx_bits & ROCE_RXB_RNR_SENT) ||
			roce_wire_parse(c->frame, c->bytes, &pkt) != ROCE_WIRE_OK)
			return;
		c->bytes = 0;
		to_engine(ep, &pkt);
		if (ep->qp->recv_psn == expected)
			return;
		sim_spoke(ep, SIM_DIALECT_KEEP);
	}
}

static void
heard_early(struct sim_ep *ep, const struct sim_frame *f, const struct roce_pkt *pkt)
{
	struct sim_speech *s = ep->speech;
	struct roce_qp *qp = ep->qp;
	bool told = qp->rx_bits & ROCE_RXB_NAK_SENT;

	to_engine(ep, pkt);
	if (sim_speaks(ep, SIM_DIALECT_KEEP))
		keep(ep, f, pkt);
	if (qp->rx_bits & ROCE_RXB_RNR_SENT) {
		s->overrun = true;
		if (s->rnr_open)
			nak_behind_rnr(ep);
	} else if (told && qp->rd_pending == 0 && qp->placed_psn == qp->recv_psn &&
		   qp->ack_owed == ROCE_OWED_NONE && !s->broken &&
		   sim_speaks(ep, SIM_DIALECT_NAK_EACH)) {
		say_ack(ep, ROCE_SYN_NAK_SEQ, qp->recv_psn);
		sim_spoke(ep, SIM_DIALECT_NAK_EACH);
	}
}

void
sim_request_heard(struct sim_ep *ep, const struct sim_frame *f, struct roce_pkt *pkt)
{
	struct sim_speech *s = ep->speech;
	int32_t ahead = roce_psn_diff(pkt->psn, ep->qp->recv_psn);

	if (ep->qp->state < ROCE_QPS_RTR || ep->qp->state > ROCE_QPS_SQD) {
		roce_shard_rx(ep->client->shard->s, ep->w->now_ns, pkt, ep->qp);
		return;
	}
	if (ahead > 0) {
		heard_early(ep, f, pkt);
		return;
	}
	if (s->broken && roce_psn_diff(pkt->psn, s->broken_psn) <= 0)
		s->broken = false;
	if (ahead == 0)
		s->rnr_open = s->overrun = false;
	else if (heard_copy(ep, pkt))
		return;
	if (ahead < 0 && pkt->opcode == ROCE_READ_REQUEST && sim_speaks(ep, SIM_DIALECT_REPLAY_ALL))
		replay_all(ep, pkt);
	if (sim_speaks(ep, SIM_DIALECT_ACK_EACH))
		pkt->ackreq = true;
	to_engine(ep, pkt);
	use_kept(ep);
}
