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

/* EOPNOTSUPP: an operation that we have not; EINVAL: none that this queue pair takes. */
int ndv_request_of(const struct ndv_qp *qp, const struct ibv_send_wr *wr, struct ndv_request *r);

#endif
