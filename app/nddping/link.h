/* SPDX-License-Identifier: BSD-3-Clause */
/* One connection with all it needs, and its requests, done one at a time. */
#ifndef NDDPING_LINK_H
#define NDDPING_LINK_H

#include <stdbool.h>

#include <ndclient.h>

#include "options.h"
#include "ping_proto.h"

struct ping_link {
	const struct ping_options *opt;
	struct app_addr peer;
	char name[APP_ADDR_TEXT]; /* of the peer, for messages */
	struct nd_connector *connector;
	struct nd_adapter *adapter;
	struct nd_pd *pd;
	struct nd_cq *cq;
	struct nd_qp *qp;
	void *area; /* info_in, info_out, source, sink */
	uint8_t *info_in, *info_out;
	char *source, *sink;
	struct nd_mr *info_mr, *source_mr, *sink_mr;
	bool sending;			     /* info_out belongs to a send under way */
	bool watched;			     /* gone is under way or done */
	uint32_t received_bytes;	     /* of the message in info_in */
	uint32_t done[ND_REQUEST_WRITE + 1]; /* completions not waited for yet, by request type */
	struct nd_overlapped ov;	     /* connect, complete, accept, disconnect */
	struct nd_overlapped gone;	     /* the peer's disconnect */
};

/* Outcome of a step. All but PING_OK have been said, apart from PING_GONE. */
enum ping_outcome {
	PING_OK,
	PING_GONE, /* the peer disconnected */
	PING_FAILED,
	PING_STOPPED, /* by a signal */
};

/* Make everything around connector, which the link closes from now on, and post the
 * first receive. */
nd_status ping_link_create(struct ping_link *l, struct nd_adapter *adapter,
	struct nd_connector *connector, const struct ping_options *opt);
void ping_link_destroy(struct ping_link *l);
/* Ask to be told of the peer's disconnect; once established. */
void ping_link_watch(struct ping_link *l);

/* Send the 16 bytes about [buf, bytes) with token; NULL: the go-ahead, zeros. */
enum ping_outcome ping_link_send(
	struct ping_link *l, const void *buf, uint32_t token, uint32_t bytes);
/* The peer's next 16 bytes, within timeout_ms. */
enum ping_outcome ping_link_receive(struct ping_link *l, struct ping_info *info, int timeout_ms);
/* The server's transfers, from and to its sink. */
enum ping_outcome ping_link_read(struct ping_link *l, const struct ping_info *from, uint32_t bytes);
enum ping_outcome ping_link_write(struct ping_link *l, const struct ping_info *to, uint32_t bytes);

void ping_link_debug(const struct ping_link *l, const char *what, ...)
	__attribute__((format(printf, 2, 3)));

#endif
