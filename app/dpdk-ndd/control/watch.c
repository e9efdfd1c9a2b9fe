/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/epoll.h>
#include <unistd.h>

#include "control/daemon.h"
#include "control/watch.h"

bool
ndd_watch_add(struct ndd *d, struct ndd_watch *w, int fd, uint32_t events,
	void (*ready)(struct ndd *d, struct ndd_watch *w, uint32_t events))
{
	struct epoll_event ev = {.events = events, .data.ptr = w};

	w->fd = fd;
	w->ready = ready;
	if (epoll_ctl(d->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0)
		return true;
	w->fd = -1;
	return false;
}

void
ndd_watch_change(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = w};

	(void)epoll_ctl(d->epoll_fd, EPOLL_CTL_MOD, w->fd, &ev);
}

int
ndd_watch_take(struct ndd *d, struct ndd_watch *w)
{
	int fd = w->fd;

	(void)epoll_ctl(d->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
	w->fd = -1;
	return fd;
}

void
ndd_watch_del(struct ndd *d, struct ndd_watch *w)
{
	close(ndd_watch_take(d, w));
}
