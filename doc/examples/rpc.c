/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remote procedure calls by memory windows. The client opens its argument for reading and room for
 * the reply for writing, for one call, and sends the two tokens. The server fetches the argument,
 * stores the reply, and closes the window of the reply with the message that says so; a server that
 * comes back to it later ends its connection. The call: how often each byte is in the argument.
 *
 *   rpc -s ADDRESS PORT           serve calls until the client leaves
 *   rpc -c ADDRESS PORT COUNT     make so many calls
 */
#include <arpa/inet.h>
#include <endian.h>
#include <ndclient.h>
#include <stdlib.h>

#include "must.h"

#define ARGUMENT_MAX 100000u
#define REPLY_BYTES  (256 * sizeof(uint32_t))

struct call { /* tokens travel as they are, numbers in network order */
	uint64_t argument, reply;
	uint32_t argument_token, reply_token;
	uint32_t bytes; /* of the argument */
};

struct end {
	struct nd_adapter *adapter;
	struct nd_pd *pd;
	struct nd_cq *cq;
	struct nd_qp *qp;
	struct nd_mr *mr;
	struct nd_connector *connector;
	struct nd_overlapped ov;
	struct memory { /* registered as a whole */
		struct call call;
		uint32_t reply[256];
		unsigned char argument[ARGUMENT_MAX];
	} * memory;
};

static void
end_open(struct end *e, const struct sockaddr_in *local)
{
	struct nd_qp_options opt = {.receive_depth = 2, .initiator_depth = 8};

	must("open", nd_adapter_open((const void *)local, sizeof(*local), NULL, &e->adapter),
		&e->ov);
	must("create a PD", nd_pd_create(e->adapter, &e->pd), &e->ov);
	must("create a CQ", nd_cq_create(e->adapter, 16, &e->cq), &e->ov);
	opt.receive_cq = opt.initiator_cq = e->cq;
	must("create a QP", nd_qp_create(e->pd, &opt, &e->qp), &e->ov);
	e->memory = nd_alloc(e->adapter, sizeof(*e->memory));
	must("create an MR", nd_mr_create(e->pd, &e->mr), &e->ov);
	must("register",
		nd_mr_register(
			e->mr, e->memory, sizeof(*e->memory), ND_MR_FLAG_ALLOW_LOCAL_WRITE, &e->ov),
		&e->ov);
	must("create a connector", nd_connector_create(e->adapter, &e->connector), &e->ov);
}

/* Of the end's memory. */
static struct nd_sge
piece(const struct end *e, void *at, size_t bytes)
{
	return (struct nd_sge){
		.buffer = at, .bytes = (uint32_t)bytes, .token = nd_mr_local_token(e->mr)};
}

static struct nd_result_ex
next_result(struct end *e)
{
	struct nd_result_ex r;

	while (nd_cq_get_results_ex(e->cq, &r, 1) == 0)
		must("wait", nd_cq_notify(e->cq, ND_CQ_NOTIFY_ANY, &e->ov), &e->ov);
	return r;
}

static void
expect_message(struct end *e, void *into, size_t bytes)
{
	const struct nd_sge s = piece(e, into, bytes);

	must("receive", nd_qp_receive(e->qp, into, &s, 1), &e->ov);
}

/* ---- server ----------------------------------------------------------------------------- */

static void
count_bytes(struct memory *m, uint32_t bytes)
{
	for (unsigned i = 0; i < 256; i++)
		m->reply[i] = 0;
	for (uint32_t i = 0; i < bytes; i++)
		m->reply[m->argument[i]]++;
	for (unsigned i = 0; i < 256; i++)
		m->reply[i] = htonl(m->reply[i]);
}

/* What the client asks for is no more than a request: its size is checked, its addresses are the
 * client's own matter. */
static void
serve_call(struct end *e)
{
	struct memory *m = e->memory;
	const struct call call = m->call;
	const uint32_t bytes = ntohl(call.bytes);
	struct nd_sge argument, reply = piece(e, m->reply, REPLY_BYTES);

	if (bytes > ARGUMENT_MAX) {
		fprintf(stderr, "an argument of %u bytes\n", bytes);
		exit(1);
	}
	argument = piece(e, m->argument, bytes);
	must("read",
		nd_qp_read(
			e->qp, NULL, &argument, 1, be64toh(call.argument), call.argument_token, 0),
		&e->ov);
	must("read", next_result(e).status, &e->ov);
	count_bytes(m, bytes);
	expect_message(
		e, &m->call, sizeof(m->call)); /* the next call, before this one is answered */
	must("write",
		nd_qp_write(e->qp, NULL, &reply, 1, be64toh(call.reply), call.reply_token,
			ND_OP_FLAG_SILENT_SUCCESS),
		&e->ov);
	must("answer", nd_qp_send_and_invalidate(e->qp, NULL, NULL, 0, call.reply_token, 0),
		&e->ov);
	must("answer", next_result(e).status, &e->ov);
}

