/* SPDX-License-Identifier: BSD-3-Clause */
/* Places in the table of connections: asked for before there is anything of a connection. */
#ifndef CM_ROOM_H
#define CM_ROOM_H

#include <stdbool.h>

#include "base/share.h"
#include "cm/source.h"

struct roce_cm;
struct roce_cm_listener;

/* The host's users, by their numbers; one that comes so much later shares a place with another. */
#define CM_USERS 1024u

struct cm_user {
	struct base_share active; /* of the active part */
	uint32_t passive;	  /* what the listeners of this user have of the passive one */
	uint32_t sidr_requests;	  /* the same of what SIDR requests have of that */
};

/* On whose behalf a connection is there, as long as it has memory. */
struct cm_claim {
	bool active;
	uint16_t user;		 /* its place, or that of the listener's */
	struct cm_origin origin; /* of a passive one, as the next two */
	struct roce_cm_listener *listener;
	uint64_t serial; /* of the listener; another one has the memory if it has another serial */
};

struct cm_claim cm_claim_active(uint32_t user);
struct cm_claim cm_claim_passive(struct roce_cm_listener *l, struct cm_origin origin);

void cm_room_init(struct roce_cm *cm);
/* False: there is none for it, which is counted. */
bool cm_room_take(struct roce_cm *cm, const struct cm_claim *claim);
void cm_room_give(struct roce_cm *cm, const struct cm_claim *claim);

#endif
