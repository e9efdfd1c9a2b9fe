/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection, the objects that it needs, and its requests, which are done one at a time. */
#ifndef NDDPING_LINK_H
#define NDDPING_LINK_H

#include <stdbool.h>

#include <ndclient.h>

#include "options.h"
#include "ping_proto.h"

struct ping_link {
	const struct ping_options *opt;
	struct app_addr peer;
	char name[APP_ADDR_TEXT]; /* the peer's address, for messages */
	struct nd_connector *connector;
	struct nd_adapter *adapter;
	struct nd_pd *pd;
	struct nd_cq *cq;
	struct nd_qp *qp;
	void *area; /* info_in, info_out, source, sink */
	uint8_t *info_in, *info_out;
	char *source, *sink;
	struct nd_mr *info_mr, *source_mr, *sink_mr;
	bool sending;			     /* a send is under way, to which info_out belongs */
	bool watched;			     /* gone is under way or has completed */
	uint32_t received_bytes;	     /* of the message in info_in */
	uint32_t done[ND_REQUEST_WRITE + 1]; /* by request type: completions not waited for yet */
	struct nd_overlapped ov;   /* of connect, complete connect, accept and disconnect */
	struct nd_overlapped gone; /* the peer's disconnect */
};

/* Outcome of a step. A function that returns PING_FAILED has printed why; PING_GONE and
 * PING_STOPPED are for the caller to report. */
enum ping_outcome {
	PING_OK,
	PING_GONE, /* the peer disconnected */
	PING_FAILED,
	PING_STOPPED, /* by a signal */
};

/* Create the objects of a link and post its first receive. From now on connector is the link's;
 * also after a failure the caller calls ping_link_destroy(). */
nd_status ping_link_create(struct ping_link *l, struct nd_adapter *adapter,
	struct nd_connector *connector, const struct ping_options *opt);
void ping_link_destroy(struct ping_link *l);
/* Begin to watch for the peer's disconnect; the connection is established. */
void ping_link_watch(struct ping_link *l);

/* Send the message of 16 bytes about a buffer: its address, token and size. NULL, 0, 0: the
 * go-ahead. */
enum ping_outcome ping_link_send(
	struct ping_link *l, const void *buf, uint32_t token, uint32_t bytes);
/* Receive the peer's next message of 16 bytes, within timeout_ms. */
enum ping_outcome ping_link_receive(struct ping_link *l, struct ping_info *info, int timeout_ms);
/* The server's transfers: READ from the peer into l->sink, WRITE from l->sink to the peer. */
enum ping_outcome ping_link_read(struct ping_link *l, const struct ping_info *from, uint32_t bytes);
enum ping_outcome ping_link_write(struct ping_link *l, const struct ping_info *to, uint32_t bytes);

void ping_link_debug(const struct ping_link *l, const char *what, ...)
	__attribute__((format(printf, 2, 3)));

#endif
