/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to a client. The control thread serves all clients and waits for none of them: what the
 * socket does not take is queued, and a client that does not read for seconds loses its session.
 *
 * Files that lie in sockets count against a limit that all of the daemon's user have together
 * (RLIMIT_NOFILE, too: see unix(7), ETOOMANYREFS). So a client has FILES_UNREAD_MAX of them at
 * most that it has not taken, and its requests wait until it takes those.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sockios.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "control/daemon.h"
#include "platform/clock.h"
#include "session/end.h"
#include "session/send.h"
#include "session/session.h"

#define OUTGOING_BASE	  256u /* replies, and events of the session itself */
#define OUTGOING_OBJECT	  4u   /* events of an object: none has more of them without a request */
#define OUTGOING_STALL_NS (5 * NDD_S)
#define SILENCE_NS	  (10 * NDD_S)
#define FILES_UNREAD_MAX  4u

enum outcome { SENT, NOT_NOW, NOT_AT_ALL };

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

/* The socket tells when the last message is taken, but not how many are. */
static bool
may_pass_file(struct ndd_session *s)
{
	int unread;

	if (s->files_unread > 0 && ioctl(s->watch.fd, SIOCOUTQ, &unread) == 0 && unread == 0)
		s->files_unread = 0;
	return s->files_unread < FILES_UNREAD_MAX;
}

/* A file that the kernel does not take is one of all that are under way for this user: the socket
 * does not tell when there are fewer, and it tells of each try. */
static enum outcome
session_try(struct ndd_session *s, const void *msg, size_t bytes, int fd)
{
	s->outgoing_untold = false;
	if (fd >= 0 && !may_pass_file(s))
		return NOT_NOW;
	if (message_send(s->watch.fd, msg, bytes, fd) >= 0) {
		s->files_unread += fd >= 0;
		return SENT;
	}
	s->outgoing_untold = errno == ENOBUFS || errno == ETOOMANYREFS;
	return errno == EAGAIN || s->outgoing_untold ? NOT_NOW : NOT_AT_ALL;
}

/* While something waits to be sent, or its next request has to wait, requests are left where they
 * are. Each message that the client takes makes an edge; that the socket is writable, or has
 * requests, would be told in every turn. */
void
ndd_session_watch(struct ndd_session *s)
{
	uint32_t events = s->delayed_until_ns == 0 ? EPOLLIN : EPOLLET;

	if (s->outgoing_count != 0)
		events = s->outgoing_untold ? EPOLLET : EPOLLET | EPOLLOUT;
	ndd_watch_change(s->daemon, &s->watch, EPOLLRDHUP | events);
}

/* A client whose threads do not run for a while is not one that does not read, however many objects
 * have something to say meanwhile: a thousand connections may end at once. While something waits,
 * its requests do not add to it. */
static uint32_t
outgoing_most(const struct ndd_session *s)
{
	return OUTGOING_BASE + OUTGOING_OBJECT * s->account.objects;
}

static bool
outgoing_add(struct ndd_session *s, const void *msg, size_t bytes, int fd)
{
	struct ndd_outgoing *o;

	if (s->outgoing_count >= outgoing_most(s))
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
		ndd_session_watch(s);
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
	enum outcome outcome = NOT_NOW;

	if (s->ended)
		return;
	if (s->outgoing_count == 0)
		outcome = session_try(s, msg, bytes, fd);
	if (outcome == NOT_AT_ALL)
		ndd_session_end(s, NULL);
	else if (outcome == NOT_NOW && !outgoing_add(s, msg, bytes, fd))
		ndd_session_end(s, "the client does not read its messages");
}

void
ndd_session_flush(struct ndd_session *s)
{
	bool untold = s->outgoing_untold;

	while (s->outgoing_count != 0) {
		const struct ndd_outgoing *o = STAILQ_FIRST(&s->outgoing);
		enum outcome outcome = session_try(s, o->msg, o->bytes, o->fd);

		if (outcome == NOT_AT_ALL)
			ndd_session_end(s, NULL);
		if (outcome == NOT_NOW && untold != s->outgoing_untold)
			ndd_session_watch(s);
		if (outcome != SENT)
			return;
		outgoing_drop_first(s);
		s->outgoing_since_ns = ndd_now_ns();
	}
	ndd_session_watch(s);
}

void
ndd_session_check_stalled(struct ndd *d, uint64_t now_ns)
{
	struct ndd_session *s, *next;

	for (s = TAILQ_FIRST(&d->sessions); s != NULL; s = next) {
		next = TAILQ_NEXT(s, next);
		if (s->outgoing_untold)
			ndd_session_flush(s);
		if (s->outgoing_count != 0 &&
			ndd_elapsed_ns(now_ns, s->outgoing_since_ns) > OUTGOING_STALL_NS)
			ndd_session_end(s, "the client has not read its messages for 5 seconds");
		else if (s->state == NDSH_ST_NEW && s->delayed_until_ns == 0 &&
			 ndd_elapsed_ns(now_ns, s->since_ns) > SILENCE_NS)
			ndd_session_end(s, "the client has said nothing for 10 seconds");
	}
}
