/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices that are stopped, started again and closed; what people should know of them. */
#include <stdlib.h>

#include <rte_alarm.h>
#include <rte_cycles.h>

#include "ethdev/ethdev.h"

#define CHANGE_MS 3000

/*
 * Stop, start and close run on EAL's interrupt thread, where drivers serve their devices: one
 * thread does not race with itself.
 */
static void
close_now(void *arg)
{
	struct ethdev *e = arg;

	if (e->started)
		(void)rte_eth_dev_stop(e->id);
	e->moving = e->started = false;
	(void)rte_eth_dev_close(e->id);
	rte_mempool_free(e->chunks);
	e->chunks = NULL;
	__atomic_store_n(&e->changing, false, __ATOMIC_RELEASE);
}

/* Of memory that was lost nothing may be left: vhost-user unmaps it when the peer has gone. */
static void
restart_now(void *arg)
{
	struct ethdev *e = arg;

	if (e->started) {
		__atomic_store_n(&e->moving, false, __ATOMIC_SEQ_CST);
		ethdev_grace_wait();
		(void)rte_eth_dev_stop(e->id);
		e->started = false;
	}
	if (!ethdev_memory_is_mapped(e)) {
		__atomic_store_n(&e->lost, false, __ATOMIC_RELAXED);
		e->started = rte_eth_dev_start(e->id) == 0;
		__atomic_store_n(&e->moving, e->started, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&e->changing, false, __ATOMIC_RELEASE);
}

static bool
is_changing(const struct ethdev *e)
{
	return __atomic_load_n(&e->changing, __ATOMIC_ACQUIRE);
}

static void
wait_changed(const struct ethdev *e)
{
	for (int ms = 0; is_changing(e) && ms < CHANGE_MS; ms++)
		rte_delay_us_sleep(1000);
}

static void
device_restart(struct ethdev *e)
{
	if (is_changing(e))
		return;
	e->changing = true;
	if (rte_eal_alarm_set(1, restart_now, e) != 0)
		e->changing = false;
}

/* A peer is trusted with its own frames alone: what it takes away ends its own link. */
static const char *
memory_news(struct ethdev *e)
{
	uint64_t lost = __atomic_load_n(&e->memory_lost, __ATOMIC_ACQUIRE);

	if (lost == e->losses_told)
		return NULL;
	e->losses_told = lost;
	return "its peer has taken away memory that both use; the port is down until the peer "
	       "connects again";
}

/* A device that lost memory is started again in the background; bursts move nothing meanwhile. */
const char *
ethdev_tend(struct port *p)
{
	struct ethdev *e = ethdev_of(p);

	if (!p->link_up && __atomic_load_n(&e->lost, __ATOMIC_RELAXED))
		device_restart(e);
	return memory_news(e);
}

void
ethdev_close(struct port *p)
{
	struct ethdev *e = ethdev_of(p);

	wait_changed(e);
	e->changing = true;
	if (rte_eal_alarm_set(1, close_now, e) != 0)
		close_now(e);
	wait_changed(e);
	ethdev_grace_watch(e, false);
	if (!is_changing(e)) /* else EAL's thread has not come to it */
		free(e);
	p->kind = NULL;
}
