/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of the control connection: messages of NDPERF_MSG_BYTES in both directions, and the
 * server's 8-byte writes of credits. It has a queue pair and a completion queue of its own, so that
 * polling it for messages does not touch the data's completion queue.
 */
#ifndef NDPERF_CONTROL_H
#define NDPERF_CONTROL_H

#include <stdint.h>

#include <ndclient.h>

#include "buffer.h"
#include "conn.h"
#include "proto.h"

#define CONTROL_SLOTS	 16u
#define CONTROL_RESERVED 4u /* send slots that credits of many queue pairs leave to messages */

struct control {
	struct conn conn;
	struct nd_cq *cq;
	struct buffer buf;	  /* receive slots, then send slots */
	uint32_t send_next;	  /* the next send slot to use */
	uint32_t sends_out;	  /* sends and writes under way */
	struct nd_result failure; /* of CONTROL_FAILED */
};
enum control_event { CONTROL_NONE, CONTROL_MESSAGE, CONTROL_FAILED, CONTROL_GARBAGE };

/* Creates the queue pair and posts its receives; the caller connects it. */
nd_status control_create(struct control *ctl, struct nd_adapter *adapter, struct nd_pd *pd);
void control_destroy(struct control *ctl);
/* Both return ND_NO_MORE_ENTRIES if too many requests are under way. */
nd_status control_send(struct control *ctl, const struct ndperf_msg *msg);
nd_status control_write(struct control *ctl, uint64_t value, uint64_t address, uint32_t token);
/* Take the next message, if there is one; also frees the slots of completed sends. */
enum control_event control_poll(struct control *ctl, struct ndperf_msg *msg);

#endif
