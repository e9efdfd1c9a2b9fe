/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What pays for a local CM port (conn/ports.h). What takes a port by itself pays one; connections
 * that have it beside their listener or endpoint pay nothing. If nothing that an account has left
 * at a port pays, one of it does from then on: nobody may have ports for nothing by closing what
 * they were taken for.
 */
#ifndef NDD_PORT_PAYER_H
#define NDD_PORT_PAYER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct ndd_account;
struct ndd_port;

#define NDD_PORT_PAYER_BUCKETS 4096u

/* What an account has at one port of an adapter, whatever the address. Those that pay come first,
 * so the first of thousands says whether one does. */
struct ndd_port_payer {
	LIST_ENTRY(ndd_port_payer) entry;
	struct ndd_account *account;
	uint32_t nic;
	uint16_t port;
	TAILQ_HEAD(, ndd_port) has;
};
LIST_HEAD(ndd_port_payer_bucket, ndd_port_payer);

struct ndd_port_payers {
	struct ndd_port_payer_bucket bucket[NDD_PORT_PAYER_BUCKETS];
	uint64_t secret[2]; /* a client can't choose its bucket */
};

/* Has p's account something at p's port already? */
bool ndd_port_payer_has(struct ndd_port_payers *t, const struct ndd_port *p);
/* p is at its port now, and pays, if p->pays says so, which is the caller's affair. It may be
 * nobody's. False: no memory. */
bool ndd_port_payer_join(struct ndd_port_payers *t, struct ndd_port *p);
/* It is no more: what it paid is given back, or passed on. */
void ndd_port_payer_leave(struct ndd_port *p);

#endif
