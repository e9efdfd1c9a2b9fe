/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs. */
#ifndef NDD_QP_H
#define NDD_QP_H

#include <sys/queue.h>

#include "lcore/shard.h"
#include "object/peer.h"
#include "object/qp_work.h"
#include "session/reply.h"
#include "session/session.h"

struct ndd_conn;
struct ndd_cq;
struct ndd_pd;
struct ndd_qp_path;
struct ndd_segment;
struct ndd_srq;
struct net_nexthop;

LIST_HEAD(ndd_member_list, ndd_member);

/* What a queue pair reports to its connection. */
struct ndd_qp_user {
	void (*failed)(struct ndd_conn *c); /* it went to error */
	void (*gone)(struct ndd_conn *c);   /* it is being destroyed */
};

struct ndd_qp {
	struct ndd_owner owner;
	struct roce_qp *engine;
	struct ndd_segment *segment;
	struct ndd_pd *pd;
	struct ndd_cq *send_cq, *recv_cq;
	struct ndd_srq *srq;   /* or NULL */
	struct ndd_conn *conn; /* that uses it, or NULL */
	const struct ndd_qp_user *user;
	uint32_t qpn, psn;	       /* psn: the first that it accepts */
	uint32_t slots;		       /* of both its rings */
	bool ending;		       /* its client has destroyed it, and it is being flushed */
	bool failed;		       /* in error state; no new connection */
	bool connected;		       /* a connection has brought it up */
	bool by_hand;		       /* its client has, beyond INIT or back to RESET */
	struct ndd_qp_path *path;      /* by_hand, or NULL */
	struct ndd_peer peer;	       /* beyond INIT, until it fails */
	bool datagrams;		       /* no connection at all */
	bool unreliable;	       /* UC: no connection of the CM's */
	uint32_t q_key;		       /* of datagrams */
	struct ndd_member_list groups; /* multicast groups that it is in */
	struct ndd_qp_work work;
};

/* ---- qp.c ---- */

/* NULL: the session has no such queue pair, or has it no more. */
static inline struct ndd_qp *
ndd_qp_get(const struct ndd_session *s, uint32_t handle)
{
	struct ndd_qp *qp = ndd_slots_get(&s->qps, handle);

	return qp != NULL && !qp->ending ? qp : NULL;
}

/* What a client may change of one of datagrams as of any other: to RESET. */
enum ndsh_status ndd_ud_qp_reset(struct ndd_session *s, struct ndd_qp *qp,
	const struct ndsh_qp_modify *m, char *why, size_t room);
ndd_handler ndd_uc_qp_create, ndd_ud_qp_create, ndd_ud_qp_modify, ndd_qp_flush;

/* ---- qp_end.c ---- */

ndd_handler ndd_qp_destroy;

/* ---- qp_error.c ---- */

/* It is in error, by whatever cause: it has no peer any more. */
void ndd_qp_has_failed(struct ndd_qp *qp);
/* To error: everything outstanding completes FLUSH_ERR. */
void ndd_qp_to_error(struct ndd_session *s, struct ndd_qp *qp);
/* To error, though neither its client nor its peer has asked for it; the client is notified. */
void ndd_qp_take_away(struct ndd_session *s, struct ndd_qp *qp, const char *why);
/* The engine reports that it went to error. */
void ndd_qp_on_error(struct ndd_session *s, struct ndd_qp *qp, const struct ndd_event *ev);
/* The queue pair's next hop is now hop; *old becomes it. */
void ndd_qp_set_hop(struct ndd_session *s, struct ndd_qp *qp, struct net_nexthop *old,
	const struct net_nexthop *hop);

/* ---- qp_modify.c ---- */

ndd_handler ndd_qp_modify, ndd_qp_query;

#endif
