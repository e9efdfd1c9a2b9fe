/* SPDX-License-Identifier: BSD-3-Clause */
/* Two queue pairs of one process that are connected with each other by the first device. */
#ifndef VERBS_RIG_H
#define VERBS_RIG_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the program. */
#define WANT(cond)                                                                                 \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #cond);         \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

#define RIG_DEPTH  64
#define RIG_BYTES  (1u << 20)
#define RIG_SQ_PSN 0x45 /* of queue pairs of datagrams */
#define RIG_ALL                                                                                    \
	(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |               \
		IBV_ACCESS_REMOTE_ATOMIC)

struct rig {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel; /* or NULL */
	struct ibv_cq *cq;		  /* of all queues */
	struct ibv_cq_ex *ex;		  /* the same one, or NULL */
	struct ibv_qp *qp[2];
	uint8_t *memory[2]; /* RIG_BYTES each, of all rights */
	struct ibv_mr *mr[2];
};

/* Unconnected. */
void rig_open(struct rig *r, bool with_channel);
/* The same, with an extended completion queue of IBV_CREATE_CQ_ATTR_* flags. */
void rig_open_extended(struct rig *r, uint32_t flags);
struct ibv_qp *rig_make_qp(struct rig *r, int signal_all);
/* To RTS, towards the queue pair of that number. Each step must succeed. */
void rig_connect_qp(struct rig *r, struct ibv_qp *qp, uint32_t number);
/* The same, where that queue pair may be another device's. */
void rig_connect_to(struct ibv_qp *qp, uint32_t number, const union ibv_gid *gid);
/* The two halves of it: to RTR, and on to RTS. */
void rig_await_peer(struct rig *r, struct ibv_qp *qp, uint32_t number);
void rig_go_on(struct ibv_qp *qp);
void rig_connect(struct rig *r);
/* From RESET on. */
void rig_connect_again(struct rig *r);
/* One of datagrams, to RTS. */
void rig_bring_up_datagrams(struct ibv_qp *qp, uint32_t q_key);
/* Destroys everything; each call must succeed. */
void rig_close(struct rig *r);

/* Of memory[side]. */
struct ibv_sge rig_sge(const struct rig *r, int side, size_t offset, uint32_t bytes);
/* A signaled request towards the bytes at addr behind that key, in one piece. */
struct ibv_send_wr rig_request_to(
	uint64_t addr, uint32_t rkey, enum ibv_wr_opcode op, struct ibv_sge *sge, uint64_t id);
/* That of qp[0] towards memory[1]. */
struct ibv_send_wr rig_request(
	const struct rig *r, enum ibv_wr_opcode op, struct ibv_sge *sge, uint64_t id);
void rig_post(struct rig *r, struct ibv_send_wr *wr);
void rig_receive(struct rig *r, int side, size_t offset, uint32_t bytes, uint64_t id);
/* n bytes that are others for another seed; are they there? */
void rig_fill(uint8_t *p, size_t n, unsigned seed);
bool rig_holds(const uint8_t *p, size_t n, unsigned seed);
/* The next completion; within five seconds. */
struct ibv_wc rig_wait(struct rig *r);
/* That of a request. */
void rig_wait_for(struct rig *r, uint64_t id, enum ibv_wc_status status, enum ibv_wc_opcode op);

#endif
