/* SPDX-License-Identifier: BSD-3-Clause */
/* A queue pair and the connector that connects it. */
#ifndef NDPERF_CONN_H
#define NDPERF_CONN_H

#include <ndclient.h>

struct conn {
	struct nd_connector *connector;
	struct nd_qp *qp;
	struct nd_overlapped ov; /* of connect, complete connect, accept and disconnect */
};

/* Close connector and queue pair, as far as there are any; this ends the connection. */
void conn_destroy(struct conn *c);

#endif
