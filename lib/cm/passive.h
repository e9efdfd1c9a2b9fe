/* SPDX-License-Identifier: BSD-3-Clause */
/* A request that the host has not decided. */
#ifndef CM_PASSIVE_H
#define CM_PASSIVE_H

#include "cm/cm.h"

/* The host takes its time: ask the peer for patience, and wait as long as it has some. */
void cm_request_waits(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);

#endif
