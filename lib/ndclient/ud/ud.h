/* SPDX-License-Identifier: BSD-3-Clause */
/* Datagrams inside the library. All is guarded by nd_adapter.lock but what says otherwise. */
#ifndef ND_UD_H
#define ND_UD_H

#include "ndclient/nd_int.h"

enum nd_ah_state { ND_AH_IDLE, ND_AH_BUSY, ND_AH_READY };

struct nd_ah {
	struct nd_object obj;
	struct nd_adapter *adapter;
	uint32_t token; /* the daemon's id */
	uint32_t state; /* enum nd_ah_state; posts read it, atomic: READY says that token is good */
	bool has_id, has_service;
	uint32_t calls; /* that the daemon has not yet answered; futex */
	struct nd_overlapped *op;
	struct nd_ud_service service;
	TAILQ_ENTRY(nd_ah) link;
};

/* A question that nobody asked for yet, or a request for one. */
struct nd_ud_wait {
	STAILQ_ENTRY(nd_ud_wait) next;
	struct nd_overlapped *ov;
	struct nd_ud_question *question; /* the application's */
	struct ndsh_ev_ud_question ev;
};
STAILQ_HEAD(nd_ud_wait_list, nd_ud_wait);

struct nd_ud_listener {
	struct nd_object obj;
	struct nd_adapter *adapter;
	struct nd_listening at;
	struct nd_ud_wait_list questions, waiting; /* one of the two is empty */
	TAILQ_ENTRY(nd_ud_listener) link;
};

/* By the control thread, locked. */
void nd_ah_event(struct nd_adapter *a, const struct ndsh_ev_ah *ev);
void nd_ud_question_event(struct nd_adapter *a, const struct ndsh_ev_ud_question *ev);
/* The daemon is gone. */
void nd_ud_end_waiters(struct nd_adapter *a);

/* ND_NOT_SUPPORTED with words if the daemon knows of no datagrams. */
nd_status nd_ud_supported(const struct nd_adapter *a, const char *call);
/* A zeroed handle or listener, as yet unknown to the adapter; NULL: *st says why. */
void *nd_ud_new(const struct nd_adapter *a, size_t bytes, const char *call, nd_status *st);

/* nd_post.c: a queue pair of datagrams; wr has context, address, token and immediate */
nd_status nd_post_datagram(struct nd_qp *qp, enum ndsh_op op, struct ndsh_swr *wr,
	const struct nd_sge *sge, uint32_t n, uint32_t flags);

#endif
