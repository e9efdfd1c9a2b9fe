/* SPDX-License-Identifier: BSD-3-Clause */
/* Address handles. */
#ifndef ND_AH_H
#define ND_AH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "ndclient/ndclient.h"
#include "ndclient/session/object.h"
#include "shm/ndsh_msg.h"

enum nd_ah_state { ND_AH_IDLE, ND_AH_BUSY, ND_AH_READY };

struct nd_ah { /* guarded by nd_adapter.lock, but for state */
	struct nd_object obj;
	struct nd_adapter *adapter;
	uint32_t token; /* the daemon's id */
	uint32_t state; /* enum nd_ah_state; posts read it, atomic: READY says that token is good */
	bool has_id, has_service;
	bool group;	/* it leads to a multicast group; constant while READY */
	uint32_t calls; /* that the daemon has not yet answered; futex */
	struct nd_overlapped *op;
	struct nd_ud_service service;
	TAILQ_ENTRY(nd_ah) link;
};

extern const struct nd_class nd_ah_class;

/* The daemon tells of an address handle; by the control thread, nd_adapter.lock held. */
void nd_ah_event(struct nd_adapter *a, const struct ndsh_ev_ah *ev);
/* Complete what waits in all address handles; nd_adapter.lock held. */
void nd_ah_end_waiters(struct nd_adapter *a, nd_status st);

#endif
