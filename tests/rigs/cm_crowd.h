/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Strangers: hosts that flood a connection manager with messages, each of which is valid by itself.
 * They get none of the answers.
 */
#ifndef TEST_CM_CROWD_H
#define TEST_CM_CROWD_H

#include "cm/cm.h"
#include "cm/codec.h"

/* The n-th stranger's address: IPv4, IPv6 of one /64, and IPv6 each of a /64 of its own. */
struct roce_gid cm_crowd_v4(uint32_t n);
struct roce_gid cm_crowd_v6(uint32_t n);
struct roce_gid cm_crowd_far(uint32_t n);

/* A first REQ: the stranger's number-th connection, to a listener at port. */
struct cm_mad cm_crowd_req(
	const struct roce_gid *from, const struct roce_gid *to, uint32_t number, uint16_t port);
/* A first SIDR_REQ likewise. */
struct cm_mad cm_crowd_sidr_req(
	const struct roce_gid *from, const struct roce_gid *to, uint32_t number, uint16_t port);
/* The message arrives at cm, at the host's port nic. */
void cm_crowd_send(struct roce_cm *cm, uint64_t now_ns, const struct roce_gid *from,
	const struct roce_gid *to, uint32_t nic, const struct cm_mad *m);

#endif
