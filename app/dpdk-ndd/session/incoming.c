/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/incoming.h"

#include <sys/epoll.h>

#include "control/daemon.h"
#include "courier/courier.h"
#include "courier/line.h"
#include "platform/clock.h"
#include "session/end.h"
#include "session/message.h"
#include "session/rate.h"
#include "session/session.h"

static void
on_local_files(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	(void)w;
	(void)events;
	ndd_courier_serve(d->accounts.couriers.local);
}

bool
ndd_incoming_start(struct ndd *d)
{
	struct ndd_couriers *all = &d->accounts.couriers;

	all->control = &d->wakeup;
	all->local = ndd_courier_start_local(all);
	return all->local != NULL && ndd_watch_add(d, &d->local_watch, ndd_courier_fd(all->local),
					     EPOLLIN, on_local_files);
}

void
ndd_incoming_stop(struct ndd *d)
{
	ndd_courier_free_local(d->accounts.couriers.local);
	d->accounts.couriers.local = NULL;
}

void
ndd_session_heard(struct ndd_session *s)
{
	if (s->calls || s->ended)
		return;
	s->calls = true;
	TAILQ_INSERT_TAIL(&s->daemon->calling, s, calling);
}

void
ndd_incoming_forget(struct ndd_session *s)
{
	if (s->calls)
		TAILQ_REMOVE(&s->daemon->calling, s, calling);
	s->calls = false;
}

bool
ndd_incoming_is_quiet(const struct ndd *d)
{
	return TAILQ_EMPTY(&d->calling) && ndd_couriers_are_quiet(&d->accounts.couriers);
}

static void
session_hang_up(struct ndd_session *s)
{
	switch (ndd_line_end(s->line)) {
	case NDD_LINE_OPEN:
		break;
	case NDD_LINE_GONE:
		ndd_session_end(s, NULL);
		break;
	case NDD_LINE_LONG:
		ndd_session_end(s, "a message longer than %u bytes", NDSH_MSG_BYTES);
		break;
	case NDD_LINE_FILES:
		ndd_session_end(s, "a message that brings open files");
		break;
	case NDD_LINE_NO_MEMORY:
		ndd_session_end(s, "the kernel has no memory to watch its socket");
		break;
	}
}

/* False: the others of its principal have used up the turn's time. */
static bool
session_serve(struct ndd_session *s)
{
	struct ndd_principal *p = s->account.principal;
	uint64_t began_ns = ndd_now_ns();
	size_t bytes;
	const void *request = ndd_line_request(s->line, &bytes);

	/* What a dead process asked for before does not matter. */
	if (request == NULL || ndd_line_end(s->line) == NDD_LINE_GONE) {
		session_hang_up(s);
		return true;
	}
	if (!ndd_principal_has_time(p))
		return false;
	if (!ndd_rate_permits(s, began_ns))
		return true;
	ndd_principal_command(p, began_ns);
	ndd_session_message(s, request, bytes);
	ndd_line_next(s->line);
	(void)ndd_principal_charge(p, began_ns);
	return true;
}

/* What it does for one of them may end others. */
void
ndd_incoming_serve(struct ndd *d)
{
	struct ndd_session_list waiting = TAILQ_HEAD_INITIALIZER(waiting);
	struct ndd_session *s;

	ndd_couriers_collect(&d->accounts.couriers);
	while ((s = TAILQ_FIRST(&d->calling)) != NULL) {
		TAILQ_REMOVE(&d->calling, s, calling);
		s->calls = !s->ended && !session_serve(s);
		if (s->calls)
			TAILQ_INSERT_TAIL(&waiting, s, calling);
	}
	TAILQ_CONCAT(&d->calling, &waiting, calling);
}
