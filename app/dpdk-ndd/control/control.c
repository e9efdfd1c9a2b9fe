/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's loop. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "control/control.h"
#include "control/daemon.h"
#include "control/events.h"
#include "control/reload.h"
#include "hostnet/links.h"
#include "metrics/stats.h"
#include "object/lost_memory.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "platform/pace.h"
#include "session/arrival.h"
#include "session/closer.h"
#include "session/end.h"
#include "session/incoming.h"
#include "session/send.h"
#include "session/listening.h"
#include "session/membership.h"
#include "session/rate.h"
#include "session/session.h"
#include "session/worker.h"

#define READY_MAX     64
#define FILES_OF_OURS 64  /* kept free for ports that open their links again, logs, and the like */
#define LONGEST_WAIT  250 /* ms: links, stalled clients, broken segments */
#define FAREWELL_NS   (500 * NDD_MS) /* the peers' DREPs at the end */

static void
on_wakeup(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	(void)w;
	(void)events;
	ndd_wakeup_drain(&d->wakeup);
}

static void
on_signal(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	struct signalfd_siginfo info;

	(void)events;
	while (read(w->fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGUSR1) {
			ndd_stats_log(d);
			continue;
		}
		if (info.ssi_signo == SIGHUP) {
			ndd_reload(d);
			continue;
		}
		ndd_notice("signal %u: ending", info.ssi_signo);
		d->stopping = true;
	}
}

void
ndd_lists_init(struct ndd *d)
{
	STAILQ_INIT(&d->arrivals);
	STAILQ_INIT(&d->hopeful);
	TAILQ_INIT(&d->sessions);
	TAILQ_INIT(&d->ended);
	TAILQ_INIT(&d->calling);
	ndd_followers_init(&d->followers);
	d->leave_look_ns = UINT64_MAX;
	TAILQ_INIT(&d->working_qps);
	d->work_look_ns = UINT64_MAX;
	TAILQ_INIT(&d->groups);
	d->delayed_until_ns = UINT64_MAX;
}

static bool
watch_signals(struct ndd *d)
{
	sigset_t set;
	int fd;

	sigemptyset(&set); /* blocked in all threads by main() */
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGHUP);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd >= 0 && ndd_watch_add(d, &d->signal_watch, fd, EPOLLIN, on_signal);
}

static bool
start_helpers(struct ndd *d)
{
	d->closer = ndd_closer_start();
	d->workers = ndd_workers_start(&d->wakeup, &d->plane.crowd);
	return d->closer != NULL && d->workers != NULL;
}

bool
ndd_control_init(struct ndd *d)
{
	ndd_lists_init(d);
	TAILQ_INIT(&d->accounts.principals);
	d->signal_watch.fd = d->wakeup.fd = -1;
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll_fd >= 0 && ndd_wakeup_init(&d->wakeup) &&
		ndd_watch_add(d, &d->wakeup_watch, d->wakeup.fd, EPOLLIN, on_wakeup) &&
		watch_signals(d) && start_helpers(d))
		return true;
	ndd_error("the control thread does not start: %s", strerror(errno));
	return false;
}

static int
control_wait_ms(const struct ndd *d, uint64_t now_ns)
{
	uint64_t deadline = ndd_control_deadline(d), ms;

	if (deadline <= now_ns)
		return 0;
	ms = (deadline - now_ns + NDD_MS - 1) / NDD_MS;
	return ms < LONGEST_WAIT ? (int)ms : LONGEST_WAIT;
}

static bool
nothing_waits(const struct ndd *d)
{
	const struct ndd_handover *h = &d->plane.rings;

	for (uint32_t i = 0; i < h->shards; i++)
		if (!rte_ring_empty(h->event[i]) || !ndd_up_empty(&h->up[i]))
			return false;
	return ndd_arrivals_are_quiet(d) && ndd_listening_is_quiet(d) &&
	       ndd_workers_quiet(d->workers) && ndd_incoming_is_quiet(d);
}

static void
serve_files(struct ndd *d, uint64_t now_ns)
{
	struct epoll_event ev[READY_MAX];
	int n, ms = TAILQ_EMPTY(&d->ended) ? control_wait_ms(d, now_ns) : 0;

	ndd_wakeup_before_sleep(&d->wakeup);
	if (!nothing_waits(d))
		ms = 0;
	n = epoll_wait(d->epoll_fd, ev, READY_MAX, ms);
	ndd_wakeup_after_sleep(&d->wakeup);
	for (int i = 0; i < n; i++) {
		struct ndd_watch *w = ev[i].data.ptr;

		w->ready(d, w, ev[i].events);
	}
}

