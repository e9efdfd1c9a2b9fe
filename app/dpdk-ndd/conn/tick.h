/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_CONN_TICK_H
#define NDD_CONN_TICK_H

#include <stdint.h>

struct ndd;

/* Connections whose next hop is known by now or has changed, and deadlines. */
void ndd_conn_tick(struct ndd *d, uint64_t now_ns);

#endif
