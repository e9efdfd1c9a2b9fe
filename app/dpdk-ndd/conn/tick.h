/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef NDD_CONN_TICK_H
#define NDD_CONN_TICK_H

#include <stdint.h>

struct ndd;
struct ndd_conn;

/* It has become fresh, or has a deadline: it is gone through until it has neither. */
void ndd_conn_wait(struct ndd_conn *c);
void ndd_conn_wait_no_more(struct ndd_conn *c);
/* Connections whose next hop is known by now or has changed, and deadlines. */
void ndd_conn_tick(struct ndd *d, uint64_t now_ns);

#endif