static void
serve(struct end *e, const struct sockaddr_in *local)
{
	struct nd_listener *listener;
	struct nd_result_ex r;

	end_open(e, local);
	must("create a listener", nd_listener_create(e->adapter, &listener), &e->ov);
	must("listen", nd_listener_listen(listener, (const void *)local, sizeof(*local), 0),
		&e->ov);
	printf("listening\n");
	fflush(stdout);
	must("get a request", nd_listener_get_request(listener, e->connector, &e->ov), &e->ov);
	expect_message(e, &e->memory->call, sizeof(e->memory->call));
	must("accept", nd_connector_accept(e->connector, e->qp, 0, 1, NULL, 0, &e->ov), &e->ov);
	for (r = next_result(e); r.status == ND_SUCCESS; r = next_result(e))
		serve_call(e);
	if (r.status != ND_CANCELED) /* the client has left */
		must("receive", r.status, &e->ov);
}

/* ---- client ----------------------------------------------------------------------------- */

static uint32_t
open_window(struct end *e, struct nd_mw *mw, void *at, size_t bytes, uint32_t rights)
{
	must("bind",
		nd_qp_bind(e->qp, NULL, e->mr, mw, at, bytes, rights | ND_OP_FLAG_SILENT_SUCCESS),
		&e->ov);
	return nd_mw_remote_token(mw);
}

/* The server has closed the reply's window; the argument's is closed here. */
static void
call_ends(struct end *e, struct nd_mw *argument, uint32_t reply_token)
{
	struct nd_result_ex r = next_result(e);

	must("call", r.status, &e->ov);
	if (r.request_type != ND_REQUEST_RECEIVE_AND_INVALIDATE ||
		r.invalidated_token != reply_token) {
		fprintf(stderr, "the server has left the window open\n");
		exit(1);
	}
	must("invalidate", nd_qp_invalidate(e->qp, NULL, argument, 0), &e->ov);
	must("invalidate", next_result(e).status, &e->ov);
}

static void
make_call(struct end *e, struct nd_mw *argument, struct nd_mw *reply, uint32_t bytes)
{
	struct memory *m = e->memory;
	struct nd_sge ask = piece(e, &m->call, sizeof(m->call));

	expect_message(e, m->reply, 0); /* the answer is empty: the reply is there before it */
	m->call = (struct call){
		.argument = htobe64((uintptr_t)m->argument),
		.reply = htobe64((uintptr_t)m->reply),
		.argument_token =
			open_window(e, argument, m->argument, bytes, ND_OP_FLAG_ALLOW_READ),
		.reply_token = open_window(e, reply, m->reply, REPLY_BYTES, ND_OP_FLAG_ALLOW_WRITE),
		.bytes = htonl(bytes),
	};
	must("ask", nd_qp_send(e->qp, NULL, &ask, 1, ND_OP_FLAG_SILENT_SUCCESS), &e->ov);
	call_ends(e, argument, m->call.reply_token);
}

static void
call(struct end *e, const struct sockaddr_in *server, unsigned count)
{
	struct sockaddr_storage local;
	struct nd_mw *argument, *reply;

	must("resolve", nd_resolve_address(NULL, (const void *)server, sizeof(*server), &local),
		&e->ov);
	end_open(e, (const void *)&local);
	must("create an MW", nd_mw_create(e->pd, &argument), &e->ov);
	must("create an MW", nd_mw_create(e->pd, &reply), &e->ov);
	must("connect",
		nd_connector_connect(e->connector, e->qp, (const void *)server, sizeof(*server), 1,
			0, NULL, 0, &e->ov),
		&e->ov);
	must("complete", nd_connector_complete_connect(e->connector, &e->ov), &e->ov);
	for (unsigned i = 0; i < count; i++) {
		const uint32_t bytes = 1 + i * 997 % ARGUMENT_MAX;

		for (uint32_t k = 0; k < bytes; k++)
			e->memory->argument[k] = (unsigned char)(i + k % 3);
		make_call(e, argument, reply, bytes);
		if (ntohl(e->memory->reply[i % 256]) != (bytes + 2) / 3) {
			fprintf(stderr, "call %u: a wrong reply\n", i);
			exit(1);
		}
	}
	must("disconnect", nd_connector_disconnect(e->connector, &e->ov), &e->ov);
	printf("%u calls\n", count);
}

int
main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct end e = {0};

	if (argc < 4 || argv[1][0] != '-' || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
		fprintf(stderr, "usage: rpc -s ADDRESS PORT | rpc -c ADDRESS PORT COUNT\n");
		return 2;
	}
	address.sin_port = htons((uint16_t)atoi(argv[3]));
	if (argv[1][1] == 's')
		serve(&e, &address);
	else
		call(&e, &address, argc > 4 ? (unsigned)atoi(argv[4]) : 1);
	nd_adapter_close(e.adapter);
	return 0;
}
