/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/arrival.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "account/credentials.h"
#include "control/daemon.h"
#include "courier/receive.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "session/end.h"
#include "session/seat.h"
#include "session/session.h"

#define HOPE_NS	       NDD_S
#define HOPEFUL_BUDGET 32u /* in a turn */

/* It has closed its socket: whatever it said before, it needs no session. */
static bool
has_left(int fd)
{
	struct pollfd p = {.fd = fd};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLHUP) != 0;
}

/* ---- connecting ---------------------------------------------------------------------------- */

static bool
rules_name_cgroups(const struct config *cfg)
{
	for (uint32_t i = 0; i < cfg->principals; i++)
		if (cfg->principal[i].cgroup[0] != '\0')
			return true;
	return false;
}

static bool
credentials_read(const struct ndd *d, struct ndd_credentials *cred, int fd, const char *label)
{
	return ndd_credentials_of(cred, fd, label, rules_name_cgroups(d->cfg));
}

static void
client_refuse(struct ndd_seat *seat, const struct ndd_refusal *why)
{
	ndd_log_limited(NDD_LOG_WARNING, "process %d is refused: %s", seat->pid, why->why);
	ndd_tell_end(seat->line, why->status, why->why);
	ndd_seat_hang_up(seat);
}

static bool
hope_lasts(const struct ndd_seat *seat, uint64_t now_ns)
{
	return ndd_elapsed_ns(now_ns, seat->since_ns) <= HOPE_NS;
}

/* No seat of its principal's has come back since it asked last. */
static bool
nothing_changed(const struct ndd_seat *seat)
{
	return seat->before == seat->account.principal->leaving;
}

/* What a session of its principal has left is being closed, and that takes a moment: it may be a
 * client that has closed one and opens the next. */
static bool
may_hope(struct ndd_seat *seat, const struct ndd_refusal *why, uint64_t now_ns)
{
	const struct ndd_principal *p = seat->account.principal;

	seat->before = p->leaving;
	return why->status == NDSH_ERR_NO_RESOURCES && p->hopeful < p->leaving &&
	       hope_lasts(seat, now_ns);
}

static void
hopeful_add(struct ndd_seat_list *list, struct ndd_seat *seat)
{
	seat->account.principal->hopeful++;
	STAILQ_INSERT_TAIL(list, seat, next);
}

static struct ndd_seat *
seat_connected(struct ndd *d, struct ndd_seat *seat, int fd, struct ndd_refusal *why)
{
	if (seat == NULL || ndd_seat_connect(seat, fd, d->closer))
		return seat;
	why->status = NDSH_ERR_NO_RESOURCES;
	(void)snprintf(why->why, sizeof(why->why), "no thread for %s: %s",
		seat->account.principal->name, strerror(errno));
	ndd_seat_drop(seat);
	return NULL;
}

/* Without a place or a courier its socket is closed here, whatever waits for it: else all others
 * would wait behind it. False: files lie in it. */
