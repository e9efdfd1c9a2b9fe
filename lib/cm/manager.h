/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager's own memory. */
#ifndef CM_MANAGER_H
#define CM_MANAGER_H

#include <sys/queue.h>

#include "cm/conn.h"
#include "cm/listener.h"

struct roce_cm {
	struct roce_cm_cfg cfg;
	struct roce_cm_counters counters;
	struct roce_cm_usage usage;
	uint32_t refused;	/* connections with .refused */
	uint32_t sidr_requests; /* of peers: waiting, or answered and kept */
	uint32_t next_id, next_tid;
	struct roce_cm_conn *conns;
	struct cm_conn_list free_conns; /* used before */
	uint32_t fresh_conns;		/* conns[] from here on were never used */
	struct cm_bucket *buckets[CM_TABLES];
	uint32_t bucket_mask;
	struct base_pool active_room;
	struct cm_user users[CM_USERS];
	uint64_t next_listener;	   /* its serial */
	struct cm_source *sources; /* CM_SOURCES of each scope: cm/source.h */
	struct cm_listener_list free_listeners, *listeners; /* the latter by their ports */
	uint32_t listener_mask;
	struct cm_conn_queue tx_queue, ev_queue;
	struct roce_cm_conn **heap;
	uint32_t heap_n;
	struct cm_answer *stateless; /* a ring: cm/stateless.h */
	uint32_t stateless_head, stateless_n;
	uint32_t check_next; /* cm/check.h */
};

#endif
