/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_peer.h"

#include "base/bytes.h"
#include "wire/gsi.h"
#include "wire/icrc.h"

#define PEER_GUID 0x77u

const struct roce_gid *
cm_peer_to(const struct cm_peer *p, const struct roce_gid *from)
{
	return roce_gid_is_v4(from) ? &p->me : &p->me6;
}

void
cm_peer_hears(struct cm_peer *p, struct roce_cm *cm)
{
	struct roce_cm_tx tx;

	while (roce_cm_tx(cm, &tx)) {
		struct cm_mad m;

		fuzz_need(
			cm_mad_decode(&m, tx.mad) == CM_DECODE_OK, "the CM sends what it refuses");
		fuzz_need(tx.hop_limit != 0, "a MAD that would die on the way");
		p->sent[m.attr % CM_PEER_ATTRS] = m;
	}
}

/* A REQ or SIDR_REQ to a listener. */
static void
mad_request(struct fuzz_in *in, struct cm_mad *m, const struct roce_gid *from,
	const struct roce_gid *to)
{
	struct cm_ip_hdr ip = {.src = *from, .dst = *to, .src_port = 4000};

	m->local_id = 0x7000 + fuzz_below(in, 8);
	m->service_id = CM_SERVICE_PS_TCP | CM_PEER_SERVICE;
	if (m->attr == CM_ATTR_SIDR_REQ)
		m->service_id = CM_SERVICE_PS_UDP | CM_PEER_SERVICE;
	m->ca_guid = PEER_GUID;
	m->qpn = 0x4242 + fuzz_below(in, 4);
	m->sgid = *from;
	m->dgid = *to;
	m->pkey = ROCE_PKEY_DEFAULT;
	m->mtu = 3;
	m->max_retries = 15;
	m->remote_resp_timeout = m->local_resp_timeout = 20;
	m->slid = m->dlid = 0xffff;
	m->hop_limit = 64;
	cm_ip_hdr_encode(m->priv, &ip);
}

/* What the peer would answer to a message of the CM. */
static void
mad_answer(const struct cm_peer *p, struct fuzz_in *in, struct cm_mad *m)
{
	const struct cm_mad *to = &p->sent[fuzz_below(in, CM_PEER_ATTRS)];

	m->tid = to->tid;
	m->local_id = fuzz_below(in, 4) ? 0x7000 + fuzz_below(in, 8) : to->remote_id;
	m->remote_id = to->local_id;
	if (m->attr == CM_ATTR_SIDR_REP)
		m->local_id = to->local_id; /* the request's id */
	m->qpn = m->attr == CM_ATTR_DREQ ? to->qpn : 0x4242;
	m->ca_guid = PEER_GUID;
	m->which = fuzz_below(in, 4);
	m->reason = fuzz_below(in, 40);
	m->service_timeout = 20;
	m->status = fuzz_below(in, 4);
	if (m->attr == CM_ATTR_REJ) { /* one that gives up names itself */
		m->ari_bytes = sizeof(uint64_t);
		roce_put_be64(m->ari, PEER_GUID);
	}
	m->responder_resources = m->initiator_depth = 4;
}

static void
mad_damage(struct fuzz_in *in, uint8_t mad[ROCE_MAD_BYTES])
{
	for (unsigned n = fuzz_below(in, 8); n > 3; n--) {
		unsigned at = fuzz_below(in, 256);

		mad[at] = (uint8_t)fuzz_take(in, 1);
	}
}

/* As the host does (app/dpdk-ndd/hostnet/host.c): a frame is parsed, its ICRC is looked at. */
static void
mad_arrives(struct roce_cm *cm, uint64_t now_ns, const struct roce_gid *from,
	const struct roce_gid *to, uint32_t port, const uint8_t mad[ROCE_MAD_BYTES])
{
	const struct roce_path path = {.sgid = *from, .dgid = *to, .ttl = 64};
	uint8_t *frame = malloc(ROCE_GSI_FRAME_MAX);
	struct roce_pkt pkt;
	uint32_t n;

	fuzz_need(frame != NULL, "memory");
	n = roce_gsi_build(frame, &path, 1, mad);
	fuzz_need(roce_wire_parse(frame, n, &pkt) == ROCE_WIRE_OK && roce_icrc_ok(&pkt), "a MAD");
	roce_cm_rx(cm, now_ns, &pkt, port);
	free(frame);
}

void
cm_peer_speaks(struct cm_peer *p, struct fuzz_in *in, struct roce_cm *cm, uint64_t now_ns,
	const struct roce_gid *from, uint32_t port)
{
	static const uint8_t attrs[] = {CM_ATTR_REQ, CM_ATTR_MRA, CM_ATTR_REJ, CM_ATTR_REP,
		CM_ATTR_RTU, CM_ATTR_DREQ, CM_ATTR_DREP, CM_ATTR_SIDR_REQ, CM_ATTR_SIDR_REP};
	struct cm_mad m = {.attr = attrs[fuzz_below(in, sizeof(attrs))]};
	const struct roce_gid *to = cm_peer_to(p, from);
	uint8_t mad[ROCE_MAD_BYTES];

	if (m.attr == CM_ATTR_REQ || m.attr == CM_ATTR_SIDR_REQ)
		mad_request(in, &m, from, to);
	else
		mad_answer(p, in, &m);
	cm_mad_encode(mad, &m);
	mad_damage(in, mad);
	mad_arrives(cm, now_ns, from, to, port, mad);
}
