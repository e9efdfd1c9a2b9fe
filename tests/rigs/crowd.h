/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Principals, clients and queue pairs of one shard that all want to send: side 0 of a pair has
 * them. Their frames are counted and never arrive; what a peer would answer, a test says.
 */
#ifndef CROWD_H
#define CROWD_H

#include "rigs/engine_pair.h"
#include "roce/shard/principal.h"

#define CROWD_CLIENTS 4u
#define CROWD_QPS     1024u

struct crowd {
	struct pair *p;
	struct roce_principal principal[CROWD_CLIENTS];
	struct roce_client client[CROWD_CLIENTS];
	struct roce_cq *cq[CROWD_CLIENTS];
	void *cq_mem[CROWD_CLIENTS], *block[CROWD_QPS];
	struct ndsh_sq sq[CROWD_QPS];
	struct roce_qp *qp[CROWD_QPS];
	unsigned client_of[CROWD_QPS], qps, clients;
	uint64_t bytes[CROWD_CLIENTS], frames[CROWD_CLIENTS], of_qp[CROWD_QPS];
};

struct crowd *crowd_new(uint32_t mtu);
/* Destroys everything; aborts if something is still held then. */
void crowd_free(struct crowd *c);
/* A client of principal i, which is new if its weight is not 0. */
unsigned crowd_add_client(struct crowd *c, unsigned i, uint32_t weight);
void crowd_add_qps(struct crowd *c, unsigned client, unsigned n);
/* Each queue pair of the client has n messages of so many bytes. */
void crowd_post(struct crowd *c, unsigned client, unsigned n, uint32_t bytes);
/* That many frames leave. */
void crowd_send(struct crowd *c, unsigned frames);

#endif
