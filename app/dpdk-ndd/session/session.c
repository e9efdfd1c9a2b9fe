/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions begin and end here; what a client asks for in between is in message.c. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "account/credentials.h"
#include "control/daemon.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "session/adapter.h"
#include "session/class.h"
#include "session/closer.h"
#include "session/end.h"
#include "session/message.h"
#include "session/rate.h"
#include "session/receive.h"
#include "session/seat.h"
#include "session/send.h"
#include "session/session.h"

#define MESSAGES_PER_WAKE 16 /* of one session, then the others' turn */

static void
on_socket(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	struct ndd_session *s = (struct ndd_session *)w;
	uint64_t began_ns = ndd_now_ns();

	(void)d;
	if ((events & EPOLLOUT) && !s->ended)
		ndd_session_flush(s);
	for (int i = 0; i < MESSAGES_PER_WAKE && !s->ended; i++) {
		_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
		size_t bytes;

		/* First it reads the replies that wait for it; and the others of its principal may
		 * have used up the turn's time: the socket stays ready. */
		if (s->outgoing_count != 0 || !ndd_principal_has_time(s->account.principal) ||
			!ndd_rate_permits(s, began_ns))
			return;
		switch (ndd_receive(s->watch.fd, buf, sizeof(buf), &bytes)) {
		case NDD_RECEIVED:
			ndd_principal_command(s->account.principal, began_ns);
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
		began_ns = ndd_principal_charge(s->account.principal, began_ns);
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

/* ---- beginning ------------------------------------------------------------------------------ */

/* The process that connected, not a child that inherited the socket, keeps the session alive. */
static void
watch_process(struct ndd_session *s, int pidfd)
{
	s->pid_watch.fd = -1;
	if (pidfd >= 0 && !ndd_watch_add(s->daemon, &s->pid_watch, pidfd, EPOLLIN, on_process_end))
		close(pidfd);
}

static struct ndd_session *
session_new(struct ndd *d, int fd, struct ndd_seat *seat)
{
	struct ndd_session *s = calloc(1, sizeof(*s));

	if (s == NULL || !ndd_watch_add(d, &s->watch, fd, EPOLLIN | EPOLLRDHUP, on_socket)) {
		free(s);
		return NULL;
	}
	s->daemon = d;
	s->seat = seat;
	s->account = seat->account;
	s->serial = ++d->serial;
	s->since_ns = ndd_now_ns();
	s->state = NDSH_ST_NEW;
	STAILQ_INIT(&s->outgoing);
	ndd_tables_init(s, d->cfg);
	TAILQ_INSERT_TAIL(&d->sessions, s, next);
	d->session_count++;
	return s;
}

/* Of a process that has ended a child may still have the socket, which is no client. */
bool
ndd_session_begin(struct ndd *d, struct ndd_seat *seat)
{
	int pidfd = ndd_credentials_pidfd(seat->fd, seat->pid);
	struct ndd_session *s = NULL;

	if (pidfd >= 0 || errno != ESRCH)
		s = session_new(d, seat->fd, seat);
	if (s == NULL) {
		if (pidfd >= 0)
			close(pidfd);
		return false;
	}
	s->pid = seat->pid;
	watch_process(s, pidfd);
	ndd_debug("session %lu: process %d, %s", s->serial, s->pid, s->account.principal->name);
	return true;
}

/* ---- end ------------------------------------------------------------------------------------ */

static void
session_free(struct ndd *d, struct ndd_session *s)
{
	ndd_session_drop_outgoing(s);
	if (s->pid_watch.fd >= 0)
		ndd_watch_del(d, &s->pid_watch);
	ndd_session_free_lcore(s);
	ndd_tables_fini(s);
	TAILQ_REMOVE(&d->ended, s, next);
	d->session_count--;
	s->seat->fd = ndd_watch_take(d, &s->watch);
	ndd_closer_close(d->closer, s->seat);
	free(s);
}

/* As far as its principal's time goes. */
static void
session_take_down(struct ndd *d, struct ndd_session *s)
{
	struct ndd_principal *p = s->account.principal;
	uint64_t began_ns = ndd_now_ns();

	while (ndd_principal_has_time(p)) {
		bool done = ndd_tables_empty_some(s);

		began_ns = ndd_principal_charge(p, began_ns);
		if (!done)
			continue;
		session_free(d, s); /* and p, perhaps */
		return;
	}
}

void
ndd_session_reap(struct ndd *d)
{
	struct ndd_session *s, *next;
	struct ndd_seat *seat;

	for (s = TAILQ_FIRST(&d->ended); s != NULL; s = next) {
		next = TAILQ_NEXT(s, next);
		session_take_down(d, s);
	}
	while ((seat = ndd_closer_closed(d->closer)) != NULL)
		ndd_seat_drop(seat);
}
