/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>

#include "control/daemon.h"
#include "courier/line.h"
#include "platform/log.h"
#include "session/end.h"
#include "session/session.h"

struct ndd_session *
ndd_session_find(struct ndd *d, uint64_t serial)
{
	struct ndd_session *s;

	TAILQ_FOREACH (s, &d->sessions, next)
		if (s->serial == serial)
			return s;
	return NULL;
}

void
ndd_end_message(struct ndsh_ev_session_end *m, enum ndsh_status status, const char *why)
{
	*m = (struct ndsh_ev_session_end){.h = {.type = NDSH_EV_SESSION_END, .status = status}};
	(void)snprintf(m->reason, sizeof(m->reason), "%s", why);
}

void
ndd_tell_end(struct ndd_line *line, enum ndsh_status status, const char *why)
{
	struct ndsh_ev_session_end m;

	ndd_end_message(&m, status, why);
	(void)ndd_line_send(line, &m, sizeof(m), -1);
}

void
ndd_session_end(struct ndd_session *s, const char *why, ...)
{
	char reason[sizeof(((struct ndsh_ev_session_end *)NULL)->reason)];
	va_list ap;

	if (s->ended)
		return;
	s->ended = true;
	TAILQ_REMOVE(&s->daemon->sessions, s, next);
	TAILQ_INSERT_TAIL(&s->daemon->ended, s, next);
	if (why == NULL) {
		ndd_debug("session %lu: process %d is gone", s->serial, s->pid);
		return;
	}
	va_start(ap, why);
	vsnprintf(reason, sizeof(reason), why, ap);
	va_end(ap);
	ndd_log_limited(s->daemon->stopping ? NDD_LOG_INFO : NDD_LOG_WARNING,
		"session %lu of process %d ends: %s", s->serial, s->pid, reason);
	ndd_tell_end(s->line, NDSH_ERR_SESSION_ENDED, reason);
}
