/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How queue pairs are found: by their handles, which completions name, and by their indices, which
 * the daemon's messages name. All but nd_qp_of_handle() with the adapter's lock held.
 */
#ifndef ND_QP_HANDLES_H
#define ND_QP_HANDLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shm/ndsh_abi.h"

/* Queue pairs, and closed ones with completions that have not been taken. */
#define ND_QP_HANDLES (2u * NDSH_QP_PER_SESSION_MAX)

struct nd_qp;

struct nd_qp_handles {
	uint32_t first_free;			/* no handle below it is free */
	uint32_t end;				/* no handle from here on was ever taken */
	struct nd_qp *by_handle[ND_QP_HANDLES]; /* atomic */
	struct nd_qp *by_index[NDSH_QP_PER_SESSION_MAX];
};

/* False: none is left. */
bool nd_qp_handle_take(struct nd_qp_handles *h, struct nd_qp *qp);
void nd_qp_handle_give(struct nd_qp_handles *h, const struct nd_qp *qp);
/* From the daemon's answer on, until it is closed: later messages are about the next one. */
void nd_qp_index_take(struct nd_qp_handles *h, struct nd_qp *qp);
void nd_qp_index_give(struct nd_qp_handles *h, const struct nd_qp *qp);
/* The one that has the index now, or NULL. */
struct nd_qp *nd_qp_of_index(const struct nd_qp_handles *h, uint32_t index);

/* Any thread's: the queue pair is not freed while entries that name it wait. */
static inline struct nd_qp *
nd_qp_of_handle(const struct nd_qp_handles *h, uint32_t handle)
{
	return handle < ND_QP_HANDLES ? __atomic_load_n(&h->by_handle[handle], __ATOMIC_ACQUIRE)
				      : NULL;
}

#endif
