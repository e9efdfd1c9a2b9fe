/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A door: the file by which a client wakes the lcore that does not poll its doorbells any more. The
 * client writes to an eventfd, which the courier of its principal watches; the courier knocks, and
 * tells the lcore. An eventfd carries a count and no descriptors; it is never read, as the client
 * has the same open file and could make a read block: each write to it is an edge.
 *
 * Knocks: the sessions of one lcore have places, and each place a bit. A knock that comes late, for
 * a session that has left its place, costs a look at its successor's doorbells.
 */
#ifndef NDD_DOOR_H
#define NDD_DOOR_H

#include <stdbool.h>
#include <stdint.h>

#include "shm/ndsh_ring.h"

#define NDD_PLACES     1024u /* sessions of one lcore */
#define NDD_PLACE_NONE UINT32_MAX

struct ndd_courier;
struct ndd_door;
struct ndd_wakeup;

/* Of one lcore: couriers write it. */
struct ndd_knocks {
	_Alignas(NDSH_CACHE_LINE) uint32_t some; /* a bit may be set */
	uint64_t place[NDD_PLACES / 64];
	struct ndd_wakeup *lcore; /* wakes it */
};

/* By the control thread. NULL: no descriptor, or no memory; errno. */
struct ndd_door *ndd_door_new(struct ndd_courier *c, struct ndd_knocks *knocks);
/* For the client. It stays open, and the door's. */
int ndd_door_fd(const struct ndd_door *d);
/* By the lcore: knocks are for this place from now on; NDD_PLACE_NONE: for nobody. */
void ndd_door_lead_to(struct ndd_door *d, uint32_t place);
/* By the control thread: it leads nowhere. ndd_couriers_collect() calls closed(owner) when the file
 * is closed. May be NULL. */
void ndd_door_free(struct ndd_door *d, void (*closed)(void *owner), void *owner);

/* By the lcore, before it sleeps, and now and then. */
static inline bool
ndd_knocks_some(const struct ndd_knocks *k)
{
	return __atomic_load_n(&k->some, __ATOMIC_ACQUIRE) != 0;
}
/* By the lcore: tell of each place that was knocked for since the last call. */
void ndd_knocks_take(struct ndd_knocks *k, void (*knocked)(void *arg, uint32_t place), void *arg);

#endif
