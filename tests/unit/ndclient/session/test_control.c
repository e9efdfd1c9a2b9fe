/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of connectors with the control thread running and a daemon at the other end of its socket:
 * the test, which reads the requests and answers them when it likes.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ndclient/conn/connector.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/handlers.h"
#include "rigs/lone_adapter.h"

static const struct sockaddr_in somewhere = {
	.sin_family = AF_INET, .sin_port = 0x1111, .sin_addr.s_addr = 0x0100000a};

struct bench {
	struct nd_adapter *a;
	struct nd_qp qp;
	struct nd_connector *c;
	struct nd_overlapped ov;
	uint32_t inbound, outbound; /* what the call in the thread asks for */
	nd_status status;	    /* of it */
	int daemon;
	pthread_t thread;
};

static struct bench *
make(void)
{
	struct bench *b = aligned_alloc(64, sizeof(*b));
	struct nd_adapter *a = lone_adapter_new();
	int fd[2];

	memset(b, 0, sizeof(*b));
	cr_assert(zero(int, socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd)));
	a->info.max_callee_data = 148;
	a->socket = fd[0];
	b->daemon = fd[1];
	b->a = b->qp.adapter = a;
	a->handlers = &nd_handlers;
	cr_assert(eq(i32, nd_control_start(a), ND_SUCCESS));
	cr_assert(eq(i32, nd_connector_create(a, &b->c), ND_SUCCESS));
	return b;
}

static void
drop(struct bench *b)
{
	nd_control_stop(b->a);
	free(b->c);
	close(b->daemon);
	nd_adapter_free(b->a);
	free(b);
}

/* The next request. */
static void
expect(struct bench *b, uint16_t type, void *request)
{
	struct ndsh_msg_hdr *h = request;

	cr_assert(ge(i32, (int)recv(b->daemon, request, NDSH_MSG_BYTES, 0), (int)sizeof(*h)));
	cr_assert(eq(u16, h->type, type));
}

/* Its answer. */
static void
answer(struct bench *b, const void *request, nd_status st, uint32_t id)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES] = {0};
	struct ndsh_id_msg *m = (void *)buf;
	uint32_t bytes;

	memcpy(&m->h, request, sizeof(m->h));
	bytes = ndsh_msg_table[m->h.type].reply_bytes;
	m->h.type |= NDSH_REPLY;
	m->h.status = st;
	m->id = id;
	cr_assert(eq(i32, (int)send(b->daemon, buf, bytes, 0), (int)bytes));
}

static void *
connect_call(void *arg)
{
	struct bench *b = arg;

	b->status = nd_connector_connect(b->c, &b->qp, (const void *)&somewhere, sizeof(somewhere),
		b->inbound, b->outbound, NULL, 0, &b->ov);
	return NULL;
}

static void *
accept_call(void *arg)
{
	struct bench *b = arg;

	b->status = nd_connector_accept(b->c, &b->qp, b->inbound, b->outbound, NULL, 0, &b->ov);
	return NULL;
}

static void *
cancel_call(void *arg)
{
	struct bench *b = arg;

	(void)nd_connector_cancel(b->c);
	return NULL;
}

/* Cancel comes while the daemon has not yet answered: the attempt is given up all the same. */
static void
cancel_during(struct bench *b, void *(*call)(void *), uint16_t type)
{
	_Alignas(8) uint8_t m[NDSH_MSG_BYTES];
	pthread_t canceler;

	pthread_create(&b->thread, NULL, call, b);
	expect(b, type, m);
	pthread_create(&canceler, NULL, cancel_call, b);
	usleep(20000); /* it is within cancel by now; if it is not, the test asks for less */
	answer(b, m, ND_SUCCESS, 300);
	expect(b, NDSH_MSG_CONN_DESTROY, m);
	cr_expect(eq(u32, ((struct ndsh_id_msg *)m)->id, 300));
	answer(b, m, ND_SUCCESS, 300);
	pthread_join(canceler, NULL);
	pthread_join(b->thread, NULL);
	cr_expect(eq(i32, b->status, ND_PENDING));
	cr_expect(eq(i32, nd_overlapped_status(&b->ov), ND_CANCELED));
	cr_expect(eq(int, b->c->state, ND_CONN_DISCONNECTED), "of no more use");
	cr_expect(eq(ptr, b->qp.connector, NULL));
}

/* checks R-CONN-20[1,3] */
Test(ndclient_calls, R_CONN_20_cancel_during_connect, .timeout = 20)
{
	struct bench *b = make();

	cancel_during(b, connect_call, NDSH_MSG_CONNECT);
	drop(b);
}

/* checks R-CONN-20[1,3] */
Test(ndclient_calls, R_CONN_20_cancel_during_accept, .timeout = 20)
{
	struct bench *b = make();

	b->c->state = ND_CONN_REQ_RECEIVED;
	nd_conn_set_id(b->c, 300);
	cancel_during(b, accept_call, NDSH_MSG_ACCEPT);
	drop(b);
}

/* checks R-CONN-09[1,2,7]: of each limit, below, at, and above that of the adapter; and no adapter
 * has one that does not fit into the peer's 8 bits. */
