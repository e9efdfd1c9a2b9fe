/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moved memory: memory that is not of nd_alloc(), so that the daemon cannot reach it. This library
 * copies for the daemon (ndsh_mover.h).
 *
 * A thread per adapter does it, from the first such region on, since a peer may read and write
 * while this program makes no call; it sleeps while there is nothing to copy. A thread that takes
 * results copies too, before they are returned: so the bytes that a result reports are in their
 * place, whatever the mover thread is doing just now.
 *
 * A program that is stopped stops its own transfers. Of memory that is gone, before its region was
 * deregistered, the transfers fail and their queue pairs end: the daemon is told, and completions
 * that it had made before are corrected here, as they are taken.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ndclient/mem/mover.h"
#include "ndclient/mem/segment.h"
#include "ndclient/qp/handles.h"
#include "ndclient/qp/qp.h"
#include "ndclient/session/adapter.h"
#include "ndclient/session/control.h"
#include "ndclient/session/error.h"
#include "ndclient/session/fd.h"
#include "ndclient/session/thread.h"
#include "shm/ndsh_mover.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define YIELDS 4u /* empty polls before the thread sleeps; on a crowded machine each is expensive */

/* A daemon that polls sees the progress by itself; one that sleeps must be woken. */
static void
mover_notify_daemon(const struct nd_adapter *a)
{
	ndsh_full_barrier();
	if (__atomic_load_n(&a->page->asleep, __ATOMIC_RELAXED) != 0)
		nd_fd_wake(a->wake_fd);
}

/*
 * The command failed: what does its queue pair's completions report wrongly from here on? The first
 * failure counts, all behind it are flushed. A queue pair is not destroyed before the commands that
 * name it are carried out (nd_mover_settle()).
 */
static void
completions_spoil(struct nd_adapter *a, const struct ndsh_cqe *command)
{
	struct nd_qp *qp = nd_qp_of_handle(a->qps, command->qp);
	struct nd_spoiled *s;

	if (qp == NULL || command->syndrome == NDSH_SPOILS_NONE)
		return;
	s = &qp->spoiled[command->syndrome != NDSH_SPOILS_REQUEST];
	if (s->by != NDSH_SPOILS_NONE)
		return;
	s->from = command->slot_count;
	__atomic_store_n(&s->by, command->syndrome, __ATOMIC_RELEASE);
}

static uint32_t
mover_copy(void *ctx, const struct ndsh_mover *commands, const struct ndsh_cqe *command, uint32_t n)
{
	struct nd_mover *m = ctx;
	uint32_t failed;

	if (commands->failed == NULL) { /* an old daemon: it is as if the application had done it */
		for (uint32_t i = 0; i < n; i++)
			ndsh_mover_copy_plain(commands, &command[i]);
		return 0;
	}
	failed = nd_copier_run(&m->copier, commands, command, n);
	for (uint32_t i = 0; i < n && failed != 0; i++)
		if (failed >> i & 1)
			completions_spoil(m->adapter, &command[i]);
	return failed;
}

/* All copy commands that were given before the call are done when it returns: no more than
 * NDSH_MOVER_DEPTH can be outstanding. */
void
nd_mover_run(struct nd_mover *m)
{
	uint32_t done;

	pthread_mutex_lock(&m->lock);
	done = ndsh_mover_run(&m->commands, NDSH_MOVER_DEPTH, mover_copy, m);
	pthread_mutex_unlock(&m->lock);
	if (done > 0)
		mover_notify_daemon(m->adapter);
}

void
nd_mover_settle(struct nd_adapter *a)
{
	struct nd_mover *m = __atomic_load_n(&a->mover, __ATOMIC_ACQUIRE);

	if (m != NULL)
		nd_mover_run(m);
}

void
nd_mover_help(struct nd_mover *m)
{
	uint32_t done;

	if (pthread_mutex_trylock(&m->lock) != 0)
		return;
	done = ndsh_mover_run(&m->commands, NDSH_MOVER_BATCH, mover_copy, m);
	pthread_mutex_unlock(&m->lock);
	if (done > 0)
		mover_notify_daemon(m->adapter);
}

/* ---- the thread ---------------------------------------------------------------------- */

static bool
mover_run_batch(struct nd_mover *m)
{
	uint32_t done;

	pthread_mutex_lock(&m->lock);
	done = ndsh_mover_run(&m->commands, NDSH_MOVER_BATCH, mover_copy, m);
	pthread_mutex_unlock(&m->lock);
	if (done > 0)
		mover_notify_daemon(m->adapter);
	return done > 0;
}

/* True: the thread may sleep, a copy command that comes wakes it. */
static bool
mover_arm(struct nd_mover *m)
{
	enum ndsh_arm_result armed;

	pthread_mutex_lock(&m->lock);
	armed = ndsh_cq_arm(&m->commands.reader, NDSH_ARM_ANY, NULL);
	pthread_mutex_unlock(&m->lock);
	return armed != NDSH_ARM_FIRED;
}

