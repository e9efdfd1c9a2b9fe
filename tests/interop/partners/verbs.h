/* SPDX-License-Identifier: BSD-3-Clause */
/* verbspartner: queue pairs (verbs.c), and connections (verbs_cm.c, verbs_bulk.c). */
#ifndef VERBS_H
#define VERBS_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "partner.h"

#define ENDS_MAX   16
#define NAME_BYTES 16
#define NEWS_MAX   4

/* An event of a connection that no command has asked for yet. */
struct news {
	enum rdma_cm_event_type event;
	int status;
	uint8_t private_data[PRIVATE_MAX], private_bytes;
};

/* What a name stands for. */
struct end {
	char name[NAME_BYTES]; /* "": free */
	struct ibv_qp *qp;
	struct rdma_cm_id *id; /* NULL: by numbers */
	struct ibv_mw *mw;
	bool leaving;
	struct news news[NEWS_MAX];
	unsigned int news_count;
};

/* The one device, and what all queue pairs of it share. */
struct device {
	struct ibv_context *verbs;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr, *weak;
	struct rdma_event_channel *channel;
};

extern struct device device;

/* A call of verbs that has to succeed. */
void must(bool good, const char *what);
struct end *end_of(const char *name);
struct end *end_new(const char *name);
struct ibv_qp_init_attr verbs_qp_attributes(struct ibv_cq *cq);
/* To an address in words; ends the program if it is none. */
struct sockaddr_storage verbs_address(const char *text, const char *port);

#endif
