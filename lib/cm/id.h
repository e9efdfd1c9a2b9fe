/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers that we choose: communication ids and transaction ids. */
#ifndef CM_ID_H
#define CM_ID_H

#include <stdint.h>

struct roce_cm;

/* A comm id that cannot be guessed and that no connection has (W-CM-40). */
uint32_t cm_new_id(struct roce_cm *cm);
uint64_t cm_new_tid(struct roce_cm *cm, uint32_t local_id);

#endif
