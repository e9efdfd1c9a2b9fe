/* SPDX-License-Identifier: BSD-3-Clause */
/* ndpartner: queue pairs (nd.c), and connections (nd_cm.c, nd_bulk.c). */
#ifndef ND_PARTNER_H
#define ND_PARTNER_H

#include <ndclient.h>
#include <stdbool.h>

#include "partner.h"

#define ENDS_MAX   16
#define NAME_BYTES 16
#define READS	   4

/* What a name stands for. */
struct end {
	char name[NAME_BYTES]; /* "": free */
	struct nd_qp *qp;
	struct nd_mw *mw;
	struct nd_connector *connector; /* NULL: by numbers */
	bool active, leaving, watching;
	struct nd_overlapped step, gone, farewell;
};

/* The adapter, and what all queue pairs of it share. */
struct device {
	struct nd_adapter *adapter;
	struct nd_pd *pd;
	struct nd_cq *cq;
	struct nd_mr *mr, *weak;
	struct sockaddr_storage local;
	socklen_t local_bytes;
};

extern struct device device;

/* A call that has to succeed. */
void must(nd_status status, const char *what);
/* Wait for a request that a call has begun; no longer than patience. */
nd_status wait_for(nd_status inline_status, struct nd_overlapped *ov);
struct end *end_of(const char *name);
struct end *end_new(const char *name);
struct nd_qp *new_qp(struct nd_cq *cq, uint32_t depth);
/* The address in words, with a port; its length. */
socklen_t nd_address(const char *text, const char *port, struct sockaddr_storage *address);
const char *status_word(nd_status status);

#endif
