/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a queue pair. */
#ifndef ROCE_ERROR_H
#define ROCE_ERROR_H

#include "roce/shard/shard.h"

struct roce_wqe;

/* The queue pair goes to ERR: what still waits is flushed in this turn and the following ones. No
 * effect on one that is in ERR already. */
void roce_qp_error(
	struct roce_shard *s, struct roce_qp *qp, enum roce_reason reason, uint8_t syndrome);
/* Request w in flight fails, and the queue pair with it. */
void roce_qp_fail_wqe(struct roce_shard *s, struct roce_qp *qp, struct roce_wqe *w,
	enum ndsh_wc_status status, enum roce_reason reason, uint8_t syndrome);
/* Everything in flight vanishes without completions. */
void roce_qp_stop(struct roce_shard *s, struct roce_qp *qp);

/* Our own bug in the state of one queue pair: that one dies, the others do not notice. */
#define roce_qp_bug(s, qp)                                                                         \
	do {                                                                                       \
		(s)->count.internal_errors++;                                                      \
		roce_qp_error(s, qp, ROCE_REASON_INTERNAL, 0);                                     \
	} while (0)

#endif
