/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/bytes.h"
#include "wire/build.h"
#include "wire/gsi.h"
#include "wire/icrc.h"

uint32_t
roce_gsi_build(
	uint8_t *buf, const struct roce_path *path, uint32_t psn, const uint8_t mad[ROCE_MAD_BYTES])
{
	const struct roce_pkt pkt = {
		.opcode = ROCE_UD_SEND_ONLY,
		.qpn = ROCE_QPN_GSI,
		.psn = psn,
		.pkey = ROCE_PKEY_DEFAULT,
		.payload_bytes = ROCE_MAD_BYTES,
		.qkey = ROCE_QKEY_GSI,
		.src_qpn = ROCE_QPN_GSI,
	};
	struct roce_path gsi_path = *path;
	struct roce_hdr_tmpl tmpl;
	uint32_t hdr_bytes;

	/* One exchange of MADs stays in order on one 5-tuple, whatever its connection will use. */
	gsi_path.udp_sport = ROCE_GSI_SPORT;
	gsi_path.flow_label = 0;
	roce_hdr_tmpl_init(&tmpl, &gsi_path);
	hdr_bytes = roce_wire_build(buf, &tmpl, &pkt, (uint16_t)psn);
	memcpy(buf + hdr_bytes, mad, ROCE_MAD_BYTES);
	return roce_wire_seal(buf, &tmpl, hdr_bytes, ROCE_MAD_BYTES);
}

bool
roce_gsi_is_mad(const struct roce_pkt *pkt)
{
	return pkt->opcode == ROCE_UD_SEND_ONLY && pkt->qpn == ROCE_QPN_GSI &&
	       pkt->qkey == ROCE_QKEY_GSI && pkt->payload_bytes == ROCE_MAD_BYTES;
}

const uint8_t *
roce_gsi_mad_of(const uint8_t *datagram, uint32_t bytes)
{
	const uint32_t headers = ROCE_BTH_BYTES + ROCE_DETH_BYTES;

	if (bytes < headers + ROCE_MAD_BYTES || datagram[0] != ROCE_UD_SEND_ONLY ||
		(roce_get_be32(datagram + 4) & ROCE_QPN_MASK) != ROCE_QPN_GSI)
		return NULL;
	return datagram + headers;
}
