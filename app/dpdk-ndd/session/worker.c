/* SPDX-License-Identifier: BSD-3-Clause */
#include "session/worker.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "control/daemon.h"
#include "platform/pace.h"
#include "session/class.h"
#include "session/seat.h"
#include "session/session.h"

#define STACK_BYTES	(256u << 10)
#define FINISH_PER_CALL 16u
#define STOP_S		1 /* for all threads together */

STAILQ_HEAD(job_list, ndd_job);

struct ndd_worker {
	struct ndd_workers *all;
	pthread_t thread;
	pthread_cond_t given; /* a job, a slice, or the end */
	struct job_list jobs; /* the first may be running */
	struct ndd_job last;  /* the thread ends behind it */
	bool over;
	struct ndd_seat *seat; /* since it is released */
	TAILQ_ENTRY(ndd_worker) next;
	STAILQ_ENTRY(ndd_worker) next_turn;
};

struct ndd_workers {
	pthread_mutex_t lock; /* held for some instructions only: the control thread takes it */
	pthread_cond_t over;  /* a thread is */
	struct ndd_wakeup *control;
	const struct ndd_crowd *crowd;
	struct job_list done;
	uint32_t done_count;	    /* read without the lock, too */
	bool stop;		    /* the same */
	struct ndd_worker *slicing; /* whose slice is under way */
	STAILQ_HEAD(, ndd_worker) turns;
	/* the slicing worker's */
	struct ndd_pace pace;
	uint64_t used_ns;	/* by all slices */
	uint64_t began_used_ns; /* what its thread had used when this one began */
	/* the control thread's own */
	TAILQ_HEAD(, ndd_worker) workers;
	uint32_t left;
};

static struct ndd_job *
run_first(struct ndd_worker *w)
{
	struct ndd_workers *all = w->all;
	struct ndd_job *j = STAILQ_FIRST(&w->jobs);

	pthread_mutex_unlock(&all->lock);
	j->run(j);
	pthread_mutex_lock(&all->lock);
	STAILQ_REMOVE_HEAD(&w->jobs, next);
	STAILQ_INSERT_TAIL(&all->done, j, next);
	__atomic_add_fetch(&all->done_count, 1, __ATOMIC_RELAXED);
	ndd_wakeup_notify(all->control);
	return j;
}

static void *
worker_main(void *arg)
{
	struct ndd_worker *w = arg;
	struct ndd_workers *all = w->all;
	const struct ndd_job *ran = NULL;

	ndd_sleep_precisely();
	pthread_mutex_lock(&all->lock);
	while (ran != &w->last && !all->stop)
		if (STAILQ_EMPTY(&w->jobs))
			pthread_cond_wait(&w->given, &all->lock);
		else
			ran = run_first(w);
	w->over = true;
	pthread_cond_signal(&all->over);
	pthread_mutex_unlock(&all->lock);
	return NULL;
}

/* ---- the control thread -------------------------------------------------------------------- */

struct ndd_workers *
ndd_workers_start(struct ndd_wakeup *control, const struct ndd_crowd *crowd)
{
	struct ndd_workers *all = calloc(1, sizeof(*all));
	pthread_condattr_t clock;

	if (all == NULL)
		return NULL;
	all->control = control;
	all->crowd = crowd;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&all->over, &clock);
	pthread_condattr_destroy(&clock);
	pthread_mutex_init(&all->lock, NULL);
	STAILQ_INIT(&all->done);
	STAILQ_INIT(&all->turns);
	TAILQ_INIT(&all->workers);
	return all;
}

static bool
thread_start(struct ndd_worker *w)
{
	pthread_attr_t attr;
	int rc;

	if (pthread_attr_init(&attr) != 0)
		return false;
	(void)pthread_attr_setstacksize(&attr, STACK_BYTES);
	rc = pthread_create(&w->thread, &attr, worker_main, w);
	if (rc == 0)
		(void)pthread_setname_np(w->thread, "ndd-worker");
	pthread_attr_destroy(&attr);
	return rc == 0;
}

struct ndd_worker *
ndd_worker_new(struct ndd_workers *all)
{
	struct ndd_worker *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return NULL;
	w->all = all;
	STAILQ_INIT(&w->jobs);
	pthread_cond_init(&w->given, NULL);
	if (!thread_start(w)) {
		pthread_cond_destroy(&w->given);
		free(w);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&all->workers, w, next);
	return w;
}

void
ndd_worker_give(struct ndd_worker *w, struct ndd_job *j)
{
	j->worker = w;
	j->cancelled = false;
	pthread_mutex_lock(&w->all->lock);
	STAILQ_INSERT_TAIL(&w->jobs, j, next);
	pthread_cond_signal(&w->given);
	pthread_mutex_unlock(&w->all->lock);
}

static void
last_run(struct ndd_job *j)
{
	(void)j;
}

/* Its thread is over. */
static void
worker_free(struct ndd_worker *w)
{
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->given);
	TAILQ_REMOVE(&w->all->workers, w, next);
	free(w);
}

static void
last_done(struct ndd_job *j)
{
	struct ndd_worker *w = j->worker;

	w->all->left--;
	if (w->seat != NULL)
		ndd_seat_drop(w->seat);
	worker_free(w);
}