/* False: the session is over, or the thread is to end. */
static bool
mover_sleep(struct nd_mover *m)
{
	struct pollfd fds[2] = {
		{.fd = m->notify_fd, .events = POLLIN}, {.fd = m->stop_fd, .events = POLLIN}};

	while (poll(fds, 2, -1) < 0)
		;
	return fds[1].revents == 0 && nd_drain(m->notify_fd);
}

static void *
mover_main(void *arg)
{
	struct nd_mover *m = arg;
	unsigned idle = 0;

	for (;;) {
		if (mover_run_batch(m)) {
			idle = 0;
		} else if (idle < YIELDS) {
			idle++;
			sched_yield();
		} else {
			if (mover_arm(m) && !mover_sleep(m))
				return NULL;
			idle = 0;
		}
	}
}

/* ---- making and ending it ------------------------------------------------------------ */

static void
mover_free(struct nd_mover *m)
{
	if (m->notify_fd >= 0)
		close(m->notify_fd);
	if (m->stop_fd >= 0)
		close(m->stop_fd);
	nd_copier_fini(&m->copier);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

/* The daemon's half. */
static nd_status
mover_create(struct nd_adapter *a, struct nd_mover *m)
{
	bool tells = a->abi_minor >= NDSH_MINOR_FAILED_MOVES;
	struct ndsh_mover_create msg = {.h.type = NDSH_MSG_MOVER_CREATE, .tells = tells};
	void *block = nd_block_alloc(a, ndsh_mover_bytes(tells), &msg.segment, &msg.offset);
	nd_status st;

	if (block == NULL)
		return nd_gone(a) ? ND_DEVICE_REMOVED : ND_INSUFFICIENT_RESOURCES;
	st = nd_control_call(a, &(struct nd_request){.h = &msg.h, .fd = &m->notify_fd});
	if (st == ND_SUCCESS && m->notify_fd < 0)
		st = ND_INTERNAL_ERROR;
	if (st != ND_SUCCESS) {
		nd_free(a, block);
		return st;
	}
	(void)fcntl(m->notify_fd, F_SETFL, O_NONBLOCK);
	ndsh_mover_view(&m->commands, block, tells);
	return ND_SUCCESS;
}

static nd_status
mover_start(struct nd_adapter *a)
{
	struct nd_mover *m = calloc(1, sizeof(*m));
	nd_status st;

	if (m == NULL)
		return ND_NO_MEMORY;
	m->adapter = a;
	m->notify_fd = -1;
	nd_copier_init(&m->copier);
	pthread_mutex_init(&m->lock, NULL);
	m->stop_fd = eventfd(0, EFD_CLOEXEC);
	st = m->stop_fd >= 0 ? mover_create(a, m) : ND_INSUFFICIENT_RESOURCES;
	if (st == ND_SUCCESS && !nd_thread_start(&m->thread, mover_main, m))
		st = nd_fail(ND_INSUFFICIENT_RESOURCES, "no thread to move memory");
	if (st != ND_SUCCESS) {
		mover_free(m);
		return st;
	}
	__atomic_store_n(&a->mover, m, __ATOMIC_RELEASE);
	return ND_SUCCESS;
}

nd_status
nd_mover_need(struct nd_adapter *a)
{
	nd_status st = ND_SUCCESS;

	if (a->abi_minor < NDSH_MINOR_MOVERS)
		return nd_fail(ND_NOT_SUPPORTED,
			"memory that is not of nd_alloc(): the daemon is too old for it");
	pthread_mutex_lock(&a->mover_lock);
	if (a->mover == NULL)
		st = mover_start(a);
	pthread_mutex_unlock(&a->mover_lock);
	return st;
}

void
nd_mover_stop(struct nd_adapter *a)
{
	struct nd_mover *m = a->mover;

	if (m == NULL)
		return;
	nd_fd_wake(m->stop_fd);
	pthread_join(m->thread, NULL);
	mover_free(m);
	a->mover = NULL;
}

/* ---- what may be registered ---------------------------------------------------------- */

/* Can the kernel populate (Linux 5.14 can)? A page that is certainly there tells. */
static bool
can_populate(uintptr_t page)
{
	static _Alignas(16) char here;

	return madvise((void *)((uintptr_t)&here & -page), page, MADV_POPULATE_READ) == 0;
}

nd_status
nd_mover_check(const void *buf, size_t bytes, bool write, bool populate)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), skip = (uintptr_t)buf % page;
	char *from = (char *)(uintptr_t)buf - skip;
	int rc;

	/* Asks the kernel, and changes nothing: such a sync starts no output. */
	if (msync(from, bytes + skip, MS_ASYNC) != 0)
		return nd_fail(ND_ACCESS_VIOLATION, "memory that is not there");
	if (!populate || !can_populate(page))
		return ND_SUCCESS;
	do
		rc = madvise(from, bytes + skip, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
	while (rc != 0 && (errno == EINTR || errno == EAGAIN));
	if (rc == 0)
		return ND_SUCCESS;
	if (errno == ENOMEM)
		return nd_fail(ND_INSUFFICIENT_RESOURCES, "the system has not so much memory");
	return nd_fail(ND_ACCESS_VIOLATION, "memory that can't be %s",
		write ? "written: ask for no local or remote write" : "read");
}
