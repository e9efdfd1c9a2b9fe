/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers: a session's thread for what takes long, or may wait for its client (a lock of a file
 * that the client has, too). It carries out the session's jobs one after another, so a client keeps
 * nothing waiting but its own jobs. What costs time alone is done in slices: one slice of the whole
 * daemon at a time, the sessions by turns.
 */
#ifndef NDD_WORKER_H
#define NDD_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct ndd_crowd;
struct ndd_seat;
struct ndd_session;
struct ndd_wakeup;
struct ndd_worker;
struct ndd_workers;

/* Part of what it is about, which is the worker's from ndd_worker_give() until done() is called. */
struct ndd_job {
	STAILQ_ENTRY(ndd_job) next;
	struct ndd_worker *worker;
	void (*run)(struct ndd_job *j);	 /* by the session's thread */
	void (*done)(struct ndd_job *j); /* by the control thread; may free the job */
	bool cancelled;
};

/* ---- the control thread ---- */

/* Threads notify by control when a job is done, and rest behind slices where it is crowded. NULL:
 * no memory. */
struct ndd_workers *ndd_workers_start(struct ndd_wakeup *control, const struct ndd_crowd *crowd);
/* Jobs are cut short, and not done(). A thread that goes on waiting for its client is left to the
 * end of the process, with what it uses: false. May be NULL. */
bool ndd_workers_stop(struct ndd_workers *all);
/* done() for jobs that have been run, a few per call. */
void ndd_workers_finish(struct ndd_workers *all);
/* Has ndd_workers_finish() nothing to do? */
bool ndd_workers_quiet(const struct ndd_workers *all);
/* How many released workers are still there. */
uint32_t ndd_workers_left(const struct ndd_workers *all);

/* s->worker is there from now on; false: no thread. */
bool ndd_session_needs_worker(struct ndd_session *s);
/* NULL: no thread. */
struct ndd_worker *ndd_worker_new(struct ndd_workers *all);
void ndd_worker_give(struct ndd_worker *w, struct ndd_job *j);
/* The session has ended: so does the worker, behind its last job; until then it holds the seat (or
 * NULL). */
void ndd_worker_release(struct ndd_worker *w, struct ndd_seat *seat);
/* Its run() is to end soon. */
void ndd_job_cancel(struct ndd_job *j);

/* ---- in run() ---- */

bool ndd_job_is_cancelled(const struct ndd_job *j);
/* A slice: nobody else's is under way. It does not wait for the client. */
void ndd_job_slice_begin(const struct ndd_job *j);
void ndd_job_slice_end(const struct ndd_job *j);

#endif
