/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/listening.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "control/daemon.h"
#include "platform/clock.h"
#include "platform/log.h"
#include "session/arrival.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83
#endif
#define BACKLOG 16 /* clients that find it full wait, and none waits behind many */
#define DEAF_NS (250 * NDD_MS)

/* ---- connections --------------------------------------------------------------------------- */

/* Clients that connect meanwhile wait. */
static void
listening_pause(struct ndd *d, struct ndd_listening *l)
{
	l->deaf_since_ns = ndd_now_ns();
	l->deaf = true;
	ndd_watch_change(d, &l->watch, 0);
}

static void
on_connection(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	struct ndd_listening *l = (struct ndd_listening *)w;

	(void)events;
	l->ready = !d->stopping;
	if (d->stopping)
		listening_pause(d, l);
}

/* Without a descriptor left, or memory, the socket would stay ready, and this be called in every
 * turn. */
static void
accept_some(struct ndd *d, struct ndd_listening *l)
{
	while (l->n < NDD_ACCEPTED_MAX) {
		int fd = accept4(l->watch.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && errno != EAGAIN && errno != ECONNABORTED && errno != EINTR)
			listening_pause(d, l);
		if (fd < 0)
			return;
		l->accepted[l->n++] = fd;
	}
}

void
ndd_listening_accept(struct ndd *d)
{
	for (uint32_t i = 0; i < d->listenings; i++) {
		if (d->listening[i].ready)
			accept_some(d, &d->listening[i]);
		d->listening[i].ready = false;
	}
}

static void
accepted_drop(struct ndd_listening *l, uint32_t n)
{
	l->n -= n;
	memmove(l->accepted, l->accepted + n, l->n * sizeof(l->accepted[0]));
}

/* The clients of one socket are in one queue: behind one that can neither be closed nor put away,
 * all of them wait. */
static void
admit_some(struct ndd *d, struct ndd_listening *l)
{
	uint32_t n = 0;

	while (n < l->n && ndd_arrival_admit(d, l->accepted[n], l->label))
		n++;
	accepted_drop(l, n);
	l->stuck = l->n != 0;
	if (l->stuck)
		listening_pause(d, l);
}

void
ndd_listening_admit(struct ndd *d)
{
	for (uint32_t i = 0; i < d->listenings; i++)
		if (!d->listening[i].stuck)
			admit_some(d, &d->listening[i]);
}

bool
ndd_listening_is_quiet(const struct ndd *d)
{
	for (uint32_t i = 0; i < d->listenings; i++)
		if (d->listening[i].n != 0 && !d->listening[i].stuck)
			return false;
	return true;
}

static bool
listening_hears(struct ndd *d, struct ndd_listening *l)
{
	if (l->stuck)
		admit_some(d, l);
	return !l->stuck;
}

void
ndd_listening_again(struct ndd *d, uint64_t now_ns)
{
	for (uint32_t i = 0; i < d->listenings && !d->stopping; i++) {
		struct ndd_listening *l = &d->listening[i];

		if (!l->deaf || ndd_elapsed_ns(now_ns, l->deaf_since_ns) < DEAF_NS)
			continue;
		l->deaf_since_ns = now_ns;
		l->deaf = !listening_hears(d, l);
		if (!l->deaf)
			ndd_watch_change(d, &l->watch, EPOLLIN);
	}
}

/* ---- sockets ------------------------------------------------------------------------------- */

static void
socket_drop(int fd, const char *path)
{
	int err = errno;

	(void)unlink(path);
	close(fd);
	errno = err;
}

/* The daemon that holds the lock owns the path: a socket there is a dead daemon's. */
static int
socket_open(const char *path, mode_t mode)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	/* Where the kernel can (Linux 6.16), it refuses messages that bring files. */
	(void)setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &(int){0}, sizeof(int));
	(void)snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	(void)unlink(path);
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0) {
		close(fd);
		return -1;
	}
	if (chmod(path, mode) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	socket_drop(fd, path);
	return -1;
}

bool
ndd_listening_add(struct ndd *d, int fd, const char *path, const char *label)
{
	struct ndd_listening *l = &d->listening[d->listenings];

	*l = (struct ndd_listening){.path = path, .label = label};
	if (!ndd_watch_add(d, &l->watch, fd, EPOLLIN, on_connection))
		return false;
	d->listenings++;
	return true;
}

static bool
listening_open(struct ndd *d, const char *path, uint32_t mode, const char *label)
{
	int fd = socket_open(path, mode);

	if (fd >= 0 && ndd_listening_add(d, fd, path, label))
		return true;
	ndd_error("control socket %s: %s", path, strerror(errno));
	if (fd >= 0)
		socket_drop(fd, path);
	return false;
}

/* The main one is the last: a program that waits for it finds them all. */
bool
ndd_listening_start(struct ndd *d)
{
	const struct config *cfg = d->cfg;

	for (uint32_t i = 0; i < cfg->sockets; i++)
		if (!listening_open(
			    d, cfg->socket[i].path, cfg->socket[i].mode, cfg->socket[i].label))
			return false;
	return listening_open(d, cfg->socket_path, cfg->socket_mode, "");
}

/* The sockets are left to the end of the process, and so is what has no place: files that wait in
 * them would be closed here. */
void
ndd_listening_stop(struct ndd *d)
{
	for (uint32_t i = 0; i < d->listenings; i++) {
		(void)shutdown(ndd_watch_take(d, &d->listening[i].watch), SHUT_RD); /* refuses */
		(void)unlink(d->listening[i].path);
	}
	d->listenings = 0;
}
