/* SPDX-License-Identifier: BSD-3-Clause */
/* The MADs of a connection, from its values. */
#ifndef CM_BUILD_H
#define CM_BUILD_H

#include "cm/codec.h"

struct roce_cm;
struct roce_cm_conn;

#define CM_TARGET_ACK_DELAY 15u /* in our REP: that of Linux's rxe (W-CM-33) */

/* what: one CM_TX_ bit. */
void cm_build_mad(
	const struct roce_cm *cm, const struct roce_cm_conn *c, uint32_t what, struct cm_mad *m);

#endif
