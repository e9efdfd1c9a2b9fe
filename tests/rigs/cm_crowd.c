/* SPDX-License-Identifier: BSD-3-Clause */
#include "rigs/cm_crowd.h"

#include <stdlib.h>
#include <string.h>

#include "wire/gsi.h"
#include "wire/packet.h"

struct roce_gid
cm_crowd_v4(uint32_t n)
{
	const uint8_t v4[4] = {10, (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n};
	struct roce_gid gid;

	roce_gid_from_v4(&gid, v4);
	return gid;
}

static struct roce_gid
crowd_in_subnet(uint32_t subnet, uint32_t n)
{
	struct roce_gid gid = {{0x20, 0x01, 0x0d, 0xb8}};

	memcpy(gid.raw + 4, &subnet, sizeof(subnet));
	memcpy(gid.raw + 12, &n, sizeof(n));
	return gid;
}

struct roce_gid
cm_crowd_v6(uint32_t n)
{
	return crowd_in_subnet(0, n + 1);
}

struct roce_gid
cm_crowd_far(uint32_t n)
{
	return crowd_in_subnet(n + 1, 1);
}

struct cm_mad
cm_crowd_req(const struct roce_gid *from, const struct roce_gid *to, uint32_t number, uint16_t port)
{
	const struct cm_ip_hdr ip = {.src = *from, .dst = *to, .src_port = (uint16_t)number};
	struct cm_mad m = {
		.attr = CM_ATTR_REQ,
		.tid = number,
		.local_id = number + 1,
		.service_id = cm_service_id(port),
		.ca_guid = 0x0200,
		.qpn = 2 + number % 0xfffff0,
		.remote_resp_timeout = 20,
		.local_resp_timeout = 20,
		.max_retries = 15,
		.pkey = 0xffff,
		.mtu = 3,
		.hop_limit = 64,
		.ack_timeout = 17,
		.sgid = *from,
		.dgid = *to,
	};

	cm_ip_hdr_encode(m.priv, &ip);
	return m;
}

struct cm_mad
cm_crowd_sidr_req(
	const struct roce_gid *from, const struct roce_gid *to, uint32_t number, uint16_t port)
{
	const struct cm_ip_hdr ip = {.src = *from, .dst = *to, .src_port = (uint16_t)number};
	struct cm_mad m = {
		.attr = CM_ATTR_SIDR_REQ,
		.tid = number,
		.local_id = number + 1,
		.service_id = CM_SERVICE_PS_UDP | port,
		.pkey = 0xffff,
	};

	cm_ip_hdr_encode(m.priv, &ip);
	return m;
}

void
cm_crowd_send(struct roce_cm *cm, uint64_t now_ns, const struct roce_gid *from,
	const struct roce_gid *to, uint32_t nic, const struct cm_mad *m)
{
	const struct roce_path path = {.sgid = *from, .dgid = *to, .ttl = 64};
	uint8_t mad[ROCE_MAD_BYTES], frame[ROCE_GSI_FRAME_MAX];
	struct roce_pkt pkt;

	cm_mad_encode(mad, m);
	if (roce_wire_parse(frame, roce_gsi_build(frame, &path, 0, mad), &pkt) != ROCE_WIRE_OK)
		abort();
	roce_cm_rx(cm, now_ns, &pkt, nic);
}
