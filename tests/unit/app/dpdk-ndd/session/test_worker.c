/* SPDX-License-Identifier: BSD-3-Clause */
/* The threads of sessions: order, turns, clients that hold one up, and every order of ending. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lcore/wakeup.h"
#include "platform/pace.h"
#include "session/worker.h"

struct crew {
	struct ndd_wakeup control;
	struct ndd_crowd crowd;
	struct ndd_workers *all;
};

struct job {
	struct ndd_job job;
	sem_t begun, go;
	pthread_t ran_by;
	unsigned done_as; /* from 1 on */
};

static unsigned done_count;

static void
note_run(struct ndd_job *j)
{
	((struct job *)j)->ran_by = pthread_self();
}

/* It waits until the test lets it go. */
static void
held_run(struct ndd_job *j)
{
	struct job *t = (struct job *)j;

	note_run(j);
	sem_post(&t->begun);
	while (sem_wait(&t->go) != 0)
		;
}

static void
slice_run(struct ndd_job *j)
{
	ndd_job_slice_begin(j);
	held_run(j);
	ndd_job_slice_end(j);
}

static void
until_cancelled_run(struct ndd_job *j)
{
	note_run(j);
	sem_post(&((struct job *)j)->begun);
	while (!ndd_job_is_cancelled(j))
		sched_yield();
}

static void
note_done(struct ndd_job *j)
{
	((struct job *)j)->done_as = ++done_count;
}

static struct crew *
crew_new(void)
{
	struct crew *c = aligned_alloc(64, (sizeof(*c) + 63) & ~(size_t)63);

	cr_assert(ndd_wakeup_init(&c->control));
	c->all = ndd_workers_start(&c->control, &c->crowd);
	cr_assert_not_null(c->all);
	return c;
}

static struct job *
job_give(struct ndd_worker *w, void (*run)(struct ndd_job *j))
{
	struct job *t = calloc(1, sizeof(*t));

	sem_init(&t->begun, 0, 0);
	sem_init(&t->go, 0, 0);
	t->job.run = run;
	t->job.done = note_done;
	ndd_worker_give(w, &t->job);
	return t;
}

/* As the control thread sleeps: it is woken when there is something to finish. */
static void
finish_some(struct crew *c)
{
	struct pollfd p = {c->control.fd, POLLIN, 0};

	ndd_wakeup_before_sleep(&c->control);
	if (ndd_workers_quiet(c->all))
		cr_assert_eq(poll(&p, 1, 20000), 1, "the control thread is not woken");
	ndd_wakeup_after_sleep(&c->control);
	ndd_wakeup_drain(&c->control);
	ndd_workers_finish(c->all);
}

static void
finish_until(struct crew *c, const struct job *t)
{
	while (t->done_as == 0)
		finish_some(c);
}

Test(worker, jobs_of_a_session_in_their_order)
{
	struct crew *c = crew_new();
	struct ndd_worker *w = ndd_worker_new(c->all);
	struct job *t[100];

	for (unsigned i = 0; i < 100; i++)
		t[i] = job_give(w, note_run);
	finish_until(c, t[99]);
	for (unsigned i = 0; i < 100; i++) {
		cr_expect(eq(u32, t[i]->done_as, i + 1));
		cr_expect(pthread_equal(t[i]->ran_by, t[0]->ran_by));
		cr_expect_not(pthread_equal(t[i]->ran_by, pthread_self()));
	}
	cr_expect(ndd_workers_stop(c->all));
}

/* One call finishes a few jobs only, so that the control thread gets to other things. */
Test(worker, a_few_are_finished_at_a_time)
{
	struct crew *c = crew_new();
	struct ndd_worker *w[40];
	struct job *t[40];
	unsigned calls = 0;

	for (unsigned i = 0; i < 40; i++) {
		w[i] = ndd_worker_new(c->all);
		cr_assert_not_null(w[i]);
		t[i] = job_give(w[i], note_run);
	}
	while (done_count < 40) {
		unsigned before = done_count;

		finish_some(c);
		cr_expect(le(u32, done_count - before, 16));
		calls++;
	}
	cr_expect(ge(u32, calls, 3));
	for (unsigned i = 0; i < 40; i++)
		cr_expect(ne(u32, t[i]->done_as, 0));
	cr_expect(ndd_workers_stop(c->all));
}

Test(worker, a_client_that_holds_its_worker_up_holds_up_nobody_else)
{
	struct crew *c = crew_new();
	struct ndd_worker *hostile = ndd_worker_new(c->all), *other = ndd_worker_new(c->all);
	struct job *held = job_give(hostile, held_run), *behind = job_give(hostile, note_run);

	sem_wait(&held->begun);
	for (unsigned i = 0; i < 10; i++)
		finish_until(c, job_give(other, note_run));
	cr_expect(eq(u32, behind->done_as, 0));
	sem_post(&held->go);
	finish_until(c, behind);
	cr_expect(eq(u32, held->done_as + 1, behind->done_as));
	cr_expect(ndd_workers_stop(c->all));
}

