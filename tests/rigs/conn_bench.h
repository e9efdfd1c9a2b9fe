/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An adapter for connectors and listeners without a daemon: its events are made here and given to
 * nd_conn_event() or nd_listener_request(), as the control thread does.
 */
#ifndef CONN_BENCH_H
#define CONN_BENCH_H

#include <netinet/in.h>

#include "ndclient/conn/connector.h"
#include "ndclient/session/adapter.h"

extern const struct sockaddr_in conn_bench_somewhere;

struct nd_adapter *conn_bench_new(void);
/* With everything that was made of the adapter. */
void conn_bench_drop(struct nd_adapter *a);
struct nd_connector *conn_bench_connector(struct nd_adapter *a, enum nd_conn_state state);
struct nd_qp *conn_bench_qp(struct nd_adapter *a);
/* An event of the connection id. */
struct ndsh_ev_conn conn_bench_event(uint16_t type, nd_status st, uint32_t id);
/* A connector with a Connect or Accept under way. */
struct nd_connector *conn_bench_under_way(struct nd_adapter *a, struct nd_qp *qp,
	enum nd_conn_state state, uint32_t id, struct nd_overlapped *ov);

#endif
