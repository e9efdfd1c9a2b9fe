/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles: where a session's datagrams may go. */
#ifndef NDD_AH_H
#define NDD_AH_H

#include "cm/cm.h"
#include "conn/ports.h"
#include "conn/sidr_user.h"
#include "hostnet/follower.h"
#include "net/net.h"
#include "session/reply.h"

enum ndd_ah_state {
	NDD_AH_RESOLVING, /* the next hop is being resolved */
	NDD_AH_QUERYING,  /* the SIDR query is under way */
	NDD_AH_READY,
	NDD_AH_OVER, /* failed */
};

struct ndd_ah {
	struct ndd_sidr_user sidr; /* QUERYING */
	struct ndd_follower follower;
	struct ndd_session *session;
	struct roce_cm_conn *cm; /* QUERYING */
	uint32_t id;
	enum ndd_ah_state state;
	bool wants_service;
	struct ndd_port port; /* of the SIDR query */
	struct roce_cm_addr local, remote;
	struct net_nexthop hop;
	uint32_t priv_bytes;
	uint8_t priv[NDSH_LOOKUP_DATA_MAX];
};

/* ---- ah.c ---- */

/* The headers that follow from its next hop are what the lcore uses from now on. False: there is
 * no memory, which can only be so at the first time. */
bool ndd_ah_enter(struct ndd_ah *ah);
/* The outcome, or the end of a handle that was good; what resolving it took is given back. */
void ndd_ah_conclude(struct ndd_ah *ah, enum ndsh_status status, const struct roce_cm_event *ev);

/* ---- ah_follow.c ---- */

/* It follows its next hop from now on, which is being resolved first. */
void ndd_ah_follow(struct ndd_ah *ah);

#endif
