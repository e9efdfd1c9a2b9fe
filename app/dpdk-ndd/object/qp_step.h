/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A change of a queue pair's state or attributes, as its client asks for it. The engine's table
 * judges it, before anything is done.
 */
#ifndef NDD_QP_STEP_H
#define NDD_QP_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "roce/roce.h"
#include "shm/ndsh_status.h"

struct ndd_qp;
struct ndd_session;

/* attr.path: sgid, dgid, tos, ttl and flow_label, until the next hop is known. */
struct ndd_qp_step {
	enum roce_qp_state from, to;
	uint32_t mask; /* ROCE_QPA_* */
	uint8_t ecn;   /* enum ndsh_ecn: the path's class is without it until it has a port */
	struct roce_qp_attr attr;
};

/* The engine's number of a client's state: it has others for what an unreliable connection is in.
 * ROCE_QPS_COUNT: there is no such state. */
enum roce_qp_state ndd_qp_state_to(bool unreliable, uint32_t state);
/* A client's number of the engine's state: enum ndsh_qp_state. */
uint32_t ndd_qp_state_from(enum roce_qp_state state);
/* Would the engine do it? why: what is wrong. */
enum ndsh_status ndd_qp_step_check(
	struct ndd_session *s, struct ndd_qp *qp, struct ndd_qp_step *step, char *why, size_t room);
/* Do it. */
enum ndsh_status ndd_qp_step(
	struct ndd_session *s, struct ndd_qp *qp, struct ndd_qp_step *step, char *why, size_t room);

#endif
