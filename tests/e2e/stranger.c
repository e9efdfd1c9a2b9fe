/* SPDX-License-Identifier: BSD-3-Clause */
#include <arpa/inet.h>
#include <string.h>

#include "stranger.h"

#define PEER_PORT 7175

void
stranger_connect(struct pair *p)
{
	struct nd_overlapped ask = {0}, complete = {0};
	struct sockaddr_storage where = p->b.addr;

	/* The port is at one place in the addresses of both families. */
	((struct sockaddr_in *)&where)->sin_port = htons(PEER_PORT);
	side_open(&p->a, 64);
	side_create_qp(&p->a, 16);
	WANT(ND_SUCCESS, side_receive(&p->a, 100));
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &p->a.connector));
	WANT(ND_SUCCESS,
		finish(nd_connector_connect(p->a.connector, p->a.qp, (struct sockaddr *)&where,
			       p->b.addr_bytes, 4, 4, NULL, 0, &ask),
			&ask));
	WANT(ND_SUCCESS,
		finish(nd_connector_complete_connect(p->a.connector, &complete), &complete));
}

void
stranger_tell(struct side *s, const struct stranger_message *m)
{
	struct nd_result result;

	memcpy(s->buf, m, sizeof(*m));
	WANT(ND_SUCCESS, side_send(s, sizeof(*m)));
	WANT(ND_SUCCESS, side_result(s, &result));
	CHECK(result.request_type == ND_REQUEST_SEND);
}

struct stranger_message
stranger_told(struct side *s)
{
	struct stranger_message m;
	struct nd_result result;

	WANT(ND_SUCCESS, side_result(s, &result));
	CHECK(result.request_type == ND_REQUEST_RECEIVE && result.bytes_transferred == sizeof(m));
	memcpy(&m, s->buf, sizeof(m));
	return m;
}
