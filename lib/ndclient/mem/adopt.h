/* SPDX-License-Identifier: BSD-3-Clause */
/* Adopted memory: a segment's pages under the application's own addresses. */
#ifndef ND_ADOPT_H
#define ND_ADOPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"

/* A range of addresses with a segment of the daemon's under them. */
struct nd_adopted {
	char *at;
	size_t bytes;
	uint32_t segment;
	uint32_t users;	 /* regions, and threads that are about to make one */
	int fd;		 /* for children */
	bool kept;	 /* it got no private pages again: children need it for good */
	bool by_default; /* the application did not ask for it */
	uint64_t since_ms;
	char *copy; /* for a child, while fork() is under way */
	LIST_ENTRY(nd_adopted) of_adapter, of_process;
};
LIST_HEAD(nd_adopted_list, nd_adopted);

struct nd_adoptions {		   /* of an adapter */
	pthread_mutex_t make_lock; /* around the making of one, outside all others */
	pthread_mutex_t lock;
	struct nd_adopted_list live;
	struct nd_adopted_list ended; /* the daemon still has their segments */
	/* by default: how many ranges, the newest, were not adopted for long, of those below
	 * ND_ADOPT_BYTES_MIN and of others; why one was not, how long that holds for others, and
	 * for those of how many bytes */
	uint32_t brief[2];
	uint32_t small; /* ranges below ND_ADOPT_BYTES_MIN that are adopted by default */
	enum nd_adopt_reason refused_why;
	uint64_t refused_until_ms;
	size_t refused_bytes;
	struct nd_adoption count;
};

/* ND_ADOPT_REASONS: the daemon may reach [buf, buf+bytes) as if it were of the arena, until
 * nd_adopt_put(). Else why not, which is counted, and *out is NULL. flags: of nd_mr_register(). */
enum nd_adopt_reason nd_adopt(
	struct nd_adapter *a, void *buf, size_t bytes, uint32_t flags, struct nd_adopted **out);
void nd_adopt_hold(struct nd_adapter *a, struct nd_adopted *x);
/* With the last one the memory is private again. Locks may be held; x may be NULL. */
void nd_adopt_put(struct nd_adapter *a, struct nd_adopted *x);
/* Give segments back that are not needed any more; no lock held. */
void nd_adopt_reap(struct nd_adapter *a);
void nd_adopt_init(struct nd_adapter *a);
void nd_adopt_fini(struct nd_adapter *a);

#endif
