/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path to the peer of a queue pair that its client brought up from numbers: the next hop is
 * resolved as a connection's is, and followed when its address changes (hostnet/follower.h).
 */
#ifndef NDD_QP_PATH_H
#define NDD_QP_PATH_H

#include "object/qp_step.h"
#include "shm/ndsh_msg.h"

/* Do a step that has a path, as soon as its next hop is known. NDSH_PENDING: it is being resolved,
 * and an event follows. */
enum ndsh_status ndd_qp_path_take(struct ndd_session *s, struct ndd_qp *qp,
	const struct ndd_qp_step *step, char *why, size_t room);
void ndd_qp_path_free(struct ndd_qp *qp);
/* Does a step wait for its next hop? */
bool ndd_qp_path_is_pending(const struct ndd_qp *qp);
/* The path part of the attributes, if it was given by hand. */
void ndd_qp_path_fill_attr(const struct ndd_qp *qp, struct ndsh_qp_attr *attr);

#endif
