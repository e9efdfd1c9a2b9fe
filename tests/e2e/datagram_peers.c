/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The other end of stock programs that use datagrams: udaddy, whose ends find each other by
 * rdma_cm, and ibv_ud_pingpong, whose ends tell each other their numbers over TCP. Both roles.
 * p->b is the program's host, which has no daemon.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "scenarios.h"

#define HEADER	 ND_UD_HEADER_BYTES
#define IN	 32768u /* offset of receives */
#define MESSAGES 10u	/* udaddy -C */
#define BYTES	 100u	/* udaddy -S */

#define UDADDY_PORT 7174

#define PINGPONG_PORT  18515
#define PINGPONG_Q_KEY 0x11111111u
#define PINGPONG_ITERS 100u
#define PINGPONG_BYTES 1024u
#define TCP_GUEST      "192.0.2.1" /* its TCP is over IPv4, whatever the datagrams are */
#define TCP_TRIES      200	   /* 100 ms apart */

static void
open_side(struct side *s, uint32_t q_key)
{
	struct nd_qp_options options = {
		.context = s,
		.receive_depth = 2 * MESSAGES,
		.initiator_depth = 2 * MESSAGES,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};

	side_open(s, 64);
	options.receive_cq = options.initiator_cq = s->cq;
	WANT(ND_SUCCESS, nd_ud_qp_create(s->pd, &options, q_key, &s->qp));
}

static void
receive(struct side *s, uint32_t i, uint32_t bytes)
{
	struct nd_sge sge = {
		s->buf + IN + i * (HEADER + bytes), HEADER + bytes, nd_mr_local_token(s->mr)};

	WANT(ND_SUCCESS, nd_qp_receive(s->qp, sge.buffer, &sge, 1));
}

