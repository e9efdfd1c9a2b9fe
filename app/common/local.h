/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening an adapter, and listening at it. All functions print what fails. */
#ifndef APP_LOCAL_H
#define APP_LOCAL_H

#include <ndclient.h>

#include "addr.h"

/* Open the adapter that has the address local, or, if local is NULL, the one from which the route
 * leads to remote. *used is the adapter's address. */
nd_status app_open_for_remote(const char *socket_path, const struct app_addr *local,
	const struct app_addr *remote, struct nd_adapter **adapter, struct app_addr *used);

/* Open the adapter that has the address local, or, if local is NULL or a wildcard, the daemon's
 * first address. */
nd_status app_open_local(const char *socket_path, const struct app_addr *local,
	struct nd_adapter **adapter, struct app_addr *used);

/* A server's adapter and listener. Each request to connect is taken into a connector of its own. */
struct app_acceptor {
	struct nd_adapter *adapter;
	struct nd_listener *listener;
	struct nd_connector *next; /* it will hold the next request */
	struct nd_overlapped ov;
	struct app_addr where; /* the address that the listener is bound to */
};

/* Listen at bind. If bind is NULL or a wildcard, listen at all addresses of the NIC that has the
 * daemon's first address. */
nd_status app_acceptor_open(struct app_acceptor *a, const char *socket_path,
	const struct app_addr *bind, uint16_t port);
/*
 * Take the next request that comes within timeout_ms. *c is the caller's, to accept, reject or
 * close. ND_TIMEOUT: no request came; ND_CANCELED: a signal asks the program to stop.
 */
nd_status app_acceptor_next(struct app_acceptor *a, int timeout_ms, struct nd_connector **c);
/* Close the listener and the adapter, and with it whatever was made from the adapter. */
void app_acceptor_close(struct app_acceptor *a);

#endif
