/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions begin and end here; what a client asks for in between is in incoming.c. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "account/credentials.h"
#include "control/daemon.h"
#include "courier/line.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "session/adapter.h"
#include "session/class.h"
#include "session/closer.h"
#include "session/end.h"
#include "session/incoming.h"
#include "session/seat.h"
#include "session/session.h"

/* ---- beginning ------------------------------------------------------------------------------ */

static void
on_news(void *owner)
{
	ndd_session_heard(owner);
}

static struct ndd_session *
session_new(struct ndd *d, struct ndd_seat *seat)
{
	struct ndd_session *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->daemon = d;
	s->seat = seat;
	s->line = seat->line;
	s->account = seat->account;
	s->pid = seat->pid;
	s->serial = ++d->serial;
	s->since_ns = ndd_now_ns();
	s->state = NDSH_ST_NEW;
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
		s = session_new(d, seat);
	if (s == NULL) {
		if (pidfd >= 0)
			close(pidfd);
		return false;
	}
	/* The process that connected, not a child that inherited the socket, keeps it alive. */
	ndd_line_open(s->line, pidfd, on_news, s);
	ndd_debug("session %lu: process %d, %s", s->serial, s->pid, s->account.principal->name);
	return true;
}

/* ---- end ------------------------------------------------------------------------------------ */

static void
session_free(struct ndd *d, struct ndd_session *s)
{
	ndd_incoming_forget(s);
	ndd_session_free_lcore(s);
	ndd_tables_fini(s);
	TAILQ_REMOVE(&d->ended, s, next);
	d->session_count--;
	ndd_seat_hang_up(s->seat);
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
