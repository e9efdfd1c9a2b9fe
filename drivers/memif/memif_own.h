/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of this folder share. */
#ifndef NDD_MEMIF_OWN_H
#define NDD_MEMIF_OWN_H

#include <pthread.h>

#include <rte_mbuf.h>

#include "memif/memif.h"
#include "port/grace.h"

#define MEMIF_REGIONS_MAX 16u
#define MEMIF_NEWS_BYTES  192u

/* One direction, as this end sees it. A slot is ours to use if it lies between `at` and the peer's
 * index; which of the two shared indices that is, and how far ahead of it slots are ours, depends
 * on the role: the client's frames may use a whole ring beyond the server's tail, and it hands over
 * empty buffers a whole ring ahead of what it has read. */
struct memif_ring {
	struct memif_shared_ring *shared; /* NULL: there is none yet */
	const uint16_t *theirs;
	uint16_t *ours;
	uint16_t theirs_ahead, ours_ahead;
	uint16_t at, size;
	uint8_t *buffers; /* the client's: where they are, whatever the descriptors say */
	uint32_t buffers_offset, buffer_bytes;
	int interrupt; /* file that tells the reader of frames */
};

/* Of a buffer of the client's, empty. */
static inline struct memif_desc
memif_desc_own(const struct memif_ring *r, uint32_t slot)
{
	return (struct memif_desc){
		.length = r->buffer_bytes, .offset = r->buffers_offset + slot * r->buffer_bytes};
}

struct memif_region {
	uintptr_t base; /* 0: none. Read by the signal handler */
	size_t bytes;
};

/* clang-format off */
#define MEMIF_COUNTERS(X)                                                                          \
	X(rx_packets) X(rx_bytes) X(rx_no_mbufs) X(rx_bad_length)                                  \
	X(tx_packets) X(tx_bytes) X(tx_too_long)
/* Of links that ended, or were not made, for a reason of the peer's. */
#define MEMIF_LINK_COUNTERS(X) X(memory_lost) X(breaches) X(refused)
/* clang-format on */
struct memif_counters {
#define MEMIF_X(n) uint64_t n;
	MEMIF_COUNTERS(MEMIF_X)
#undef MEMIF_X
};
struct memif_link_counters {
#define MEMIF_X(n) uint64_t n;
	MEMIF_LINK_COUNTERS(MEMIF_X)
#undef MEMIF_X
};

enum memif_wrong {
	MEMIF_FINE,
	MEMIF_BREACH, /* an index or a descriptor that can't be */
	MEMIF_LOST,   /* memory was missing */
};

struct memif_port {
	struct memif_cfg cfg;
	char device[PORT_NAME_BYTES];
	/* the lcore's */
	struct port_grace grace;
	struct memif_counters count;
	/* The thread's while they are not linked, then the lcore's. */
	bool linked;
	struct memif_ring rx, tx;
	struct memif_region region[MEMIF_REGIONS_MAX];
	uint32_t regions;
	/* from the lcore to the thread, which `wake` wakes */
	uint32_t wrong; /* enum memif_wrong */
	bool interrupt; /* the peer wants to be told of frames */
	int wake;
	bool stop, ended;
	/* the thread's */
	pthread_t thread;
	int listener;
	struct memif_link_counters links;
	char refusal[MEMIF_NEWS_BYTES]; /* why the last link was not made; "": it was */
	/* from the thread to the control thread */
	pthread_mutex_t lock;
	char news[MEMIF_NEWS_BYTES];
};

static inline struct memif_port *
memif_of(const struct port *p)
{
	return (struct memif_port *)p->kind;
}

/* ---- memif_burst.c: the lcore's ---- */

uint16_t memif_rx(struct port *p, struct rte_mbuf **m, uint16_t n);
uint16_t memif_tx(struct port *p, struct rte_mbuf **m, uint16_t n);

/* ---- memif_channel.c: messages, with a file or without ---- */

/* Files that come along are the caller's: *file, or -1. NULL, or what went wrong, in words: nothing
 * came until deadline_ns, the peer has left, or said why it does. */
const char *memif_hear(struct memif_port *m, int fd, uint64_t deadline_ns,
	struct memif_message *message, int *file);
/* The same for a message of that type without a file. */
const char *memif_expect(struct memif_port *m, int fd, uint64_t deadline_ns, enum memif_type type,
	struct memif_message *message);
extern const char memif_gone[]; /* the peer has left, without a word */
/* NULL, or what went wrong. */
const char *memif_say(int fd, const struct memif_message *message, int file);
/* Says why this end leaves, if the peer still hears it, and does. Nothing is left unread: that
 * would reach the peer as an error, in front of the reason. */
void memif_leave(int fd, const char *why);
uint64_t memif_now_ns(void);

/* ---- memif_memory.c ---- */

/* Maps what the peer offers. NULL, or why not. The file stays the caller's. */
const char *memif_region_map(struct memif_port *m, int file, uint64_t bytes);
/* Memory of our own for both rings, and its file. NULL, or why not. */
const char *memif_memory_make(struct memif_port *m, uint8_t log2_ring, int *file);
/* The ring that is at that place of a region. NULL, or why there can be none. */
const char *memif_ring_place(struct memif_port *m, struct memif_ring *r, uint32_t region,
	uint32_t offset, uint32_t log2_ring);
/* Both rings are ready to be used by bursts from now on. */
void memif_link_begin(struct memif_port *m);
/* No burst uses the rings any longer; everything that a link had is gone. */
void memif_link_end(struct memif_port *m);
/* Links of m are found by memif_memory_restore(), or no longer. False: too many ports. */
bool memif_memory_watch(struct memif_port *m);
void memif_memory_forget(struct memif_port *m);

/* ---- memif_server.c, memif_client.c: a link is made ---- */

#define MEMIF_SHAKE_NS UINT64_C(2000000000) /* for all of it */

/* NULL: m's rings are there, and the peer knows; or why not, in words. */
const char *memif_server_shake(struct memif_port *m, int fd);
const char *memif_client_shake(struct memif_port *m, int fd);

/* ---- memif_thread.c ---- */

/* NULL, or what failed. */
const char *memif_thread_start(struct memif_port *m, char *why, size_t why_bytes);
/* False: it is held up by something that the peer can hold up, and still uses m. */
bool memif_thread_stop(struct memif_port *m);
/* The lcore's, or a signal handler's. */
void memif_thread_wake(const struct memif_port *m);

#endif
