/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of ndlife. False: a call failed twice, and this life is over. */
#ifndef NDD_TEST_LIFE_H
#define NDD_TEST_LIFE_H

#include <stdbool.h>

#include "../e2e/pair.h"

/* True if it succeeded; else a line about it. */
bool life_succeeded(const char *what, nd_status got);

/* One fault at most is in a life: a call that fails is made once more. */
#define TRY(call) (life_succeeded(#call, (call)) || life_succeeded(#call, (call)))

/* Of all queue pairs in a life. */
static inline struct nd_qp_options
life_qp_options(const struct side *s)
{
	return (struct nd_qp_options){
		.receive_cq = s->cq,
		.initiator_cq = s->cq,
		.receive_depth = 16,
		.initiator_depth = 16,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};
}

bool life_open(struct pair *p);
bool life_memory(struct pair *p);
bool life_queues(struct pair *p);
bool life_connect(struct pair *p);
bool life_transfer(struct pair *p);
bool life_windows(struct pair *p);
bool life_datagrams(struct pair *p);
bool life_notify(struct pair *p);
bool life_end(struct pair *p);

#endif
