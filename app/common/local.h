/* SPDX-License-Identifier: BSD-3-Clause */
/* Opening the adapter, and listening at it. */
#ifndef APP_LOCAL_H
#define APP_LOCAL_H

#include <ndclient.h>

#include "addr.h"

/* Open the adapter whose address reaches remote, or by local if that is not NULL. Says
 * what fails. */
nd_status app_open_for_remote(const char *socket_path, const struct app_addr *local,
	const struct app_addr *remote, struct nd_adapter **adapter, struct app_addr *used);

/* Open it by local, or if that is NULL or a wildcard by the daemon's first address. Says what
 * fails. */
nd_status app_open_local(const char *socket_path, const struct app_addr *local,
	struct nd_adapter **adapter, struct app_addr *used);

/* A server's end: adapter and listener. A request is taken into a fresh connector. */
struct app_acceptor {
	struct nd_adapter *adapter;
	struct nd_listener *listener;
	struct nd_connector *next; /* will hold the next request */
	struct nd_overlapped ov;
	struct app_addr where; /* as bound */
};

/* bind NULL or a wildcard: all addresses of the port (of the NIC) that has the daemon's first
 * address. Says what fails. */
nd_status app_acceptor_open(struct app_acceptor *a, const char *socket_path,
	const struct app_addr *bind, uint16_t port);
/*
 * The next request within timeout_ms: *c is the caller's, to accept, reject or close. ND_TIMEOUT:
 * none; ND_CANCELED: the program is to stop. A failure has been said.
 */
nd_status app_acceptor_next(struct app_acceptor *a, int timeout_ms, struct nd_connector **c);
/* Closes the adapter too, and with it all that was made from it. */
void app_acceptor_close(struct app_acceptor *a);

#endif
