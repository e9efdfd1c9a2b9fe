/* SPDX-License-Identifier: BSD-3-Clause */
#include "wire/path.h"

/* As Linux derives it: rdma_flow_label_to_udp_sport() and rdma_calc_flow_label() in
 * include/rdma/ib_verbs.h. */
uint16_t
roce_flow_sport(uint32_t flow_label, uint32_t local_qpn, uint32_t remote_qpn)
{
	uint32_t fl = flow_label & 0xfffffu;

	if (fl == 0) {
		uint64_t v = (uint64_t)local_qpn * remote_qpn;

		v ^= v >> 20;
		v ^= v >> 40;
		fl = (uint32_t)(v & 0xfffffu);
	}
	return (uint16_t)(0xc000u | ((fl & 0x3fffu) ^ (fl >> 14)));
}
