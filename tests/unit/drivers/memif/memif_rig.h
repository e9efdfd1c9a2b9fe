/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ports of memif in one process, linked by a socket in a folder of the test's own; and a client
 * by hand, which says what the test wants it to say. */
#ifndef MEMIF_RIG_H
#define MEMIF_RIG_H

#include "memif/memif_own.h"

#define RIG_FRAME     8192u /* the largest */
#define RIG_BUFFER    2048u
#define RIG_LOG2_RING 4u
#define RIG_RING      (1u << RIG_LOG2_RING)

#define RIG_RING_BYTES (sizeof(struct memif_shared_ring) + RIG_RING * sizeof(struct memif_desc))

extern struct port server, client;

/* The folder, and DPDK. */
void rig_start(void);
/* The same with a memif of DPDK's driver, which has that role. */
void rig_start_beside(const char *role);
/* DPDK's is set up, and started: it listens, or has tried to connect. Its number. */
uint16_t rig_open_dpdk(void);
void rig_end(void);
void rig_open(struct port *p, bool is_server);
/* Both are open, and linked. */
void rig_link(void);
void rig_wait(struct port *p, bool up);
/* A counter of p's, by its name. */
uint64_t rig_counter(const struct port *p, const char *name);

/* A frame of that many bytes that says which one it is, in mbufs of segment bytes (0: in one). */
struct rte_mbuf *rig_frame(uint32_t number, uint32_t bytes, uint32_t segment);
/* Sends it; false: there is no room for it, and it is gone. */
bool rig_send(struct port *p, struct rte_mbuf *m);
/* The next frame that comes is that one. */
void rig_expect(struct port *p, uint32_t number, uint32_t bytes);
/* No buffer is missing. */
void rig_count_mbufs(void);

/* ---- a client by hand ---- */

struct raw {
	int fd, file, interrupt;
	uint8_t *memory;
};
#define RAW_BYTES (1u << 20)
/* Where its rings are. Their buffers are behind them. */
#define RAW_TO_SERVER 0u
#define RAW_TO_CLIENT 4096u
#define RAW_BUFFERS   8192u

void raw_open(struct raw *r);
void raw_close(struct raw *r);
/* The messages of a client that keeps the rules, in their order. */
struct memif_message raw_init(void);
struct memif_message raw_region(void);
struct memif_message raw_ring(bool to_server);
struct memif_message raw_connect(void);
/* Says it, with that file (-1: none). Returns the type of the answer; 0: it is cut off. */
uint16_t raw_say(struct raw *r, const struct memif_message *message, int file);
/* All of them: it is linked. */
void raw_link(struct raw *r);
struct memif_shared_ring *raw_shared(const struct raw *r, bool to_server);

#endif
