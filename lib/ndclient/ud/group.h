/* SPDX-License-Identifier: BSD-3-Clause */
/* Multicast groups. */
#ifndef ND_GROUP_H
#define ND_GROUP_H

#include <stdbool.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

/* A multicast address that is for more than this host. */
bool nd_is_group(const struct ndsh_addr *a);

#endif
