/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_launch.h>

#include "lcore/shard.h"
#include "lcore/turn.h"
#include "platform/eal.h"
#include "platform/numamem.h"

struct ndd_shard *
ndd_shard_new(struct ndd_plane *plane, const struct roce_shard_cfg *cfg, unsigned lcore)
{
	int node = ndd_numa_of_cpu(ndd_lcore_cpu(lcore));
	size_t bytes = roce_shard_bytes(cfg);
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = NULL};
	struct ndd_shard *s;
	void *mem;

	errno = ENOMEM; /* of the engine, which has none */
	if (bytes == 0)
		return NULL;
	s = ndd_numa_alloc(sizeof(*s), node);
	if (s == NULL)
		return NULL;
	mem = ndd_numa_alloc(bytes, node);
	s->plane = plane;
	s->id = cfg->shard_id;
	s->lcore = lcore;
	s->numa_node = node;
	s->engine_bytes = bytes;
	s->regions.total = cfg->max_mrs;
	s->cycles = plane->cycles ? &s->counted : NULL;
	s->knocks.lcore = &s->wakeup;
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (mem != NULL)
		s->engine = roce_shard_init(mem, cfg);
	if (s->engine == NULL || s->epoll_fd < 0 || !ndd_wakeup_init(&s->wakeup) ||
		epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->wakeup.fd, &ev) != 0) {
		ndd_numa_free(mem, bytes);
		ndd_numa_free(s, sizeof(*s));
		return NULL;
	}
	return s;
}

void
ndd_shard_free(struct ndd_shard *s)
{
	if (s == NULL)
		return;
	ndd_lcore_tx_drop(s);
	ndd_wakeup_fini(&s->wakeup);
	close(s->epoll_fd);
	ndd_numa_free(s->engine, s->engine_bytes);
	ndd_numa_free(s, sizeof(*s));
}

static bool
shard_watch(struct ndd_shard *s, const int *fd, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = s->plane};

		if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, fd[i], &ev) != 0)
			return false;
	}
	return true;
}

bool
ndd_shard_watch_ports(struct ndd_shard *s)
{
	int fd[PORT_FDS_MAX];

	s->watched = s->plane->ports != 0;
	for (uint32_t i = 0; i < s->plane->ports; i++) {
		const struct port *p = ndd_shard_port(s, i);

		if (p == NULL || p->ops->fds == NULL)
			s->watched = false;
		else if (!shard_watch(s, fd, p->ops->fds(p, fd, PORT_FDS_MAX)))
			return false;
	}
	return true;
}

bool
ndd_shard_launch(struct ndd_shard *s)
{
	s->running = rte_eal_remote_launch(ndd_lcore_main, s, s->lcore) == 0;
	return s->running;
}

void
ndd_shard_stop(struct ndd_shard *s)
{
	if (!s->running)
		return;
	__atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
	ndd_wakeup_notify(&s->wakeup);
	rte_eal_wait_lcore(s->lcore);
	s->running = 0;
}
