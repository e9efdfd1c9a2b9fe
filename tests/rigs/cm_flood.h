/* SPDX-License-Identifier: BSD-3-Clause */
/* A host's connection manager, at the capacity of a daemon, that strangers ask for all they can. */
#ifndef TEST_CM_FLOOD_H
#define TEST_CM_FLOOD_H

#include <stdbool.h>

#include "cm/cm.h"

#define FLOOD_CAPACITY 8192u /* of either part: the daemon's by default */
#define FLOOD_SERVICE  7174u
#define FLOOD_SERVICES 128u /* of a host with many listeners, each of another user */
#define FLOOD_NIC      1u

struct flood {
	struct roce_cm *cm;
	struct roce_gid gid, gid6;
	uint64_t now_ns;
	uint32_t number; /* of the next REQ */
	uint32_t services;
	struct roce_cm_listener *listener[FLOOD_SERVICES];
	unsigned opened, refused;
};

/* With one listener, of this backlog; 0: the greatest. */
struct flood flood_new_at(uint32_t capacity, uint32_t backlog);
struct flood flood_new(uint32_t capacity);
/* Hosts ask all its listeners in turn, so none of them has its share before the hosts have. */
struct flood flood_new_wide(uint32_t capacity);
void flood_free(struct flood *f);
/* One listener more, at the next port, of the next user. */
void flood_listen(struct flood *f, uint32_t backlog);
/* The host handles events as an application does that, with reject, refuses each request, and
 * without it never decides; connects of its own get no answer. */
void flood_turn(struct flood *f, bool reject);
/* A stranger's next REQ, with the longest time-wait that it can have. */
void flood_req(struct flood *f, const struct roce_gid *from);

#endif
