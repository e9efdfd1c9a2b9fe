/* SPDX-License-Identifier: BSD-3-Clause */
/* Making and ending the client's session. */
#ifndef NDPERF_CLIENT_SETUP_H
#define NDPERF_CLIENT_SETUP_H

#include "client.h"

/* Create the client's objects and connect them to the server's. */
int client_connect(struct client *c);
/* Disconnect and close whatever client_connect() has made, also if it failed half way. */
void client_disconnect(struct client *c);

#endif
