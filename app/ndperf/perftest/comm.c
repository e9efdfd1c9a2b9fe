/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the two ends exchange values: over TCP between the hosts' kernels, or with -R by sends on a
 * connection of the daemon's. perftest has only one receive posted at a time, so each message is
 * answered before the next one is sent.
 */
#include "comm.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "cm.h"
#include "common/fail.h"
#include "common/wait.h"
#include "test.h"

#define SLICE_MS  100 /* longest wait between two checks for a signal */
#define DONE_MS	  500
#define RECEIVES  4u
#define SLOT	  64u /* room for the longest message */
#define SEND_SLOT (RECEIVES * SLOT)

static const char done[] = "done";

static int
comm_peer_left(void)
{
	app_complain("the peer has left. Is it the same test of perftest 4.5, and were its -s, -n, "
		     "-q, -R the same?");
	return APP_EXIT_TRANSFER;
}

/* ---- TCP ----------------------------------------------------------------------------- */

/* Returns 0, or -1 if a signal has asked the program to stop. */
static int
tcp_wait_readable(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	while (!app_stopping())
		if (poll(&pfd, 1, SLICE_MS) > 0)
			return 0;
	return -1;
}

static int
tcp_read(int fd, void *buf, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes;) {
		ssize_t n;

		if (tcp_wait_readable(fd) != 0)
			return APP_EXIT_SIGNAL;
		n = recv(fd, (char *)buf + at, bytes - at, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n <= 0)
			return comm_peer_left();
		at += (uint32_t)n;
	}
	return APP_EXIT_OK;
}

/* perftest reads each value by one call of read(): it has to be sent by one call. */
static int
tcp_write(int fd, const void *buf, uint32_t bytes)
{
	return send(fd, buf, bytes, MSG_NOSIGNAL) == (ssize_t)bytes ? APP_EXIT_OK
								    : comm_peer_left();
}

static int
tcp_connect(struct perftest *p)
{
	const struct app_addr *to = &p->opt->addr;
	char text[APP_ADDR_TEXT];

	p->comm.fd = socket(to->ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p->comm.fd >= 0 &&
		connect(p->comm.fd, (const struct sockaddr *)&to->ss, to->bytes) == 0)
		return APP_EXIT_OK;
	app_complain("TCP connection to %s: %s. perftest's server listens there by TCP without -R",
		app_addr_text(to, true, text), strerror(errno));
	return APP_EXIT_CONNECT;
}

