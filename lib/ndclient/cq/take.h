/* SPDX-License-Identifier: BSD-3-Clause */
/* Results as the daemon made them, for faces whose words are not ND's. */
#ifndef ND_TAKE_H
#define ND_TAKE_H

#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_ring.h"

struct nd_entry {
	struct ndsh_cqe e;
	/* nd_qp_options.context; NULL of a queue pair that was forsaken, or, from before a RESET */
	void *qp_context;
	uint32_t qp_number;
};

/* As nd_cq_get_results(). */
int32_t nd_cq_take_entries(struct nd_cq *cq, struct nd_entry *entries, uint32_t n);
/* From now on entries of this queue pair have the context NULL, those too that lie in its queues
 * already. */
void nd_qp_forsake(struct nd_qp *qp);

#endif
