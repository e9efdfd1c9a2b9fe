/* SPDX-License-Identifier: BSD-3-Clause */
/* Birth and death of sessions. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/log.h"
#include "session/session.h"
#include "ud/ud.h"

#define MESSAGES_PER_WAKE 16 /* of one session, then the others' turn */
#define ACCEPTS_PER_WAKE  16
#define REFUSED_MAX	  32u /* above the limit, for as long as it takes to say so */

static void
tables_init(struct ndd_session *s)
{
	const struct config *cfg = s->daemon->cfg;

	ndd_slots_init(&s->segments, ROCE_ADMIN_RANGES, false);
	ndd_slots_init(&s->pds, cfg->max_qps, false);
	ndd_slots_init(&s->cqs, cfg->max_cqs, false);
	ndd_slots_init(&s->mws, cfg->max_mrs, false);
	ndd_slots_init(&s->frs, cfg->max_mrs, false);
	ndd_slots_init(&s->srqs, cfg->max_cqs, false);
	ndd_slots_init(&s->qps,
		cfg->max_qps < NDSH_ADMIN_DOORBELL ? cfg->max_qps : NDSH_ADMIN_DOORBELL,
		true); /* the handle is the doorbell's bit */
	ndd_slots_init(&s->listeners, cfg->max_qps, false);
	ndd_slots_init(&s->endpoints, cfg->max_qps, false);
	ndd_slots_init(&s->conns, 2 * cfg->max_qps, false);
	ndd_slots_init(&s->ahs, NDD_AHS_PER_QP * cfg->max_qps, false);
	ndd_slots_init(&s->questions, 2 * cfg->max_qps, false);
}

static void
tables_fini(struct ndd_session *s)
{
	ndd_slots_fini(&s->segments);
	ndd_slots_fini(&s->pds);
	ndd_slots_fini(&s->cqs);
	ndd_slots_fini(&s->mws);
	ndd_slots_fini(&s->frs);
	ndd_slots_fini(&s->srqs);
	ndd_slots_fini(&s->qps);
	ndd_slots_fini(&s->listeners);
	ndd_slots_fini(&s->endpoints);
	ndd_slots_fini(&s->conns);
	ndd_slots_fini(&s->ahs);
	ndd_slots_fini(&s->questions);
}

/*
 * Messages are received without room for ancillary data: a descriptor that the client attaches is
 * dropped by the kernel and never becomes ours to close (closing a stranger's file can block).
 */
static void
on_socket(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	struct ndd_session *s = (struct ndd_session *)w;

	(void)d;
	if ((events & EPOLLOUT) && !s->ended)
		ndd_session_flush(s);
	for (int i = 0; i < MESSAGES_PER_WAKE && !s->ended; i++) {
		_Alignas(8) uint8_t buf[NDSH_MSG_BYTES];
		struct iovec iov = {.iov_base = buf, .iov_len = sizeof(buf)};
		struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};
		ssize_t n;

		if (s->outgoing_count != 0)
			return; /* first it reads its answers */
		n = recvmsg(s->watch.fd, &mh, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n <= 0)
			ndd_session_end(s, NULL);
		else if (mh.msg_flags & MSG_TRUNC)
			ndd_session_end(s, "a message longer than %u bytes", NDSH_MSG_BYTES);
		else
			ndd_session_message(s, buf, (size_t)n);
	}
}

static void
on_process_end(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	(void)d;
	(void)events;
	ndd_session_end(
		(struct ndd_session *)((char *)w - offsetof(struct ndd_session, pid_watch)), NULL);
}

/* The process that connected, not a child that inherited the socket, keeps the session alive. */
static void
watch_process(struct ndd_session *s)
{
	int fd = (int)syscall(SYS_pidfd_open, s->pid, 0);

	s->pid_watch.fd = -1;
	if (fd >= 0 && !ndd_watch_add(s->daemon, &s->pid_watch, fd, EPOLLIN, on_process_end))
		close(fd);
}

static void
session_admit(struct ndd *d, int fd)
{
	struct ucred cred = {0};
	socklen_t bytes = sizeof(cred);
	struct ndd_session *s;

	if (d->session_count >= d->cfg->max_sessions + REFUSED_MAX || d->stopping) {
		close(fd);
		return;
	}
	s = calloc(1, sizeof(*s));
	if (s == NULL || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &bytes) != 0 ||
		!ndd_watch_add(d, &s->watch, fd, EPOLLIN | EPOLLRDHUP, on_socket)) {
		free(s);
		close(fd);
		return;
	}
	s->daemon = d;
	s->serial = ++d->serial;
	s->refused = d->session_count >= d->cfg->max_sessions;
	s->pid = cred.pid;
	s->uid = cred.uid;
	s->wake_fd = -1;
	s->state = NDSH_ST_NEW;
	STAILQ_INIT(&s->outgoing);
	tables_init(s);
	watch_process(s);
	TAILQ_INSERT_TAIL(&d->sessions, s, next);
	d->session_count++;
	ndd_debug("session %lu: process %d, user %u", s->serial, s->pid, s->uid);
}

