/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that use datagrams. The ends of udaddy find each other by rdma_cm, those of
 * ibv_ud_pingpong exchange their numbers over TCP.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "peer.h"

#define HEADER	  ND_UD_HEADER_BYTES
#define IN	  32768u /* offset of receives */
#define BYTES_MAX 4096u

#define UDADDY_PORT  7174
#define REFUSED	     1u /* the status of a service that is not there */
#define MESSAGES_MAX 100u

#define PINGPONG_Q_KEY	  0x11111111u
#define PINGPONG_RECEIVES 4u

struct datagrams {
	struct side s;
	const char *own, *server;
	uint16_t port;
	uint32_t messages, bytes;
	struct sockaddr_storage peer;
	socklen_t peer_bytes;
};

static void
open_side(struct datagrams *d, uint32_t q_key, uint32_t receives)
{
	struct nd_qp_options options = {
		.context = d,
		.receive_depth = receives,
		.initiator_depth = 2 * MESSAGES_MAX,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};

	peer_open(&d->s, d->own, 4 * MESSAGES_MAX);
	options.receive_cq = options.initiator_cq = d->s.cq;
	WANT(ND_SUCCESS, nd_ud_qp_create(d->s.pd, &options, q_key, &d->s.qp));
}

/* One place for all: what is looked at is the header of the one that came last. */
static void
receive(struct datagrams *d)
{
	struct side *s = &d->s;
	struct nd_sge sge = {s->buf + IN, HEADER + d->bytes, nd_mr_local_token(s->mr)};

	WANT(ND_SUCCESS, nd_qp_receive(s->qp, sge.buffer, &sge, 1));
}

static struct nd_ud_result
result(struct datagrams *d, uint32_t type)
{
	struct nd_ud_result r;

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		int32_t n = nd_ud_get_results(d->s.cq, &r, 1);

		if (n != 0) {
			WANT(ND_SUCCESS, n < 0 ? n : r.result.status);
			CHECK(r.result.request_type == type);
			return r;
		}
		sleep_ms(1);
	}
	WANT(ND_SUCCESS, ND_TIMEOUT);
	return r;
}

/* Where a datagram came from is the peer's address. */
static void
from_peer(const struct datagrams *d, const void *header)
{
	struct sockaddr_storage addr, peer = d->peer;
	socklen_t bytes = sizeof(addr);

	/* The port is at one place in the addresses of both families, and the header has none. */
	((struct sockaddr_in *)&peer)->sin_port = 0;
	WANT(ND_SUCCESS, nd_ud_source(header, (struct sockaddr *)&addr, &bytes));
	CHECK(bytes == d->peer_bytes && memcmp(&addr, &peer, bytes) == 0);
}

