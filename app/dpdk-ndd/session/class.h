/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the session knows of its kinds of objects: each kind has an entry, in the file of the kind.
 * The entries' order in ndd_classes[] is that in which a session is taken down.
 */
#ifndef NDD_CLASS_H
#define NDD_CLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/config.h"
#include "session/reply.h"

struct ndd_shard;

struct ndd_class {
	const char *name;
	/* offsetof(struct ndd_session, ...) of the struct ndd_slots that has the objects; not used
	 * if there is end(). */
	size_t table;
	/* How many one session may have. */
	uint32_t (*most)(const struct config *cfg);
	bool plain_handles; /* of the table: see ndd_slots_init() */
	/* What one costs: ndd_slots_charge(). */
	enum config_share share;
	uint32_t files;
	/* The requests that make one, and that destroy one. destroy() is given the object that the
	 * request named; NULL: ndd_object_free(), always. */
	ndd_handler *create;
	enum ndsh_status (*destroy)(struct ndd_session *s, void *object);
	/* An object that has no users goes, of a session that may have ended. First from the shard,
	 * on its lcore, in a time that is bounded; false: a part of it is left, or it can't go now.
	 * NULL: the shard knows nothing of it. Then for good. small: either is a matter of some
	 * hundred nanoseconds, so that many of them may go at a time. */
	bool small;
	bool (*leave)(struct ndd_shard *shard, struct ndd_session *s, void *object);
	void (*free)(struct ndd_session *s, void *object);
	/* For what a session has only one of: take it down if it is there, a part with each call.
	 * True: it is gone. */
	bool (*end)(struct ndd_session *s);
};

extern const struct ndd_class ndd_admin_class, ndd_ah_class, ndd_conn_class, ndd_cq_class,
	ndd_endpoint_class, ndd_frmr_class, ndd_lcore_class, ndd_listener_class, ndd_mover_class,
	ndd_membership_class, ndd_mw_class, ndd_pd_class, ndd_qp_class, ndd_segment_class,
	ndd_sidr_request_class, ndd_srq_class, ndd_worker_class;

/* From the users to the used; NULL is behind the last. */
extern const struct ndd_class *const ndd_classes[];

/* The request h.type ..._DESTROY for an object of class c. */
enum ndsh_status ndd_class_destroy(
	const struct ndd_class *c, struct ndd_session *s, const struct ndsh_id_msg *m);
void ndd_tables_init(struct ndd_session *s, const struct config *cfg);
/* Free objects of a session that has ended: one, or a part of it, or as many small ones of a kind
 * as a call of the lcore may take. True: nothing is left. */
bool ndd_tables_empty_some(struct ndd_session *s);
void ndd_tables_fini(struct ndd_session *s);

#endif
