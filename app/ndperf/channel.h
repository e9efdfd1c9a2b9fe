/* SPDX-License-Identifier: BSD-3-Clause */
/* What client and server both make: buffers, connections, the control channel. */
#ifndef NDPERF_CHANNEL_H
#define NDPERF_CHANNEL_H

#include <ndclient.h>

#include "common/addr.h"
#include "options.h"
#include "proto.h"

struct buffer {
	struct nd_adapter *adapter;
	enum ndperf_memory from;
	uint8_t *mem;
	struct nd_mr *mr;
};
nd_status buffer_create(struct buffer *b, struct nd_adapter *adapter, struct nd_pd *pd,
	enum ndperf_memory from, uint64_t bytes, uint32_t flags);
void buffer_destroy(struct buffer *b);

struct conn {
	struct nd_connector *connector;
	struct nd_qp *qp;
	struct nd_overlapped ov; /* connect, complete, accept, disconnect */
};
/* Ends the connection if there is one. */
void conn_destroy(struct conn *c);

/*
 * The control channel: messages of NDPERF_MSG_BYTES both ways, and 8-byte writes for credits. It
 * has a queue pair and a completion queue of its own, so that looking for control messages does
 * not touch data.
 */
#define CONTROL_SLOTS	 16u
#define CONTROL_RESERVED 4u /* for messages: credits of many queue pairs must not keep them out */
struct control {
	struct conn conn;
	struct nd_cq *cq;
	struct buffer buf;  /* receive slots, then send slots */
	uint32_t send_next; /* send slot */
	uint32_t sends_out;
	struct nd_result failure; /* of CONTROL_FAILED */
};
enum control_event { CONTROL_NONE, CONTROL_MESSAGE, CONTROL_FAILED, CONTROL_GARBAGE };

/* With receives posted; the connection is yet to be made. */
nd_status control_create(struct control *ctl, struct nd_adapter *adapter, struct nd_pd *pd);
void control_destroy(struct control *ctl);
/* Both: ND_NO_MORE_ENTRIES if too many are under way. */
nd_status control_send(struct control *ctl, const struct ndperf_msg *msg);
nd_status control_write(struct control *ctl, uint64_t value, uint64_t address, uint32_t token);
/* The next message; also frees send slots. */
enum control_event control_poll(struct control *ctl, struct ndperf_msg *msg);

#endif
