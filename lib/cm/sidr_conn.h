/* SPDX-License-Identifier: BSD-3-Clause */
/* How SIDR queries and requests end. c may be gone afterwards. */
#ifndef CM_SIDR_CONN_H
#define CM_SIDR_CONN_H

#include "cm/cm.h"

void cm_sidr_query_timed_out(struct roce_cm *cm, struct roce_cm_conn *c);
void cm_sidr_request_reject(struct roce_cm *cm, uint64_t now_ns, struct roce_cm_conn *c);
void cm_sidr_request_gone(struct roce_cm *cm, struct roce_cm_conn *c);

#endif
