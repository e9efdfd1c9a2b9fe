/* SPDX-License-Identifier: BSD-3-Clause */
/* DREQ and DREP, and connections that turn out to be stale. */
#ifndef CM_DISCONNECT_H
#define CM_DISCONNECT_H

#include "cm/cm.h"

void cm_send_dreq(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);
/* The peer of an old connection is said to have its QPN in a new one (W-CM-53). */
void cm_stale(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *old);

#endif
