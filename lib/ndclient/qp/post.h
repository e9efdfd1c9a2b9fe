/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting of initiator requests. how: NDSH_WRF_*, and ND_POST_*. */
#ifndef ND_POST_H
#define ND_POST_H

#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"

/* The daemon is not told of it: more requests follow, or nd_post_tell(). */
#define ND_POST_UNTOLD (1u << 30)
/* The list was gone through: n is no more than the queue pair takes, and wr->data[0] is the sum of
 * all SGEs. */
#define ND_POST_SUMMED (1u << 29)
/* The daemon can't see it, either: nd_batch_show() or nd_batch_drop() follows. */
#define ND_POST_HELD (NDSH_CTRL_PHASE | ND_POST_UNTOLD)

/* Every initiator request needs a daemon and a connection: are they there? */
nd_status nd_post_check_connected(const struct nd_qp *qp);
/* The same, and a free slot. */
nd_status nd_post_check(struct nd_qp *qp);
/* A request with SGEs; wr has context, address, token, immediate and operands. */
nd_status nd_post_request(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr,
	const struct nd_sge *sge, uint32_t n, uint32_t how);
/* A receive; n is no more than the queue pair takes, and bytes the sum of all SGEs. */
nd_status nd_post_receive(
	struct nd_qp *qp, void *context, const struct nd_sge *sge, uint32_t n, uint64_t bytes);
/* To a queue pair of datagrams. */
nd_status nd_post_datagram(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr,
	const struct nd_sge *sge, uint32_t n, uint32_t how);
/* Tell the daemon of what was posted with ND_POST_UNTOLD. */
void nd_post_tell(const struct nd_qp *qp);
/* A request without SGEs; nd_post_check() was successful. */
void nd_post_local(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, uint32_t how);

#endif
