/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The port's thread: a link is made, watched until it ends, and made again. It alone touches the
 * files that the peer sends, which can hold up whatever calls them.
 */
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "memif/memif_own.h"

#define HEAR_NS	 UINT64_C(1000000000) /* there is something to hear */
#define RETRY_MS 50
#define STOP_NS	 UINT64_C(3000000000)

void
memif_thread_wake(const struct memif_port *m)
{
	const uint64_t one = 1;

	(void)!write(m->wake, &one, sizeof(one));
}

static bool
is_stopping(const struct memif_port *m)
{
	return __atomic_load_n(&m->stop, __ATOMIC_ACQUIRE);
}

static void
tell_news(struct memif_port *m, const char *news)
{
	pthread_mutex_lock(&m->lock);
	(void)snprintf(m->news, sizeof(m->news), "%s", news);
	pthread_mutex_unlock(&m->lock);
}

/* ---- sockets ---- */

static socklen_t
address_make(const struct memif_cfg *cfg, struct sockaddr_un *at)
{
	size_t n = strlen(cfg->socket);

	*at = (struct sockaddr_un){.sun_family = AF_UNIX};
	memcpy(at->sun_path + cfg->is_abstract, cfg->socket, n);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static const char *
listen_at(struct memif_port *m, char *why, size_t why_bytes)
{
	struct sockaddr_un at;
	socklen_t n = address_make(&m->cfg, &at);

	m->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (m->listener >= 0 && bind(m->listener, (struct sockaddr *)&at, n) == 0 &&
		listen(m->listener, 1) == 0)
		return NULL;
	(void)snprintf(why, why_bytes, "socket %s: %s", m->cfg.socket, strerror(errno));
	return why;
}

/* A client that nobody expects. */
static void
refuse_one(const struct memif_port *m)
{
	int fd = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	memif_leave(fd, "this port is connected already");
}

/* ---- a link ---- */

/* What the lcore, or a missing page, has to say. NULL: nothing that ends the link. */
static const char *
wrong_judge(struct memif_port *m)
{
	switch (__atomic_load_n(&m->wrong, __ATOMIC_ACQUIRE)) {
	case MEMIF_BREACH:
		m->links.breaches++;
		return "the peer wrote what can't be into the rings";
	case MEMIF_LOST:
		m->links.memory_lost++;
		return "the peer has taken away memory that both use";
	default:
		return NULL;
	}
}

/* Clears the flag first: what comes behind it is told again. */
static void
pass_interrupt(struct memif_port *m)
{
	const uint64_t one = 1;

	if (__atomic_exchange_n(&m->interrupt, false, __ATOMIC_ACQ_REL))
		(void)!write(m->tx.interrupt, &one, sizeof(one));
}

/* The peer has nothing to say but that it leaves. */
static const char *
link_hear(struct memif_port *m, int fd)
{
	struct memif_message message;
	int file;
	const char *why = memif_hear(m, fd, memif_now_ns() + HEAR_NS, &message, &file);

	if (file >= 0)
		close(file);
	return why != NULL ? why : "the peer sends a message that makes no sense now";
}

/* Until the link is to end: why. */
static const char *
link_watch(struct memif_port *m, int fd)
{
	struct pollfd p[] = {{.fd = fd, .events = POLLIN}, {.fd = m->wake, .events = POLLIN},
		{.fd = m->listener, .events = POLLIN}};
	const char *why = NULL;

	while (why == NULL && !is_stopping(m)) {
		uint64_t count;

		(void)poll(p, m->cfg.server ? 3 : 2, -1);
		(void)!read(m->wake, &count, sizeof(count));
		pass_interrupt(m);
		if (m->cfg.server && p[2].revents != 0)
			refuse_one(m);
		why = wrong_judge(m);
		if (why == NULL && p[0].revents != 0)
			why = link_hear(m, fd);
	}
	return why;
}

/* The same refusal again and again is told once. A client that only looks whether somebody listens
 * is none. */
static void
tell_refusal(struct memif_port *m, const char *why)
{
	char text[MEMIF_NEWS_BYTES];

	if (m->cfg.server && why == memif_gone)
		return;
	m->links.refused++;
	(void)snprintf(text, sizeof(text), "no link: %s", why);
	if (strcmp(text, m->refusal) == 0)
		return;
	memcpy(m->refusal, text, sizeof(text));
	tell_news(m, text);
}

static void
link_serve(struct memif_port *m, int fd)
{
	const char *why = m->cfg.server ? memif_server_shake(m, fd) : memif_client_shake(m, fd);

	if (why == NULL && (why = wrong_judge(m)) == NULL) {
		m->refusal[0] = 0;
		memif_link_begin(m);
		why = link_watch(m, fd);
		if (why != NULL)
			tell_news(m, why);
	} else if (!is_stopping(m)) {
		tell_refusal(m, why);
	}
	memif_link_end(m);
	memif_leave(fd, why == NULL ? "the port is closed" : why);
}

/* ---- the thread ---- */

static void
wait_retry(const struct memif_port *m)
{
	struct pollfd p = {.fd = m->wake, .events = POLLIN};
	uint64_t count;

	if (poll(&p, 1, RETRY_MS) > 0)
		(void)!read(m->wake, &count, sizeof(count));
}

static void
serve_next(struct memif_port *m)
{
	struct pollfd p[] = {
		{.fd = m->listener, .events = POLLIN}, {.fd = m->wake, .events = POLLIN}};
	int fd = poll(p, 2, -1) > 0 ? accept4(m->listener, NULL, NULL, SOCK_CLOEXEC) : -1;

	if (fd >= 0)
		link_serve(m, fd);
	else
		wait_retry(m); /* woken, or without a file for it */
}

static void
call_server(struct memif_port *m)
{
	struct sockaddr_un at;
	socklen_t n = address_make(&m->cfg, &at);
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd >= 0 && connect(fd, (struct sockaddr *)&at, n) == 0)
		link_serve(m, fd);
	else if (fd >= 0)
		close(fd);
	if (!is_stopping(m))
		wait_retry(m);
}

static void *
thread_main(void *arg)
{
	struct memif_port *m = arg;

	while (!is_stopping(m)) {
		if (m->cfg.server)
			serve_next(m);
		else
			call_server(m);
	}
	__atomic_store_n(&m->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

const char *
memif_thread_start(struct memif_port *m, char *why, size_t why_bytes)
{
	m->wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (m->wake < 0)
		return strerror(errno);
	if (m->cfg.server && listen_at(m, why, why_bytes) != NULL)
		return why;
	errno = pthread_create(&m->thread, NULL, thread_main, m);
	if (errno != 0)
		return "no thread for it";
	(void)pthread_setname_np(m->thread, MEMIF_THREAD_NAME);
	return NULL;
}

bool
memif_thread_stop(struct memif_port *m)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	const uint64_t end = memif_now_ns() + STOP_NS;

	__atomic_store_n(&m->stop, true, __ATOMIC_RELEASE);
	memif_thread_wake(m);
	while (!__atomic_load_n(&m->ended, __ATOMIC_ACQUIRE))
		if (memif_now_ns() < end)
			nanosleep(&moment, NULL);
		else
			return false;
	return pthread_join(m->thread, NULL) == 0;
}
