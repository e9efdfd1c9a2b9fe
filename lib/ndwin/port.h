/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion ports, as requests and files see them. */
#ifndef NDWIN_PORT_H
#define NDWIN_PORT_H

#include <pthread.h>

#include "ndwin/futex.h"
#include "ndwin/handle.h"

/* What a taker gets, in memory of its own: the OVERLAPPED is not looked at any more. */
struct ndwin_packet {
	struct ndwin_packet *next;
	OVERLAPPED *ov;
	ULONG_PTR key;
	LONG status;
	DWORD bytes;
};

struct ndwin_port;

HANDLE ndwin_port_create(void);
struct ndwin_port *ndwin_port_get(HANDLE port); /* NULL: ERROR_INVALID_HANDLE */
void ndwin_port_put(struct ndwin_port *port);

/*
 * Deliver a packet, which free() frees: ndwin_port_lock(), then this, then ndwin_port_unlock(),
 * and ndwin_wakes_flush() last. What is done between the first two happens before the packet can
 * be taken.
 */
void ndwin_port_lock(struct ndwin_port *port);
void ndwin_port_deliver_locked(
	struct ndwin_port *port, struct ndwin_packet *packet, struct ndwin_wakes *wakes);
void ndwin_port_unlock(struct ndwin_port *port);

#endif
