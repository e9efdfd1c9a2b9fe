/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion ports. What a port holds are packets of the library's own, not the requests: once a
 * request has its outcome the library does not touch it any more, so an application may free it or
 * use it again before its packet was taken. The packet is made when the request begins, so that
 * completing it allocates nothing and cannot fail.
 *
 * The lock is the innermost of all: requests complete under the locks of their objects. A port is
 * held by the application, by each adapter that is bound to it, by each request under way and by
 * each thread that waits, and the last of them frees it; so closing it never has to wait.
 */
#include <stdlib.h>
#include <time.h>

#include "ndclient/session/adapter.h"
#include "ndclient/session/port.h"

#define NS_PER_S 1000000000ull

struct nd_port {
	pthread_mutex_t lock;
	pthread_cond_t more;
	STAILQ_HEAD(, nd_packet) packets;
	uint32_t users; /* atomic */
	bool closed;	/* what comes is dropped */
};

struct nd_packet {
	STAILQ_ENTRY(nd_packet) next;
	struct nd_port *port;
	struct nd_overlapped *ov; /* for nd_port_get(); never dereferenced */
	void *key;
	nd_status status;
};

/* ---- creating, closing, binding ------------------------------------------------------ */

nd_status
nd_port_create(struct nd_port **out)
{
	pthread_condattr_t attr;
	struct nd_port *port;

	if (out == NULL)
		return ND_INVALID_PARAMETER;
	*out = port = calloc(1, sizeof(*port));
	if (port == NULL)
		return ND_NO_MEMORY;
	STAILQ_INIT(&port->packets);
	port->users = 1;
	pthread_mutex_init(&port->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&port->more, &attr);
	pthread_condattr_destroy(&attr);
	return ND_SUCCESS;
}

void
nd_port_hold(struct nd_port *port)
{
	__atomic_fetch_add(&port->users, 1, __ATOMIC_RELAXED);
}

static void
port_drop_packets(struct nd_port *port)
{
	struct nd_packet *p;

	while ((p = STAILQ_FIRST(&port->packets)) != NULL) {
		STAILQ_REMOVE_HEAD(&port->packets, next);
		free(p);
	}
}

void
nd_port_release(struct nd_port *port)
{
	if (__atomic_fetch_sub(&port->users, 1, __ATOMIC_ACQ_REL) != 1)
		return;
	pthread_cond_destroy(&port->more);
	pthread_mutex_destroy(&port->lock);
	free(port);
}

nd_status
nd_adapter_bind_port(struct nd_adapter *a, struct nd_port *port, void *key)
{
	nd_status st = ND_INVALID_DEVICE_STATE;

	if (a == NULL || port == NULL)
		return ND_INVALID_PARAMETER;
	pthread_mutex_lock(&a->lock);
	if (a->port == NULL) {
		nd_port_hold(port);
		a->port_key = key; /* read behind the port only */
		__atomic_store_n(&a->port, port, __ATOMIC_RELEASE);
		st = ND_SUCCESS;
	}
	pthread_mutex_unlock(&a->lock);
	return st;
}

/* ---- in ------------------------------------------------------------------------------ */

static struct nd_packet *
packet_make(struct nd_port *port, void *key, struct nd_overlapped *ov)
{
	struct nd_packet *p = malloc(sizeof(*p));

	if (p != NULL)
		*p = (struct nd_packet){.port = port, .ov = ov, .key = key};
	return p;
}

struct nd_packet *
nd_packet_make(struct nd_port *port, void *key, struct nd_overlapped *ov)
{
	struct nd_packet *p = packet_make(port, key, ov);

	if (p != NULL)
		nd_port_hold(port);
	return p;
}

void
nd_packet_drop(struct nd_packet *p)
{
	nd_port_release(p->port);
	free(p);
}

/* Consumes p, which the port drops if it is closed. */
static void
port_append(struct nd_port *port, struct nd_packet *p)
{
	bool closed;

	pthread_mutex_lock(&port->lock);
	closed = port->closed;
	if (!closed) {
		STAILQ_INSERT_TAIL(&port->packets, p, next);
		pthread_cond_signal(&port->more);
	}
	pthread_mutex_unlock(&port->lock);
	if (closed)
		free(p);
}

void
nd_packet_deliver(struct nd_packet *p, nd_status st)
{
	struct nd_port *port = p->port;

	p->status = st;
	port_append(port, p);
	nd_port_release(port);
}

nd_status
nd_port_post(struct nd_port *port, void *key, struct nd_overlapped *ov)
{
	struct nd_packet *p = packet_make(port, key, ov);

	if (p == NULL)
		return ND_NO_MEMORY;
	port_append(port, p);
	return ND_SUCCESS;
}

/* ---- out ----------------------------------------------------------------------------- */

/* Lock held. Sleep until there may be something; false: the time is up. */
static bool
port_sleep_until(struct nd_port *port, bool for_ever, const struct timespec *until)
{
	return (for_ever ? pthread_cond_wait(&port->more, &port->lock)
			 : pthread_cond_timedwait(&port->more, &port->lock, until)) == 0;
}

static struct timespec
in_ms(int ms)
{
	struct timespec ts;
	uint64_t ns;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	ns = (uint64_t)ts.tv_nsec + (uint64_t)ms * 1000000u;
	ts.tv_sec += (time_t)(ns / NS_PER_S);
	ts.tv_nsec = (long)(ns % NS_PER_S);
	return ts;
}

nd_status
nd_port_get(struct nd_port *port, int timeout_ms, void **key, struct nd_overlapped **ov)
{
	struct timespec until = timeout_ms > 0 ? in_ms(timeout_ms) : (struct timespec){0};
	bool in_time = timeout_ms != 0;
	struct nd_packet *p;
	nd_status st;

	*key = NULL;
	*ov = NULL;
	nd_port_hold(port);
	pthread_mutex_lock(&port->lock);
	while (STAILQ_EMPTY(&port->packets) && !port->closed && in_time)
		in_time = port_sleep_until(port, timeout_ms < 0, &until);
	st = port->closed ? ND_CANCELED : ND_TIMEOUT;
	p = STAILQ_FIRST(&port->packets);
	if (p != NULL)
		STAILQ_REMOVE_HEAD(&port->packets, next);
	pthread_mutex_unlock(&port->lock);
	nd_port_release(port);
	if (p != NULL) {
		st = p->status;
		*key = p->key;
		*ov = p->ov;
		free(p);
	}
	return st;
}

nd_status
nd_port_close(struct nd_port *port)
{
	if (port == NULL)
		return ND_SUCCESS;
	pthread_mutex_lock(&port->lock);
	port->closed = true;
	port_drop_packets(port);
	pthread_cond_broadcast(&port->more);
	pthread_mutex_unlock(&port->lock);
	nd_port_release(port);
	return ND_SUCCESS;
}
