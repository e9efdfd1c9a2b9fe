/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Completion ports. A port is a list of what it holds, linked through the requests themselves: to
 * complete one allocates nothing and cannot fail. What the application posts has no request of its
 * own to be linked by, and gets one.
 *
 * The lock is the innermost of all: requests complete under the locks of their objects. users
 * counts what may still come here: requests under way, and adapters whose requests come here.
 */
#include <stdlib.h>
#include <time.h>

#include "nd_int.h"

#define NS_PER_S 1000000000ull

struct nd_port {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct nd_overlapped *first, *last; /* internal_ptr[0] is the link */
	uint32_t users;			    /* atomic */
};

struct posted { /* its internal_ptr[1] is NULL: nobody's request comes here without a port */
	struct nd_overlapped link;
	struct nd_overlapped *ov; /* of the application, or NULL */
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

void
nd_port_release(struct nd_port *port)
{
	__atomic_fetch_sub(&port->users, 1, __ATOMIC_RELEASE);
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

static void
append(struct nd_port *port, struct nd_overlapped *ov)
{
	ov->internal_ptr[0] = NULL;
	if (port->first == NULL)
		port->first = ov;
	else
		port->last->internal_ptr[0] = ov;
	port->last = ov;
	pthread_cond_signal(&port->more);
}

/* The count goes down under the lock: who then sees the port without users may free it, and finds
 * us out of it, since it takes the lock too. */
void
nd_port_complete(struct nd_port *port, struct nd_overlapped *ov)
{
	pthread_mutex_lock(&port->lock);
	append(port, ov);
	nd_port_release(port);
	pthread_mutex_unlock(&port->lock);
}

nd_status
nd_port_post(struct nd_port *port, void *key, struct nd_overlapped *ov)
{
	struct posted *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return ND_NO_MEMORY;
	p->link.internal_key = key;
	p->ov = ov;
	pthread_mutex_lock(&port->lock);
	append(port, &p->link);
	pthread_mutex_unlock(&port->lock);
	return ND_SUCCESS;
}

/* ---- out ----------------------------------------------------------------------------- */

/* Lock held. Its owner may use it again at once. */
static nd_status
take(struct nd_port *port, void **key, struct nd_overlapped **out)
{
	struct nd_overlapped *ov = port->first;
	nd_status st = nd_overlapped_status(ov);

	port->first = ov->internal_ptr[0];
	*key = ov->internal_key;
	if (ov->internal_ptr[1] != NULL) {
		__atomic_store_n(&ov->internal_ptr[1], NULL, __ATOMIC_RELAXED);
		*out = ov;
	} else {
		struct posted *p = (struct posted *)ov;

		*out = p->ov;
		free(p);
	}
	return st;
}

/* Lock held. Sleep until there may be something; false: the time is up. */
static bool
sleep_until(struct nd_port *port, bool for_ever, const struct timespec *until)
{
	if (for_ever)
		return pthread_cond_wait(&port->more, &port->lock) == 0;
	return pthread_cond_timedwait(&port->more, &port->lock, until) == 0;
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
	nd_status st = ND_TIMEOUT;

	*key = NULL;
	*ov = NULL;
	pthread_mutex_lock(&port->lock);
	while (port->first == NULL && in_time)
		in_time = sleep_until(port, timeout_ms < 0, &until);
	if (port->first != NULL)
		st = take(port, key, ov);
	pthread_mutex_unlock(&port->lock);
	return st;
}

/* What nobody took is dropped: its outcome stands in the requests. */
nd_status
nd_port_close(struct nd_port *port)
{
	struct nd_overlapped *ov;
	uint32_t users;
	void *key;

	pthread_mutex_lock(&port->lock);
	users = __atomic_load_n(&port->users, __ATOMIC_ACQUIRE);
	while (users == 0 && port->first != NULL)
		(void)take(port, &key, &ov);
	pthread_mutex_unlock(&port->lock);
	if (users != 0)
		return nd_fail(ND_DEVICE_BUSY,
			"%u adapters and requests under way use the completion port", users);
	pthread_cond_destroy(&port->more);
	pthread_mutex_destroy(&port->lock);
	free(port);
	return ND_SUCCESS;
}