static void
control_turn(struct ndd *d)
{
	uint64_t now_ns;

	ndd_pace(&d->pace, &d->plane.crowd);
	ndd_accounts_turn(&d->accounts);
	ndd_listening_admit(d);
	ndd_arrivals_begin(d);
	serve_files(d, ndd_now_ns());
	ndd_incoming_serve(d);
	now_ns = ndd_now_ns();
	ndd_control_receive(d, now_ns);
	ndd_workers_finish(d->workers);
	ndd_lost_memory(d);
	ndd_links_check(d, now_ns);
	ndd_session_check_stalled(d, now_ns);
	ndd_rate_go_on(d, now_ns);
	ndd_listening_again(d, now_ns);
	ndd_session_reap(d); /* no caller up the stack holds a session here */
	ndd_control_proceed(d, now_ns);
	ndd_listening_accept(d);
}

/* They may connect whatever the others' connections leave in time-wait. */
static bool
cm_reserve_all(struct ndd *d)
{
	const struct ndd_principal *p;

	TAILQ_FOREACH (p, &d->accounts.principals, next) {
		const uint64_t n = p->share[0][CONFIG_SHARE_connections].reserve;

		if (!roce_cm_reserve(d->cm, p->number, (uint32_t)n)) {
			ndd_error("principal \"%s\": there are no %" PRIu64 " connections for it",
				p->name, n);
			return false;
		}
	}
	return true;
}

/* Files that may be opened for clients: all but those that are open now, and some that ports open
 * again when their peers come back. */
static bool
accounts_start(struct ndd *d)
{
	char why[NDD_WHY_BYTES];
	struct rlimit lim;
	int lowest = dup(d->epoll_fd);

	if (lowest < 0 || getrlimit(RLIMIT_NOFILE, &lim) != 0) {
		ndd_error("open files: %s", strerror(errno));
		return false;
	}
	close(lowest);
	if (lim.rlim_cur < (rlim_t)lowest + FILES_OF_OURS + 1) {
		ndd_error("too few open files are allowed (RLIMIT_NOFILE)");
		return false;
	}
	if (!ndd_accounts_init(
		    &d->accounts, d->cfg, lim.rlim_cur - (rlim_t)lowest - FILES_OF_OURS, why)) {
		ndd_error("%s", why);
		return false;
	}
	if (ndd_incoming_start(d))
		return true;
	ndd_error("the control thread can't watch sockets: %s", strerror(errno));
	return false;
}

bool
ndd_control_listen(struct ndd *d)
{
	while (!d->stopping && net_probing(d->net) > 0)
		control_turn(d);
	return accounts_start(d) && cm_reserve_all(d) && ndd_principals_join(d) &&
	       ndd_listening_start(d);
}

void
ndd_control_run(struct ndd *d)
{
	ndd_sleep_precisely();
	while (!d->stopping)
		control_turn(d);
}

/* Clients are notified, connections end with a DREQ, and the peers have a moment to reply. */
void
ndd_control_farewell(struct ndd *d)
{
	uint64_t until_ns = ndd_now_ns() + FAREWELL_NS;
	struct roce_cm_usage usage;
	struct ndd_session *s;

	d->stopping = true;
	ndd_listening_admit(d);
	ndd_listening_stop(d);
	ndd_arrivals_end(d);
	while ((s = TAILQ_FIRST(&d->sessions)) != NULL)
		ndd_session_end(s, "the daemon is shutting down");
	do {
		control_turn(d);
		roce_cm_usage(d->cm, &usage);
	} while ((!TAILQ_EMPTY(&d->ended) || usage.conns != usage.timewait) &&
		 ndd_now_ns() < until_ns);
	/* What is in the rings still has to leave by the ports. */
	for (int i = 0; i < 100 && !rte_ring_empty(d->plane.rings.control_tx); i++)
		usleep(1000);
}

void
ndd_control_fini(struct ndd *d)
{
	ndd_listening_stop(d); /* of a start that failed behind it */
	if (d->signal_watch.fd >= 0)
		close(d->signal_watch.fd);
	ndd_closer_stop(d->closer);
	ndd_incoming_stop(d);
	(void)ndd_workers_stop(d->workers);
	ndd_wakeup_fini(&d->wakeup);
	if (d->epoll_fd >= 0)
		close(d->epoll_fd);
}
