/* SPDX-License-Identifier: BSD-3-Clause */
#include "meeting.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

/* Where the port lies in either family's address. */
static in_port_t *
port_of(struct sockaddr_storage *addr)
{
	return addr->ss_family == AF_INET ? &((struct sockaddr_in *)addr)->sin_port
					  : &((struct sockaddr_in6 *)addr)->sin6_port;
}

void
set_port(struct sockaddr_storage *addr, uint16_t port)
{
	*port_of(addr) = htons(port);
}

uint16_t
get_port(const struct sockaddr_storage *addr)
{
	return ntohs(*port_of((struct sockaddr_storage *)addr));
}

void
set_last_byte(struct sockaddr_storage *addr, uint8_t byte)
{
	if (addr->ss_family == AF_INET)
		((uint8_t *)&((struct sockaddr_in *)addr)->sin_addr)[3] = byte;
	else
		((struct sockaddr_in6 *)addr)->sin6_addr.s6_addr[15] = byte;
}

void
side_open_alone(struct side *s)
{
	side_open(s, 64);
	side_create_qp(s, 16);
	WANT(ND_SUCCESS, nd_connector_create(s->adapter, &s->connector));
}

struct nd_listener *
side_listen(struct side *s, struct sockaddr_storage *where)
{
	socklen_t bytes = sizeof(*where);
	struct nd_listener *listener;

	WANT(ND_SUCCESS, nd_listener_create(s->adapter, &listener));
	WANT(ND_SUCCESS,
		nd_listener_listen(listener, (struct sockaddr *)&s->addr, s->addr_bytes, 0));
	WANT(ND_SUCCESS, nd_listener_local_address(listener, (struct sockaddr *)where, &bytes));
	return listener;
}

nd_status
side_bind(struct side *s, uint16_t port)
{
	struct sockaddr_storage local = s->addr;

	set_port(&local, port);
	return nd_connector_bind(s->connector, (struct sockaddr *)&local, s->addr_bytes);
}

nd_status
side_connect(struct side *s, const struct sockaddr_storage *dest)
{
	struct nd_overlapped ov = {0};

	return finish(nd_connector_connect(s->connector, s->qp, (const struct sockaddr *)dest,
			      s->addr_bytes, 1, 1, NULL, 0, &ov),
		&ov);
}

void
meet_open(struct meeting *m, struct pair *p)
{
	*m = (struct meeting){.p = p};
	side_open_alone(&p->a);
	side_open_alone(&p->b);
	m->listener = side_listen(&p->b, &m->where);
}

static void
renew(struct side *s)
{
	nd_connector_close(s->connector);
	nd_qp_close(s->qp);
	side_create_qp(s, 16);
	WANT(ND_SUCCESS, nd_connector_create(s->adapter, &s->connector));
}

void
meet_again(struct meeting *m)
{
	renew(&m->p->a);
	renew(&m->p->b);
}

void
meet_ask(struct meeting *m, uint32_t inbound_reads, uint32_t outbound_reads)
{
	struct side *a = &m->p->a;

	WANT(ND_PENDING, nd_connector_connect(a->connector, a->qp, (struct sockaddr *)&m->where,
				 a->addr_bytes, inbound_reads, outbound_reads, NULL, 0, &m->ask));
}

void
meet_get(struct meeting *m)
{
	WANT(ND_SUCCESS,
		finish(nd_listener_get_request(m->listener, m->p->b.connector, &m->get), &m->get));
}

void
meet_accept(struct meeting *m, uint32_t inbound_reads, uint32_t outbound_reads)
{
	struct side *b = &m->p->b;

	m->accepting = nd_connector_accept(
		b->connector, b->qp, inbound_reads, outbound_reads, NULL, 0, &m->accept);
	WANT(ND_PENDING, m->accepting);
	WANT(ND_SUCCESS, nd_overlapped_wait(&m->ask, PATIENCE_MS));
}

void
meet_complete_alone(struct meeting *m)
{
	WANT(ND_SUCCESS, finish(nd_connector_complete_connect(m->p->a.connector, &m->complete),
				 &m->complete));
}

void
meet_complete(struct meeting *m)
{
	meet_complete_alone(m);
	WANT(ND_SUCCESS, finish(m->accepting, &m->accept));
}

void
meet_connect(struct meeting *m)
{
	meet_ask(m, 4, 4);
	meet_get(m);
	meet_accept(m, 4, 4);
	meet_complete(m);
}

void
meet_close(struct meeting *m)
{
	nd_listener_close(m->listener);
	pair_close(m->p);
}
