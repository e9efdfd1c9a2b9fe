/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_CLIENT_BW_H
#define NDPERF_CLIENT_BW_H

#include "client.h"

/* Measure the bandwidth of messages of size bytes into row. */
int client_bandwidth(struct client *c, uint64_t size, struct ndperf_row *row);

#endif