static struct nd_ud_result
result(struct side *s, uint32_t type)
{
	struct nd_ud_result r;

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		int32_t n = nd_ud_get_results(s->cq, &r, 1);

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
from_peer(const struct pair *p, const void *header)
{
	struct sockaddr_storage addr;
	socklen_t bytes = sizeof(addr);

	WANT(ND_SUCCESS, nd_ud_source(header, (struct sockaddr *)&addr, &bytes));
	CHECK(bytes == p->b.addr_bytes && memcmp(&addr, &p->b.addr, bytes) == 0);
}

static void
tell(const char *word)
{
	printf("%s\n", word);
	fflush(stdout);
}

/* ---- udaddy -------------------------------------------------------------------------- */

/* As udaddy does, its sender's number stands in the immediate. */
static void
udaddy_send(struct side *s, struct nd_ah *ah, uint32_t remote_qp, uint32_t q_key)
{
	struct nd_sge sge = {s->buf, BYTES, nd_mr_local_token(s->mr)};

	memset(s->buf, 0x5a, BYTES);
	for (uint32_t i = 0; i < MESSAGES; i++)
		WANT(ND_SUCCESS, nd_ud_send_with_immediate(s->qp, s->buf, &sge, 1, ah, remote_qp,
					 q_key, htonl(nd_qp_number(s->qp)), 0));
	for (uint32_t i = 0; i < MESSAGES; i++)
		(void)result(s, ND_REQUEST_SEND);
}

/* Returns the sender's number. */
static uint32_t
udaddy_receive(const struct pair *p, struct side *s)
{
	struct nd_ud_result r;

	for (uint32_t i = 0; i < MESSAGES; i++) {
		r = result(s, ND_REQUEST_RECEIVE_WITH_IMMEDIATE);
		CHECK(r.result.bytes_transferred == HEADER + BYTES);
		CHECK(ntohl(r.result.immediate) == r.source_qp);
		from_peer(p, r.result.request_context);
	}
	return r.source_qp;
}

static struct sockaddr_storage
with_port(const struct sockaddr_storage *addr, uint16_t port)
{
	struct sockaddr_storage with = *addr;

	/* It is at one place in the addresses of both families. */
	((struct sockaddr_in *)&with)->sin_port = htons(port);
	return with;
}

/* udaddy -s: it finds us, sends, and we answer where it came from. */
void
scenario_udaddy_server(struct pair *p)
{
	struct sockaddr_storage at = with_port(&p->a.addr, UDADDY_PORT);
	struct nd_overlapped get = {0}, resolve = {0};
	struct nd_ud_question question;
	struct nd_ud_listener *l;
	struct nd_ah *ah;
	uint32_t remote_qp;

	open_side(&p->a, ND_UD_Q_KEY);
	for (uint32_t i = 0; i < MESSAGES; i++)
		receive(&p->a, i, BYTES);
	WANT(ND_SUCCESS, nd_ud_listener_create(p->a.adapter, &l));
	WANT(ND_SUCCESS,
		nd_ud_listener_listen(l, (struct sockaddr *)&at, p->a.addr_bytes, 0));
	tell("listening");
	WANT(ND_PENDING, nd_ud_listener_get_question(l, &question, &get));
	WANT(ND_SUCCESS, nd_overlapped_wait(&get, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_ud_accept(p->a.qp, &question, NULL, 0));
	remote_qp = udaddy_receive(p, &p->a);
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	WANT(ND_PENDING, nd_ah_resolve(ah, (struct sockaddr *)&question.peer,
				 question.peer_bytes, &resolve));
	WANT(ND_SUCCESS, nd_overlapped_wait(&resolve, PATIENCE_MS));
	udaddy_send(&p->a, ah, remote_qp, ND_UD_Q_KEY);
	sleep_ms(200); /* the capture of what has left */
	side_close(&p->a);
}

/* udaddy as server: we find it, send, and it answers. */
void
scenario_udaddy_client(struct pair *p)
{
	struct sockaddr_storage to = with_port(&p->b.addr, UDADDY_PORT);
	struct nd_overlapped ask = {0};
	struct nd_ud_service service;
	struct nd_ah *ah;

	open_side(&p->a, ND_UD_Q_KEY);
	for (uint32_t i = 0; i < MESSAGES; i++)
		receive(&p->a, i, BYTES);
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	WANT(ND_PENDING,
		nd_ah_look_up(ah, (struct sockaddr *)&to, p->b.addr_bytes, NULL, 0, &ask));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ask, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_ah_service(ah, &service));
	udaddy_send(&p->a, ah, service.qp, service.q_key);
	CHECK(udaddy_receive(p, &p->a) == service.qp);
	side_close(&p->a);
}

/* Nobody is there: refused, in the words of the peer. */
void
scenario_udaddy_nobody(struct pair *p)
{
	struct sockaddr_storage to = with_port(&p->b.addr, UDADDY_PORT + 1);
	struct nd_overlapped ask = {0};
	struct nd_ud_service service;
	struct nd_ah *ah;

	open_side(&p->a, ND_UD_Q_KEY);
	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	WANT(ND_PENDING,
		nd_ah_look_up(ah, (struct sockaddr *)&to, p->b.addr_bytes, NULL, 0, &ask));
	WANT(ND_CONNECTION_REFUSED, nd_overlapped_wait(&ask, PATIENCE_MS));
	WANT(ND_SUCCESS, nd_ah_service(ah, &service));
	CHECK(service.status == 1);
	side_close(&p->a);
}

/* ---- ibv_ud_pingpong ----------------------------------------------------------------- */

struct exchange { /* LID:QPN:PSN:GID, and the end of the string */
	char text[sizeof("0000:000000:000000:00000000000000000000000000000000")];
};

static struct exchange
own_words(const struct side *s)
{
	const struct sockaddr_in6 *v6 = (const void *)&s->addr;
	const struct sockaddr_in *v4 = (const void *)&s->addr;
	uint8_t gid[16] = {[10] = 0xff, [11] = 0xff};
	struct exchange e;
	int at;

	if (s->addr.ss_family == AF_INET6)
		memcpy(gid, &v6->sin6_addr, 16);
	else
		memcpy(gid + 12, &v4->sin_addr, 4);
	at = snprintf(e.text, sizeof(e.text), "0000:%06x:000000:", nd_qp_number(s->qp));
	for (int i = 0; i < 16; i++)
		at += snprintf(e.text + at, sizeof(e.text) - (size_t)at, "%02x", gid[i]);
	return e;
}

static uint32_t
their_qp(int fd)
{
	struct exchange e;
	unsigned int qp;

	CHECK(recv(fd, e.text, sizeof(e.text), MSG_WAITALL) == sizeof(e.text));
	e.text[sizeof(e.text) - 1] = 0;
	CHECK(sscanf(e.text, "%*x:%x:", &qp) == 1);
	return qp;
}

static void
say(int fd, const void *words, size_t bytes)
{
	CHECK(send(fd, words, bytes, MSG_NOSIGNAL) == (ssize_t)bytes);
}

static struct nd_ah *
to_peer(struct pair *p)
{
	struct nd_overlapped ov = {0};
	struct nd_ah *ah;

	WANT(ND_SUCCESS, nd_ah_create(p->a.adapter, &ah));
	WANT(ND_PENDING,
		nd_ah_resolve(ah, (struct sockaddr *)&p->b.addr, p->b.addr_bytes, &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&ov, PATIENCE_MS));
	return ah;
}

/* One there, one back, and so on. */
static void
pingpong(struct pair *p, struct nd_ah *ah, uint32_t remote_qp, int first)
{
	struct side *s = &p->a;
	struct nd_sge sge = {s->buf, PINGPONG_BYTES, nd_mr_local_token(s->mr)};

	for (uint32_t i = 0; i < 2 * PINGPONG_ITERS; i++) {
		if ((i % 2 == 0) == (first != 0)) {
			WANT(ND_SUCCESS, nd_ud_send(s->qp, s->buf, &sge, 1, ah, remote_qp,
						 PINGPONG_Q_KEY, ND_OP_FLAG_SILENT_SUCCESS));
		} else {
			struct nd_ud_result r = result(s, ND_REQUEST_RECEIVE);

			CHECK(r.result.bytes_transferred == HEADER + PINGPONG_BYTES);
			CHECK(r.source_qp == remote_qp);
			from_peer(p, r.result.request_context);
			receive(s, 0, PINGPONG_BYTES);
		}
	}
}

static int
tcp_accept(void)
{
	struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PINGPONG_PORT)};
	int l = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1, fd;

	CHECK(setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0);
	CHECK(bind(l, (struct sockaddr *)&any, sizeof(any)) == 0 && listen(l, 1) == 0);
	tell("listening");
	fd = accept(l, NULL, NULL);
	CHECK(fd >= 0);
	close(l);
	return fd;
}

