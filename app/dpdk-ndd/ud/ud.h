/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams: address handles (ah.c), services and who asks for them (ud.c). */
#ifndef NDD_UD_H
#define NDD_UD_H

#include "hostnet/network.h"
#include "cm/sidr.h"
#include "session/session.h"

#define NDD_AHS_PER_QP 4u /* of a session, for each of its limits.qps */

enum ndd_ah_state {
	NDD_AH_RESOLVING, /* asking for the next hop */
	NDD_AH_ASKING,	  /* for the service */
	NDD_AH_READY,
	NDD_AH_OVER, /* failed */
};

struct ndd_ah {
	TAILQ_ENTRY(ndd_ah) next; /* of the daemon's */
	struct ndd_session *session;
	struct roce_cm_conn *cm; /* ASKING */
	uint32_t id;
	enum ndd_ah_state state;
	bool look_up, fresh;
	struct ndd_port port; /* of who asks */
	struct roce_cm_addr local, remote;
	struct net_nexthop hop;
	uint64_t deadline_ns; /* RESOLVING; else UINT64_MAX */
	uint32_t priv_bytes;
	uint8_t priv[NDSH_LOOKUP_DATA_MAX];
};

struct ndd_question {
	uint32_t id;
	struct ndd_session *session;
	struct roce_cm_conn *cm;
};

/* Next hops that are asked for, or have changed. */
void ndd_ah_tick(struct ndd *d, uint64_t now_ns);
/* Those that are lost are good for nothing more; why is for the log. */
void ndd_ah_end(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why);
/* The service answered, or nobody did. */
void ndd_ah_answered(struct ndd_ah *ah, const struct roce_cm_event *ev);

void ndd_ud_asked(struct ndd *d, const struct roce_cm_event *ev);
/* Who asked has given up. */
void ndd_ud_gone(struct ndd_question *q);

#endif
