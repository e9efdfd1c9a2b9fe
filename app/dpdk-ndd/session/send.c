/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread serves all clients and waits for none of them: what a client does not take is
 * queued, and one that does not read for seconds loses its session. */
#include "session/send.h"

#include <unistd.h>

#include "control/daemon.h"
#include "courier/line.h"
#include "platform/clock.h"
#include "session/end.h"
#include "session/session.h"

#define OUTGOING_BASE	  256u /* replies, and events of the session itself */
#define OUTGOING_OBJECT	  4u   /* events of an object: none has more of them without a request */
#define OUTGOING_STALL_NS (5 * NDD_S)
#define SILENCE_NS	  (10 * NDD_S)

/* A client whose threads do not run for a while is not one that does not read, however many objects
 * have something to say meanwhile: a thousand connections may end at once. While something waits,
 * its requests do not add to it. */
static uint32_t
outgoing_most(const struct ndd_session *s)
{
	return OUTGOING_BASE + OUTGOING_OBJECT * s->account.objects;
}

void
ndd_session_send(struct ndd_session *s, const void *msg, size_t bytes, int fd)
{
	const bool may = !s->ended && ndd_line_waiting(s->line) < outgoing_most(s);

	if (!may && fd >= 0)
		close(fd);
	if (!may)
		ndd_session_end(s, "the client does not read its messages");
	else if (!ndd_line_send(s->line, msg, bytes, fd))
		ndd_session_end(s, "no memory for a message to the client");
}

/* The time begins anew with each message that it takes. */
static bool
has_stalled(struct ndd_session *s, uint64_t now_ns)
{
	const uint32_t sent = ndd_line_sent(s->line);
	const bool full = ndd_line_is_full(s->line);

	if (full && s->full && sent == s->full_sent)
		return ndd_elapsed_ns(now_ns, s->full_since_ns) > OUTGOING_STALL_NS;
	s->full = full;
	s->full_sent = sent;
	s->full_since_ns = now_ns;
	return false;
}

static void
session_check(struct ndd_session *s, uint64_t now_ns)
{
	ndd_line_again(s->line);
	if (has_stalled(s, now_ns))
		ndd_session_end(s, "the client has not read its messages for 5 seconds");
	else if (s->state == NDSH_ST_NEW && s->delayed_until_ns == 0 &&
		 ndd_elapsed_ns(now_ns, s->since_ns) > SILENCE_NS)
		ndd_session_end(s, "the client has said nothing for 10 seconds");
}

void
ndd_session_check_stalled(struct ndd *d, uint64_t now_ns)
{
	struct ndd_session *s, *next;

	for (s = TAILQ_FIRST(&d->sessions); s != NULL; s = next) {
		next = TAILQ_NEXT(s, next);
		session_check(s, now_ns);
	}
}
