/* SPDX-License-Identifier: BSD-3-Clause */
/* Posting of initiator requests, for the files that have requests of their own. */
#ifndef ND_POST_H
#define ND_POST_H

#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"

/* Initiator requests without SGEs: are there a connection and a slot? Then post it. flags:
 * ND_OP_FLAG_*. */
nd_status nd_post_check(const struct nd_qp *qp);
void nd_post_local(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr, uint32_t flags);
/* To a queue pair of datagrams; wr has context, address, token and immediate. */
nd_status nd_post_datagram(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr,
	const struct nd_sge *sge, uint32_t n, uint32_t flags);

#endif
