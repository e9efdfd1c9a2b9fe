/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that closes what may take long to close: sockets in which files lie. Only what hostile
 * clients left behind waits behind other such things. */
#ifndef NDD_CLOSER_H
#define NDD_CLOSER_H

#include <stdint.h>

struct ndd_closer;
struct ndd_seat;

#define NDD_CLOSER_NAME "ndd-closer" /* of its thread */

/* NULL: no memory, or no thread. */
struct ndd_closer *ndd_closer_start(void);
/* What it has not closed by then is left to the end of the process. May be NULL. */
void ndd_closer_stop(struct ndd_closer *c);
/* It closes the client's socket, seat->fd, when it has the time, and has the seat until then. */
void ndd_closer_give(struct ndd_closer *c, struct ndd_seat *seat);
/* A seat whose descriptor has been closed; NULL: none since the last call. */
struct ndd_seat *ndd_closer_closed(struct ndd_closer *c);
/* How many it was given and has not closed. */
uint32_t ndd_closer_busy(struct ndd_closer *c);

#endif
