/* SPDX-License-Identifier: BSD-3-Clause */
/* A send request of verbs as the daemon's descriptor has it. */
#ifndef NDV_REQUEST_H
#define NDV_REQUEST_H

#include <infiniband/verbs.h>

#include "ndverbs/object.h"
#include "shm/ndsh_ring.h"

struct ndv_request {
	enum ndsh_op op;
	uint32_t how; /* NDSH_WRF_* */
	struct ndsh_swr wr;
};

/* Operation, flags and number alone; errors as of ndv_request_of(). */
int ndv_request_begin(const struct ndv_qp *qp, enum ibv_wr_opcode op, uint64_t id,
	unsigned int send_flags, struct ndv_request *r);
/* Where a datagram goes. EINVAL: nowhere. */
int ndv_request_address(
	struct ndv_request *r, const struct ibv_ah *ah, uint32_t remote_qpn, uint32_t remote_qkey);
/* A window of that type, with all that the bind says. EINVAL: no such window, region, key, set of
 * rights. Where no bytes unbind, the region may be NULL. */
int ndv_request_bind(struct ndv_request *r, enum ibv_mw_type type, const struct ibv_mw *mw,
	uint32_t rkey, const struct ibv_mw_bind_info *info);
/* EINVAL: an atomic that does not have one SGE of 8 bytes, or an address of its own alignment. */
int ndv_request_check(const struct ndv_request *r, const struct ibv_sge *list, int n);
/* EOPNOTSUPP: an operation that we have not; EINVAL: none that this queue pair takes. */
int ndv_request_of(const struct ndv_qp *qp, const struct ibv_send_wr *wr, struct ndv_request *r);

#endif
