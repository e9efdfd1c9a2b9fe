/* SPDX-License-Identifier: BSD-3-Clause */
/* The control thread's loop. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
#include "session/closer.h"
#include "session/end.h"
#include "session/send.h"
#include "session/session.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
#define READY_MAX    64
#define LONGEST_WAIT 250	    /* ms: links, stalled clients, broken segments */
#define FAREWELL_NS  (500 * NDD_MS) /* the peers' DREPs at the end */

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

static int
control_open_socket(const struct config *cfg)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	/* Where the kernel can (Linux 6.16), it refuses messages that bring files. */
	(void)setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &(int){0}, sizeof(int));
	memcpy(addr.sun_path, cfg->socket_path, sizeof(addr.sun_path));
	/* The daemon that holds the lock owns the path: a socket there is a dead daemon's. */
	(void)unlink(cfg->socket_path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 ||
		chmod(cfg->socket_path, cfg->socket_mode) != 0 || listen(fd, 128) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void
ndd_lists_init(struct ndd *d)
{
	TAILQ_INIT(&d->sessions);
	TAILQ_INIT(&d->ended);
	TAILQ_INIT(&d->conns);
	TAILQ_INIT(&d->paths);
	TAILQ_INIT(&d->ahs);
	TAILQ_INIT(&d->groups);
}

bool
ndd_control_init(struct ndd *d)
{
	sigset_t set;
	int fd;

	ndd_lists_init(d);
	d->conn_hops.deadline_ns = d->path_hops.deadline_ns = d->ah_hops.deadline_ns = UINT64_MAX;
	d->listen_watch.fd = -1;
	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	d->closer = ndd_closer_start(ndd_session_room(d->cfg));
	if (d->epoll_fd < 0 || d->closer == NULL || !ndd_wakeup_init(&d->wakeup) ||
		!ndd_watch_add(d, &d->wakeup_watch, d->wakeup.fd, EPOLLIN, on_wakeup))
		return false;
	sigemptyset(&set); /* blocked in all threads by main() */
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGHUP);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0 || !ndd_watch_add(d, &d->signal_watch, fd, EPOLLIN, on_signal))
		return false;
	return true;
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
rings_empty(const struct ndd *d)
{
	const struct ndd_handover *h = &d->plane.rings;

	for (uint32_t i = 0; i < h->shards; i++)
		if (!rte_ring_empty(h->event[i]) || !rte_ring_empty(h->control_rx[i]))
			return false;
	return true;
}

static void
control_turn(struct ndd *d)
{
	struct epoll_event ev[READY_MAX];
	uint64_t now_ns = ndd_now_ns();
	int n, ms = control_wait_ms(d, now_ns);

	ndd_wakeup_before_sleep(&d->wakeup);
	if (!rings_empty(d))
		ms = 0;
	n = epoll_wait(d->epoll_fd, ev, READY_MAX, ms);
	ndd_wakeup_after_sleep(&d->wakeup);
	for (int i = 0; i < n; i++) {
		struct ndd_watch *w = ev[i].data.ptr;

		w->ready(d, w, ev[i].events);
	}
	now_ns = ndd_now_ns();
	ndd_control_receive(d, now_ns);
	ndd_lost_memory(d);
	ndd_links_check(d, now_ns);
	ndd_session_check_stalled(d, now_ns);
	ndd_session_listen_again(d, now_ns);
	ndd_session_reap(d); /* no caller up the stack holds a session here */
	ndd_control_proceed(d, now_ns);
}

bool
ndd_control_listen(struct ndd *d)
{
	int fd;

	while (!d->stopping && net_probing(d->net) > 0)
		control_turn(d);
	fd = control_open_socket(d->cfg);
	if (fd < 0 || !ndd_watch_add(d, &d->listen_watch, fd, EPOLLIN, ndd_session_accept)) {
		ndd_error("control socket %s: %s", d->cfg->socket_path, strerror(errno));
		return false;
	}
	ndd_notice("ready: %s", d->cfg->socket_path);
	return true;
}

void
ndd_control_run(struct ndd *d)
{
	while (!d->stopping)
		control_turn(d);
}

/* Clients are notified, connections end with a DREQ, and the peers have a moment to reply. The
 * listening socket is left to the end of the process: files that wait in it to be accepted would be
 * closed here. */
void
ndd_control_farewell(struct ndd *d)
{
	uint64_t until_ns = ndd_now_ns() + FAREWELL_NS;
	struct roce_cm_usage usage;
	struct ndd_session *s;

	d->stopping = true;
	if (d->listen_watch.fd >= 0) {
		(void)shutdown(ndd_watch_take(d, &d->listen_watch), SHUT_RD); /* refuses */
		(void)unlink(d->cfg->socket_path);
	}
	while ((s = TAILQ_FIRST(&d->sessions)) != NULL)
		ndd_session_end(s, "the daemon is shutting down");
	do {
		control_turn(d);
		roce_cm_usage(d->cm, &usage);
	} while (usage.conns != usage.timewait && ndd_now_ns() < until_ns);
	/* What is in the rings still has to leave by the ports. */
	for (int i = 0; i < 100 && !rte_ring_empty(d->plane.rings.control_tx); i++)
		usleep(1000);
}

void
ndd_control_fini(struct ndd *d)
{
	if (d->signal_watch.fd >= 0)
		close(d->signal_watch.fd);
	ndd_closer_stop(d->closer);
	ndd_wakeup_fini(&d->wakeup);
	if (d->epoll_fd >= 0)
		close(d->epoll_fd);
}
