/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each frame of an engine must be like, whatever it is about: our own codecs are strict, but
 * this is about the bits that they do not look at, and about what other implementations die of.
 */
#include "base/bytes.h"
#include "roce/qp/qp.h"
#include "sim.h"

#define BTH_PAD_TVER 1u /* offsets in the BTH */
#define BTH_PKEY     2u
#define BTH_CN	     4u
#define BTH_ACKREQ   8u

/* Those that every implementation knows. checks W-NEG-05, W-RXE-31[1], W-RXE-33 */
static bool
opcode_is_old(uint8_t opcode)
{
	return opcode <= ROCE_FETCH_ADD || opcode == ROCE_SEND_LAST_INV ||
	       opcode == ROCE_SEND_ONLY_INV || opcode == ROCE_UD_SEND_ONLY ||
	       opcode == ROCE_UD_SEND_ONLY_IMM || opcode == ROCE_CNP;
}

/* checks W-NEG-05: no bit that is reserved, and none that another version may mean something by */
static bool
reserved_is_zero(const uint8_t *bth, const struct roce_pkt *pkt)
{
	uint8_t cn = pkt->opcode == ROCE_CNP || pkt->becn ? 0xbf : 0xff;

	return (bth[BTH_PAD_TVER] & 0x0f) == 0 &&
	       roce_get_be16(bth + BTH_PKEY) == ROCE_PKEY_DEFAULT && (bth[BTH_CN] & cn) == 0 &&
	       (bth[BTH_ACKREQ] & 0x7f) == 0 &&
	       (!(pkt->opflags & ROCE_OPF_DETH) || bth[ROCE_BTH_BYTES + 4] == 0);
}

/* checks W-RXE-15[2]: a NAK code that is not known, or a reserved type, ends rxe's queue pair */
static bool
syndrome_is_known(const struct roce_pkt *pkt)
{
	if (!(pkt->opflags & ROCE_OPF_AETH) || pkt->syndrome == ROCE_SYN_ACK)
		return true;
	return pkt->opcode == ROCE_ACK &&
	       (pkt->syndrome >> 5 == 1 ||
		       (pkt->syndrome >= ROCE_SYN_NAK_SEQ && pkt->syndrome <= ROCE_SYN_NAK_REM_OP));
}

static bool
padded_with_zeros(const struct roce_pkt *pkt)
{
	for (unsigned i = 0; i < pkt->pad; i++)
		if (pkt->payload[pkt->payload_bytes + i] != 0)
			return false;
	return pkt->pad == (-pkt->payload_bytes & 3);
}

/* checks W-REQ-03 */
static bool
solicits_at_the_end(const struct roce_pkt *pkt)
{
	return !pkt->se ||
	       ((pkt->opflags & ROCE_OPF_LAST) &&
		       ((pkt->opflags & ROCE_OPF_SEND) || (pkt->opflags & ROCE_OPF_IMM) ||
			       (pkt->opflags & ROCE_OPF_DETH)));
}

static struct sim_ep *
sender(struct sim_shard *sh, const struct roce_pkt *pkt)
{
	for (unsigned i = 0; i < sh->client.n_eps; i++) {
		struct sim_ep *ep = sh->client.eps[i];

		if (ep->qp != NULL && !ep->gone && !ep->peer->gone && ep->peer->qpn == pkt->qpn)
			return ep;
	}
	return NULL;
}

/* Responses of a READ are FIRST, any number of MIDDLE, LAST, or ONLY, with PSNs in sequence; a READ
 * that comes again begins anew. checks W-RXE-15[1], W-DUP-04, W-READ-01, W-READ-02 */
static bool
read_goes_on(struct sim_ep *ep, const struct roce_pkt *pkt)
{
	bool begins = pkt->opcode == ROCE_READ_RESP_FIRST || pkt->opcode == ROCE_READ_RESP_ONLY;
	bool ends = pkt->opcode == ROCE_READ_RESP_LAST || pkt->opcode == ROCE_READ_RESP_ONLY;
	bool fits = begins || (ep->responding && pkt->psn == ep->response_psn);

	ep->responding = !ends;
	ep->response_psn = roce_psn_add(pkt->psn, 1);
	return fits &&
	       (ends ? pkt->payload_bytes <= ep->conn->mtu : pkt->payload_bytes == ep->conn->mtu);
}

void
sim_wire_check(struct sim_shard *sh, const uint8_t *frame, uint32_t bytes)
{
	struct sim_world *w = sh->host->w;
	struct sim_words words;
	const struct roce_pkt *pkt = &words.pkt;
	struct sim_ep *ep;

	sim_check(w, sim_words_parse(&words, frame, bytes) && roce_icrc_ok(pkt),
		"host %u.%u sends what is no packet", sh->host->number, sh->number);
	sim_check(w,
		pkt->payload + pkt->payload_bytes + pkt->pad + ROCE_ICRC_BYTES == frame + bytes,
		"host %u.%u sends bytes behind the packet", sh->host->number, sh->number);
	sim_check(w,
		opcode_is_old(pkt->opcode) && reserved_is_zero(frame + words.tmpl.len, pkt) &&
			syndrome_is_known(pkt) && padded_with_zeros(pkt) &&
			solicits_at_the_end(pkt),
		"host %u.%u sends a packet that others may not know: opcode %02x, syndrome %02x",
		sh->host->number, sh->number, pkt->opcode, pkt->syndrome);
	if (pkt->opcode < ROCE_READ_RESP_FIRST || pkt->opcode > ROCE_READ_RESP_ONLY)
		return;
	ep = sender(sh, pkt);
	sim_check(w, ep == NULL || read_goes_on(ep, pkt),
		"conn %u%s: a response that rxe would die of: opcode %02x, PSN %06x, %u bytes",
		ep->conn->number, ep->name, pkt->opcode, pkt->psn, pkt->payload_bytes);
}
