/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_START_H
#define NDD_START_H

#include <stdbool.h>

struct ndd;

/* Pool, ports, shards, net and CM; lcores run afterwards. False after a log line. */
bool ndd_start(struct ndd *d);
void ndd_stop(struct ndd *d);

#endif
