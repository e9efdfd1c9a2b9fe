/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A grace period for what a port's bursts use and another thread takes away, such as memory that is
 * about to be unmapped: after it was taken out of the bursts' sight, that thread waits until every
 * burst has ended that could have seen it.
 *
 * The lcore pays two plain stores per burst; the full barrier that Dekker's handshake needs between
 * its store and its look at what is there is put there from the outside by membarrier().
 */
#ifndef NDD_PORT_GRACE_H
#define NDD_PORT_GRACE_H

#include <stdbool.h>
#include <stdint.h>

struct port_grace {
	uint32_t bursts; /* odd: an lcore is in one */
};

/* Where a burst begins, and where it ends. */
static inline void
port_grace_edge(struct port_grace *g)
{
	__atomic_store_n(&g->bursts, g->bursts + 1, __ATOMIC_RELEASE);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline bool
port_grace_in_burst(const struct port_grace *g)
{
	return (__atomic_load_n(&g->bursts, __ATOMIC_RELAXED) & 1) != 0;
}

/* Before the first wait of the process. */
void port_grace_prepare(void);
/* Returns when the burst has ended that had begun before, if there was one. For a thread that has
 * no bursts itself. */
void port_grace_wait(const struct port_grace *g);

#endif
