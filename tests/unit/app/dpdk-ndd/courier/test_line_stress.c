/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clients ask and read replies; the control thread sleeps, is woken, and replies, with an event of
 * its own now and then; other lines of the same courier come and go. A request or a reply that is
 * lost would be waited for for ever.
 */
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "courier/courier.h"
#include "courier/line.h"
#include "lcore/wakeup.h"
#include "rigs/stress.h"

#define CLIENTS 2u
#define ROUNDS	3000u

struct client {
	pthread_t thread;
	struct ndd_line *line;
	int socket, left;
	uint32_t served;
	bool closed;
};

static struct ndd_couriers all;
static struct client client[CLIENTS];

static uint32_t
hear(const struct client *c)
{
	struct pollfd p = {.fd = c->socket, .events = POLLIN};
	uint32_t number;

	STRESS_CHECK(poll(&p, 1, STRESS_DEADLINE_S * 1000) == 1, "no reply\n");
	STRESS_CHECK(recv(c->socket, &number, sizeof(number), 0) == sizeof(number), "\n");
	return number;
}

/* Events are 0. */
static void *
client_main(void *arg)
{
	struct client *c = arg;
	uint32_t seed = (uint32_t)(c - client) + 1, number;

	for (uint32_t i = 1; i <= ROUNDS; i++) {
		(void)stress_pause(&seed);
		STRESS_CHECK(send(c->socket, &i, sizeof(i), 0) == sizeof(i), "%u\n", i);
		do
			number = hear(c);
		while (number == 0);
		STRESS_CHECK(number == i, "%u instead of %u\n", number, i);
	}
	close(c->socket);
	return NULL;
}

static void
on_news(void *owner)
{
	static const uint32_t event;
	struct client *c = owner;
	uint32_t number;
	size_t bytes;
	const void *request = ndd_line_request(c->line, &bytes);

	if (request == NULL)
		return;
	STRESS_CHECK(bytes == sizeof(number), "%zu bytes\n", bytes);
	memcpy(&number, request, sizeof(number));
	STRESS_CHECK(number == ++c->served, "%u instead of %u\n", number, c->served);
	if (number % 3 == 0)
		STRESS_CHECK(ndd_line_send(c->line, &event, sizeof(event), -1), "no memory\n");
	STRESS_CHECK(ndd_line_send(c->line, &number, sizeof(number), -1), "no memory\n");
	ndd_line_next(c->line);
}

static void
on_closed(void *owner)
{
	((struct client *)owner)->closed = true;
}

static void
client_start(struct client *c, struct ndd_courier *courier)
{
	int sock[2];

	STRESS_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sock) == 0, "no sockets\n");
	c->socket = sock[1];
	c->line = ndd_line_new(courier, false, sock[0]);
	STRESS_CHECK(c->line != NULL, "no line\n");
	ndd_line_open(c->line, -1, on_news, c);
}

static void
control_turn(struct ndd_wakeup *wakeup, int epoll_fd)
{
	struct epoll_event ev;

	ndd_wakeup_before_sleep(wakeup);
	if (ndd_couriers_are_quiet(&all))
		STRESS_CHECK(
			epoll_wait(epoll_fd, &ev, 1, STRESS_DEADLINE_S * 1000) == 1, "no news\n");
	ndd_wakeup_after_sleep(wakeup);
	ndd_wakeup_drain(wakeup);
	ndd_couriers_collect(&all);
}

/* Both ends go at once, whatever is under way. */
static void
another_comes_and_goes(struct ndd_courier *courier)
{
	static struct client other;

	if (other.line != NULL && !other.closed)
		return;
	other = (struct client){0};
	client_start(&other, courier);
	(void)send(other.socket, &(uint32_t){1}, sizeof(uint32_t), MSG_NOSIGNAL);
	(void)ndd_line_send(other.line, "event", 5, -1);
	close(other.socket);
	ndd_line_close(other.line, &other.left, on_closed, &other);
}

static bool
all_are_gone(void)
{
	for (uint32_t i = 0; i < CLIENTS; i++)
		if (ndd_line_end(client[i].line) == NDD_LINE_OPEN)
			return false;
	return true;
}

int
main(void)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct ndd_courier *courier;
	struct ndd_wakeup wakeup;

	STRESS_CHECK(ndd_wakeup_init(&wakeup), "no wakeup\n");
	STRESS_CHECK(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, wakeup.fd, &ev) == 0, "no epoll\n");
	all.control = &wakeup;
	courier = ndd_courier_start(&all, NULL);
	STRESS_CHECK(courier != NULL, "no courier\n");
	for (uint32_t i = 0; i < CLIENTS; i++) {
		client_start(&client[i], courier);
		pthread_create(&client[i].thread, NULL, client_main, &client[i]);
	}
	while (!all_are_gone()) {
		another_comes_and_goes(courier);
		control_turn(&wakeup, epoll_fd);
	}
	for (uint32_t i = 0; i < CLIENTS; i++) {
		pthread_join(client[i].thread, NULL);
		STRESS_CHECK(client[i].served == ROUNDS, "%u rounds\n", client[i].served);
		ndd_line_close(client[i].line, &client[i].left, on_closed, &client[i]);
	}
	while (all.ending != 0)
		control_turn(&wakeup, epoll_fd);
	ndd_courier_release(courier);
	STRESS_CHECK(
		ndd_couriers_wait(&all, UINT64_C(1000000000) * STRESS_DEADLINE_S), "it runs\n");
	return 0;
}
