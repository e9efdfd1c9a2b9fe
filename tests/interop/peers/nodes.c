/* SPDX-License-Identifier: BSD-3-Clause */
/* Many connections at a time, by rdma_cm. */
#include <stdlib.h>
#include <string.h>

#include "peer.h"

struct node *
nodes_create(struct side *s, uint32_t count, uint32_t depth)
{
	struct node *nodes = calloc(count, sizeof(*nodes));

	CHECK(nodes != NULL);
	for (struct node *n = nodes; n < nodes + count; n++) {
		struct nd_qp_options options = {
			.receive_depth = depth,
			.initiator_depth = depth,
			.max_receive_sge = 1,
			.max_initiator_sge = 1,
		};

		WANT(ND_SUCCESS, nd_cq_create(s->adapter, 2 * depth, &n->cq));
		options.receive_cq = options.initiator_cq = n->cq;
		WANT(ND_SUCCESS, nd_qp_create(s->pd, &options, &n->qp));
		WANT(ND_SUCCESS, nd_connector_create(s->adapter, &n->connector));
	}
	return nodes;
}

static void
watch(struct node *n)
{
	nd_status st = nd_connector_notify_disconnect(n->connector, &n->gone);

	WANT(ND_SUCCESS, st == ND_PENDING ? ND_SUCCESS : st);
}

void
nodes_connect(struct node *nodes, const struct cm_options *o)
{
	const struct node *end = nodes + o->connections;
	struct sockaddr_storage to;
	socklen_t bytes;

	peer_address(o->server, o->port, &to, &bytes);
	for (struct node *n = nodes; n < end; n++) {
		WANT(ND_SUCCESS, nd_connector_set_dscp(n->connector, o->dscp));
		n->begin_us = now_us();
		WANT(ND_PENDING, nd_connector_connect(n->connector, n->qp, (struct sockaddr *)&to,
					 bytes, 1, 1, NULL, 0, &n->ov));
	}
	for (struct node *n = nodes; n < end; n++) {
		WANT(ND_SUCCESS, nd_overlapped_wait(&n->ov, PATIENCE_MS));
		WANT(ND_SUCCESS,
			finish(nd_connector_complete_connect(n->connector, &n->ov), &n->ov));
		n->end_us = now_us();
		watch(n);
	}
}

void
nodes_accept(struct side *s, struct node *nodes, const struct cm_options *o)
{
	struct sockaddr_storage at;
	struct nd_listener *l;
	socklen_t bytes;

	peer_address(o->own, o->port, &at, &bytes);
	WANT(ND_SUCCESS, nd_listener_create(s->adapter, &l));
	WANT(ND_SUCCESS, nd_listener_listen(l, (struct sockaddr *)&at, bytes, 0));
	peer_tell("listening");
	for (struct node *n = nodes; n < nodes + o->connections; n++) {
		WANT(ND_SUCCESS, finish(nd_listener_get_request(l, n->connector, &n->ov), &n->ov));
		WANT(ND_PENDING, nd_connector_accept(n->connector, n->qp, 1, 1, NULL, 0, &n->ov));
	}
	for (struct node *n = nodes; n < nodes + o->connections; n++) {
		WANT(ND_SUCCESS, nd_overlapped_wait(&n->ov, PATIENCE_MS));
		watch(n);
	}
	nd_listener_close(l);
}

void
nodes_wait_gone(struct node *nodes, uint32_t count)
{
	for (struct node *n = nodes; n < nodes + count; n++)
		WANT(ND_SUCCESS, nd_overlapped_wait(&n->gone, PATIENCE_MS));
}

void
nodes_disconnect(struct node *nodes, uint32_t count)
{
	for (struct node *n = nodes; n < nodes + count; n++) {
		nd_status st;

		n->begin_us = now_us();
		st = nd_connector_disconnect(n->connector, &n->ov);
		WANT(ND_SUCCESS, st == ND_PENDING ? ND_SUCCESS : st);
	}
	for (struct node *n = nodes; n < nodes + count; n++) {
		WANT(ND_SUCCESS, nd_overlapped_wait(&n->ov, PATIENCE_MS));
		n->end_us = now_us();
	}
}
