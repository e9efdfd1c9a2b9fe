/* SPDX-License-Identifier: BSD-3-Clause */
/* What a device and its port are. */
#ifndef NDV_QUERY_H
#define NDV_QUERY_H

#include <infiniband/verbs.h>
#include <stdint.h>

/* bytes: of the caller's structure, which may end earlier or later than ours. */
int ndv_query_port(
	struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr, size_t bytes);
int ndv_query_device_ex(struct ibv_context *context, const struct ibv_query_device_ex_input *input,
	struct ibv_device_attr_ex *attr, size_t bytes);
enum ibv_mtu ndv_mtu_of_bytes(uint32_t bytes);
uint32_t ndv_bytes_of_mtu(enum ibv_mtu mtu);

#endif