static int
tcp_connect(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(PINGPONG_PORT)};

	CHECK(inet_pton(AF_INET, TCP_GUEST, &to.sin_addr) == 1);
	for (int i = 0; i < TCP_TRIES; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
			return fd;
		close(fd);
		sleep_ms(100);
	}
	CHECK(!"the guest listens");
	return -1;
}

void
scenario_ud_pingpong_server(struct pair *p)
{
	struct exchange words;
	char done[sizeof("done")];
	uint32_t remote_qp;
	struct nd_ah *ah;
	int fd;

	open_side(&p->a, PINGPONG_Q_KEY);
	for (uint32_t i = 0; i < 4; i++)
		receive(&p->a, 0, PINGPONG_BYTES);
	fd = tcp_accept();
	remote_qp = their_qp(fd);
	ah = to_peer(p);
	words = own_words(&p->a);
	say(fd, words.text, sizeof(words.text));
	CHECK(recv(fd, done, sizeof(done), MSG_WAITALL) == sizeof(done));
	pingpong(p, ah, remote_qp, 0);
	sleep_ms(200); /* the last of ours is still on its way */
	close(fd);
	side_close(&p->a);
}

void
scenario_ud_pingpong_client(struct pair *p)
{
	struct exchange words;
	uint32_t remote_qp;
	struct nd_ah *ah;
	int fd;

	open_side(&p->a, PINGPONG_Q_KEY);
	for (uint32_t i = 0; i < 4; i++)
		receive(&p->a, 0, PINGPONG_BYTES);
	ah = to_peer(p);
	fd = tcp_connect();
	words = own_words(&p->a);
	say(fd, words.text, sizeof(words.text));
	remote_qp = their_qp(fd);
	say(fd, "done", sizeof("done"));
	pingpong(p, ah, remote_qp, 1);
	close(fd);
	side_close(&p->a);
}
