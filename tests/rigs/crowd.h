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
	bool asked[CROWD_QPS]; /* the last frame of the queue pair asked for an acknowledgement */
};

struct crowd *crowd_new(uint32_t mtu);
/* ... whose queue pairs have so many packets under way, and wait so long for answers, as
 * roce_qp_attr.timeout_code says; 255: for ever. */
struct crowd *crowd_new_with(uint32_t mtu, uint32_t window, uint8_t timeout_code);
/* Destroys everything; aborts if something is still held then. */
void crowd_free(struct crowd *c);
/* A client of principal i, which is new if its weight is not 0. */
unsigned crowd_add_client(struct crowd *c, unsigned i, uint32_t weight);
void crowd_add_qps(struct crowd *c, unsigned client, unsigned n);
/* Each queue pair of the client has n messages of so many bytes. */
void crowd_post(struct crowd *c, unsigned client, unsigned n, uint32_t bytes);
/* The same for requests of any kind, ndsh_op. */
void crowd_post_op(struct crowd *c, unsigned client, unsigned n, uint32_t op, uint32_t bytes);
/* That many frames leave. */
void crowd_send(struct crowd *c, unsigned frames);
/* All frames that may leave do; returns their number. */
unsigned crowd_send_all(struct crowd *c);
/* The peer of queue pair i says this; what is the same in all packets is put in here. */
void crowd_hear(struct crowd *c, unsigned i, struct roce_pkt said);
/* It answers packet psn so. */
void crowd_answer(struct crowd *c, unsigned i, uint32_t psn, uint8_t syndrome);

#endif
