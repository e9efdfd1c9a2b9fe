/* SPDX-License-Identifier: BSD-3-Clause */
/* The control socket: finding the daemon, datagrams, and the greeting. */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "ndclient/face/status.h"
#include "ndclient/session/error.h"
#include "ndclient/session/socket.h"

#define SOCKET_PATH_BYTES sizeof(((struct sockaddr_un *)0)->sun_path)
#define GREETING_MS	  10000 /* a daemon that lives answers at once */

/* A daemon that has stopped accepts nobody, and its queue is short. */
static nd_status
connect_fails(const char *path, int err)
{
	if (err == EAGAIN)
		return nd_fail(ND_DEVICE_NOT_READY, "the daemon at %s does not answer", path);
	return nd_fail(ND_DEVICE_NOT_READY, "no daemon at %s: %s", path, strerror(err));
}

/* For as long as connect() waits; 0: without an end. */
static void
set_patience(int sock, uint32_t ms)
{
	const struct timeval wait = {ms / 1000, ms % 1000 * 1000};

	(void)setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
}

nd_status
nd_socket_connect(const char *path, uint32_t wait_ms, int *sock)
{
	struct sockaddr_un sun = {.sun_family = AF_UNIX};
	int fd, rc, err;

	if (strlen(path) >= sizeof(sun.sun_path))
		return nd_fail(ND_DEVICE_NOT_READY, "%s: path too long for a socket", path);
	strcpy(sun.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return nd_fail(ND_INSUFFICIENT_RESOURCES, "socket: %s", strerror(errno));
	set_patience(fd, wait_ms);
	do
		rc = connect(fd, (const struct sockaddr *)&sun, sizeof(sun));
	while (rc < 0 && errno == EINTR);
	if (rc < 0) {
		err = errno;
		close(fd);
		return connect_fails(path, err);
	}
	set_patience(fd, 0);
	*sock = fd;
	return ND_SUCCESS;
}

ssize_t
nd_socket_receive(int sock, void *buf, size_t room, int *fd, int flags)
{
	struct iovec iov = {.iov_base = buf, .iov_len = room};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr mh = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.room,
		.msg_controllen = sizeof(control.room)};
	struct cmsghdr *c;
	ssize_t n;

	*fd = -1;
	do
		n = recvmsg(sock, &mh, flags | MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return n;
	c = CMSG_FIRSTHDR(&mh);
	if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(c), sizeof(*fd));
	return n;
}

/* Wait for the next message; its bytes in buf. A refused client finds the reason in a socket that
 * was reset, perhaps: the first receive tells of the reset, the next one has the message. */
static ssize_t
message_wait(int sock, void *buf, size_t room, int *fd)
{
	struct pollfd pfd = {.fd = sock, .events = POLLIN};
	ssize_t n;

	while ((n = poll(&pfd, 1, GREETING_MS)) < 0 && errno == EINTR)
		;
	if (n == 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	n = nd_socket_receive(sock, buf, room, fd, 0);
	return n < 0 && errno == ECONNRESET ? nd_socket_receive(sock, buf, room, fd, MSG_DONTWAIT)
					    : n;
}

static nd_status
exchange_failed(const struct ndsh_msg_desc *d, ssize_t n)
{
	if (n < 0 && errno == ETIMEDOUT)
		return nd_fail(ND_DEVICE_NOT_READY, "%s: the daemon does not answer", d->name);
	return nd_fail(ND_DEVICE_NOT_READY, "%s: the daemon closed the connection", d->name);
}

static nd_status
session_ended(const struct ndsh_ev_session_end *end)
{
	nd_status st = nd_status_of_daemon(end->h.status);

	return nd_fail(st < 0 ? st : ND_DEVICE_NOT_READY, "the daemon ended the session: %.*s",
		(int)sizeof(end->reason), end->reason);
}

nd_status
nd_socket_exchange(int sock, struct ndsh_msg_hdr *request, void *reply, int *fd)
{
	const struct ndsh_msg_desc *d = &ndsh_msg_table[request->type];
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
	const struct ndsh_msg_hdr *h = (const void *)buf;
	struct ndsh_ev_refusal why = {0};
	int got = -1;
	nd_status st;
	ssize_t n;

	/* A daemon that takes no session has said why, and takes no message. */
	if (send(sock, request, d->bytes, MSG_NOSIGNAL) < 0 && errno != EPIPE &&
		errno != ECONNRESET)
		return nd_fail(ND_DEVICE_NOT_READY, "%s: %s", d->name, strerror(errno));
	n = message_wait(sock, buf, sizeof(buf), &got);
	if (n == sizeof(why) && h->type == NDSH_EV_REFUSAL) {
		memcpy(&why, buf, sizeof(why));
		n = message_wait(sock, buf, sizeof(buf), &got);
	}
	if (n <= 0)
		return exchange_failed(d, n);
	if (h->type == NDSH_EV_SESSION_END && n == sizeof(struct ndsh_ev_session_end))
		return session_ended((const void *)buf);
	if (ndsh_msg_check_reply(buf, (size_t)n) != NULL ||
		h->type != (request->type | NDSH_REPLY)) {
		if (got >= 0)
			close(got);
		return nd_fail(
			ND_NOT_SUPPORTED, "%s: an answer that is none of this protocol", d->name);
	}
	memcpy(reply, buf, (size_t)n);
	if (fd != NULL)
		*fd = got;
	else if (got >= 0)
		close(got);
	st = nd_status_of_daemon(h->status);
	if (st < 0 && why.reason[0] != 0)
		return nd_fail(st, "%s: %.*s", d->name, (int)sizeof(why.reason), why.reason);
	return st < 0 ? nd_fail(st, "the daemon answered %s with %s", d->name, nd_status_name(st))
		      : st;
}

static nd_status
socket_greet(int sock, struct ndsh_hello_reply *reply)
{
	struct ndsh_hello hello;
	nd_status st;

	memset(reply, 0, sizeof(*reply));
	ndsh_hello_fill(&hello);
	st = nd_socket_exchange(sock, &hello.h, reply, NULL);
	if (st < 0 && nd_status_of_daemon(reply->h.status) < 0)
		return nd_fail(
			st, "the daemon refused: %.*s", (int)sizeof(reply->reason), reply->reason);
	return st;
}

/* Of a daemon that the user runs for itself (dpdk-ndd --udp). False: there is none. */
static bool
users_socket(char path[SOCKET_PATH_BYTES])
{
	const char *folder = secure_getenv("XDG_RUNTIME_DIR");

	return folder != NULL &&
	       snprintf(path, SOCKET_PATH_BYTES, "%s/" NDSH_SOCKET_OF_USER, folder) <
		       (int)SOCKET_PATH_BYTES &&
	       access(path, F_OK) == 0;
}

nd_status
nd_socket_open(const struct nd_open_options *opt, int *sock, struct ndsh_hello_reply *reply)
{
	const char *path = opt != NULL ? opt->socket_path : NULL;
	char of_user[SOCKET_PATH_BYTES];
	nd_status st;

	if (path == NULL)
		path = secure_getenv("NDD_SOCKET");
	if (path == NULL)
		path = users_socket(of_user) ? of_user : NDSH_SOCKET_DEFAULT;
	st = nd_socket_connect(path, GREETING_MS, sock);
	if (st != ND_SUCCESS)
		return st;
	st = socket_greet(*sock, reply);
	if (st != ND_SUCCESS)
		close(*sock);
	return st;
}
