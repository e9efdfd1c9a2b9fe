/* SPDX-License-Identifier: BSD-3-Clause */
#include "courier/bell.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "courier/courier.h"

enum { RING = 2, FREE = 4 }; /* errands */

struct ndd_bell {
	struct ndd_errand errand; /* first */
	int fd;
	bool direct;
	uint64_t *woken;
};

/* ---- the courier, or an lcore -------------------------------------------------------------- */

/* Full is readable already, and closed has no reader. False: the kernel has no memory for a byte,
 * or the daemon's cgroup has none left. */
static bool
bell_tell(const struct ndd_bell *b)
{
	if (send(b->fd, "", 1, MSG_DONTWAIT | MSG_NOSIGNAL) == 1) {
		__atomic_fetch_add(b->woken, 1, __ATOMIC_RELAXED);
		return true;
	}
	return errno == EAGAIN || errno == EPIPE;
}

static void
bell_run(struct ndd_errand *e, uint32_t asked)
{
	struct ndd_bell *b = (struct ndd_bell *)e;

	if ((asked & RING) != 0 && !bell_tell(b) && (asked & FREE) == 0)
		ndd_errand_ask_later(e, RING);
	if ((asked & FREE) == 0)
		return;
	close(b->fd);
	ndd_errand_done(e);
}

/* ---- others -------------------------------------------------------------------------------- */

static bool
ends_open(int end[2])
{
	const int least = 1; /* the kernel's least: what a client does not read costs memory */

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, end) != 0)
		return false;
	if (shutdown(end[0], SHUT_RD) == 0 &&
		setsockopt(end[0], SOL_SOCKET, SO_SNDBUF, &least, sizeof(least)) == 0)
		return true;
	close(end[0]);
	close(end[1]);
	return false;
}

struct ndd_bell *
ndd_bell_new(struct ndd_courier *c, bool direct, uint64_t *woken, int *client_end)
{
	struct ndd_bell *b = calloc(1, sizeof(*b));
	int end[2];

	if (b == NULL || !ends_open(end)) {
		free(b);
		return NULL;
	}
	b->errand = (struct ndd_errand){.courier = c, .run = bell_run};
	b->fd = end[0];
	b->direct = direct;
	b->woken = woken;
	*client_end = end[1];
	return b;
}

void
ndd_bell_ring(struct ndd_bell *b)
{
	if (!b->direct || !bell_tell(b))
		ndd_errand_ask(&b->errand, RING);
}

void
ndd_bell_free(struct ndd_bell *b, void (*closed)(void *owner), void *owner)
{
	ndd_errand_ask_last(&b->errand, FREE, closed, owner);
}
