/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of 64 CPUs: what applications wish for, and where the daemon notifies. */
#ifndef ND_AFFINITY_H
#define ND_AFFINITY_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

/* Has this machine CPUs of that group? */
bool nd_affinity_has_group(uint16_t group);
/* Ask the daemon by that message about the object id. */
nd_status nd_affinity_ask(struct nd_adapter *a, enum ndsh_msg_type type, uint32_t id,
	uint16_t *group, uint64_t *mask);

#endif
