/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of a life: adapters, memory, queues, and their end. */
#include <stdlib.h>
#include <string.h>

#include "life.h"

#define RIGHTS                                                                                     \
	(ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |                             \
		ND_MR_FLAG_ALLOW_REMOTE_WRITE)
#define ADDRESSES 8

static bool
open_side(struct side *s)
{
	struct nd_open_options options = {.socket_path = s->socket_path};

	return TRY(nd_adapter_open(
		       (struct sockaddr *)&s->addr, s->addr_bytes, &options, &s->adapter)) &&
	       TRY(nd_pd_create(s->adapter, &s->pd));
}

bool
life_open(struct pair *p)
{
	struct nd_open_options options = {.socket_path = p->a.socket_path};
	struct sockaddr_storage list[ADDRESSES], local;
	uint32_t count = ADDRESSES;
	struct nd_adapter_info info;

	return TRY(nd_query_addresses(&options, list, &count)) &&
	       TRY(nd_resolve_address(
		       &options, (struct sockaddr *)&p->b.addr, p->b.addr_bytes, &local)) &&
	       open_side(&p->a) && open_side(&p->b) && TRY(nd_adapter_query(p->a.adapter, &info));
}

/* ---- memory ---- */

static nd_status
allocate(struct side *s)
{
	s->buf = nd_alloc(s->adapter, BUFFER_BYTES);
	return s->buf != NULL ? ND_SUCCESS : ND_INSUFFICIENT_RESOURCES;
}

static bool
register_buffer(struct side *s)
{
	return TRY(allocate(s)) && TRY(nd_mr_create(s->pd, &s->mr)) &&
	       TRY(nd_mr_register(s->mr, s->buf, BUFFER_BYTES, RIGHTS, NULL));
}

/* Memory that is not the arena's: the daemon reaches it by moves, or the library adopts it. */
static bool
register_foreign(struct side *s, uint32_t flags)
{
	char *memory = aligned_alloc(4096, BUFFER_BYTES);
	struct nd_mr *mr = NULL;
	bool good;

	if (memory == NULL)
		return true; /* the fault was met by this program */
	memset(memory, 1, BUFFER_BYTES);
	good = TRY(nd_mr_create(s->pd, &mr)) &&
	       TRY(nd_mr_register(mr, memory, BUFFER_BYTES, RIGHTS | flags, NULL)) &&
	       TRY(nd_mr_deregister(mr, NULL)) && TRY(nd_mr_close(mr));
	if (good)
		free(memory);
	return good; /* else the region may still have the memory */
}

bool
life_memory(struct pair *p)
{
	return register_buffer(&p->a) && register_buffer(&p->b) && register_foreign(&p->a, 0) &&
	       register_foreign(&p->a, ND_MR_FLAG_ADOPT);
}

/* ---- queues ---- */

static nd_status
new_qp(struct side *s)
{
	const struct nd_qp_options options = life_qp_options(s);

	return nd_qp_create(s->pd, &options, &s->qp);
}

static bool
shared_receives(struct side *s)
{
	struct nd_srq *srq = NULL;
	struct nd_sge sge = {s->buf, 64, nd_mr_local_token(s->mr)};

	return TRY(nd_srq_create(s->pd, 16, 1, 0, &srq)) && TRY(nd_srq_receive(srq, s, &sge, 1)) &&
	       TRY(nd_srq_modify(srq, 32, 2)) && TRY(nd_srq_cancel(srq)) && TRY(nd_srq_close(srq));
}

bool
life_queues(struct pair *p)
{
	uint64_t mask;
	uint16_t group;

	return TRY(nd_cq_create(p->a.adapter, 64, &p->a.cq)) &&
	       TRY(nd_cq_create(p->b.adapter, 64, &p->b.cq)) && TRY(nd_cq_resize(p->a.cq, 256)) &&
	       TRY(nd_cq_moderate(p->a.cq, 10, 2)) &&
	       TRY(nd_cq_get_affinity(p->a.cq, &group, &mask)) && TRY(new_qp(&p->a)) &&
	       TRY(new_qp(&p->b)) && shared_receives(&p->a);
}

/* ---- the end ---- */

bool
life_end(struct pair *p)
{
	return TRY(nd_connector_close(p->a.connector)) && TRY(nd_qp_close(p->a.qp)) &&
	       TRY(nd_cq_close(p->a.cq)) && TRY(nd_mr_deregister(p->a.mr, NULL)) &&
	       TRY(nd_mr_close(p->a.mr)) && TRY(nd_pd_close(p->a.pd));
}
