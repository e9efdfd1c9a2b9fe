/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ucmatose: connections that are made all at once; over each the server sends its messages, the
 * client answers with as many, and the server disconnects.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define MESSAGES_MAX 1024u

struct traffic {
	struct side s;
	struct cm_options cm;
	struct node *nodes;
	uint32_t messages, bytes;
};

static struct nd_sge
piece(const struct traffic *t, uint32_t at)
{
	return (struct nd_sge){t->s.buf + at, t->bytes, nd_mr_local_token(t->s.mr)};
}

static void
post_receives(struct traffic *t)
{
	struct nd_sge sge = piece(t, BUFFER_BYTES / 2);

	for (struct node *n = t->nodes; n < t->nodes + t->cm.connections; n++)
		for (uint32_t i = 0; i < t->messages; i++)
			WANT(ND_SUCCESS, nd_qp_receive(n->qp, NULL, &sge, 1));
}

static void
post_sends(struct traffic *t)
{
	struct nd_sge sge = piece(t, 0);

	for (struct node *n = t->nodes; n < t->nodes + t->cm.connections; n++)
		for (uint32_t i = 0; i < t->messages; i++)
			WANT(ND_SUCCESS, nd_qp_send(n->qp, NULL, &sge, 1, 0));
}

/* So many of each on every connection; the peer says nothing of its messages' contents. */
static void
take(struct traffic *t, uint32_t sends, uint32_t receives)
{
	for (struct node *n = t->nodes; n < t->nodes + t->cm.connections; n++) {
		uint32_t sent = 0, received = 0;

		while (sent < sends || received < receives) {
			struct nd_result r = peer_result(n->cq);

			if (r.request_type == ND_REQUEST_SEND) {
				sent++;
				continue;
			}
			CHECK(r.request_type == ND_REQUEST_RECEIVE);
			CHECK(r.bytes_transferred == t->bytes);
			received++;
		}
		CHECK(sent == sends && received == receives);
	}
}

static void
serve(struct traffic *t)
{
	nodes_accept(&t->s, t->nodes, &t->cm);
	post_sends(t);
	take(t, t->messages, t->messages);
	nodes_disconnect(t->nodes, t->cm.connections);
}

static void
call(struct traffic *t)
{
	nodes_connect(t->nodes, &t->cm);
	take(t, 0, t->messages);
	post_sends(t);
	take(t, t->messages, 0);
	nodes_wait_gone(t->nodes, t->cm.connections);
	nodes_disconnect(t->nodes, t->cm.connections);
}

int
peer_ucmatose(int argc, char **argv)
{
	struct traffic t = {
		.cm = {.port = CM_PORT, .connections = 1}, .messages = 10, .bytes = 100};
	int o;

	while ((o = getopt(argc, argv, "b:s:c:C:S:t:p:")) != -1) {
		if (o == 'b')
			t.cm.own = optarg;
		else if (o == 's')
			t.cm.server = optarg;
		else if (o == 'c')
			t.cm.connections = peer_number("-c", optarg, 1, CONNECTIONS_MAX);
		else if (o == 'C')
			t.messages = peer_number("-C", optarg, 0, MESSAGES_MAX);
		else if (o == 'S')
			t.bytes = peer_number("-S", optarg, 0, BUFFER_BYTES / 2);
		else if (o == 't')
			t.cm.dscp = peer_number("-t", optarg, 0, 255) >> 2;
		else if (o == 'p')
			t.cm.port = (uint16_t)peer_number("-p", optarg, 1, 65535);
		else
			return 2;
	}
	if (t.bytes == 0)
		t.messages = 0;
	peer_open(&t.s, t.cm.own, 16);
	memset(t.s.buf, 0x5a, BUFFER_BYTES);
	t.nodes = nodes_create(&t.s, t.cm.connections, t.messages == 0 ? 1 : t.messages);
	post_receives(&t);
	if (t.cm.server != NULL)
		call(&t);
	else
		serve(&t);
	printf("%u connections, %u messages each way on each\n", t.cm.connections, t.messages);
	side_close(&t.s);
	return 0;
}
