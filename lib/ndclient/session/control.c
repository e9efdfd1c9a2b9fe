/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control thread of an adapter, and calls to the daemon through it.
 *
 * A call sits in a list with the caller's stack behind it until the thread hands it the reply or
 * the news that the daemon is gone: either way its futex word is set, so that no caller sleeps for
 * ever.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ndclient/cq/cq.h"
#include "ndclient/face/status.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/futex.h"
#include "ndclient/session/socket.h"
#include "ndclient/session/thread.h"

struct nd_call {
	LIST_ENTRY(nd_call) link;
	const struct nd_request *request;
	uint64_t cookie;
	uint32_t done; /* futex */
	nd_status status;
	char why[sizeof(
		((struct ndsh_ev_refusal *)0)->reason)]; /* as the daemon says; "": no word */
};

/* What an epoll event stands for: two fixed numbers, or a queue by its id. */
#define EV_SOCKET (1ull << 32)
#define EV_STOP	  (2ull << 32)

/* ---- callers ------------------------------------------------------------------------- */

static nd_status
fail_removed(const struct nd_adapter *a)
{
	return nd_fail(ND_DEVICE_REMOVED, "%s", a->why[0] != 0 ? a->why : "the daemon is gone");
}

/* The hook of a call runs once, whatever happens; lock held. */
static nd_status
call_outcome(const struct nd_request *r, nd_status st, const void *reply)
{
	return r->hook != NULL ? r->hook(r->arg, st, reply) : st;
}

/* The socket took nothing: end the call, unless the thread has done so meanwhile. */
static void
call_withdraw(struct nd_adapter *a, struct nd_call *call)
{
	pthread_mutex_lock(&a->lock);
	if (call->done == 0) {
		LIST_REMOVE(call, link);
		call->status = call_outcome(call->request, ND_DEVICE_REMOVED, NULL);
		__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&a->lock);
}

/* False: the daemon is gone. */
static bool
call_enlist(struct nd_adapter *a, struct nd_call *call)
{
	bool gone;

	pthread_mutex_lock(&a->lock);
	gone = nd_gone(a);
	if (gone) {
		(void)call_outcome(call->request, ND_DEVICE_REMOVED, NULL);
	} else {
		call->request->h->cookie = call->cookie = ++a->cookie;
		LIST_INSERT_HEAD(&a->calls, call, link);
	}
	pthread_mutex_unlock(&a->lock);
	return !gone;
}

