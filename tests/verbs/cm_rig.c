/* SPDX-License-Identifier: BSD-3-Clause */
#include "cm_rig.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_MS 5000

/* What the program is told by its caller: the address of the device. */
static void
take_address(struct cm_rig *r)
{
	const char *text = getenv("CMTEST_ADDRESS");
	struct sockaddr_in *v4 = (struct sockaddr_in *)&r->address;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&r->address;

	WANT(text != NULL);
	r->address.ss_family = AF_INET;
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		return;
	r->address.ss_family = AF_INET6;
	WANT(inet_pton(AF_INET6, text, &v6->sin6_addr) == 1);
}

struct rdma_cm_id *
cm_rig_id(struct cm_rig *r)
{
	struct rdma_cm_id *id;

	WANT(rdma_create_id(r->channel, &id, r, r->space) == 0);
	return id;
}

/* The port is at one place in the addresses of both families. */
void
cm_rig_set_port(struct cm_rig *r, uint16_t port)
{
	((struct sockaddr_in *)&r->address)->sin_port = port;
}

void
cm_rig_listen(struct cm_rig *r, struct rdma_cm_id *id)
{
	WANT(rdma_bind_addr(id, (struct sockaddr *)&r->address) == 0);
	WANT(rdma_listen(id, 8) == 0);
	cm_rig_set_port(r, rdma_get_src_port(id));
}

void
cm_rig_open_in(struct cm_rig *r, enum rdma_port_space space)
{
	memset(r, 0, sizeof(*r));
	r->space = space;
	take_address(r);
	r->channel = rdma_create_event_channel();
	WANT(r->channel != NULL);
	r->listener = cm_rig_id(r);
	cm_rig_listen(r, r->listener);
	WANT(r->listener->verbs != NULL);
}

void
cm_rig_open(struct cm_rig *r)
{
	cm_rig_open_in(r, RDMA_PS_TCP);
}

void
cm_rig_close(struct cm_rig *r)
{
	WANT(r->listener == NULL || rdma_destroy_id(r->listener) == 0);
	rdma_destroy_event_channel(r->channel);
}

struct rdma_cm_event *
cm_rig_event(struct cm_rig *r, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e;

	WANT(rdma_get_cm_event(r->channel, &e) == 0);
	if (e->event != type)
		fprintf(stderr, "event %s, status %d\n", rdma_event_str(e->event), e->status);
	WANT(e->event == type);
	return e;
}

int
cm_rig_expect(struct cm_rig *r, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *e = cm_rig_event(r, type);
	int status = e->status;

	WANT(rdma_ack_cm_event(e) == 0);
	return status;
}

void
cm_rig_make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr a = {.cap = {4, 4, 1, 1, 0}, .qp_type = id->qp_type};

	WANT(rdma_create_qp(id, NULL, &a) == 0);
}

void
cm_rig_asked(struct cm_rig *r)
{
	struct rdma_cm_event *e = cm_rig_event(r, RDMA_CM_EVENT_CONNECT_REQUEST);

	WANT(e->listen_id == r->listener);
	r->there = e->id;
	WANT(rdma_ack_cm_event(e) == 0);
}

void
cm_rig_resolve(struct cm_rig *r)
{
	r->here = cm_rig_id(r);
	WANT(rdma_resolve_addr(r->here, NULL, (struct sockaddr *)&r->address, TIMEOUT_MS) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_ADDR_RESOLVED) == 0);
	WANT(rdma_resolve_route(r->here, TIMEOUT_MS) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_ROUTE_RESOLVED) == 0);
	cm_rig_make_qp(r->here);
}

void
cm_rig_connect(struct cm_rig *r)
{
	struct rdma_conn_param p = {.retry_count = 7, .rnr_retry_count = 7};

	cm_rig_resolve(r);
	WANT(rdma_connect(r->here, &p) == 0);
	cm_rig_asked(r);
	cm_rig_make_qp(r->there);
	WANT(rdma_accept(r->there, &p) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_ESTABLISHED) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_ESTABLISHED) == 0);
}

void
cm_rig_disconnect(struct cm_rig *r)
{
	WANT(rdma_disconnect(r->here) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_DISCONNECTED) == 0);
	WANT(cm_rig_expect(r, RDMA_CM_EVENT_DISCONNECTED) == 0);
	WANT(rdma_disconnect(r->there) == 0);
}

static void
forget_id(struct rdma_cm_id *id)
{
	if (id == NULL)
		return;
	if (id->qp != NULL)
		rdma_destroy_qp(id);
	WANT(rdma_destroy_id(id) == 0);
}

void
cm_rig_forget(struct cm_rig *r)
{
	forget_id(r->here);
	forget_id(r->there);
	r->here = r->there = NULL;
}
