/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion ports. Packets wait for takers, or takers for packets, never both: a packet that
 * comes while threads sleep is handed to the one that has slept shortest, whose memory is still
 * in its processor's cache. That one returns with it and needs no lock again, and nobody can
 * snatch the packet meanwhile, which would make the order of packets and the wake-ups a matter
 * of luck.
 *
 * A taker sleeps on a word in its own stack; when the word has changed it is gone. So the word
 * is changed last, and the wake-up needs an address only (futex.h).
 *
 * The close of the handle ends the port, whatever still refers to it: takers, files, requests.
 * What is delivered afterwards is dropped.
 */
#include <stdlib.h>

#include "base/list.h"
#include "ndwin/error.h"
#include "ndwin/port.h"
#include "ndwin/ndwin_provider.h"

struct ndwin_port {
	struct ndwin_object object;
	pthread_mutex_t lock; /* of what follows */
	struct ndwin_packet *first, **last;
	struct base_link takers; /* that sleep; the latest is the first */
	bool closed;
};

enum taker_word { TAKER_SLEEPS, TAKER_SERVED, TAKER_ABANDONED };

struct port_taker {
	struct base_link link;
	struct ndwin_packet *packet;
	uint32_t word; /* atomic: enum taker_word */
};

/* ---- the port ------------------------------------------------------------------------ */

static void
port_destroy(struct ndwin_object *o)
{
	struct ndwin_port *port = (struct ndwin_port *)o;

	pthread_mutex_destroy(&port->lock);
	free(port);
}

static void
packets_drop(struct ndwin_packet *p)
{
	while (p != NULL) {
		struct ndwin_packet *next = p->next;

		free(p);
		p = next;
	}
}

/* Lock held. */
static void
taker_dismiss(struct base_link *link, enum taker_word word, struct ndwin_wakes *wakes)
{
	struct port_taker *t = base_container(link, struct port_taker, link);

	base_list_remove(link);
	ndwin_wakes_add(wakes, &t->word);
	__atomic_store_n(&t->word, word, __ATOMIC_RELEASE);
}

static void
port_closed(struct ndwin_object *o)
{
	struct ndwin_port *port = (struct ndwin_port *)o;
	struct ndwin_wakes wakes = {0};
	struct ndwin_packet *dropped;
	struct base_link *link;

	pthread_mutex_lock(&port->lock);
	port->closed = true;
	dropped = port->first;
	port->first = NULL;
	while ((link = base_list_first(&port->takers)) != NULL)
		taker_dismiss(link, TAKER_ABANDONED, &wakes);
	pthread_mutex_unlock(&port->lock);
	ndwin_wakes_flush(&wakes);
	packets_drop(dropped);
}

static const struct ndwin_class port_class = {
	.kind = NDWIN_PORT, .closed = port_closed, .destroy = port_destroy};

HANDLE
ndwin_port_create(void)
{
	struct ndwin_port *port = malloc(sizeof(*port));
	HANDLE h;

	if (port == NULL)
		return ndwin_fail_null(ERROR_NOT_ENOUGH_MEMORY);
	*port = (struct ndwin_port){.last = &port->first};
	pthread_mutex_init(&port->lock, NULL);
	base_list_init(&port->takers);
	h = ndwin_handle_open(&port->object, &port_class);
	if (h == NULL)
		port_destroy(&port->object);
	return h;
}

struct ndwin_port *
ndwin_port_get(HANDLE port)
{
	return (struct ndwin_port *)ndwin_handle_get(port, NDWIN_PORT);
}

void
ndwin_port_put(struct ndwin_port *port)
{
	ndwin_object_put(&port->object);
}

/* ---- in ------------------------------------------------------------------------------ */

void
ndwin_port_lock(struct ndwin_port *port)
{
	pthread_mutex_lock(&port->lock);
}

void
ndwin_port_unlock(struct ndwin_port *port)
{
	pthread_mutex_unlock(&port->lock);
}

void
ndwin_port_deliver_locked(
	struct ndwin_port *port, struct ndwin_packet *packet, struct ndwin_wakes *wakes)
{
	struct base_link *link = base_list_first(&port->takers);

	packet->next = NULL;
	if (port->closed) {
		free(packet);
	} else if (link != NULL) {
		base_container(link, struct port_taker, link)->packet = packet;
		taker_dismiss(link, TAKER_SERVED, wakes);
	} else {
		if (port->first == NULL)
			port->last = &port->first;
		*port->last = packet;
		port->last = &packet->next;
	}
}

