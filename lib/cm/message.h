/* SPDX-License-Identifier: BSD-3-Clause */
/* A MAD that arrived, and what is done about each kind; roce_cm_rx() dispatches them. */
#ifndef CM_MESSAGE_H
#define CM_MESSAGE_H

#include "cm/cm.h"
#include "cm/codec.h"
#include "cm/source.h"

struct cm_in {
	uint64_t now_ns;
	uint32_t port;
	uint8_t tos;
	struct roce_gid local, remote;
	struct cm_origin origin; /* of remote */
	struct cm_mad mad;
};

void cm_recv_req(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_mra(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_rej(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_rep(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_rtu(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_dreq(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_drep(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_sidr_req(struct roce_cm *cm, const struct cm_in *in);
void cm_recv_sidr_rep(struct roce_cm *cm, const struct cm_in *in);

#endif
