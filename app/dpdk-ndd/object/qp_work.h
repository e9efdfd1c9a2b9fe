/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests about a queue pair that take as long as its rings are deep: a part of the work with each
 * call of the lcore. A few parts are done at once, and the rest in later turns of the control
 * thread, as far as the time of the session's principal goes; the reply is behind the last one.
 */
#ifndef NDD_QP_WORK_H
#define NDD_QP_WORK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "session/reply.h"

struct ndd;
struct ndd_qp;

struct ndd_qp_task {
	/* A part of the work, of one call of the lcore. True: it was the last one, and
	 * qp->work.status is what the reply says. */
	bool (*part)(struct ndd_session *s, struct ndd_qp *qp);
	/* All is done; the queue pair may be freed. Or NULL. */
	void (*done)(struct ndd_session *s, struct ndd_qp *qp);
	/* The lcore works on it by itself, and has so much time for that between two later parts.
	 * 0: it does not. */
	uint64_t pause_ns;
};

struct ndd_qp_work {
	const struct ndd_qp_task *task; /* NULL: nothing is under way in later turns */
	TAILQ_ENTRY(ndd_qp) next;
	struct ndd_session *session;
	uint64_t next_ns; /* not before */
	struct ndsh_msg_hdr reply;
	enum ndsh_status status;
	uint32_t q_key;	     /* that is to be set */
	uint32_t parts_left; /* of a flush */
};

/* Begin; request is what the client asked for, and r its reply. No work is under way. */
enum ndsh_status ndd_qp_work_begin(struct ndd_session *s, struct ndd_qp *qp,
	const struct ndd_qp_task *task, const struct ndsh_msg_hdr *request, struct ndd_reply *r);
/* If work is under way, it goes no further, and the client is told so. */
void ndd_qp_work_abandon(struct ndd_qp *qp, enum ndsh_status status);
/* The same, and nobody is told: the session has ended. */
void ndd_qp_work_forget(struct ndd_qp *qp);
/* Work that is under way goes on; d->work_look_ns is when there may be more of it to do. */
void ndd_qp_work_tick(struct ndd *d, uint64_t now_ns);

#endif
