/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The admin ring of a client: registrations that it asks for through shared memory. One of these
 * belongs to one client and one shard; what it holds is what that client may name: its own
 * protection domains, and its own memory as far as the host has mapped it. Nothing else can be
 * reached by what stands in the ring.
 */
#ifndef ROCE_ADMIN_H
#define ROCE_ADMIN_H

#include "base/share.h"
#include "roce/mem/mr.h"
#include "roce/roce.h"

#define ROCE_ADMIN_RANGES 1024u
#define ROCE_ADMIN_PDS	  4096u

struct roce_admin { /* zeroed, then roce_admin_init(); the host's memory */
	struct ndsh_admin ring;
	struct roce_cq *cq;	  /* where the answers go; NULL: no ring yet */
	struct roce_mover *mover; /* of memory that is in no range, or NULL */
	uint32_t left;		  /* regions and windows that the client may still have */
	struct roce_mr_ring regions;
	struct base_pool *pool; /* of the shard, of which the client's principal has this share; */
	struct base_share *share; /* NULL: it has no bounds */
	struct roce_arena arena;  /* extent: range[], disjoint */
	struct {
		uint32_t handle, engine; /* engine 0: free */
	} pd[ROCE_ADMIN_PDS];
	struct roce_extent range[ROCE_ADMIN_RANGES];
};

/* max: regions and windows. */
void roce_admin_init(struct roce_admin *a, uint32_t max);
/* Each region and window is one of this share from now on. */
void roce_admin_share(struct roce_admin *a, struct base_pool *pool, struct base_share *share);
/* From now on requests are served. base: ndsh_admin_bytes(depth), zeroed. cq is for this alone. */
void roce_admin_open(struct roce_admin *a, void *base, uint32_t depth, struct roce_cq *cq);
/* From now on the client may register memory that it moves by itself; NULL: no more. */
void roce_admin_set_mover(struct roce_admin *a, struct roce_mover *m);
/* The ring is not looked at any more. */
void roce_admin_close(struct roce_admin *a);

/* Memory that the client sees at va. False: too many ranges, or it lies over another one. */
bool roce_admin_add_range(struct roce_admin *a, uint64_t va, uint64_t bytes, void *host);
/* False, and nothing done: regions lie there. One that is not there is no failure. */
bool roce_admin_remove_range(struct roce_admin *a, uint64_t va);
/* A domain that the client calls handle; no two have the same remainder by ROCE_ADMIN_PDS. */
void roce_admin_add_pd(struct roce_admin *a, uint32_t handle, uint32_t pd);
void roce_admin_remove_pd(struct roce_admin *a, uint32_t handle);
/* For one more region or window. False: the client, or its principal, has as many as it may. */
bool roce_admin_take(struct roce_admin *a);
void roce_admin_give(struct roce_admin *a);

/* Carry out at most budget requests. Returns how many, or budget if they wait; fewer: the ring is
 * empty. */
unsigned roce_admin_serve(struct roce_shard *s, struct roce_admin *a, unsigned budget);

/* Deregister regions that are left, some per call. True: none is left. */
bool roce_admin_purge(struct roce_shard *s, struct roce_admin *a);

#endif
