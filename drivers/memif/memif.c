/* SPDX-License-Identifier: BSD-3-Clause */
#include "memif/memif.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "memif/memif_own.h"

static void
port_release(struct memif_port *m)
{
	memif_memory_forget(m);
	if (m->listener >= 0) {
		close(m->listener);
		if (!m->cfg.is_abstract)
			(void)unlink(m->cfg.socket);
	}
	if (m->wake >= 0)
		close(m->wake);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static void
port_end(struct port *p)
{
	struct memif_port *m = memif_of(p);

	if (memif_thread_stop(m))
		port_release(m);
	p->kind = NULL;
}

static bool
port_is_up(struct port *p)
{
	return __atomic_load_n(&memif_of(p)->linked, __ATOMIC_RELAXED);
}

static const char *
port_tend(struct port *p)
{
	static char text[MEMIF_NEWS_BYTES];
	struct memif_port *m = memif_of(p);

	if (pthread_mutex_trylock(&m->lock) != 0)
		return NULL;
	memcpy(text, m->news, sizeof(text));
	m->news[0] = 0;
	pthread_mutex_unlock(&m->lock);
	return text[0] == 0 ? NULL : text;
}

/* Written by other threads, one word each: what is read was true at some moment. */
static void
port_counters(const struct port *p, port_counter_fn *tell, void *arg)
{
	const struct memif_port *m = memif_of(p);

#define MEMIF_X(n) tell(arg, #n, m->links.n);
	MEMIF_LINK_COUNTERS(MEMIF_X)
#undef MEMIF_X
#define MEMIF_X(n) tell(arg, #n, m->count.n);
	MEMIF_COUNTERS(MEMIF_X)
#undef MEMIF_X
}

static const struct port_ops ops = {
	.rx = memif_rx,
	.tx = memif_tx,
	.is_up = port_is_up,
	.tend = port_tend,
	.counters = port_counters,
	.close = port_end,
};

/* Both ends of a link have one, and no switch gives them out. */
static bool
mac_choose(struct port *p, const struct memif_cfg *cfg)
{
	memcpy(p->mac, cfg->mac, sizeof(p->mac));
	if (cfg->has_mac)
		return true;
	if (getrandom(p->mac, sizeof(p->mac), 0) != sizeof(p->mac))
		return false;
	p->mac[0] = (p->mac[0] & 0xfc) | 2;
	return true;
}

const char *
memif_open(struct port *p, const char *device, const struct memif_cfg *cfg, char *why,
	size_t why_bytes)
{
	struct memif_port *m = calloc(1, sizeof(*m));
	const char *err = NULL;

	if (m == NULL)
		return "no memory";
	*p = (struct port){.ops = &ops, .kind = m, .numa_node = -1, .mtu = cfg->mtu};
	(void)snprintf(p->device, sizeof(p->device), "%s", device);
	(void)snprintf(m->device, sizeof(m->device), "%s", device);
	m->cfg = *cfg;
	m->listener = m->wake = m->rx.interrupt = m->tx.interrupt = -1;
	pthread_mutex_init(&m->lock, NULL);
	port_grace_prepare();
	if (!mac_choose(p, cfg))
		err = "no randomness";
	else if (!memif_memory_watch(m))
		err = "too many ports of memif";
	else
		err = memif_thread_start(m, why, why_bytes);
	if (err != NULL) {
		port_release(m);
		p->kind = NULL;
	}
	return err;
}
