/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors in the control thread's epoll. */
#include "control/watch.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "control/daemon.h"

static struct ndd *
daemon_new(void)
{
	struct ndd *d = calloc(1, sizeof(*d));

	d->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return d;
}

static unsigned called;

static void
on_ready(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	(void)d;
	(void)w;
	(void)events;
	called++;
}

Test(watch, a_ready_descriptor_is_found_by_its_watch)
{
	struct ndd *d = daemon_new();
	struct ndd_watch w[2];
	struct epoll_event ev[4];

	for (int i = 0; i < 2; i++)
		cr_assert(ndd_watch_add(
			d, &w[i], eventfd((unsigned)i, EFD_NONBLOCK), EPOLLIN, on_ready));
	cr_assert(eq(int, epoll_wait(d->epoll_fd, ev, 4, 0), 1), "the first one is at zero");
	cr_assert(eq(ptr, ev[0].data.ptr, &w[1]));
	w[1].ready(d, &w[1], ev[0].events);
	cr_expect(eq(u32, called, 1));
}

Test(watch, del_closes_the_descriptor)
{
	struct ndd *d = daemon_new();
	struct ndd_watch w;
	struct epoll_event ev[4];
	int fd = eventfd(1, EFD_NONBLOCK), copy = dup(fd); /* so that epoll would still see it */

	cr_assert(ndd_watch_add(d, &w, fd, EPOLLIN, on_ready));
	ndd_watch_del(d, &w);
	cr_expect(eq(int, w.fd, -1));
	cr_expect(lt(int, fcntl(fd, F_GETFD), 0));
	cr_expect(eq(int, epoll_wait(d->epoll_fd, ev, 4, 0), 0));
	close(copy);
}

/* The kernel refuses regular files; the caller closes them. */
Test(watch, a_refused_descriptor_is_still_the_callers)
{
	struct ndd *d = daemon_new();
	struct ndd_watch w;
	FILE *file = tmpfile();

	cr_expect(not(ndd_watch_add(d, &w, fileno(file), EPOLLIN, on_ready)));
	cr_expect(eq(int, w.fd, -1));
	cr_expect(ge(int, fcntl(fileno(file), F_GETFD), 0));
	fclose(file);
}
