/* SPDX-License-Identifier: BSD-3-Clause */
/* The verifier: breaches of the rules by the application, told on stderr. */
#ifndef ND_VERIFY_H
#define ND_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"

extern uint32_t nd_verify_on; /* atomic; never off again */

static inline bool
nd_verifying(void)
{
	return __builtin_expect(__atomic_load_n(&nd_verify_on, __ATOMIC_RELAXED) != 0, 0);
}

/* An adapter is being opened: is the verifier wanted? */
void nd_verify_setup(const struct nd_open_options *opt);
/* Tell of a breach. rule: its number. */
void nd_breach(const char *rule, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* To be called only if nd_verifying(). inside: nd_qp.sq_inside or rq_inside. */
void nd_verify_post(uint32_t *inside, const char *queue, const struct nd_qp *qp);

static inline void
nd_post_begin(uint32_t *inside, const char *queue, const struct nd_qp *qp)
{
	if (nd_verifying())
		nd_verify_post(inside, queue, qp);
}

static inline void
nd_post_end(uint32_t *inside)
{
	if (nd_verifying())
		__atomic_store_n(inside, 0, __ATOMIC_RELEASE);
}

#endif
