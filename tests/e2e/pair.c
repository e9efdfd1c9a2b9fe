/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define ALL_RIGHTS                                                                                 \
	(ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_READ |                             \
		ND_MR_FLAG_ALLOW_REMOTE_WRITE)

void
want_status(const char *file, int line, const char *what, nd_status got, nd_status want)
{
	if (got == want)
		return;
	fprintf(stderr, "%s:%d: %s: %s, wanted %s; last error: \"%s\"\n", file, line, what,
		nd_status_name(got), nd_status_name(want), nd_last_error());
	exit(1);
}

void
check(const char *file, int line, const char *what, int good)
{
	if (good)
		return;
	fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
	exit(1);
}

void
sleep_ms(unsigned int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&t, NULL);
}

char *
map_anonymous(size_t bytes, int flags)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	CHECK(at != MAP_FAILED);
	return at;
}

char *
map_file(size_t bytes, int flags)
{
	char name[] = "/tmp/ndtest.XXXXXX", *at;
	int fd = mkstemp(name);

	CHECK(fd >= 0 && unlink(name) == 0 && ftruncate(fd, (off_t)bytes) == 0);
	at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
	CHECK(at != MAP_FAILED);
	close(fd);
	return at;
}

void
side_address(struct side *s, const char *socket_path, const char *text)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)&s->addr;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&s->addr;

	s->socket_path = socket_path;
	memset(&s->addr, 0, sizeof(s->addr));
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		s->addr_bytes = sizeof(*v4);
	} else {
		CHECK(inet_pton(AF_INET6, text, &v6->sin6_addr) == 1);
		v6->sin6_family = AF_INET6;
		s->addr_bytes = sizeof(*v6);
	}
}

nd_status
region_new(struct nd_pd *pd, void *buf, size_t bytes, uint32_t flags, struct nd_mr **mr)
{
	nd_status st = nd_mr_create(pd, mr);

	if (st != ND_SUCCESS)
		return st;
	st = nd_mr_register(*mr, buf, bytes, flags, NULL);
	if (st != ND_SUCCESS)
		nd_mr_close(*mr);
	return st;
}

void
side_register(struct side *s)
{
	WANT(ND_SUCCESS, region_new(s->pd, s->buf, BUFFER_BYTES,
				 ALL_RIGHTS | ND_MR_FLAG_DO_NOT_ADOPT, &s->mr));
}

void
side_open(struct side *s, uint32_t cq_depth)
{
	struct nd_open_options options = {.socket_path = s->socket_path, .profile = s->profile};

	WANT(ND_SUCCESS,
		nd_adapter_open((struct sockaddr *)&s->addr, s->addr_bytes, &options, &s->adapter));
	WANT(ND_SUCCESS, nd_pd_create(s->adapter, &s->pd));
	WANT(ND_SUCCESS, nd_cq_create(s->adapter, cq_depth, &s->cq));
	s->buf = nd_alloc(s->adapter, BUFFER_BYTES);
	CHECK(s->buf != NULL);
	side_register(s);
}

void
side_create_qp(struct side *s, uint32_t depth)
{
	struct nd_qp_options options = {
		.receive_cq = s->cq,
		.initiator_cq = s->cq,
		.context = s,
		.receive_depth = depth,
		.initiator_depth = depth,
		.max_receive_sge = 1,
		.max_initiator_sge = 1,
	};

	WANT(ND_SUCCESS, nd_qp_create(s->pd, &options, &s->qp));
}

void
side_close(struct side *s)
{
	nd_adapter_close(s->adapter);
	s->adapter = NULL;
}

nd_status
finish(nd_status inline_status, struct nd_overlapped *ov)
{
	return inline_status == ND_PENDING ? nd_overlapped_wait(ov, PATIENCE_MS) : inline_status;
}

void
pair_connect(struct pair *p)
{
	struct nd_overlapped ask = {0}, get = {0}, accept = {0}, complete = {0};
	struct sockaddr_storage where;
	socklen_t where_bytes = sizeof(where);
	struct nd_listener *listener;
	nd_status accepting;

	WANT(ND_SUCCESS, nd_listener_create(p->b.adapter, &listener));
	WANT(ND_SUCCESS,
		nd_listener_listen(listener, (struct sockaddr *)&p->b.addr, p->b.addr_bytes, 0));
	WANT(ND_SUCCESS,
		nd_listener_local_address(listener, (struct sockaddr *)&where, &where_bytes));
	WANT(ND_SUCCESS, nd_connector_create(p->a.adapter, &p->a.connector));
	WANT(ND_SUCCESS, nd_connector_create(p->b.adapter, &p->b.connector));
	WANT(ND_PENDING, nd_listener_get_request(listener, p->b.connector, &get));
	WANT(ND_PENDING, nd_connector_connect(p->a.connector, p->a.qp, (struct sockaddr *)&where,
				 where_bytes, 4, 4, NULL, 0, &ask));
	WANT(ND_SUCCESS, nd_overlapped_wait(&get, PATIENCE_MS));
	accepting = nd_connector_accept(p->b.connector, p->b.qp, 4, 4, NULL, 0, &accept);
	WANT(ND_SUCCESS, nd_overlapped_wait(&ask, PATIENCE_MS));
	WANT(ND_SUCCESS,
		finish(nd_connector_complete_connect(p->a.connector, &complete), &complete));
	WANT(ND_SUCCESS, finish(accepting, &accept));
	nd_listener_close(listener);
}

