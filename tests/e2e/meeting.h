/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection step by step: a is the active side, b the passive side. Each step ends when its
 * outcome is known. */
#ifndef E2E_MEETING_H
#define E2E_MEETING_H

#include "pair.h"

#define SILENT_PORT 7999 /* no listener has it */

struct meeting {
	struct pair *p;
	struct nd_listener *listener; /* b's */
	struct sockaddr_storage where;
	struct nd_overlapped get, ask, accept, complete;
	nd_status accepting;
};

void set_port(struct sockaddr_storage *addr, uint16_t port);
uint16_t get_port(const struct sockaddr_storage *addr);
/* Another address of the same network; no host has those from 77 on. */
void set_last_byte(struct sockaddr_storage *addr, uint8_t byte);
/* side_open(), a queue pair and a connector. */
void side_open_alone(struct side *s);
/* A listener of s at a port that it chooses: where. */
struct nd_listener *side_listen(struct side *s, struct sockaddr_storage *where);
nd_status side_bind(struct side *s, uint16_t port);
/* Connect and wait. */
nd_status side_connect(struct side *s, const struct sockaddr_storage *dest);

/* Both sides alone, b listens. */
void meet_open(struct meeting *m, struct pair *p);
/* A new queue pair and connector of each, the old ones closed. */
void meet_again(struct meeting *m);
/* a connects; the request is not taken yet. */
void meet_ask(struct meeting *m, uint32_t inbound_reads, uint32_t outbound_reads);
/* b takes it. */
void meet_get(struct meeting *m);
/* b accepts, and a knows. */
void meet_accept(struct meeting *m, uint32_t inbound_reads, uint32_t outbound_reads);
/* a completes; b's accept is not waited for. */
void meet_complete_alone(struct meeting *m);
/* a completes: b's accept ends too. */
void meet_complete(struct meeting *m);
/* From the first to the last. */
void meet_connect(struct meeting *m);
void meet_close(struct meeting *m);

#endif
