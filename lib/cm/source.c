/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "base/share.h"
#include "base/siphash.h"
#include "cm/manager.h"
#include "cm/source.h"

#define SECOND_NS UINT64_C(1000000000)

/* A subnet has more than one of its addresses, and less than everybody. */
static const uint32_t weights[CM_SCOPES] = {[CM_ADDRESS] = 1, [CM_SUBNET] = 2};

/* A subnet's hosts may together ask so many times what one of them may. */
static const uint64_t rates[CM_SCOPES] = {[CM_ADDRESS] = 1, [CM_SUBNET] = 8};

static struct cm_source *
source_of(const struct roce_cm *cm, struct cm_origin o, enum cm_scope scope)
{
	return &cm->sources[scope * CM_SOURCES + o.at[scope]];
}

static uint16_t
source_place(const struct roce_cm *cm, const struct roce_gid *gid)
{
	return (uint16_t)(ndsh_siphash_address(cm->cfg.secret, gid->raw) % CM_SOURCES);
}

struct cm_origin
cm_origin_of(const struct roce_cm *cm, const struct roce_gid *gid)
{
	struct roce_gid subnet = *gid;
	struct cm_origin o;

	if (!roce_gid_is_v4(gid))
		memset(subnet.raw + 8, 0, 8);
	o.at[CM_ADDRESS] = source_place(cm, gid);
	o.at[CM_SUBNET] = source_place(cm, &subnet);
	return o;
}

static uint64_t
token_ns(const struct roce_cm *cm, enum cm_scope scope)
{
	return SECOND_NS / (rates[scope] * cm->cfg.source_rate);
}

static bool
bucket_is_empty(const struct roce_cm *cm, uint64_t now_ns, struct cm_origin o, enum cm_scope scope)
{
	const uint64_t burst = rates[scope] * cm->cfg.source_burst;

	return base_bucket_ready_ns(&source_of(cm, o, scope)->asks, token_ns(cm, scope), burst) >
	       now_ns;
}

bool
cm_origin_may_ask(struct roce_cm *cm, uint64_t now_ns, struct cm_origin o)
{
	for (unsigned i = 0; i < CM_SCOPES; i++) {
		if (bucket_is_empty(cm, now_ns, o, i)) {
			cm->counters.rx_over_rate++;
			return false;
		}
	}
	for (unsigned i = 0; i < CM_SCOPES; i++)
		base_bucket_take(&source_of(cm, o, i)->asks, now_ns, token_ns(cm, i));
	return true;
}

bool
cm_origin_may_hold(
	const struct roce_cm *cm, enum cm_holding what, struct cm_origin o, uint32_t left)
{
	for (unsigned i = 0; i < CM_SCOPES; i++) {
		if (!base_share_has_room(source_of(cm, o, i)->held[what], left, 0, weights[i]))
			return false;
	}
	return true;
}

void
cm_origin_hold(struct roce_cm *cm, enum cm_holding what, struct cm_origin o)
{
	for (unsigned i = 0; i < CM_SCOPES; i++)
		source_of(cm, o, i)->held[what]++;
}

void
cm_origin_drop(struct roce_cm *cm, enum cm_holding what, struct cm_origin o)
{
	for (unsigned i = 0; i < CM_SCOPES; i++)
		source_of(cm, o, i)->held[what]--;
}
