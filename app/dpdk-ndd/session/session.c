/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions begin and end here; what a client asks for in between is in message.c. */
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "control/daemon.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "session/class.h"
#include "session/closer.h"
#include "session/end.h"
#include "session/message.h"
#include "session/receive.h"
#include "session/send.h"
#include "session/session.h"

#define MESSAGES_PER_WAKE 16 /* of one session, then the others' turn */
#define ACCEPTS_PER_WAKE  16
#define REFUSED_MAX	  32u /* above the limit, for as long as it takes to say so */
#define DEAF_NS		  (250 * NDD_MS)

static void
on_socket(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	struct ndd_session *s = (struct ndd_session *)w;

	(void)d;
	if ((events & EPOLLOUT) && !s->ended)
		ndd_session_flush(s);
	for (int i = 0; i < MESSAGES_PER_WAKE && !s->ended; i++) {
		_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
		size_t bytes;

		if (s->outgoing_count != 0)
			return; /* first it reads the replies that wait for it */
		switch (ndd_receive(s->watch.fd, buf, sizeof(buf), &bytes)) {
		case NDD_RECEIVED:
			ndd_session_message(s, buf, bytes);
			break;
		case NDD_RECEIVED_NOTHING:
			return;
		case NDD_RECEIVED_LONG:
			ndd_session_end(s, "a message longer than %u bytes", NDSH_MSG_BYTES);
			break;
		case NDD_RECEIVED_FILES:
			ndd_session_end(s, "a message that brings open files");
			break;
		case NDD_RECEIVED_END:
			ndd_session_end(s, NULL);
			break;
		}
	}
}

static void
on_process_end(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	(void)d;
	(void)events;
	ndd_session_end(
		(struct ndd_session *)((char *)w - offsetof(struct ndd_session, pid_watch)), NULL);
}

/* The process that connected, not a child that inherited the socket, keeps the session alive. */
static void
watch_process(struct ndd_session *s)
{
	int fd = (int)syscall(SYS_pidfd_open, s->pid, 0);

	s->pid_watch.fd = -1;
	if (fd >= 0 && !ndd_watch_add(s->daemon, &s->pid_watch, fd, EPOLLIN, on_process_end))
		close(fd);
}

uint32_t
ndd_session_room(const struct config *cfg)
{
	return cfg->max_sessions + REFUSED_MAX;
}

/* A session counts until its socket is closed. */
static uint32_t
sessions_taken(struct ndd *d)
{
	return d->session_count + ndd_closer_busy(d->closer);
}

static void
session_admit(struct ndd *d, int fd)
{
	struct ucred cred = {0};
	socklen_t bytes = sizeof(cred);
	struct ndd_session *s;

	s = calloc(1, sizeof(*s));
	if (s == NULL || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &bytes) != 0 ||
		!ndd_watch_add(d, &s->watch, fd, EPOLLIN | EPOLLRDHUP, on_socket)) {
		free(s);
		ndd_receive_close(d->closer, fd);
		return;
	}
	s->daemon = d;
	s->serial = ++d->serial;
	s->refused = sessions_taken(d) >= d->cfg->max_sessions;
	s->pid = cred.pid;
	s->uid = cred.uid;
	s->state = NDSH_ST_NEW;
	STAILQ_INIT(&s->outgoing);
	ndd_tables_init(s, d->cfg);
	watch_process(s);
	TAILQ_INSERT_TAIL(&d->sessions, s, next);
	d->session_count++;
	ndd_debug("session %lu: process %d, user %u", s->serial, s->pid, s->uid);
}

/* Clients that connect meanwhile wait. */
static void
listening_pause(struct ndd *d)
{
	d->deaf_since_ns = ndd_now_ns();
	d->deaf = true;
	ndd_watch_change(d, &d->listen_watch, 0);
}

/* Without a descriptor left, or memory, the listening socket would stay ready, and this be called
 * in every turn. */
void
ndd_session_accept(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	(void)events;
	for (int i = 0; i < ACCEPTS_PER_WAKE; i++) {
		int fd;

		if (d->stopping || sessions_taken(d) >= ndd_session_room(d->cfg)) {
			listening_pause(d);
			return;
		}
		fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			listening_pause(d);
		if (fd < 0)
			return;
		session_admit(d, fd);
	}
}

void
ndd_session_listen_again(struct ndd *d, uint64_t now_ns)
{
	if (!d->deaf || d->stopping || now_ns - d->deaf_since_ns < DEAF_NS)
		return;
	d->deaf = false;
	ndd_watch_change(d, &d->listen_watch, EPOLLIN);
}

void
ndd_session_reap(struct ndd *d)
{
	struct ndd_session *s;

	while ((s = TAILQ_FIRST(&d->ended)) != NULL) {
		ndd_tables_empty(s);
		ndd_session_drop_outgoing(s);
		ndd_receive_close(d->closer, ndd_watch_take(d, &s->watch));
		if (s->pid_watch.fd >= 0)
			ndd_watch_del(d, &s->pid_watch);
		if (s->lcore != NULL) {
			close(s->lcore->wake_fd);
			free(s->lcore->ahs.slot);
		}
		free(s->lcore);
		ndd_tables_fini(s);
		TAILQ_REMOVE(&d->ended, s, next);
		d->session_count--;
		free(s);
	}
}
