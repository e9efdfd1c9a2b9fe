/* SPDX-License-Identifier: BSD-3-Clause */
/* A path: where the packets of one flow go, and by which source port. */
#ifndef ROCE_PATH_H
#define ROCE_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/gid.h"

/* All that the lower headers of a flow need. */
struct roce_path {
	struct roce_gid sgid, dgid;
	uint8_t smac[6], dmac[6];
	uint16_t vlan_tci; /* used if tagged */
	bool tagged;
	bool class_priority; /* the tag's priority follows the traffic class */
	uint8_t tos, ttl;
	uint16_t udp_sport;
	uint32_t flow_label; /* IPv6, 20 bits */
};

/* UDP source port of a flow label, or of the QPN pair if it is 0 (W-CM-71). */
uint16_t roce_flow_sport(uint32_t flow_label, uint32_t local_qpn, uint32_t remote_qpn);

#endif
