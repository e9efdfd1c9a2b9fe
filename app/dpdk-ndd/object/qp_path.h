/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The way to the peer of a queue pair that was brought up from numbers: its next hop is asked for
 * like a connection's, and followed when it changes its address.
 */
#ifndef NDD_QP_PATH_H
#define NDD_QP_PATH_H

#include "conn/conn.h"
#include "hostnet/network.h"

/* A change of state or attributes. attr.path: sgid, dgid, tos, ttl and flow_label, until the next
 * hop is known. */
struct qp_step {
	enum roce_qp_state from, to;
	uint32_t mask; /* ROCE_QPA_* */
	uint8_t ecn;   /* enum ndsh_ecn; the path's class is without, before it has a port */
	struct roce_qp_attr attr;
};

/* ---- qp_modify.c ---- */

/* Do it; why: what was wrong. */
enum ndsh_status ndd_qp_step(
	struct ndd_session *s, struct ndd_qp *qp, struct qp_step *step, char *why, size_t room);

/* ---- qp_path.c ---- */

/* Do a step that has a path, as soon as its next hop is known. NDSH_PENDING: it is being asked for;
 * the client will be told. */
enum ndsh_status ndd_qp_path_take(struct ndd_session *s, struct ndd_qp *qp,
	const struct qp_step *step, char *why, size_t room);
/* Those that are lost go to error; why is for the log. */
void ndd_qp_path_end(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why);
/* A connection of session s is about to have this queue pair of the peer: whoever else went there
 * by hand is at its end. */
void ndd_qp_path_evict(struct ndd_session *s, const struct roce_gid *gid, uint32_t qpn);
/* Is such a step under way? */
bool ndd_qp_path_asks(const struct ndd_qp *qp);
/* The path part of the attributes, if it was given by hand. */
void ndd_qp_path_told(const struct ndd_qp *qp, struct ndsh_qp_attr *attr);

#endif
