/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of requests: how often they ask, and what they hold here. An IPv6 host can have any
 * address of its /64, so that counts as a source as well; an IPv4 address is one alone. The table
 * has a fixed size; sources that meet in one place, which nobody can bring about without the
 * secret, share what one may have.
 */
#ifndef CM_SOURCE_H
#define CM_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bucket.h"
#include "wire/gid.h"

struct roce_cm;

enum cm_scope { CM_ADDRESS, CM_SUBNET, CM_SCOPES };

#define CM_SOURCES 4096u /* of each scope */

enum cm_holding {
	CM_CONNS,   /* of the passive part of the table */
	CM_ANSWERS, /* that wait to be sent: cm/stateless.h */
	CM_HOLDINGS
};

struct cm_source {
	struct base_bucket asks;
	uint32_t held[CM_HOLDINGS];
};

/* Where in the table an address is, and its subnet. */
struct cm_origin {
	uint16_t at[CM_SCOPES]; /* place, in the part of the table that the scope has */
};

struct cm_origin cm_origin_of(const struct roce_cm *cm, const struct roce_gid *gid);

/* Take a token for a message that asks for something. False: there is none, and it is not to be
 * answered. */
bool cm_origin_may_ask(struct roce_cm *cm, uint64_t now_ns, struct cm_origin o);

/* One more, of so many that are free, is within the share (base/share.h). */
bool cm_origin_may_hold(
	const struct roce_cm *cm, enum cm_holding what, struct cm_origin o, uint32_t left);
void cm_origin_hold(struct roce_cm *cm, enum cm_holding what, struct cm_origin o);
void cm_origin_drop(struct roce_cm *cm, enum cm_holding what, struct cm_origin o);

#endif
