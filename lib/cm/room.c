/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm/manager.h"
#include "cm/room.h"

/* What a listener may have of the passive part, and a user's listeners together: so many times what
 * is left. Most of it for one, as much for each of several, and something for the next. */
#define PASSIVE_WEIGHT BASE_FAIR_FACTOR

struct cm_claim
cm_claim_active(uint32_t user)
{
	return (struct cm_claim){.active = true, .user = (uint16_t)(user % CM_USERS)};
}

struct cm_claim
cm_claim_passive(struct roce_cm_listener *l, struct cm_origin origin)
{
	return (struct cm_claim){
		.user = l->user, .origin = origin, .listener = l, .serial = l->serial};
}

void
cm_room_init(struct roce_cm *cm)
{
	cm->active_room.total = cm->cfg.max_active;
	for (uint32_t i = 0; i < CM_USERS; i++)
		(void)base_share_begin(&cm->active_room, &cm->users[i].active, 0, BASE_SHARE_FAIR);
}

bool
roce_cm_reserve(struct roce_cm *cm, uint32_t user, uint32_t n)
{
	struct base_share *share = &cm->users[user % CM_USERS].active;

	base_share_end(&cm->active_room, share);
	return base_share_begin(&cm->active_room, share, n, BASE_SHARE_FAIR);
}

static bool
active_take(struct roce_cm *cm, const struct cm_claim *claim)
{
	const enum base_grant grant =
		base_share_take(&cm->active_room, &cm->users[claim->user].active, 1);

	cm->counters.connects_refused += grant == BASE_OVER_FAIR;
	cm->counters.no_resources += grant == BASE_NONE_LEFT;
	return grant == BASE_GRANTED;
}

static uint32_t
passive_used(const struct roce_cm *cm)
{
	return cm->usage.conns - cm->usage.active;
}

/* How many more peers may have of this listener. */
static uint32_t
listener_left(const struct roce_cm *cm, const struct cm_claim *claim)
{
	const uint32_t room = cm->cfg.max_passive, used = passive_used(cm);
	const uint32_t own = base_share_left(claim->listener->held, room, used, PASSIVE_WEIGHT);
	const uint32_t users =
		base_share_left(cm->users[claim->user].passive, room, used, PASSIVE_WEIGHT);

	return own < users ? own : users;
}

/* Hosts share what is left to the listener: so one more host finds something. */
static bool
passive_take(struct roce_cm *cm, const struct cm_claim *claim)
{
	const uint32_t left = listener_left(cm, claim);

	if (passive_used(cm) >= cm->cfg.max_passive) {
		cm->counters.no_resources++;
		return false;
	}
	if (left == 0) {
		cm->counters.rejected_listener++;
		return false;
	}
	if (!cm_origin_may_hold(cm, CM_CONNS, claim->origin, left)) {
		cm->counters.rejected_source++;
		return false;
	}
	cm_origin_hold(cm, CM_CONNS, claim->origin);
	cm->users[claim->user].passive++;
	claim->listener->held++;
	return true;
}

static void
passive_give(struct roce_cm *cm, const struct cm_claim *claim)
{
	cm_origin_drop(cm, CM_CONNS, claim->origin);
	cm->users[claim->user].passive--;
	if (claim->listener->serial == claim->serial)
		claim->listener->held--;
}

bool
cm_room_take(struct roce_cm *cm, const struct cm_claim *claim)
{
	if (claim->active ? !active_take(cm, claim) : !passive_take(cm, claim))
		return false;
	cm->usage.conns++;
	cm->usage.active += claim->active;
	return true;
}

void
cm_room_give(struct roce_cm *cm, const struct cm_claim *claim)
{
	cm->usage.conns--;
	cm->usage.active -= claim->active;
	if (claim->active)
		base_share_give(&cm->active_room, &cm->users[claim->user].active, 1);
	else
		passive_give(cm, claim);
}
