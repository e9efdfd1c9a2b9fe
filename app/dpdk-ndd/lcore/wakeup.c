/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/eventfd.h>

#include "lcore/wakeup.h"

bool
ndd_wakeup_init(struct ndd_wakeup *b)
{
	b->asleep = 0;
	b->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return b->fd >= 0;
}

void
ndd_wakeup_fini(struct ndd_wakeup *b)
{
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
}

void
ndd_wakeup_drain(struct ndd_wakeup *b)
{
	uint64_t n;

	while (read(b->fd, &n, sizeof(n)) > 0)
		;
}

void
ndd_wakeup_signal(struct ndd_wakeup *b)
{
	const uint64_t one = 1;

	/* One writer makes the call; the others rely on it. */
	if (__atomic_exchange_n(&b->asleep, 0, __ATOMIC_SEQ_CST) == 0)
		return;
	if (write(b->fd, &one, sizeof(one)) < 0)
		return; /* only EAGAIN: the counter is full, so the fd is readable */
}
