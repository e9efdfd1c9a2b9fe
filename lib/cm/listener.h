/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners of both port spaces: of connections and of SIDR. */
#ifndef CM_LISTENER_H
#define CM_LISTENER_H

#include <sys/queue.h>

#include "cm/conn.h"

struct cm_in;

struct roce_cm_listener {
	LIST_ENTRY(roce_cm_listener) entry;
	struct cm_conn_list requests; /* undecided */
	uint64_t service;
	struct roce_cm_addr addr;
	uint32_t nic;
	uint32_t backlog, pending;
	bool paused;
	uint16_t user;	 /* its place in the table of users */
	uint32_t held;	 /* of the passive part: its requests, and what became of them */
	uint64_t serial; /* never used again */
	void *owner;
};
LIST_HEAD(cm_listener_list, roce_cm_listener);

struct roce_cm_listener *cm_listen_at(struct roce_cm *cm, uint64_t service,
	const struct roce_cm_addr *addr, uint32_t nic, uint32_t backlog, void *owner,
	const char **why);
struct roce_cm_listener *cm_find_listener(struct roce_cm *cm, const struct cm_in *in);
/* It has one more undecided request, which is new. */
void cm_listener_add(struct roce_cm_listener *l, struct roce_cm_conn *c);
bool cm_listener_is_full(const struct roce_cm_listener *l);
/* The listener is over; it has no requests any more. */
void cm_listener_put(struct roce_cm *cm, struct roce_cm_listener *l);

#endif