Test(worker, a_released_worker_counts_until_its_last_job_is_done)
{
	struct crew *c = crew_new();
	struct ndd_worker *w = ndd_worker_new(c->all);
	struct job *held = job_give(w, held_run), *last = job_give(w, held_run);

	sem_wait(&held->begun);
	cr_expect(eq(u32, ndd_workers_left(c->all), 0));
	ndd_worker_release(w, NULL);
	cr_expect(eq(u32, ndd_workers_left(c->all), 1));
	sem_post(&held->go);
	sem_wait(&last->begun);
	cr_expect(eq(u32, ndd_workers_left(c->all), 1));
	sem_post(&last->go);
	while (ndd_workers_left(c->all) > 0)
		finish_some(c);
	cr_expect(eq(u32, last->done_as, 2));
	cr_expect(ndd_workers_stop(c->all));
}

Test(worker, one_that_has_nothing_to_do_ends_at_once)
{
	struct crew *c = crew_new();

	ndd_worker_release(ndd_worker_new(c->all), NULL);
	while (ndd_workers_left(c->all) > 0)
		finish_some(c);
	cr_expect(ndd_workers_stop(c->all));
}

Test(worker, a_job_is_cancelled)
{
	struct crew *c = crew_new();
	struct ndd_worker *w = ndd_worker_new(c->all);
	struct job *t = job_give(w, until_cancelled_run);

	sem_wait(&t->begun);
	ndd_job_cancel(&t->job);
	finish_until(c, t);
	cr_expect(ndd_workers_stop(c->all));
}

/* ---- slices --------------------------------------------------------------------------------- */

struct slices {
	struct job base;
	pid_t tid;
	unsigned *clock, at[2]; /* when its slices began */
	struct slices *other;	/* the first slice lasts until this one waits for its turn */
};

static char
state_of(pid_t tid)
{
	char path[64], line[256] = "", state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", (int)tid);
	f = fopen(path, "r");
	if (f != NULL) {
		if (fgets(line, sizeof(line), f) != NULL)
			(void)sscanf(line, "%*d (%*[^)]) %c", &state);
		fclose(f);
	}
	return state;
}

static void
wait_until_asleep(const struct slices *t)
{
	pid_t tid;

	while ((tid = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE)) == 0 || state_of(tid) != 'S')
		sched_yield();
}

static void
slices_run(struct ndd_job *j)
{
	struct slices *t = (struct slices *)j;

	__atomic_store_n(&t->tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
	for (unsigned i = 0; i < 2; i++) {
		ndd_job_slice_begin(j);
		t->at[i] = ++*t->clock; /* the slice is the lock */
		if (i == 0 && t->other != NULL) {
			sem_post(&t->base.begun);
			wait_until_asleep(t->other);
		}
		ndd_job_slice_end(j);
	}
}

/* The worker that waits longest is next, and the one that has just had a slice is last. */
Test(worker, slices_go_round)
{
	struct crew *c = crew_new();
	struct ndd_worker *first = ndd_worker_new(c->all), *last = ndd_worker_new(c->all);
	struct slices t[2] = {0};
	unsigned clock = 0;

	for (unsigned i = 0; i < 2; i++) {
		t[i].clock = &clock;
		t[i].base.job = (struct ndd_job){.run = slices_run, .done = note_done};
	}
	t[0].other = &t[1];
	sem_init(&t[0].base.begun, 0, 0);
	ndd_worker_give(first, &t[0].base.job);
	sem_wait(&t[0].base.begun);
	ndd_worker_give(last, &t[1].base.job);
	finish_until(c, &t[0].base);
	finish_until(c, &t[1].base);
	cr_expect(eq(u32, clock, 4));
	cr_expect(lt(u32, t[1].at[0], t[0].at[1]), "the other's first comes before its second");
	cr_expect(ndd_workers_stop(c->all));
}

/* ---- the end of the daemon ------------------------------------------------------------------ */

Test(worker, a_daemon_that_stops_cuts_jobs_short)
{
	struct crew *c = crew_new();
	struct ndd_worker *w = ndd_worker_new(c->all), *idle = ndd_worker_new(c->all),
			  *released = ndd_worker_new(c->all);
	struct job *t = job_give(w, until_cancelled_run), *never = job_give(w, note_run);

	(void)idle;
	sem_wait(&t->begun);
	ndd_worker_release(released, NULL);
	cr_expect(ndd_workers_stop(c->all));
	cr_expect(eq(u32, never->done_as, 0));
}

Test(worker, a_daemon_that_stops_does_not_wait_for_a_client, .timeout = 60)
{
	struct crew *c = crew_new();
	struct ndd_worker *w = ndd_worker_new(c->all);
	struct job *held = job_give(w, held_run);

	sem_wait(&held->begun);
	ndd_worker_release(w, NULL);
	cr_expect_not(ndd_workers_stop(c->all));
	sem_post(&held->go); /* the thread still has what it uses */
	cr_expect(eq(int, pthread_join(held->ran_by, NULL), 0));
}

Test(worker, of_two_slices_one_is_under_way, .timeout = 60)
{
	struct crew *c = crew_new();
	struct job *one = job_give(ndd_worker_new(c->all), slice_run), *two;

	sem_wait(&one->begun);
	two = job_give(ndd_worker_new(c->all), slice_run);
	sem_post(&two->go);
	usleep(20000); /* time for what must not happen */
	cr_expect(ne(int, sem_trywait(&two->begun), 0));
	sem_post(&one->go);
	finish_until(c, one);
	finish_until(c, two);
	cr_expect(ndd_workers_stop(c->all));
}