BOOL WINAPI
PostQueuedCompletionStatus(HANDLE handle, DWORD bytes, ULONG_PTR key, LPOVERLAPPED ov)
{
	struct ndwin_port *port = ndwin_port_get(handle);
	struct ndwin_wakes wakes = {0};
	struct ndwin_packet *packet;

	if (port == NULL)
		return FALSE;
	packet = malloc(sizeof(*packet));
	if (packet != NULL) {
		*packet = (struct ndwin_packet){.ov = ov, .key = key, .bytes = bytes};
		pthread_mutex_lock(&port->lock);
		ndwin_port_deliver_locked(port, packet, &wakes);
		pthread_mutex_unlock(&port->lock);
		ndwin_wakes_flush(&wakes);
	}
	ndwin_port_put(port);
	return packet != NULL || ndwin_fail(ERROR_NOT_ENOUGH_MEMORY);
}

/* ---- out ----------------------------------------------------------------------------- */

/* Lock held. A chain of the oldest packets, so many at most. */
static struct ndwin_packet *
port_pop(struct ndwin_port *port, ULONG most)
{
	struct ndwin_packet *chain = port->first, **end = &chain;

	while (*end != NULL && most-- > 0)
		end = &(*end)->next;
	port->first = *end;
	*end = NULL;
	return chain;
}

static struct ndwin_packet *
taker_give_up(struct ndwin_port *port, struct port_taker *t)
{
	pthread_mutex_lock(&port->lock);
	base_list_remove(&t->link); /* or it was dismissed in the last moment */
	pthread_mutex_unlock(&port->lock);
	if (t->packet == NULL)
		SetLastError(t->word == TAKER_ABANDONED ? ERROR_ABANDONED_WAIT_0 : WAIT_TIMEOUT);
	return t->packet;
}

static struct ndwin_packet *
taker_sleep(struct ndwin_port *port, struct port_taker *t, uint64_t deadline)
{
	do {
		uint32_t word = __atomic_load_n(&t->word, __ATOMIC_ACQUIRE);

		if (word == TAKER_SERVED)
			return t->packet;
		if (word == TAKER_ABANDONED)
			return ndwin_fail_null(ERROR_ABANDONED_WAIT_0);
	} while (ndwin_futex_wait(&t->word, TAKER_SLEEPS, deadline));
	return taker_give_up(port, t);
}

/* A chain of one packet at least, and so many at most. NULL: the last error says why. */
static struct ndwin_packet *
port_take(struct ndwin_port *port, ULONG most, DWORD milliseconds)
{
	struct port_taker t = {.word = TAKER_SLEEPS};
	struct ndwin_packet *chain;
	bool closed;

	pthread_mutex_lock(&port->lock);
	closed = port->closed;
	chain = port_pop(port, most);
	if (chain == NULL && !closed && milliseconds != 0)
		base_list_prepend(&port->takers, &t.link);
	pthread_mutex_unlock(&port->lock);
	if (chain != NULL)
		return chain;
	if (closed)
		return ndwin_fail_null(ERROR_ABANDONED_WAIT_0);
	if (milliseconds == 0)
		return ndwin_fail_null(WAIT_TIMEOUT);
	return taker_sleep(port, &t, ndwin_deadline(milliseconds));
}

BOOL WINAPI
GetQueuedCompletionStatus(
	HANDLE handle, LPDWORD bytes, PULONG_PTR key, LPOVERLAPPED *ov, DWORD milliseconds)
{
	struct ndwin_packet *packet;
	struct ndwin_port *port;
	LONG status;

	if (ov != NULL)
		*ov = NULL;
	if (bytes == NULL || key == NULL || ov == NULL)
		return ndwin_fail(ERROR_INVALID_PARAMETER);
	port = ndwin_port_get(handle);
	if (port == NULL)
		return FALSE;
	packet = port_take(port, 1, milliseconds);
	ndwin_port_put(port);
	if (packet == NULL)
		return FALSE;
	*bytes = packet->bytes;
	*key = packet->key;
	*ov = packet->ov;
	status = packet->status;
	free(packet);
	return SUCCEEDED(status) || ndwin_fail(ndwin_error_of_status(status));
}

BOOL WINAPI
GetQueuedCompletionStatusEx(HANDLE handle, LPOVERLAPPED_ENTRY entries, ULONG count, PULONG taken,
	DWORD milliseconds, BOOL alertable)
{
	struct ndwin_packet *chain, *p;
	struct ndwin_port *port;
	ULONG n = 0;

	UNREFERENCED_PARAMETER(alertable);
	if (taken != NULL)
		*taken = 0;
	if (entries == NULL || count == 0 || taken == NULL)
		return ndwin_fail(ERROR_INVALID_PARAMETER);
	port = ndwin_port_get(handle);
	if (port == NULL)
		return FALSE;
	chain = port_take(port, count, milliseconds);
	ndwin_port_put(port);
	for (p = chain; p != NULL; p = p->next)
		entries[n++] = (OVERLAPPED_ENTRY){.lpCompletionKey = p->key,
			.lpOverlapped = p->ov,
			.Internal = (uint32_t)p->status,
			.dwNumberOfBytesTransferred = p->bytes};
	*taken = n;
	packets_drop(chain);
	return n != 0;
}
