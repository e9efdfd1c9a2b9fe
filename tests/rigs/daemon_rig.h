/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A daemon for libndclient's tests, in a thread: it answers every request with success, keeps the
 * real one's order (an object that others rest on can't be destroyed) and counts the requests that
 * break it. No packet is sent: a Connect is accepted at once, and requests stay outstanding for
 * ever.
 */
#ifndef DAEMON_RIG_H
#define DAEMON_RIG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "ndclient/ndclient.h"
#include "shm/ndsh_msg.h"
#include "shm/ndsh_ring.h"

#define RIG_OBJECTS  256
#define RIG_SEGMENTS 8
#define RIG_RESTS    4

struct rig_object {
	uint16_t type; /* of the request that destroys it; 0: none is here */
	uint32_t users;
	uint32_t on[RIG_RESTS]; /* id + 1 */
	int fd;			/* of a completion queue: written when an arm fires */
	struct ndsh_cq cq;
};

struct daemon_rig {
	char path[64];
	int listener, stop;
	pthread_t thread;
	bool limits;	  /* shared receive queues are below their threshold */
	uint16_t refuses; /* requests of this type, for lack of resources; 0: none */
	/* guarded by lock */
	pthread_mutex_t lock;
	int socket, wake; /* of the one session, or -1 */
	struct ndsh_addr opened;
	struct rig_object object[RIG_OBJECTS];
	struct {
		int fd;
		uint8_t *base;
		uint64_t bytes;
	} segment[RIG_SEGMENTS];
	struct ndsh_admin admin; /* ring NULL: none */
	uint32_t admin_cq;
	uint32_t live;	  /* objects */
	uint32_t refused; /* requests that were out of order, or named what is not there */
};

void daemon_rig_start(struct daemon_rig *r);
void daemon_rig_stop(struct daemon_rig *r);
struct nd_adapter *daemon_rig_open(struct daemon_rig *r);
/* Objects of all sessions that live. */
uint32_t daemon_rig_live(struct daemon_rig *r);
/* Of the request that would destroy the object; 0: it is no more. */
uint16_t daemon_rig_type(struct daemon_rig *r, uint32_t id);
/* A request to connect reaches the listener. */
void daemon_rig_request(struct daemon_rig *r, uint32_t listener);
/* The session ends, and with it all objects. */
void daemon_rig_hang_up(struct daemon_rig *r);
/* An entry into a completion queue, and its notification. */
void daemon_rig_push(struct daemon_rig *r, uint32_t cq, const struct ndsh_cqe *e);

#endif
