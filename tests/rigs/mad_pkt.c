/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/mad_pkt.h"

#include <string.h>

struct roce_pkt
mad_pkt(const uint8_t *mad, const struct roce_gid *src, const struct roce_gid *dst,
	uint8_t l3[ROCE_IPV4_BYTES])
{
	memset(l3, 0, ROCE_IPV4_BYTES);
	l3[0] = 0x45;
	memcpy(l3 + 12, src->raw + 12, 4);
	memcpy(l3 + 16, dst->raw + 12, 4);
	return (struct roce_pkt){.l3 = l3,
		.payload = mad,
		.payload_bytes = ROCE_MAD_BYTES,
		.opcode = ROCE_UD_SEND_ONLY,
		.qpn = ROCE_QPN_GSI,
		.qkey = ROCE_QKEY_GSI};
}