static struct nd_ah *
to_peer(struct datagrams *d)
{
	struct nd_overlapped ov = {0};
	struct nd_ah *ah;

	WANT(ND_SUCCESS, nd_ah_create(d->s.adapter, &ah));
	WANT(ND_PENDING, nd_ah_resolve(ah, (struct sockaddr *)&d->peer, d->peer_bytes, &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	return ah;
}

static int
options(struct datagrams *d, const char *letters, int argc, char **argv)
{
	int o;

	while ((o = getopt(argc, argv, letters)) != -1) {
		if (o == 'b')
			d->own = optarg;
		else if (o == 's' && strchr(letters, 'C') != NULL) /* udaddy's */
			d->server = optarg;
		else if (o == 'C' || o == 'n')
			d->messages = peer_number("messages", optarg, 1, MESSAGES_MAX);
		else if (o == 'S' || o == 's')
			d->bytes = peer_number("bytes", optarg, 1, BYTES_MAX);
		else if (o == 'p')
			d->port = (uint16_t)peer_number("-p", optarg, 1, 65535);
		else
			return 0;
	}
	return 1;
}

/* ---- udaddy -------------------------------------------------------------------------- */

/* As udaddy does, its sender's number stands in the immediate. */
static void
udaddy_send(struct datagrams *d, struct nd_ah *ah, uint32_t remote_qp, uint32_t q_key)
{
	struct side *s = &d->s;
	struct nd_sge sge = {s->buf, d->bytes, nd_mr_local_token(s->mr)};

	memset(s->buf, 0x5a, d->bytes);
	for (uint32_t i = 0; i < d->messages; i++)
		WANT(ND_SUCCESS, nd_ud_send_with_immediate(s->qp, s->buf, &sge, 1, ah, remote_qp,
					 q_key, htonl(nd_qp_number(s->qp)), 0));
	for (uint32_t i = 0; i < d->messages; i++)
		(void)result(d, ND_REQUEST_SEND);
}

/* Returns the sender's number. */
static uint32_t
udaddy_receive(struct datagrams *d)
{
	uint32_t sender = 0;

	for (uint32_t i = 0; i < d->messages; i++) {
		struct nd_ud_result r = result(d, ND_REQUEST_RECEIVE_WITH_IMMEDIATE);

		CHECK(r.result.bytes_transferred == HEADER + d->bytes);
		CHECK(ntohl(r.result.immediate) == r.source_qp);
		from_peer(d, r.result.request_context);
		sender = r.source_qp;
	}
	return sender;
}

/* It finds us, sends, and we answer where it came from. */
static void
udaddy_serve(struct datagrams *d)
{
	struct nd_overlapped get = {0};
	struct nd_ud_question question;
	struct sockaddr_storage at;
	struct nd_ud_listener *l;
	uint32_t remote_qp;
	socklen_t bytes;

	peer_address(d->own, d->port, &at, &bytes);
	WANT(ND_SUCCESS, nd_ud_listener_create(d->s.adapter, &l));
	WANT(ND_SUCCESS, nd_ud_listener_listen(l, (struct sockaddr *)&at, bytes, 0));
	peer_tell("listening");
	WANT(ND_PENDING, nd_ud_listener_get_question(l, &question, &get));
	WANT(ND_SUCCESS, nd_overlapped_wait(&get, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_ud_accept(d->s.qp, &question, NULL, 0));
	d->peer = question.peer;
	d->peer_bytes = question.peer_bytes;
	remote_qp = udaddy_receive(d);
	udaddy_send(d, to_peer(d), remote_qp, ND_UD_Q_KEY);
	sleep_ms(200); /* what has left is on its way */
}

/* We find it, send, and it answers. The exit code: 3 if it has no such service. */
static int
udaddy_call(struct datagrams *d)
{
	struct nd_overlapped ask = {0};
	struct nd_ud_service service;
	struct nd_ah *ah;
	nd_status st;

	peer_address(d->server, d->port, &d->peer, &d->peer_bytes);
	WANT(ND_SUCCESS, nd_ah_create(d->s.adapter, &ah));
	WANT(ND_PENDING,
		nd_ah_look_up(ah, (struct sockaddr *)&d->peer, d->peer_bytes, NULL, 0, &ask));
	st = nd_overlapped_wait(&ask, PATIENCE_MS);
	WANT(ND_SUCCESS, nd_ah_service(ah, &service));
	if (st == ND_CONNECTION_REFUSED && service.status == REFUSED) {
		printf("refused: no such service\n");
		return 3;
	}
	WANT(ND_SUCCESS, st);
	udaddy_send(d, ah, service.qp, service.q_key);
	CHECK(udaddy_receive(d) == service.qp);
	return 0;
}

int
peer_udaddy(int argc, char **argv)
{
	struct datagrams d = {.port = UDADDY_PORT, .messages = 10, .bytes = 100};
	int rc = 0;

	if (!options(&d, "b:s:C:S:p:", argc, argv))
		return 2;
	open_side(&d, ND_UD_Q_KEY, d.messages);
	for (uint32_t i = 0; i < d.messages; i++)
		receive(&d);
	if (d.server == NULL)
		udaddy_serve(&d);
	else
		rc = udaddy_call(&d);
	side_close(&d.s);
	return rc;
}

/* ---- ibv_ud_pingpong ----------------------------------------------------------------- */

/* One there, one back, and so on. */
static void
pingpong(struct datagrams *d, struct nd_ah *ah, uint32_t remote_qp)
{
	struct side *s = &d->s;
	struct nd_sge sge = {s->buf, d->bytes, nd_mr_local_token(s->mr)};
	uint32_t first = d->server != NULL;

	for (uint32_t i = 0; i < 2 * d->messages; i++) {
		if ((i + first) % 2 != 0) {
			WANT(ND_SUCCESS, nd_ud_send(s->qp, s->buf, &sge, 1, ah, remote_qp,
						 PINGPONG_Q_KEY, ND_OP_FLAG_SILENT_SUCCESS));
		} else {
			struct nd_ud_result r = result(d, ND_REQUEST_RECEIVE);

			CHECK(r.result.bytes_transferred == HEADER + d->bytes);
			CHECK(r.source_qp == remote_qp);
			from_peer(d, r.result.request_context);
			receive(d);
		}
	}
}

int
peer_ud_pingpong(int argc, char **argv)
{
	struct datagrams d = {.port = WORDS_PORT, .messages = 100, .bytes = 1024};
	struct words ours, theirs;
	struct nd_ah *ah;
	int fd;

	if (!options(&d, "b:s:n:p:", argc, argv))
		return 2;
	d.server = argv[optind];
	open_side(&d, PINGPONG_Q_KEY, PINGPONG_RECEIVES);
	for (uint32_t i = 0; i < PINGPONG_RECEIVES; i++)
		receive(&d);
	ours = (struct words){.number = nd_qp_number(d.s.qp), .addr = d.s.addr};
	fd = words_socket(d.server, d.port);
	if (d.server != NULL)
		words_say(fd, &ours);
	theirs = words_hear(fd);
	d.peer = theirs.addr;
	d.peer_bytes = d.s.addr_bytes;
	ah = to_peer(&d);
	if (d.server == NULL) {
		words_say(fd, &ours);
		words_hear_done(fd);
	} else {
		words_say_done(fd);
	}
	pingpong(&d, ah, theirs.number);
	sleep_ms(200); /* the last of ours is still on its way */
	close(fd);
	side_close(&d.s);
	return 0;
}
