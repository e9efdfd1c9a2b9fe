/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles: where a session's datagrams may go. */
#ifndef NDD_AH_H
#define NDD_AH_H

#include <sys/queue.h>

#include "cm/cm.h"
#include "conn/ports.h"
#include "conn/sidr_user.h"
#include "hostnet/path.h"
#include "net/net.h"
#include "session/reply.h"

enum ndd_ah_state {
	NDD_AH_RESOLVING, /* the next hop is being resolved */
	NDD_AH_QUERYING,  /* the SIDR query is under way */
	NDD_AH_READY,
	NDD_AH_OVER, /* failed */
};

struct ndd_ah_list;

struct ndd_ah {
	struct ndd_sidr_user sidr; /* QUERYING */
	TAILQ_ENTRY(ndd_ah) next, next_waiting, next_due;
	struct ndd_session *session;
	struct roce_cm_conn *cm; /* QUERYING */
	uint32_t id;
	enum ndd_ah_state state;
	bool wants_service;
	struct ndd_port port; /* of the SIDR query */
	struct roce_cm_addr local, remote;
	struct net_nexthop hop;
	uint64_t deadline_ns;	 /* RESOLVING; UINT64_MAX: none */
	bool waits;		 /* for that, in the daemon's list */
	struct ndd_ah_list *due; /* it goes on when this list's turn comes; NULL: does not */
	uint64_t swept;		 /* the last sweep over all of them that it was part of */
	uint32_t priv_bytes;
	uint8_t priv[NDSH_LOOKUP_DATA_MAX];
};

/* Its next hop may be known by now, have changed, or be late. */
void ndd_ah_go_on(struct ndd_ah *ah, uint64_t now_ns);
/* Address handles whose path is lost fail; why is for the log. */
void ndd_ah_end(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why);

#endif
