/* SPDX-License-Identifier: BSD-3-Clause */
/* Fast-register regions. */
#ifndef ND_FAST_H
#define ND_FAST_H

#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"
#include "ndclient/session/object.h"
#include "shm/ndsh_ring.h"

enum nd_frmr_state { ND_FRMR_FRESH, ND_FRMR_CHANGING, ND_FRMR_READY };

struct nd_fr {
	struct nd_object obj;
	struct nd_pd *pd;
	uint32_t state; /* enum nd_frmr_state, atomic */
	/* since it was initialized */
	uint32_t id, slot, local_token, max_pages;
	bool remote;
	uint64_t secret;
	uint64_t *lists; /* NDSH_FRMR_LISTS of max_pages, in shared memory */
	/* guarded by nd_adapter.windows_lock */
	uint32_t generation;
	uint32_t token; /* of the last registration, 0: there was none; atomic */
	struct {
		struct nd_qp *qp; /* with a request that has the list, or NULL */
		uint32_t index;	  /* the request's, in the send queue */
	} list[NDSH_FRMR_LISTS];
};

extern const struct nd_class nd_fr_class;

/* The daemon has forgotten the queue pair. nd_adapter.lock held. */
void nd_frmr_release_lists(struct nd_qp *qp);

#endif