static int
tcp_listen(const struct app_addr *at)
{
	int fd = socket(at->ss.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
	char text[APP_ADDR_TEXT];

	if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
		bind(fd, (const struct sockaddr *)&at->ss, at->bytes) == 0 && listen(fd, 1) == 0)
		return fd;
	app_complain("can't listen at TCP %s: %s", app_addr_text(at, true, text), strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

static int
tcp_accept(struct perftest *p)
{
	char text[APP_ADDR_TEXT];
	int fd = tcp_listen(&p->opt->tcp);

	if (fd < 0)
		return APP_EXIT_LOCAL;
	fprintf(stderr, "ndperf: listening at TCP %s\n", app_addr_text(&p->opt->tcp, true, text));
	if (tcp_wait_readable(fd) == 0)
		p->comm.fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	close(fd);
	if (p->comm.fd < 0 && !app_stopping())
		app_complain("accepting a TCP connection: %s", strerror(errno));
	if (p->comm.fd < 0)
		return app_stopping() ? APP_EXIT_SIGNAL : APP_EXIT_LOCAL;
	return APP_EXIT_OK;
}

/* ---- sends --------------------------------------------------------------------------- */

static nd_status
sends_post_receive(struct perftest_comm *c, void *slot)
{
	struct nd_sge sge = {slot, SLOT, nd_mr_local_token(c->buf.mr)};

	return nd_qp_receive(c->conn.qp, slot, &sge, 1);
}

static int
sends_create(struct perftest *p)
{
	struct perftest_comm *c = &p->comm;
	struct nd_qp_options q = {.receive_depth = RECEIVES,
		.initiator_depth = 2,
		.max_receive_sge = 1,
		.max_initiator_sge = 1};
	nd_status st = nd_cq_create(p->adapter, 2 * RECEIVES, &c->cq);

	if (st == ND_SUCCESS)
		st = buffer_create(&c->buf, p->adapter, p->pd, NDPERF_MEMORY_ARENA,
			SEND_SLOT + SLOT, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
	if (st == ND_SUCCESS) {
		q.receive_cq = q.initiator_cq = c->cq;
		st = nd_qp_create(p->pd, &q, &c->conn.qp);
	}
	for (uint32_t i = 0; st == ND_SUCCESS && i < RECEIVES; i++)
		st = sends_post_receive(c, c->buf.mem + i * SLOT);
	if (st == ND_SUCCESS)
		return APP_EXIT_OK;
	app_fail(st, "can't make the connection to talk by");
	return APP_EXIT_LOCAL;
}

/* Take the next result of the connection: of a message from the peer, or of a send to it. */
static int
sends_take_result(struct perftest *p, int timeout_ms, struct nd_result *r, bool *got)
{
	int32_t n = app_cq_wait(p->comm.cq, r, 1, timeout_ms);

	*got = n > 0;
	if (n == 0)
		return app_stopping() ? APP_EXIT_SIGNAL : APP_EXIT_OK;
	if (n < 0 || r->status == ND_CANCELED)
		return comm_peer_left();
	return r->status == ND_SUCCESS ? APP_EXIT_OK : perftest_failed(p, r);
}

static int
sends_read(struct perftest *p, void *buf, uint32_t bytes)
{
	struct perftest_comm *c = &p->comm;
	int rc = APP_EXIT_OK;

	while (rc == APP_EXIT_OK && c->arrived == NULL) {
		struct nd_result r;
		bool got;

		rc = sends_take_result(p, SLICE_MS, &r, &got);
		if (rc == APP_EXIT_OK && got && r.request_type == ND_REQUEST_RECEIVE) {
			c->arrived = r.request_context;
			c->arrived_bytes = r.bytes_transferred;
		}
	}
	if (rc != APP_EXIT_OK)
		return rc;
	if (c->arrived_bytes != bytes) {
		app_complain("the peer told %u bytes where perftest 4.5 tells %u", c->arrived_bytes,
			bytes);
		return APP_EXIT_TRANSFER;
	}
	memcpy(buf, c->arrived, bytes);
	if (sends_post_receive(c, c->arrived) != ND_SUCCESS)
		return comm_peer_left();
	c->arrived = NULL;
	return APP_EXIT_OK;
}

/* There is one slot for sends. It is free: the peer has answered the message that was in it. */
static int
sends_write(struct perftest *p, const void *buf, uint32_t bytes)
{
	struct perftest_comm *c = &p->comm;
	struct nd_sge sge = {c->buf.mem + SEND_SLOT, bytes, nd_mr_local_token(c->buf.mr)};

	memcpy(sge.buffer, buf, bytes);
	return nd_qp_send(c->conn.qp, NULL, &sge, 1, 0) == ND_SUCCESS ? APP_EXIT_OK
								      : comm_peer_left();
}

/* ---- either -------------------------------------------------------------------------- */

int
perftest_comm_open(struct perftest *p)
{
	bool server = p->opt->server;
	int rc;

	if (!p->opt->cm)
		return server ? tcp_accept(p) : tcp_connect(p);
	rc = sends_create(p);
	if (rc == APP_EXIT_OK)
		rc = server ? perftest_cm_accept(p, &p->comm.conn)
			    : perftest_cm_connect(p, &p->comm.conn, false);
	return rc;
}

static int
comm_receive(struct perftest *p, void *buf, uint32_t bytes)
{
	return p->opt->cm ? sends_read(p, buf, bytes) : tcp_read(p->comm.fd, buf, bytes);
}

static int
comm_send(struct perftest *p, const void *buf, uint32_t bytes)
{
	return p->opt->cm ? sends_write(p, buf, bytes) : tcp_write(p->comm.fd, buf, bytes);
}

int
perftest_exchange(struct perftest *p, const void *ours, void *theirs, uint32_t bytes)
{
	int rc;

	if (p->opt->server) {
		rc = comm_receive(p, theirs, bytes);
		return rc == APP_EXIT_OK ? comm_send(p, ours, bytes) : rc;
	}
	rc = comm_send(p, ours, bytes);
	return rc == APP_EXIT_OK ? comm_receive(p, theirs, bytes) : rc;
}

int
perftest_shake(struct perftest *p, const struct perftest_dest *ours, struct perftest_dest *theirs)
{
	char line[PERFTEST_LINE_BYTES], their_line[PERFTEST_LINE_BYTES];
	uint8_t blob[PERFTEST_BLOB_BYTES], their_blob[PERFTEST_BLOB_BYTES];
	int rc;

	if (p->opt->cm) {
		perftest_dest_to_blob(ours, blob);
		rc = perftest_exchange(p, blob, their_blob, sizeof(blob));
		if (rc == APP_EXIT_OK)
			perftest_dest_of_blob(their_blob, theirs);
		return rc;
	}
	perftest_dest_to_line(ours, line);
	rc = perftest_exchange(p, line, their_line, sizeof(line));
	if (rc != APP_EXIT_OK || perftest_dest_of_line(their_line, theirs))
		return rc;
	app_complain("the peer tells its queue pair in no way of perftest 4.5's: \"%.*s\"",
		(int)sizeof(their_line), their_line);
	return APP_EXIT_TRANSFER;
}

bool
perftest_peer_went_on(struct perftest *p)
{
	struct perftest_comm *c = &p->comm;
	struct pollfd pfd = {.fd = c->fd, .events = POLLIN};
	struct nd_result r;

	if (!p->opt->cm)
		return poll(&pfd, 1, 0) > 0;
	while (c->arrived == NULL && !c->over) {
		int32_t n = nd_cq_get_results(c->cq, &r, 1);

		if (n == 0)
			return false;
		c->over = n < 0 || r.status != ND_SUCCESS;
		if (!c->over && r.request_type == ND_REQUEST_RECEIVE) {
			c->arrived = r.request_context;
			c->arrived_bytes = r.bytes_transferred;
		}
	}
	return true;
}

/* Both ends send this message, and perftest's does not read it. Reading the peer's before the close
 * keeps the connection from being reset. */
void
perftest_comm_done(struct perftest *p)
{
	struct pollfd pfd = {.fd = p->comm.fd, .events = POLLIN};
	char theirs[sizeof(done)];

	if (p->opt->cm || tcp_write(p->comm.fd, done, sizeof(done)) != APP_EXIT_OK)
		return;
	shutdown(p->comm.fd, SHUT_WR);
	if (poll(&pfd, 1, DONE_MS) > 0)
		(void)!read(p->comm.fd, theirs, sizeof(theirs));
}

void
perftest_comm_close(struct perftest *p)
{
	struct perftest_comm *c = &p->comm;

	if (c->fd >= 0)
		close(c->fd);
	conn_destroy(&c->conn);
	if (c->cq != NULL)
		nd_cq_close(c->cq);
	buffer_destroy(&c->buf);
}
