/* SPDX-License-Identifier: BSD-3-Clause */
#include "courier/line.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "courier/courier.h"
#include "courier/receive.h"
#include "shm/ndsh_msg.h"

enum { SOCKET = 1, OPEN = 4, SEND = 8, NEXT = 16, FREE = 32 };		 /* asked */
enum { REQUEST = 1, GONE = 2, TOO_LONG = 4, FILES = 8, NO_MEMORY = 16 }; /* told */

struct outgoing {
	struct ndd_stacked given; /* first */
	STAILQ_ENTRY(outgoing) next;
	int fd; /* to pass, or -1 */
	uint16_t bytes;
	uint8_t msg[];
};

struct ndd_line {
	struct ndd_errand errand; /* first */
	struct ndd_courier_file socket, process;
	/* the control thread's */
	struct ndd_courier *closing; /* runs the last errand */
	void (*heard)(void *owner);
	void *owner;
	uint32_t news, queued;
	/* handed over */
	struct ndd_stacked *given; /* to be sent */
	uint32_t sent;
	bool full;   /* the socket takes the next message when the client takes one */
	bool untold; /* no edge tells when it does */
	int *left;
	/* the courier's, and the request the control thread's while it has one */
	STAILQ_HEAD(, outgoing) outgoing;
	uint32_t files_unread; /* that were sent, at most so many of which are in the socket */
	bool watched, watched_for_room;
	bool deaf; /* receives no more */
	bool mute; /* sends no more */
	bool ends; /* this is its last errand */
	bool has_request;
	size_t bytes;
	_Alignas(8) uint8_t request[NDSH_MSG_BYTES];
};

/* ---- the courier: to the client ------------------------------------------------------------- */

enum outcome { SENT, NOT_NOW, NOT_AT_ALL };

