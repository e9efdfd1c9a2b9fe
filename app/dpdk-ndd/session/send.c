/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to a client. The control thread serves all clients and waits for none of them: what the
 * socket does not take is queued, and a client that does not read for seconds loses its session.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/daemon.h"
#include "platform/clock.h"
#include "session/end.h"
#include "session/send.h"
#include "session/session.h"

#define OUTGOING_MAX	  256u
#define OUTGOING_STALL_NS (5 * NDD_S)

/* File descriptors travel only this way: daemon to client. */
static ssize_t
message_send(int sock, const void *msg, size_t bytes, int fd)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)msg, .iov_len = bytes};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		mh.msg_control = control.room;
		mh.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	return sendmsg(sock, &mh, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
watch_writable(struct ndd_session *s, bool on)
{
	ndd_watch_change(
		s->daemon, &s->watch, EPOLLIN | EPOLLRDHUP | (on ? (uint32_t)EPOLLOUT : 0));
}

static bool
outgoing_add(struct ndd_session *s, const void *msg, size_t bytes, int fd)
{
	struct ndd_outgoing *o;

	if (s->outgoing_count == OUTGOING_MAX)
		return false;
	o = malloc(sizeof(*o) + bytes);
	if (o == NULL)
		return false;
	o->fd = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd >= 0 && o->fd < 0) {
		free(o);
		return false;
	}
	o->bytes = (uint16_t)bytes;
	memcpy(o->msg, msg, bytes);
	STAILQ_INSERT_TAIL(&s->outgoing, o, next);
	if (s->outgoing_count++ == 0) {
		s->outgoing_since_ns = ndd_now_ns();
		watch_writable(s, true);
	}
	return true;
}

static void
outgoing_drop_first(struct ndd_session *s)
{
	struct ndd_outgoing *o = STAILQ_FIRST(&s->outgoing);

	STAILQ_REMOVE_HEAD(&s->outgoing, next);
	s->outgoing_count--;
	if (o->fd >= 0)
		close(o->fd);
	free(o);
}

void
ndd_session_drop_outgoing(struct ndd_session *s)
{
	while (!STAILQ_EMPTY(&s->outgoing))
		outgoing_drop_first(s);
}

void
ndd_session_send(struct ndd_session *s, const void *msg, size_t bytes, int fd)
{
	if (s->ended)
		return;
	if (s->outgoing_count == 0) {
		if (message_send(s->watch.fd, msg, bytes, fd) >= 0)
			return;
		if (errno != EAGAIN && errno != ENOBUFS && errno != ETOOMANYREFS) {
			ndd_session_end(s, NULL);
			return;
		}
	}
	if (!outgoing_add(s, msg, bytes, fd))
		ndd_session_end(s, "the client does not read its messages");
}

void
ndd_session_flush(struct ndd_session *s)
{
	while (s->outgoing_count != 0) {
		const struct ndd_outgoing *o = STAILQ_FIRST(&s->outgoing);

		if (message_send(s->watch.fd, o->msg, o->bytes, o->fd) < 0) {
			if (errno != EAGAIN && errno != ENOBUFS && errno != ETOOMANYREFS)
				ndd_session_end(s, NULL);
			return;
		}
		outgoing_drop_first(s);
		s->outgoing_since_ns = ndd_now_ns();
	}
	watch_writable(s, false);
}

void
ndd_session_check_stalled(struct ndd *d, uint64_t now_ns)
{
	struct ndd_session *s, *next;

	for (s = TAILQ_FIRST(&d->sessions); s != NULL; s = next) {
		next = TAILQ_NEXT(s, next);
		if (s->outgoing_count != 0 && now_ns - s->outgoing_since_ns > OUTGOING_STALL_NS)
			ndd_session_end(s, "the client has not read its messages for 5 seconds");
	}
}
