/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/bytes.h"
#include "roce/qp/qp.h"
#include "sim.h"

/* The constant words of the IPv4 header. */
static void
sum_up(struct roce_hdr_tmpl *t)
{
	uint8_t *ip = t->bytes + t->l3_off;

	t->csum = 0;
	if (t->v6)
		return;
	memset(ip + 2, 0, 4); /* length, identification */
	memset(ip + 10, 0, 2);
	for (unsigned i = 0; i < ROCE_IPV4_BYTES; i += 2)
		t->csum += roce_get_be16(ip + i);
}

bool
sim_words_parse(struct sim_words *words, const uint8_t *frame, uint32_t bytes)
{
	struct roce_hdr_tmpl *t = &words->tmpl;

	*words = (struct sim_words){.frame = frame, .bytes = bytes};
	if (roce_wire_parse(frame, bytes, &words->pkt) != ROCE_WIRE_OK)
		return false;
	t->v6 = words->pkt.v6;
	t->tos = words->pkt.tos;
	t->vlan = words->pkt.vlan;
	t->l3_off = (uint8_t)(words->pkt.l3 - frame);
	t->len =
		(uint8_t)(t->l3_off + (t->v6 ? ROCE_IPV6_BYTES : ROCE_IPV4_BYTES) + ROCE_UDP_BYTES);
	memcpy(t->bytes, frame, t->len);
	if (!t->v6)
		words->ip_id = roce_get_be16(words->pkt.l3 + 4);
	sum_up(t);
	return true;
}

void
sim_words_tos(struct sim_words *words, uint8_t tos)
{
	uint8_t *ip = words->tmpl.bytes + words->tmpl.l3_off;

	words->tmpl.tos = tos;
	if (words->tmpl.v6) {
		ip[0] = (uint8_t)((ip[0] & 0xf0u) | tos >> 4);
		ip[1] = (uint8_t)((ip[1] & 0x0fu) | tos << 4);
	} else {
		ip[1] = tos;
	}
	sum_up(&words->tmpl);
}

void
sim_words_ttl(struct sim_words *words, uint8_t ttl)
{
	words->tmpl.bytes[words->tmpl.l3_off + (words->tmpl.v6 ? 7 : 8)] = ttl;
	sum_up(&words->tmpl);
}

void
sim_words_sport(struct sim_words *words, uint16_t sport)
{
	roce_put_be16(words->tmpl.bytes + words->tmpl.len - ROCE_UDP_BYTES, sport);
}

void
sim_words_ack(struct sim_words *words, const struct sim_ep *ep, uint8_t syndrome, uint32_t psn)
{
	const struct sim_host *from = ep->client->shard->host, *to = ep->peer->client->shard->host;
	struct roce_path path = sim_path(from, to, ep->conn->v6);

	path.udp_sport = ROCE_GSI_SPORT;
	*words = (struct sim_words){.pkt = {.opcode = ROCE_ACK,
					    .opflags = roce_opcode_info[ROCE_ACK].flags,
					    .qpn = ep->peer->qpn,
					    .psn = psn & ROCE_PSN_MASK,
					    .pkey = ROCE_PKEY_DEFAULT,
					    .mig = true,
					    .syndrome = syndrome,
					    .msn = ep->qp->msn}};
	roce_hdr_tmpl_init(&words->tmpl, &path);
}

static uint32_t
add_words(uint32_t sum, const uint8_t *p, uint32_t bytes)
{
	for (uint32_t i = 0; i + 1 < bytes; i += 2)
		sum += roce_get_be16(p + i);
	return bytes % 2 ? sum + (uint32_t)p[bytes - 1] * 256 : sum;
}

/* RFC 768, RFC 8200 (8.1); the ICRC does not cover it. */
static void
write_checksum(uint8_t *frame, const struct roce_hdr_tmpl *t)
{
	uint8_t *ip = frame + t->l3_off, *udp = frame + t->len - ROCE_UDP_BYTES;
	uint32_t bytes = roce_get_be16(udp + 4), sum = ROCE_PROTO_UDP + bytes;

	sum = add_words(sum, t->v6 ? ip + 8 : ip + 12, t->v6 ? 32 : 8);
	sum = add_words(sum, udp, bytes);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	roce_put_be16(udp + 6, (uint16_t)(sum == 0xffff ? 0xffff : ~sum));
}

uint32_t
sim_words_build(const struct sim_words *words, uint8_t *frame)
{
	const struct roce_pkt *pkt = &words->pkt;
	uint32_t hdr = roce_wire_build(frame, &words->tmpl, pkt, words->ip_id), bytes;
	uint32_t pad = -pkt->payload_bytes & 3;

	if (pkt->payload_bytes > 0)
		memcpy(frame + hdr, pkt->payload, pkt->payload_bytes);
	memset(frame + hdr + pkt->payload_bytes, words->pad, pad);
	/* The pad is sealed as if it were payload, so that it may be other than zero. */
	bytes = roce_wire_seal(frame, &words->tmpl, hdr, pkt->payload_bytes + pad);
	if (words->checksum)
		write_checksum(frame, &words->tmpl);
	memset(frame + bytes, 0xa5, words->trailer);
	bytes += words->trailer;
	if (words->tag != 0) {
		memmove(frame + 16, frame + 12, bytes - 12);
		roce_put_be16(frame + 12, ROCE_ETHERTYPE_VLAN);
		roce_put_be16(frame + 14, words->tag);
		bytes += ROCE_VLAN_TAG_BYTES;
	}
	return bytes;
}

/* ---- what was said ---- */

/* The newest that has that PSN, or NULL. */
struct sim_read *
sim_read_of(struct sim_reads *r, uint32_t psn)
{
	unsigned n = r->count < SIM_READS ? r->count : SIM_READS;

	for (unsigned age = 1; age <= n; age++) {
		struct sim_read *read = &r->of[(r->count - age) % SIM_READS];

		if (roce_psn_from(psn, read->first) < read->n)
			return read;
	}
	return NULL;
}

void
sim_read_note(struct sim_reads *r, const struct roce_pkt *pkt, uint32_t mtu)
{
	bool atomic = pkt->opflags & ROCE_OPF_ATOMIC;
	uint32_t bytes = atomic ? 0 : pkt->dma_bytes;

	r->of[r->count++ % SIM_READS] = (struct sim_read){.first = pkt->psn,
		.n = bytes <= mtu ? 1 : (bytes + mtu - 1) / mtu,
		.bytes = bytes,
		.va = pkt->va,
		.atomic = atomic};
}

void
sim_copy_keep(struct sim_world *w, struct sim_copy *c, const uint8_t *frame, uint32_t bytes)
{
	if (c->frame == NULL)
		c->frame = sim_alloc(w, SIM_WORDS_MAX);
	memcpy(c->frame, frame, bytes);
	c->bytes = bytes;
}