nd_status
nd_control_call(struct nd_adapter *a, const struct nd_request *r)
{
	const struct ndsh_msg_desc *d = &ndsh_msg_table[r->h->type];
	struct nd_call call = {.request = r};
	ssize_t n;

	if (r->fd != NULL)
		*r->fd = -1;
	if (!call_enlist(a, &call))
		return fail_removed(a);
	do
		n = send(a->socket, r->h, d->bytes, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		call_withdraw(a, &call);
	while (__atomic_load_n(&call.done, __ATOMIC_ACQUIRE) == 0)
		(void)nd_futex_wait(&call.done, 0, UINT64_MAX);
	if (call.status == ND_DEVICE_REMOVED)
		return fail_removed(a);
	if (call.status < 0 && call.why[0] != 0)
		return nd_fail(call.status, "%s: %s", d->name, call.why);
	if (call.status < 0)
		return nd_fail(call.status, "the daemon answered %s with %s", d->name,
			nd_status_name(call.status));
	return call.status;
}

nd_status
nd_control_id(struct nd_adapter *a, enum ndsh_msg_type type, uint32_t id)
{
	struct ndsh_id_msg m = {.h.type = (uint16_t)type, .id = id};

	return nd_control_call(a, &(struct nd_request){.h = &m.h});
}

/* Its cookie is 0, which is no call's: the reply is dropped. */
bool
nd_control_tell(const struct nd_adapter *a, const struct ndsh_msg_hdr *h)
{
	const size_t bytes = ndsh_msg_table[h->type].bytes;

	return send(a->socket, h, bytes, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)bytes;
}

/* ---- the thread ---------------------------------------------------------------------- */

static void
call_finish(struct nd_call *call, nd_status st)
{
	LIST_REMOVE(call, link);
	call->status = st;
	__atomic_store_n(&call->done, 1, __ATOMIC_RELEASE);
	nd_futex_wake(&call->done);
}

static struct nd_call *
call_of(struct nd_adapter *a, uint64_t cookie)
{
	struct nd_call *call;

	LIST_FOREACH (call, &a->calls, link)
		if (call->cookie == cookie)
			break;
	return call;
}

/* The caller reads it when the call is done. */
static void
take_refusal(struct nd_adapter *a, const struct ndsh_ev_refusal *m)
{
	struct nd_call *call = call_of(a, m->h.cookie);

	if (call != NULL)
		memcpy(call->why, m->reason, sizeof(call->why) - 1);
}

/* True: the reply has taken the descriptor. */
static bool
take_reply(struct nd_adapter *a, const struct ndsh_msg_hdr *h, int fd)
{
	struct nd_call *call = call_of(a, h->cookie);
	const struct nd_request *r;
	nd_status st = nd_status_of_daemon(h->status);
	bool taken = false;

	if (call == NULL || (call->request->h->type | NDSH_REPLY) != h->type)
		return false;
	r = call->request;
	if (r->reply != NULL)
		memcpy(r->reply, h, ndsh_msg_table[r->h->type].reply_bytes);
	if (r->fd != NULL && st >= 0) {
		*r->fd = fd;
		taken = true;
	}
	call_finish(call, call_outcome(r, st, h));
	return taken;
}

/* The daemon is gone: every call and request under way ends now, every later one sees
 * nd_adapter.gone. */
static void
end_session(struct nd_adapter *a)
{
	if (nd_gone(a))
		return;
	__atomic_store_n(&a->gone, 1, __ATOMIC_RELEASE);
	(void)epoll_ctl(a->epoll_fd, EPOLL_CTL_DEL, a->socket, NULL);
	(void)shutdown(a->socket, SHUT_RDWR); /* callers in send() return */
	while (!LIST_EMPTY(&a->calls)) {
		struct nd_call *call = LIST_FIRST(&a->calls);

		call_finish(call, call_outcome(call->request, ND_DEVICE_REMOVED, NULL));
	}
	a->handlers->on_removed(a);
}

static void
take_event(struct nd_adapter *a, const struct ndsh_msg_hdr *h)
{
	if (h->type == NDSH_EV_SESSION_END) {
		const struct ndsh_ev_session_end *end = (const void *)h;

		memcpy(a->why, end->reason, sizeof(a->why) - 1);
		end_session(a);
	} else if (h->type == NDSH_EV_REFUSAL) {
		take_refusal(a, (const struct ndsh_ev_refusal *)h);
	} else {
		a->handlers->on_event(a, h);
	}
}

static void
socket_readable(struct nd_adapter *a)
{
	_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
	const struct ndsh_msg_hdr *h = (const void *)buf;
	bool taken;
	ssize_t n;
	int fd;

	while (!nd_gone(a)) {
		n = nd_socket_receive(a->socket, buf, sizeof(buf), &fd, MSG_DONTWAIT);
		if (n < 0 && errno == EAGAIN)
			return;
		pthread_mutex_lock(&a->lock);
		taken = false;
		if (n <= 0 || ndsh_msg_check_reply(buf, (size_t)n) != NULL)
			end_session(a);
		else if (h->type & NDSH_REPLY)
			taken = take_reply(a, h, fd);
		else
			take_event(a, h);
		pthread_mutex_unlock(&a->lock);
		if (fd >= 0 && !taken)
			close(fd);
	}
}

static void
queue_readable(struct nd_adapter *a, uint32_t id)
{
	pthread_mutex_lock(&a->lock);
	a->handlers->on_queue(a, id);
	pthread_mutex_unlock(&a->lock);
}

static void *
control_main(void *arg)
{
	struct nd_adapter *a = arg;
	struct epoll_event ev[16];

	for (;;) {
		int n = epoll_wait(a->epoll_fd, ev, 16, -1);

		for (int i = 0; i < n; i++) {
			if (ev[i].data.u64 == EV_STOP)
				return NULL;
			if (ev[i].data.u64 == EV_SOCKET)
				socket_readable(a);
			else
				queue_readable(a, (uint32_t)ev[i].data.u64);
		}
	}
}

static bool
control_add_fd(struct nd_adapter *a, int fd, uint64_t what)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.u64 = what};

	return epoll_ctl(a->epoll_fd, EPOLL_CTL_ADD, fd, &ev) == 0;
}

nd_status
nd_control_watch(struct nd_adapter *a, struct nd_cq *cq, bool on)
{
	if (on && !control_add_fd(a, cq->notify_fd, cq->id))
		return ND_INSUFFICIENT_RESOURCES;
	if (!on)
		(void)epoll_ctl(a->epoll_fd, EPOLL_CTL_DEL, cq->notify_fd, NULL);
	cq->watched = on;
	return ND_SUCCESS;
}

nd_status
nd_control_start(struct nd_adapter *a)
{
	a->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	a->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (a->epoll_fd >= 0 && a->stop_fd >= 0 && control_add_fd(a, a->socket, EV_SOCKET) &&
		control_add_fd(a, a->stop_fd, EV_STOP) &&
		nd_thread_start(&a->thread, control_main, a))
		return ND_SUCCESS;
	if (a->epoll_fd >= 0)
		close(a->epoll_fd);
	if (a->stop_fd >= 0)
		close(a->stop_fd);
	return nd_fail(ND_INSUFFICIENT_RESOURCES, "control thread: %s", strerror(errno));
}

void
nd_control_stop(struct nd_adapter *a)
{
	nd_fd_wake(a->stop_fd);
	pthread_join(a->thread, NULL);
	close(a->stop_fd);
	close(a->epoll_fd);
	a->epoll_fd = -1; /* queues are closed behind us */
}