static bool
refuse_here(int fd, pid_t pid, const struct ndd_refusal *why)
{
	struct ndsh_ev_session_end m;

	ndd_log_limited(NDD_LOG_WARNING, "process %d is refused: %s", pid, why->why);
	ndd_end_message(&m, why->status, why->why);
	(void)send(fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
	return ndd_receive_close(fd);
}

static void
arrival_add(struct ndd *d, struct ndd_seat *seat, const struct ndd_refusal *why, uint64_t now_ns)
{
	seat->since_ns = now_ns;
	if (!seat->stranger)
		STAILQ_INSERT_TAIL(&d->arrivals, seat, next);
	else if (may_hope(seat, why, now_ns))
		hopeful_add(&d->hopeful, seat);
	else
		client_refuse(seat, why);
}

bool
ndd_arrival_admit(struct ndd *d, int fd, const char *label)
{
	struct ndd_refusal why = {NDSH_ERR_ACCESS, "the kernel does not say who it is"};
	const uint64_t began_ns = ndd_now_ns();
	struct ndd_seat *seat = NULL;
	struct ndd_credentials cred;

	if (has_left(fd) && ndd_receive_close(fd))
		return true;
	if (credentials_read(d, &cred, fd, label))
		seat = seat_connected(d, ndd_seat_take(&d->accounts, &cred, &why), fd, &why);
	if (seat == NULL) {
		struct ndd_refusal none;

		seat = seat_connected(d, ndd_seat_take_stranger(&d->accounts, &cred), fd, &none);
	}
	if (seat == NULL)
		return refuse_here(fd, cred.pid, &why);
	seat->pid = cred.pid;
	arrival_add(d, seat, &why, began_ns);
	(void)ndd_principal_charge(seat->account.principal, began_ns);
	return true;
}

/* ---- sessions ------------------------------------------------------------------------------ */

static void
arrival_begin(struct ndd *d, struct ndd_seat *seat)
{
	struct ndd_principal *p = ndd_principal_hold(seat->account.principal);
	const uint64_t began_ns = ndd_now_ns();

	if (has_left(seat->fd) || !ndd_session_begin(d, seat))
		ndd_seat_hang_up(seat);
	(void)ndd_principal_charge(p, began_ns);
	ndd_principal_put(&d->accounts, p);
}

bool
ndd_arrivals_are_quiet(const struct ndd *d)
{
	const struct ndd_seat *seat;

	STAILQ_FOREACH (seat, &d->hopeful, next)
		if (!nothing_changed(seat))
			return false;
	return STAILQ_EMPTY(&d->arrivals);
}

static void
hopeful_ask_again(struct ndd *d, uint64_t now_ns)
{
	struct ndd_seat_list waiting = STAILQ_HEAD_INITIALIZER(waiting);
	struct ndd_refusal why;
	struct ndd_seat *seat;
	uint32_t asked = 0;

	while (asked++ < HOPEFUL_BUDGET && (seat = STAILQ_FIRST(&d->hopeful)) != NULL) {
		STAILQ_REMOVE_HEAD(&d->hopeful, next);
		seat->account.principal->hopeful--;
		if (nothing_changed(seat) && hope_lasts(seat, now_ns))
			hopeful_add(&waiting, seat);
		else if (ndd_seat_take_again(seat, &why))
			STAILQ_INSERT_TAIL(&d->arrivals, seat, next);
		else if (may_hope(seat, &why, now_ns))
			hopeful_add(&waiting, seat);
		else
			client_refuse(seat, &why);
	}
	STAILQ_CONCAT(&d->hopeful, &waiting);
}

void
ndd_arrivals_begin(struct ndd *d)
{
	struct ndd_seat_list waiting = STAILQ_HEAD_INITIALIZER(waiting);
	struct ndd_seat *seat;

	if (!STAILQ_EMPTY(&d->hopeful))
		hopeful_ask_again(d, ndd_now_ns());
	while ((seat = STAILQ_FIRST(&d->arrivals)) != NULL) {
		STAILQ_REMOVE_HEAD(&d->arrivals, next);
		if (ndd_principal_has_half(seat->account.principal))
			arrival_begin(d, seat);
		else
			STAILQ_INSERT_TAIL(&waiting, seat, next);
	}
	STAILQ_CONCAT(&d->arrivals, &waiting);
}

void
ndd_arrivals_end(struct ndd *d)
{
	struct ndd_seat *seat;

	STAILQ_CONCAT(&d->arrivals, &d->hopeful);
	while ((seat = STAILQ_FIRST(&d->arrivals)) != NULL) {
		STAILQ_REMOVE_HEAD(&d->arrivals, next);
		ndd_tell_end(seat->line, NDSH_ERR_SESSION_ENDED, "the daemon is shutting down");
		ndd_seat_hang_up(seat);
	}
}
