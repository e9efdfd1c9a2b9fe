/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path to the peer of a queue pair that its client brought up from numbers: the next hop is
 * resolved as a connection's is, and followed when its address changes.
 */
#ifndef NDD_QP_PATH_H
#define NDD_QP_PATH_H

#include "hostnet/path.h"
#include "object/qp_step.h"
#include "shm/ndsh_msg.h"

struct roce_gid;

/* Do a step that has a path, as soon as its next hop is known. NDSH_PENDING: it is being resolved,
 * and an event follows. */
enum ndsh_status ndd_qp_path_take(struct ndd_session *s, struct ndd_qp *qp,
	const struct ndd_qp_step *step, char *why, size_t room);
void ndd_qp_path_free(struct ndd_qp *qp);
/* Queue pairs whose path is lost go to error; why is for the log. */
void ndd_qp_path_end(struct ndd *d, ndd_path_lost *lost, const void *arg, const char *why);
/* A connection of session s is about to have this queue pair of the peer: queue pairs of other
 * sessions that were brought up towards it by hand go to error. */
void ndd_qp_path_evict(struct ndd_session *s, const struct roce_gid *gid, uint32_t qpn);
/* Does a step wait for its next hop? */
bool ndd_qp_path_is_pending(const struct ndd_qp *qp);
/* The path part of the attributes, if it was given by hand. */
void ndd_qp_path_fill_attr(const struct ndd_qp *qp, struct ndsh_qp_attr *attr);
/* Resolved next hops, and next hops that have changed. */
void ndd_qp_path_tick(struct ndd *d, uint64_t now_ns);

#endif
