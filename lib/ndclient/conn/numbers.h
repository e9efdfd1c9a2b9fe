/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connections by numbers (shm/ndsh_msg_cm.h), for faces whose programs take queue pairs through
 * their states themselves. Such a face sends the messages by nd_control_call(), with a hook where
 * an event may follow the reply at once.
 */
#ifndef ND_NUMBERS_H
#define ND_NUMBERS_H

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"

struct nd_cm {
	/* By the control thread, nd_adapter.lock held. ev NULL: the session is over. */
	void (*on_event)(struct nd_cm *cm, const struct ndsh_ev_cm *ev);
	/* By the thread of callbacks, no lock held: the time of nd_cm_wake_at() has come. */
	void (*on_time)(struct nd_cm *cm);
	int timer_fd; /* -1: there is none yet */
};

/* The adapter's events go to cm from now on, which lives as long as it. ND_NOT_SUPPORTED: the
 * daemon is too old. */
nd_status nd_cm_start(struct nd_adapter *a, struct nd_cm *cm);
/* By the control thread, nd_adapter.lock held: to its nd_cm, if there is one. */
void nd_cm_event(struct nd_adapter *a, const struct ndsh_ev_cm *ev);
/* To its on_time, once at that time (CLOCK_MONOTONIC), and not at one that was set before. By
 * on_event, or by on_time; one at a time. False: there is no descriptor or no thread for it. */
bool nd_cm_wake_at(struct nd_adapter *a, uint64_t at_ns);
/* Its time has come: for the thread of callbacks. */
void nd_cm_time(struct nd_adapter *a);
/* The right to name the queue pair of this adapter that has this number. ND_INVALID_HANDLE: it has
 * none such. */
nd_status nd_cm_permit(struct nd_adapter *a, uint32_t number, struct ndsh_cm_permit *permit);

#endif
