/* SPDX-License-Identifier: BSD-3-Clause */
/* cmtime: how long many connections take to be made and to be ended. The client ends them. */
#include <stdio.h>
#include <unistd.h>

#include "peer.h"

static void
show(const char *step, const struct node *nodes, uint32_t count)
{
	double first = nodes[0].begin_us, last = 0, min = 1e12, max = 0;

	for (const struct node *n = nodes; n < nodes + count; n++) {
		double us = n->end_us - n->begin_us;

		last = n->end_us > last ? n->end_us : last;
		min = us < min ? us : min;
		max = us > max ? us : max;
	}
	printf("%-10s total %9.2f ms, max %9.2f ms, min %9.2f us, %9.2f us a connection\n", step,
		(last - first) / 1e3, max / 1e3, min, (last - first) / count);
}

int
peer_cmtime(int argc, char **argv)
{
	struct cm_options cm = {.port = CM_PORT, .connections = 100};
	struct node *nodes;
	struct side s;
	int o;

	while ((o = getopt(argc, argv, "b:s:c:p:")) != -1) {
		if (o == 'b')
			cm.own = optarg;
		else if (o == 's')
			cm.server = optarg;
		else if (o == 'c')
			cm.connections = peer_number("-c", optarg, 1, CONNECTIONS_MAX);
		else if (o == 'p')
			cm.port = (uint16_t)peer_number("-p", optarg, 1, 65535);
		else
			return 2;
	}
	peer_open(&s, cm.own, 16);
	nodes = nodes_create(&s, cm.connections, 1);
	if (cm.server != NULL) {
		nodes_connect(nodes, &cm);
		show("connect", nodes, cm.connections);
		nodes_disconnect(nodes, cm.connections);
		show("disconnect", nodes, cm.connections);
	} else {
		/* The program's own server never ends; this one does, with the last of them. */
		nodes_accept(&s, nodes, &cm);
		nodes_wait_gone(nodes, cm.connections);
		nodes_disconnect(nodes, cm.connections);
		printf("%u connections came and went\n", cm.connections);
	}
	side_close(&s);
	return 0;
}
