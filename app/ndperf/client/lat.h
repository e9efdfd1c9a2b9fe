/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDPERF_CLIENT_LAT_H
#define NDPERF_CLIENT_LAT_H

#include "client.h"

/* Measure the latency of messages of size bytes into row. */
int client_latency(struct client *c, uint64_t size, struct ndperf_row *row);

#endif