void
pair_open(struct pair *p)
{
	side_open(&p->a, 64);
	side_open(&p->b, 64);
	side_create_qp(&p->a, 16);
	side_create_qp(&p->b, 16);
	pair_connect(p);
}

void
pair_beside(const struct pair *p, struct pair *other)
{
	*other = *p;
	WANT(ND_SUCCESS, nd_cq_create(p->a.adapter, 64, &other->a.cq));
	WANT(ND_SUCCESS, nd_cq_create(p->b.adapter, 64, &other->b.cq));
	side_create_qp(&other->a, 16);
	side_create_qp(&other->b, 16);
	pair_connect(other);
}

void
pair_close(struct pair *p)
{
	side_close(&p->a);
	side_close(&p->b);
}

static struct nd_sge
side_sge(const struct side *s, uint32_t bytes)
{
	return (struct nd_sge){s->buf, bytes, nd_mr_local_token(s->mr)};
}

nd_status
side_receive(struct side *s, uint32_t bytes)
{
	struct nd_sge sge = side_sge(s, bytes);

	return nd_qp_receive(s->qp, s->buf, &sge, 1);
}

nd_status
side_send(struct side *s, uint32_t bytes)
{
	struct nd_sge sge = side_sge(s, bytes);

	return nd_qp_send(s->qp, s->buf, &sge, 1, 0);
}

nd_status
side_reach(struct side *s, int write, const void *remote, uint32_t bytes, uint32_t token)
{
	struct nd_sge sge = side_sge(s, bytes);

	return (write ? nd_qp_write : nd_qp_read)(
		s->qp, s->buf, &sge, 1, (uintptr_t)remote, token, 0);
}

nd_status
side_write(struct side *s, const struct side *peer, uint32_t bytes, uint32_t token)
{
	return side_reach(s, 1, peer->buf, bytes, token);
}

nd_status
side_read(struct side *s, const struct side *peer, uint32_t bytes, uint32_t token)
{
	return side_reach(s, 0, peer->buf, bytes, token);
}

nd_status
side_result(struct side *s, struct nd_result *result)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		int32_t n = nd_cq_get_results(s->cq, result, 1);

		if (n != 0)
			return n < 0 ? n : result->status;
		sleep_ms(1);
	}
	return ND_TIMEOUT;
}

nd_status
side_result_ex(struct side *s, struct nd_result_ex *result)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		int32_t n = nd_cq_get_results_ex(s->cq, result, 1);

		if (n != 0)
			return n < 0 ? n : result->status;
		sleep_ms(1);
	}
	return ND_TIMEOUT;
}

nd_status
side_ud_result(struct side *s, struct nd_ud_result *result)
{
	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		int32_t n = nd_ud_get_results(s->cq, result, 1);

		if (n != 0)
			return n < 0 ? n : result->result.status;
		sleep_ms(1);
	}
	return ND_TIMEOUT;
}

struct nd_adoption
side_adoption(const struct side *s)
{
	struct nd_adoption now;

	WANT(ND_SUCCESS, nd_adoption(s->adapter, &now));
	return now;
}

int
side_quiet(struct side *s, unsigned int ms)
{
	struct nd_result result;

	while (ms-- > 0) {
		if (nd_cq_get_results(s->cq, &result, 1) != 0)
			return 0;
		sleep_ms(1);
	}
	return 1;
}

/* checks R-RW-03 */
void
pair_works(struct pair *p)
{
	struct nd_result result;

	memset(p->a.buf, 0x5a, BUFFER_BYTES);
	memset(p->b.buf, 0, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_write(&p->a, &p->b, BUFFER_BYTES, nd_mr_remote_token(p->b.mr)));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	CHECK(result.request_type == ND_REQUEST_WRITE);
	CHECK(memcmp(p->a.buf, p->b.buf, BUFFER_BYTES) == 0);
}

/*
 * checks R-POST-03[1], R-RW-02[1-4]: the requester's entry fails, nothing is moved, and the
 * responder's posted receive is cancelled.
 */
void
pair_refuses(struct pair *p, int write, const void *remote, uint32_t bytes, uint32_t token)
{
	struct nd_result result;

	memset(p->b.buf, 0x11, BUFFER_BYTES);
	memset(p->a.buf, 0x22, BUFFER_BYTES);
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_SUCCESS, side_reach(&p->a, write, remote, bytes, token));
	WANT(ND_ACCESS_VIOLATION, side_result(&p->a, &result));
	CHECK(result.request_type == (write ? ND_REQUEST_WRITE : ND_REQUEST_READ));
	WANT(ND_CANCELED, side_result(&p->b, &result));
	CHECK(result.request_type == ND_REQUEST_RECEIVE);
	/* What is posted behind a failure is cancelled too, on both sides. */
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_CANCELED, side_result(&p->b, &result));
	WANT(ND_SUCCESS, side_send(&p->a, 100));
	WANT(ND_CANCELED, side_result(&p->a, &result));
	for (int i = 0; i < BUFFER_BYTES; i++)
		CHECK(p->a.buf[i] == 0x22 && p->b.buf[i] == 0x11);
}
