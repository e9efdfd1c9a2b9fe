/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory regions. */
#ifndef ND_REGION_H
#define ND_REGION_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/mem/admin.h"
#include "ndclient/ndclient.h"
#include "ndclient/session/object.h"
#include "shm/ndsh_ring.h"

struct nd_mw;

/* Beside ND_MR_FLAG_* for nd_mr_register(): windows of nd_mw_create_keyed() may be bound to it. */
#define ND_MR_FLAG_ALLOW_WINDOWS 0x00080000u

/* CHANGING: the daemon was asked to register or deregister it. */
enum nd_mr_state { ND_MR_IDLE, ND_MR_CHANGING, ND_MR_REGISTERED };

struct nd_mr {
	struct nd_object obj;
	struct nd_pd *pd;
	enum nd_mr_state state; /* this and the next two are guarded by nd_admin.lock */
	struct nd_mr_request request;
	struct nd_overlapped *ov;   /* CHANGING */
	uint32_t ending;	    /* atomic: requests whose outcome is about to be told */
	struct nd_adopted *adopted; /* what it uses, or NULL; guarded as these */
	STAILQ_ENTRY(nd_mr) queued;
	uint32_t token;	 /* 0: not registered; atomic */
	uint32_t access; /* NDSH_ACCESS_* */
	uintptr_t va;
	uint64_t iova_offset; /* requests name its bytes by so much more than their addresses */
	uint64_t bytes;
	LIST_HEAD(, nd_mw) windows; /* that are bound to it: each holds it */
	SLIST_ENTRY(nd_mr) ended;   /* closed, and no window holds it any more */
};

extern const struct nd_class nd_mr_class;

/* nd_mr_register() of a region whose first byte requests name by iova: SGEs, windows and peers. It
 * waits. ND_INVALID_PARAMETER: [iova, iova+bytes) wraps. ND_NOT_SUPPORTED: the daemon is too old
 * for an iova other than buf. */
nd_status nd_mr_register_iova(
	struct nd_mr *mr, void *buf, size_t bytes, uint64_t iova, uint32_t flags);

#endif
