/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients knock and wait to be rung for; an lcore sleeps, is woken, and rings; the control thread
 * makes and ends other bells and doors of the same courier all the while. A knock or a ring that is
 * lost would be waited for for ever.
 */
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "courier/bell.h"
#include "courier/courier.h"
#include "courier/door.h"
#include "lcore/wakeup.h"
#include "rigs/stress.h"

#define CLIENTS 2u
#define ROUNDS	3000u

struct client {
	pthread_t thread;
	struct ndd_door *door;
	struct ndd_bell *bell;
	int told;
};

static struct {
	struct ndd_knocks knocks;
	struct ndd_wakeup wakeup;
	int epoll_fd;
	struct client client[CLIENTS];
	uint64_t woken;
	uint32_t over, rounds; /* atomic */
} lc;

static void *
client_main(void *arg)
{
	struct client *c = arg;
	uint32_t seed = (uint32_t)(c - lc.client) + 1;
	char bytes[64];

	for (uint32_t i = 0; i < ROUNDS; i++) {
		struct pollfd p = {.fd = c->told, .events = POLLIN};

		(void)stress_pause(&seed);
		STRESS_CHECK(eventfd_write(ndd_door_fd(c->door), 1) == 0, "round %u\n", i);
		STRESS_CHECK(poll(&p, 1, STRESS_DEADLINE_S * 1000) == 1, "round %u\n", i);
		while (recv(c->told, bytes, sizeof(bytes), MSG_DONTWAIT) > 0)
			;
		__atomic_add_fetch(&lc.rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void
on_knock(void *arg, uint32_t place)
{
	(void)arg;
	ndd_bell_ring(lc.client[place].bell);
}

static void *
lcore_main(void *arg)
{
	struct epoll_event ev;

	(void)arg;
	while (__atomic_load_n(&lc.over, __ATOMIC_ACQUIRE) == 0) {
		ndd_wakeup_before_sleep(&lc.wakeup);
		if (!ndd_knocks_some(&lc.knocks) &&
			__atomic_load_n(&lc.over, __ATOMIC_ACQUIRE) == 0) {
			STRESS_CHECK(epoll_wait(lc.epoll_fd, &ev, 1, STRESS_DEADLINE_S * 1000) == 1,
				"%u rounds\n", lc.rounds);
			ndd_wakeup_drain(&lc.wakeup);
		}
		ndd_wakeup_after_sleep(&lc.wakeup);
		ndd_knocks_take(&lc.knocks, on_knock, NULL);
	}
	return NULL;
}

static void
others_come_and_go(struct ndd_couriers *all, struct ndd_courier *courier)
{
	static uint64_t nobody;
	int fd;
	struct ndd_bell *bell = ndd_bell_new(courier, false, &nobody, &fd);
	struct ndd_door *door = ndd_door_new(courier, &lc.knocks);

	STRESS_CHECK(bell != NULL && door != NULL, "no files\n");
	ndd_bell_ring(bell);
	close(fd);
	ndd_bell_free(bell, NULL, NULL);
	ndd_door_free(door, NULL, NULL);
	ndd_couriers_collect(all);
	usleep(100);
}

static void
lcore_start(pthread_t *thread, struct ndd_courier *courier)
{
	struct epoll_event ev = {.events = EPOLLIN};

	STRESS_CHECK(ndd_wakeup_init(&lc.wakeup), "no wakeup\n");
	lc.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	STRESS_CHECK(epoll_ctl(lc.epoll_fd, EPOLL_CTL_ADD, lc.wakeup.fd, &ev) == 0, "no epoll\n");
	lc.knocks.lcore = &lc.wakeup;
	for (uint32_t i = 0; i < CLIENTS; i++) {
		struct client *c = &lc.client[i];

		c->door = ndd_door_new(courier, &lc.knocks);
		c->bell = ndd_bell_new(courier, false, &lc.woken, &c->told);
		STRESS_CHECK(c->door != NULL && c->bell != NULL, "no files\n");
		ndd_door_lead_to(c->door, i);
	}
	pthread_create(thread, NULL, lcore_main, NULL);
	for (uint32_t i = 0; i < CLIENTS; i++)
		pthread_create(&lc.client[i].thread, NULL, client_main, &lc.client[i]);
}

int
main(void)
{
	static struct ndd_couriers all;
	struct ndd_courier *courier = ndd_courier_start(&all, NULL);
	uint32_t others = 0;
	pthread_t lcore;

	STRESS_CHECK(courier != NULL, "no courier\n");
	lcore_start(&lcore, courier);
	for (; __atomic_load_n(&lc.rounds, __ATOMIC_RELAXED) < CLIENTS * ROUNDS; others++)
		others_come_and_go(&all, courier);
	for (uint32_t i = 0; i < CLIENTS; i++)
		pthread_join(lc.client[i].thread, NULL);
	__atomic_store_n(&lc.over, 1, __ATOMIC_RELEASE);
	ndd_wakeup_notify(&lc.wakeup);
	pthread_join(lcore, NULL);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		ndd_bell_free(lc.client[i].bell, NULL, NULL);
		ndd_door_free(lc.client[i].door, NULL, NULL);
	}
	ndd_courier_release(courier);
	STRESS_CHECK(
		ndd_couriers_wait(&all, UINT64_C(1000000000) * STRESS_DEADLINE_S), "it runs\n");
	ndd_couriers_collect(&all);
	STRESS_CHECK(all.ending == 0, "%u\n", all.ending);
	printf("%u rounds, %u others, %lu times woken\n", lc.rounds, others, lc.woken);
	return 0;
}