void
ndd_session_accept(struct ndd *d, struct ndd_watch *w, uint32_t events)
{
	(void)events;
	for (int i = 0; i < ACCEPTS_PER_WAKE; i++) {
		int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0)
			return;
		session_admit(d, fd);
	}
}

struct ndd_session *
ndd_session_find(struct ndd *d, uint64_t serial)
{
	struct ndd_session *s;

	TAILQ_FOREACH (s, &d->sessions, next)
		if (s->serial == serial)
			return s;
	return NULL;
}

/* Only marks it: callers up the stack still hold its objects. */
void
ndd_session_end(struct ndd_session *s, const char *why, ...)
{
	struct ndsh_ev_session_end m = {
		.h = {.type = NDSH_EV_SESSION_END, .status = NDSH_ERR_SESSION_ENDED}};
	va_list ap;

	if (s->ended)
		return;
	s->ended = true;
	TAILQ_REMOVE(&s->daemon->sessions, s, next);
	TAILQ_INSERT_TAIL(&s->daemon->ended, s, next);
	if (why == NULL) {
		ndd_debug("session %lu: process %d is gone", s->serial, s->pid);
		return;
	}
	va_start(ap, why);
	vsnprintf(m.reason, sizeof(m.reason), why, ap);
	va_end(ap);
	ndd_log_limited(s->daemon->stopping ? NDD_LOG_INFO : NDD_LOG_WARNING,
		"session %lu of process %d ends: %s", s->serial, s->pid, m.reason);
	(void)send(s->watch.fd, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void
on_shard_detach(struct ndd_shard *shard, uint64_t now_ns, void *arg)
{
	(void)now_ns;
	ndd_lcore_detach(shard, arg);
}

#define EACH(table, var)                                                                           \
	for (uint32_t pos_##var = 0; (var = ndd_slots_next(&s->table, &pos_##var)) != NULL;)

/* From the users to the used: the peers are told first, the memory goes last. */
static void
take_down(struct ndd_session *s)
{
	struct ndd_conn *conn;
	struct ndd_listener *listener;
	struct ndd_endpoint *endpoint;
	struct ndd_question *question;
	struct ndd_ah *ah;
	struct ndd_qp *qp;
	struct ndd_srq *srq;
	struct ndd_mw *mw;
	struct ndd_fr *fr;
	struct ndd_cq *cq;
	struct ndd_pd *pd;
	struct ndd_segment *seg;

	EACH (listeners, listener)
		ndd_listener_free(s, listener);
	EACH (conns, conn)
		ndd_conn_free(s, conn);
	EACH (endpoints, endpoint)
		ndd_endpoint_free(s, endpoint);
	EACH (questions, question)
		ndd_question_free(s, question);
	EACH (qps, qp)
		ndd_qp_free(s, qp);
	EACH (ahs, ah)
		ndd_ah_free(s, ah);
	EACH (srqs, srq)
		ndd_srq_free(s, srq);
	EACH (mws, mw)
		ndd_mw_free(s, mw);
	EACH (frs, fr)
		ndd_fr_free(s, fr);
	ndd_admin_end(s); /* no window is left that could keep a region */
	EACH (cqs, cq)
		ndd_cq_free(s, cq);
	ndd_mover_free(s);
	EACH (pds, pd)
		(void)ndd_pd_free(s, pd);
	if (s->attached)
		ndd_shard_call(s->shard, on_shard_detach, s->lcore);
	EACH (segments, seg)
		ndd_segment_free(s, seg);
}

void
ndd_session_reap(struct ndd *d)
{
	struct ndd_session *s;

	while ((s = TAILQ_FIRST(&d->ended)) != NULL) {
		take_down(s);
		ndd_session_drop_outgoing(s);
		ndd_watch_del(d, &s->watch);
		if (s->pid_watch.fd >= 0)
			ndd_watch_del(d, &s->pid_watch);
		if (s->wake_fd >= 0)
			close(s->wake_fd);
		if (s->lcore != NULL)
			free(s->lcore->ahs.slot);
		free(s->lcore);
		tables_fini(s);
		TAILQ_REMOVE(&d->ended, s, next);
		d->session_count--;
		free(s);
	}
}
