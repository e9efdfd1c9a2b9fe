/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the threads of an adapter call when something has come: one table, in dispatch.c, so that
 * neither thread knows the kinds of objects.
 */
#ifndef ND_HANDLERS_H
#define ND_HANDLERS_H

#include <stdint.h>

#include "shm/ndsh_msg.h"

struct nd_adapter;

/* What a descriptor of the callbacks' thread belongs to. */
enum nd_callback_kind {
	ND_CALLBACK_CQ, /* id: of the completion queue */
	ND_CALLBACK_STOP,
	ND_CALLBACK_SRQ, /* id: of the shared receive queue */
	ND_CALLBACK_OFFER,
	ND_CALLBACK_END,
	ND_CALLBACK_CM,
	ND_CALLBACK_KINDS,
};

struct nd_handlers {
	/* By the control thread, nd_adapter.lock held: an event of the daemon's; the socket of a
	 * completion queue is readable; the session is over. */
	void (*on_event)(struct nd_adapter *a, const struct ndsh_msg_hdr *h);
	void (*on_queue)(struct nd_adapter *a, uint32_t id);
	void (*on_removed)(struct nd_adapter *a);
	/* By the callbacks' thread, no lock held: a descriptor of that kind is readable. */
	void (*on_ready[ND_CALLBACK_KINDS])(struct nd_adapter *a, uint32_t id);
};

extern const struct nd_handlers nd_handlers;

#endif
