/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Local CM ports (RDMA_PS_TCP) in use, one table for listeners, connectors, endpoints and
 * connections. A port is free again when the last of them has gone (R-LSN-07). It has nothing to do
 * with the host's TCP (R-CONN-16).
 */
#ifndef NDD_PORTS_H
#define NDD_PORTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "cm/cm.h"
#include "config/config.h"
#include "conn/port_payer.h"
#include "shm/ndsh_status.h"

struct ndd_account;

#define NDD_EPHEMERAL_FIRST 49152u /* R-CONN-15 */
#define NDD_EPHEMERAL_COUNT CONFIG_EPHEMERAL
#define NDD_PORT_BUCKETS    CONFIG_EPHEMERAL /* so each of these has its own */
#define NDD_SHARING_BUCKETS 4096u

enum ndd_port_use {
	NDD_PORT_FREE,
	NDD_PORT_LISTENER,
	NDD_PORT_CONNECTOR, /* bound, or connecting: never shared */
	NDD_PORT_ENDPOINT,  /* shared by connectors */
	NDD_PORT_ACCEPTED,  /* any number of them, beside their listener and when it has gone */
	NDD_PORT_SHARING,   /* the same beside their endpoint, each with another peer */
};

/* Part of the object that has the port. Zeroed: has none. */
struct ndd_port {
	struct roce_cm_addr addr; /* gid all zero: every address of nic */
	uint32_t nic;		  /* the adapter: the daemon's port that has the address */
	struct roce_cm_addr peer; /* of SHARING */
	enum ndd_port_use use;
	struct ndd_port_place *place;
	LIST_ENTRY(ndd_port) sharing;
	struct ndd_account *account; /* whose it is, or NULL */
	struct ndd_port_payer *payer;
	TAILQ_ENTRY(ndd_port) beside; /* what else the account has at this port */
	bool pays;		      /* at least one of those */
};
LIST_HEAD(ndd_sharing_bucket, ndd_port);

/* What is in use of one port at one address. A client may have thousands of connections there, so
 * they are counted, and nobody looks at them. */
struct ndd_port_place {
	LIST_ENTRY(ndd_port_place) entry;
	struct roce_cm_addr addr;
	uint32_t nic;
	bool excludes; /* there is one that is no connection */
	uint32_t uses;
};
LIST_HEAD(ndd_port_bucket, ndd_port_place);

struct ndd_ports {
	struct ndd_port_bucket bucket[NDD_PORT_BUCKETS]; /* by port: wildcards meet addresses */
	struct ndd_sharing_bucket sharing[NDD_SHARING_BUCKETS];
	struct ndd_port_payers payers;
	uint64_t secret[2]; /* a client can't choose what its connections are beside */
	uint32_t next;	    /* ephemeral port to try first */
};

/*
 * Take addr of that adapter; port 0: the next ephemeral one that is free there, p->addr says which.
 * NDSH_ERR_PORT_IN_USE: another object has it;
 * NDSH_ERR_ADDRESS_IN_USE: for a CONNECTOR, accepted connections still have it, so that it could
 * make one of them a second time; NDSH_ERR_NO_FREE_PORT: no ephemeral port is left;
 * NDSH_ERR_NO_RESOURCES, NDSH_ERR_ACCESS: the account has too many, or may not choose this one, and
 * says so. account may be NULL.
 */
enum ndsh_status ndd_port_take(struct ndd_ports *t, struct ndd_account *account, struct ndd_port *p,
	enum ndd_port_use use, uint32_t nic, const struct roce_cm_addr *addr);
/* An accepted connection has its listener's port, too: that costs nothing. If the listener has
 * gone, and all else that its account had there, it costs one: NDSH_ERR_NO_RESOURCES. */
enum ndsh_status ndd_port_accepted(struct ndd_ports *t, struct ndd_account *account,
	struct ndd_port *p, uint32_t nic, const struct roce_cm_addr *addr);
/* Take that of an endpoint too, for a connection to peer. NDSH_ERR_ADDRESS_IN_USE: there is one
 * (R-CONN-15). */
enum ndsh_status ndd_port_share(struct ndd_ports *t, struct ndd_port *p,
	const struct ndd_port *endpoint, const struct roce_cm_addr *peer);
/* Does nothing if it has none. A connection that is left there pays from now on: the account has
 * the port as long as anything of it does. */
void ndd_port_give(struct ndd_port *p);

#endif