void
ndd_worker_release(struct ndd_worker *w, struct ndd_seat *seat)
{
	w->seat = seat;
	w->all->left++;
	w->last = (struct ndd_job){.run = last_run, .done = last_done};
	ndd_worker_give(w, &w->last);
}

static struct ndd_job *
done_take(struct ndd_workers *all)
{
	struct ndd_job *j;

	if (ndd_workers_quiet(all))
		return NULL;
	pthread_mutex_lock(&all->lock);
	j = STAILQ_FIRST(&all->done);
	STAILQ_REMOVE_HEAD(&all->done, next);
	__atomic_sub_fetch(&all->done_count, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&all->lock);
	return j;
}

void
ndd_workers_finish(struct ndd_workers *all)
{
	struct ndd_job *j;

	for (unsigned i = 0; i < FINISH_PER_CALL && (j = done_take(all)) != NULL; i++)
		j->done(j);
}

bool
ndd_workers_quiet(const struct ndd_workers *all)
{
	return __atomic_load_n(&all->done_count, __ATOMIC_RELAXED) == 0;
}

uint32_t
ndd_workers_left(const struct ndd_workers *all)
{
	return all->left;
}

/* False: not in time. The kernel wakes no thread that waits for a file's lock. */
static bool
worker_wait(struct ndd_worker *w, const struct timespec *until)
{
	bool over;

	pthread_mutex_lock(&w->all->lock);
	while (!w->over && pthread_cond_timedwait(&w->all->over, &w->all->lock, until) == 0)
		;
	over = w->over;
	pthread_mutex_unlock(&w->all->lock);
	return over;
}

bool
ndd_workers_stop(struct ndd_workers *all)
{
	struct ndd_worker *w, *next;
	struct timespec until;
	bool whole = true;

	if (all == NULL)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += STOP_S;
	pthread_mutex_lock(&all->lock);
	__atomic_store_n(&all->stop, true, __ATOMIC_RELAXED);
	TAILQ_FOREACH (w, &all->workers, next)
		pthread_cond_signal(&w->given);
	pthread_mutex_unlock(&all->lock);
	for (w = TAILQ_FIRST(&all->workers); w != NULL; w = next) {
		next = TAILQ_NEXT(w, next);
		if (worker_wait(w, &until))
			worker_free(w);
		else
			whole = false;
	}
	if (whole)
		free(all);
	return whole;
}

/* ---- for jobs ------------------------------------------------------------------------------ */

void
ndd_job_cancel(struct ndd_job *j)
{
	__atomic_store_n(&j->cancelled, true, __ATOMIC_RELAXED);
}

bool
ndd_job_is_cancelled(const struct ndd_job *j)
{
	return __atomic_load_n(&j->cancelled, __ATOMIC_RELAXED) ||
	       __atomic_load_n(&j->worker->all->stop, __ATOMIC_RELAXED);
}

void
ndd_job_slice_begin(const struct ndd_job *j)
{
	struct ndd_worker *w = j->worker;
	struct ndd_workers *all = w->all;

	pthread_mutex_lock(&all->lock);
	if (all->slicing == NULL)
		all->slicing = w;
	else
		STAILQ_INSERT_TAIL(&all->turns, w, next_turn);
	while (all->slicing != w)
		pthread_cond_wait(&w->given, &all->lock);
	pthread_mutex_unlock(&all->lock);
	all->began_used_ns = ndd_thread_used_ns();
}

/* Behind a slice, and as a part of it: all slices together leave time to the lcores. */
static void
slice_rest(struct ndd_workers *all, bool others_wait)
{
	const uint64_t now_ns = ndd_now_ns();

	all->used_ns += ndd_thread_used_ns() - all->began_used_ns;
	if (!others_wait)
		ndd_pace_sleep(ndd_pace_rest_ns(
			&all->pace, now_ns, all->used_ns, ndd_crowd_is(all->crowd, now_ns)));
}

/* A rest is at the cost of the session that made it necessary: none with others in line, who had
 * little of the time yet. */
void
ndd_job_slice_end(const struct ndd_job *j)
{
	struct ndd_workers *all = j->worker->all;
	bool others_wait;

	pthread_mutex_lock(&all->lock);
	others_wait = !STAILQ_EMPTY(&all->turns);
	pthread_mutex_unlock(&all->lock);
	slice_rest(all, others_wait);
	pthread_mutex_lock(&all->lock);
	all->slicing = STAILQ_FIRST(&all->turns);
	if (all->slicing != NULL) {
		STAILQ_REMOVE_HEAD(&all->turns, next_turn);
		pthread_cond_signal(&all->slicing->given);
	}
	pthread_mutex_unlock(&all->lock);
}

/* ---- of a session -------------------------------------------------------------------------- */

bool
ndd_session_needs_worker(struct ndd_session *s)
{
	if (s->worker == NULL)
		s->worker = ndd_worker_new(s->daemon->workers);
	return s->worker != NULL;
}

static bool
worker_end(struct ndd_session *s)
{
	if (s->worker != NULL)
		ndd_worker_release(s->worker, ndd_seat_hold(s->seat));
	return true;
}

const struct ndd_class ndd_worker_class = {.name = "worker", .end = worker_end};