/* File descriptors travel only this way: daemon to client. */
static ssize_t
message_send(int sock, const struct outgoing *o)
{
	struct iovec iov = {.iov_base = (void *)(uintptr_t)o->msg, .iov_len = o->bytes};
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	if (o->fd >= 0) {
		struct cmsghdr *c;

		memset(&control, 0, sizeof(control));
		mh.msg_control = control.room;
		mh.msg_controllen = sizeof(control.room);
		c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &o->fd, sizeof(int));
	}
	return sendmsg(sock, &mh, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* The socket tells when the last message is taken, but not how many are. It tells that there is
 * room while a message that goes still counts for one byte. */
static bool
may_pass_file(struct ndd_line *l)
{
	int unread;

	if (l->files_unread > 0 && ioctl(l->socket.fd, SIOCOUTQ, &unread) == 0 && unread <= 1)
		l->files_unread = 0;
	return l->files_unread < NDD_LINE_FILES_UNREAD;
}

/* A file that the kernel does not take is one of all that are under way for this user: the socket
 * does not tell when there are fewer, and it tells of each try. */
static enum outcome
line_try(struct ndd_line *l, const struct outgoing *o)
{
	bool untold;

	if (o->fd >= 0 && !may_pass_file(l))
		return NOT_NOW;
	if (message_send(l->socket.fd, o) >= 0) {
		l->files_unread += o->fd >= 0;
		return SENT;
	}
	untold = errno == ENOBUFS || errno == ETOOMANYREFS;
	if (untold)
		__atomic_store_n(&l->untold, true, __ATOMIC_RELAXED);
	return untold || errno == EAGAIN ? NOT_NOW : NOT_AT_ALL;
}

static void
outgoing_free(struct outgoing *o)
{
	if (o->fd >= 0)
		close(o->fd);
	free(o);
}

/* Counted as sent or, at the end, not any more. */
static void
outgoing_drop_first(struct ndd_line *l)
{
	struct outgoing *o = STAILQ_FIRST(&l->outgoing);

	STAILQ_REMOVE_HEAD(&l->outgoing, next);
	outgoing_free(o);
	__atomic_store_n(&l->sent, l->sent + 1, __ATOMIC_RELEASE);
}

static void
outgoing_take(struct ndd_line *l)
{
	struct ndd_stacked *first = ndd_stack_take(&l->given), *next;

	for (; first != NULL; first = next) {
		struct outgoing *o = (struct outgoing *)first;

		next = first->next;
		STAILQ_INSERT_TAIL(&l->outgoing, o, next);
	}
}

static void
line_tell_end(struct ndd_line *l, uint32_t why)
{
	l->deaf = true;
	ndd_errand_tell(&l->errand, why);
}

static void
line_break(struct ndd_line *l)
{
	if (!l->mute)
		line_tell_end(l, GONE);
	l->mute = true;
}

/* Each message goes through all that wait for it. */
static bool
line_is_tired(struct ndd_line *l)
{
	if (l->mute || STAILQ_EMPTY(&l->outgoing) || !ndd_errand_takes_long(&l->errand))
		return false;
	if (!l->ends)
		ndd_errand_ask(&l->errand, SEND);
	return true;
}

static void
line_flush(struct ndd_line *l)
{
	enum outcome outcome = SENT;

	outgoing_take(l);
	__atomic_store_n(&l->untold, false, __ATOMIC_RELAXED);
	while (!STAILQ_EMPTY(&l->outgoing)) {
		if (!l->mute)
			outcome = line_try(l, STAILQ_FIRST(&l->outgoing));
		if (outcome == NOT_NOW)
			break;
		if (outcome == NOT_AT_ALL)
			line_break(l);
		outgoing_drop_first(l);
		if (line_is_tired(l))
			break;
	}
	__atomic_store_n(&l->full, !STAILQ_EMPTY(&l->outgoing), __ATOMIC_RELAXED);
}

/* ---- the courier: from the client ----------------------------------------------------------- */

static void
line_receive(struct ndd_line *l)
{
	if (l->has_request || l->deaf || !l->watched || !STAILQ_EMPTY(&l->outgoing))
		return;
	switch (ndd_receive(l->socket.fd, l->request, sizeof(l->request), &l->bytes)) {
	case NDD_RECEIVED:
		l->has_request = true;
		ndd_errand_tell(&l->errand, REQUEST);
		break;
	case NDD_RECEIVED_NOTHING:
		break;
	case NDD_RECEIVED_LONG:
		line_tell_end(l, TOO_LONG);
		break;
	case NDD_RECEIVED_FILES:
		line_tell_end(l, FILES);
		break;
	case NDD_RECEIVED_END:
		line_tell_end(l, GONE);
		break;
	}
}

/* ---- the courier: its errands --------------------------------------------------------------- */

#define ALWAYS (EPOLLIN | EPOLLRDHUP)

/* A process that can't be watched is not: the socket tells most ends. */
static void
line_watch(struct ndd_line *l)
{
	l->watched = ndd_courier_watch(&l->socket, ALWAYS);
	l->watched_for_room = false;
	if (!l->watched)
		line_tell_end(l, NO_MEMORY);
	if (l->process.fd >= 0)
		(void)ndd_courier_watch(&l->process, EPOLLIN);
}

/* Each message that the client takes is an edge then, and each try that the kernel has no room for:
 * nobody needs them otherwise. */
static void
line_watch_room(struct ndd_line *l)
{
	const bool waits =
		!STAILQ_EMPTY(&l->outgoing) && !__atomic_load_n(&l->untold, __ATOMIC_RELAXED);

	if (l->watched && waits != l->watched_for_room)
		ndd_courier_watch_for(&l->socket, waits ? ALWAYS | EPOLLOUT : ALWAYS);
	l->watched_for_room = waits;
}

static void
line_hang_up(struct ndd_line *l)
{
	while (!STAILQ_EMPTY(&l->outgoing))
		outgoing_drop_first(l);
	if (l->watched)
		ndd_courier_unwatch(&l->socket);
	if (l->process.fd >= 0)
		close(l->process.fd);
	*l->left = ndd_receive_close(l->socket.fd) ? -1 : l->socket.fd;
	ndd_errand_done(&l->errand);
}

static void
line_run(struct ndd_errand *e, uint32_t asked)
{
	struct ndd_line *l = (struct ndd_line *)e;

	if ((asked & NDD_ERRAND_GONE) != 0)
		line_tell_end(l, GONE);
	if (asked == NDD_ERRAND_GONE)
		return;
	if ((asked & OPEN) != 0)
		line_watch(l);
	if ((asked & NEXT) != 0)
		l->has_request = false;
	l->ends = (asked & FREE) != 0;
	line_flush(l);
	if (l->ends) {
		line_hang_up(l);
		return;
	}
	line_watch_room(l);
	line_receive(l);
}

/* ---- the control thread --------------------------------------------------------------------- */

static void
line_hear(struct ndd_errand *e, uint32_t told)
{
	struct ndd_line *l = (struct ndd_line *)e;

	l->news |= told;
	if (l->heard != NULL)
		l->heard(l->owner);
}

struct ndd_line *
ndd_line_new(struct ndd_courier *c, bool local, int fd)
{
	struct ndd_line *l = calloc(1, sizeof(*l));

	if (l == NULL)
		return NULL;
	l->errand = (struct ndd_errand){
		.courier = local ? ndd_courier_local(c) : c, .run = line_run, .hear = line_hear};
	l->socket = (struct ndd_courier_file){.errand = &l->errand, .fd = fd, .bit = SOCKET};
	l->process =
		(struct ndd_courier_file){.errand = &l->errand, .fd = -1, .bit = NDD_ERRAND_GONE};
	l->closing = c;
	STAILQ_INIT(&l->outgoing);
	return l;
}

void
ndd_line_open(struct ndd_line *l, int pidfd, void (*heard)(void *owner), void *owner)
{
	l->process.fd = pidfd;
	l->heard = heard;
	l->owner = owner;
	ndd_errand_ask(&l->errand, OPEN);
}

enum ndd_line_end
ndd_line_end(const struct ndd_line *l)
{
	if (l->news & TOO_LONG)
		return NDD_LINE_LONG;
	if (l->news & FILES)
		return NDD_LINE_FILES;
	if (l->news & NO_MEMORY)
		return NDD_LINE_NO_MEMORY;
	return l->news & GONE ? NDD_LINE_GONE : NDD_LINE_OPEN;
}

const void *
ndd_line_request(const struct ndd_line *l, size_t *bytes)
{
	if ((l->news & REQUEST) == 0)
		return NULL;
	*bytes = l->bytes;
	return l->request;
}

void
ndd_line_next(struct ndd_line *l)
{
	l->news &= ~(uint32_t)REQUEST;
	ndd_errand_ask(&l->errand, NEXT);
}

bool
ndd_line_send(struct ndd_line *l, const void *msg, size_t bytes, int fd)
{
	struct outgoing *o = malloc(sizeof(*o) + bytes);

	if (o == NULL) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	o->fd = fd;
	o->bytes = (uint16_t)bytes;
	memcpy(o->msg, msg, bytes);
	l->queued++;
	ndd_stack_push(&l->given, &o->given);
	ndd_errand_ask(&l->errand, SEND);
	return true;
}

uint32_t
ndd_line_sent(const struct ndd_line *l)
{
	return __atomic_load_n(&l->sent, __ATOMIC_ACQUIRE);
}

uint32_t
ndd_line_waiting(const struct ndd_line *l)
{
	return l->queued - ndd_line_sent(l);
}

bool
ndd_line_is_full(const struct ndd_line *l)
{
	return __atomic_load_n(&l->full, __ATOMIC_RELAXED);
}

void
ndd_line_again(struct ndd_line *l)
{
	if (__atomic_load_n(&l->untold, __ATOMIC_RELAXED))
		ndd_errand_ask(&l->errand, SEND);
}

/* The control thread does not wait for the close of a file that it trusts, either. Until then it is
 * the courier itself, so nothing is asked for meanwhile. */
static void
line_give_over(struct ndd_line *l)
{
	if (l->watched)
		ndd_courier_unwatch(&l->socket);
	if (l->process.fd >= 0)
		ndd_courier_unwatch(&l->process);
	l->watched = false;
	l->errand.courier = l->closing;
}

void
ndd_line_close(struct ndd_line *l, int *left, void (*closed)(void *owner), void *owner)
{
	l->heard = NULL;
	l->left = left;
	if (l->errand.courier != l->closing)
		line_give_over(l);
	ndd_errand_ask_last(&l->errand, FREE, closed, owner);
}
