/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/rate.h"

#include "control/daemon.h"
#include "platform/clock.h"
#include "session/incoming.h"
#include "session/session.h"

/* All sessions of a principal wait for the same token. Not for each one, so that many sessions that
 * wait cost nothing to speak of; tokens that come meanwhile are not lost. */
#define DELAY_NS (5 * NDD_MS)

static void
session_delay(struct ndd_session *s, uint64_t until_ns)
{
	struct ndd *d = s->daemon;

	s->account.principal->commands_delayed++;
	d->accounts.commands_delayed++;
	s->delayed_until_ns = until_ns;
	if (until_ns < d->delayed_until_ns)
		d->delayed_until_ns = until_ns;
}

bool
ndd_rate_permits(struct ndd_session *s, uint64_t now_ns)
{
	const uint64_t ready_ns = ndd_principal_command_ns(s->account.principal);

	if (s->delayed_until_ns != 0)
		return false;
	if (ready_ns <= now_ns)
		return true;
	session_delay(s, ready_ns > now_ns + DELAY_NS ? ready_ns : now_ns + DELAY_NS);
	return false;
}

void
ndd_rate_go_on(struct ndd *d, uint64_t now_ns)
{
	struct ndd_session *s;

	if (now_ns < d->delayed_until_ns)
		return;
	d->delayed_until_ns = UINT64_MAX;
	TAILQ_FOREACH (s, &d->sessions, next) {
		if (s->delayed_until_ns > now_ns && s->delayed_until_ns < d->delayed_until_ns)
			d->delayed_until_ns = s->delayed_until_ns;
		if (s->delayed_until_ns == 0 || s->delayed_until_ns > now_ns)
			continue;
		s->delayed_until_ns = 0;
		ndd_session_heard(s);
	}
}
