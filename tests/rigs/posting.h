/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair of the library over rings of its own, with the daemon's view of them: what is posted
 * is looked at where the daemon would. */
#ifndef UNIT_POSTING_H
#define UNIT_POSTING_H

#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"

struct posting {
	struct nd_adapter *a;
	struct ndsh_session_page page;
	struct nd_qp qp;
	struct ndsh_sq daemon_sq;
	struct ndsh_rq daemon_rq;
	void *block;
};
/* Queues of depth requests, of two SGEs or 32 bytes inline each; the queue pair is connected. */
struct posting *posting_new(uint32_t depth);
void posting_free(struct posting *b);

#endif