Test(ndclient_calls, R_CONN_09_limits_above_the_adapters_are_lowered, .timeout = 20)
{
	static const struct {
		uint32_t most, asked, sent;
	} rows[] = {{16, 15, 15}, {16, 16, 16}, {16, 17, 16}, {16, 256, 16}, {16, UINT32_MAX, 16},
		{1000, 255, 255}, {1000, 256, 255}, {1000, 1001, 255}};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		const uint32_t asked = rows[i / 2].asked, sent = rows[i / 2].sent;
		const bool inbound = i & 1;
		_Alignas(8) uint8_t m[NDSH_MSG_BYTES];
		struct bench *b = make();

		b->a->info.max_inbound_reads = inbound ? rows[i / 2].most : 4;
		b->a->info.max_outbound_reads = inbound ? 4 : rows[i / 2].most;
		b->inbound = inbound ? asked : 3;
		b->outbound = inbound ? 3 : asked;
		pthread_create(&b->thread, NULL, connect_call, b);
		expect(b, NDSH_MSG_CONNECT, m);
		cr_expect(eq(u8, ((struct ndsh_connect *)(void *)m)->inbound_reads,
				  inbound ? sent : 3),
			"%zu", i);
		cr_expect(eq(u8, ((struct ndsh_connect *)(void *)m)->outbound_reads,
				  inbound ? 3 : sent),
			"%zu", i);
		answer(b, m, ND_TOO_MANY_ADDRESSES, 0);
		pthread_join(b->thread, NULL);

		b->c->state = ND_CONN_REQ_RECEIVED;
		nd_conn_set_id(b->c, 300);
		pthread_create(&b->thread, NULL, accept_call, b);
		expect(b, NDSH_MSG_ACCEPT, m);
		cr_expect(eq(u8, ((struct ndsh_accept *)(void *)m)->inbound_reads,
				  inbound ? sent : 3),
			"%zu", i);
		cr_expect(eq(u8, ((struct ndsh_accept *)(void *)m)->outbound_reads,
				  inbound ? 3 : sent),
			"%zu", i);
		answer(b, m, ND_CONNECTION_ABORTED, 0);
		pthread_join(b->thread, NULL);
		drop(b);
	}
}

/* What was refused inline is not there to be cancelled. */
Test(ndclient_calls, cancel_during_a_connect_that_is_refused, .timeout = 20)
{
	_Alignas(8) uint8_t m[NDSH_MSG_BYTES];
	struct bench *b = make();
	pthread_t canceler;

	pthread_create(&b->thread, NULL, connect_call, b);
	expect(b, NDSH_MSG_CONNECT, m);
	pthread_create(&canceler, NULL, cancel_call, b);
	answer(b, m, ND_TOO_MANY_ADDRESSES, 0);
	pthread_join(b->thread, NULL);
	pthread_join(canceler, NULL);
	cr_expect(eq(i32, b->status, ND_TOO_MANY_ADDRESSES));
	cr_expect(eq(int, b->c->state, ND_CONN_IDLE));
	cr_expect(eq(ptr, b->qp.connector, NULL));
	drop(b);
}

/* What the client wants goes with the class in one byte, and with the answer to a request. */
Test(ndclient_calls, ecn_of_a_connector, .timeout = 20)
{
	_Alignas(8) uint8_t m[NDSH_MSG_BYTES];
	struct bench *b = make();

	cr_assert(eq(i32, nd_connector_set_dscp(b->c, 26), ND_SUCCESS));
	cr_expect(eq(i32, nd_connector_set_ecn(b->c, 3), ND_INVALID_PARAMETER));
	cr_assert(eq(i32, nd_connector_set_ecn(b->c, ND_ECN_ON), ND_SUCCESS));
	pthread_create(&b->thread, NULL, connect_call, b);
	expect(b, NDSH_MSG_CONNECT, m);
	cr_expect(eq(u8, ((struct ndsh_connect *)(void *)m)->tos, 26 << 2 | NDSH_ECN_ON));
	cr_expect(eq(i32, nd_connector_set_ecn(b->c, ND_ECN_OFF), ND_CONNECTION_ACTIVE));
	answer(b, m, ND_TOO_MANY_ADDRESSES, 0);
	pthread_join(b->thread, NULL);

	b->c->state = ND_CONN_REQ_RECEIVED;
	nd_conn_set_id(b->c, 300);
	cr_assert(eq(i32, nd_connector_set_ecn(b->c, ND_ECN_OFF), ND_SUCCESS));
	pthread_create(&b->thread, NULL, accept_call, b);
	expect(b, NDSH_MSG_ACCEPT, m);
	cr_expect(eq(u8, ((struct ndsh_accept *)(void *)m)->ecn, NDSH_ECN_OFF));
	answer(b, m, ND_CONNECTION_ABORTED, 0);
	pthread_join(b->thread, NULL);

	b->a->abi_minor = NDSH_MINOR_ECN - 1;
	cr_expect(eq(i32, nd_connector_set_ecn(b->c, ND_ECN_ON), ND_NOT_SUPPORTED));
	drop(b);
}
