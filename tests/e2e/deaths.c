/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that dies at each step of a connection's life: its process, or its daemon. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "meeting.h"
#include "scenarios.h"

/* Far below any time-out of a daemon (10 s), and enough for a busy machine. */
#define SOON_MS 3000

/* What has happened when the process dies. */
enum step {
	ASKED, /* it connects; we have not taken its request */
	TAKEN,
	ACCEPTED, /* it has our answer, and does not complete */
	CONNECTED,
	BUSY,	 /* its writes are under way */
	LEFT,	 /* it has disconnected */
	OFFERED, /* we connect; it has not taken our request */
	TAKES,
	ACCEPTS, /* we have its answer */
	STEPS,
};

/* What one process tells the other of itself. */
struct place {
	struct sockaddr_storage where;
	uint64_t buf;
	uint32_t token;
};

struct death {
	enum step step;
	pid_t process;
	int to_it[2], from_it[2];
	struct side *we;
	struct nd_listener *listener;
	struct nd_overlapped get, pending, told;
	uint64_t killed_ms;
};

/* ---- the process that dies ---- */

static void
tell(int fd, const void *what, size_t bytes)
{
	CHECK(write(fd, what, bytes) == (ssize_t)bytes);
}

static void
hear(int fd, void *what, size_t bytes)
{
	CHECK(read(fd, what, bytes) == (ssize_t)bytes);
}

static void
it_asks(struct side *s, enum step step, const struct place *to)
{
	static struct nd_overlapped ask, complete, done;

	WANT(ND_PENDING, nd_connector_connect(s->connector, s->qp, (struct sockaddr *)&to->where,
				 s->addr_bytes, 1, 1, NULL, 0, &ask));
	if (step >= ACCEPTED)
		WANT(ND_SUCCESS, nd_overlapped_wait(&ask, PATIENCE_MS));
	if (step >= CONNECTED)
		WANT(ND_SUCCESS,
			finish(nd_connector_complete_connect(s->connector, &complete), &complete));
	if (step == LEFT)
		WANT(ND_SUCCESS, finish(nd_connector_disconnect(s->connector, &done), &done));
}

static void
it_listens(struct side *s, enum step step, int to_us, int from_us)
{
	static struct nd_overlapped get, accept;
	struct place here = {0};
	struct nd_listener *listener = side_listen(s, &here.where);
	char asked;

	tell(to_us, &here, sizeof(here));
	hear(from_us, &asked, 1);
	if (step >= TAKES)
		WANT(ND_SUCCESS,
			finish(nd_listener_get_request(listener, s->connector, &get), &get));
	if (step >= ACCEPTS)
		WANT(ND_PENDING, nd_connector_accept(s->connector, s->qp, 1, 1, NULL, 0, &accept));
}

static _Noreturn void
it_writes(struct side *s, const struct place *to)
{
	struct nd_sge sge = {s->buf, BUFFER_BYTES, nd_mr_local_token(s->mr)};
	struct nd_result result;

	for (;;) {
		(void)nd_qp_write(s->qp, NULL, &sge, 1, to->buf, to->token, 0);
		(void)nd_cq_get_results(s->cq, &result, 1);
	}
}

static _Noreturn void
it_lives(struct side *s, enum step step, int to_us, int from_us)
{
	struct place to;

	side_open_alone(s);
	if (step < OFFERED) {
		hear(from_us, &to, sizeof(to));
		it_asks(s, step, &to);
	} else {
		it_listens(s, step, to_us, from_us);
	}
	tell(to_us, "!", 1);
	if (step == BUSY)
		it_writes(s, &to);
	for (;;)
		pause();
}

/* ---- the process that lives on ---- */

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void
wait_for_it(struct death *d)
{
	char byte;

	hear(d->from_it[0], &byte, 1);
}

static void
kill_it(struct death *d)
{
	if (d->step == BUSY)
		sleep_ms(20);
	CHECK(kill(d->process, SIGKILL) == 0);
	d->killed_ms = now_ms();
	CHECK(waitpid(d->process, NULL, 0) == d->process);
}

static void
soon(struct death *d, nd_status want, nd_status inline_status, struct nd_overlapped *ov)
{
	WANT(want, finish(inline_status, ov));
	CHECK(now_ms() - d->killed_ms < SOON_MS);
}

/* We accept: the peer died before, or while we waited (R-CONN-12, R-CONN-14); both are legal. */
static void
accept_the_dead(struct death *d)
{
	struct nd_overlapped accept = {0};
	nd_status got;

	got = finish(
		nd_connector_accept(d->we->connector, d->we->qp, 1, 1, NULL, 0, &accept), &accept);
	if (got != ND_CONNECTION_ABORTED)
		WANT(ND_CONNECTION_REFUSED, got);
	CHECK(now_ms() - d->killed_ms < SOON_MS);
}

static void
ended(struct death *d)
{
	struct nd_overlapped done = {0};
	struct nd_result result;

	soon(d, ND_SUCCESS, ND_PENDING, &d->told);
	WANT(ND_CANCELED, side_result(d->we, &result));
	soon(d, ND_SUCCESS, nd_connector_disconnect(d->we->connector, &done), &done);
}

static void
take_it(struct death *d)
{
	WANT(ND_SUCCESS,
		finish(nd_listener_get_request(d->listener, d->we->connector, &d->get), &d->get));
}

/* Its request may have been on the way yet: then it never comes. */
static void
take_from_the_dead(struct death *d)
{
	WANT(ND_PENDING, nd_listener_get_request(d->listener, d->we->connector, &d->get));
	if (nd_overlapped_wait(&d->get, 100) == ND_SUCCESS)
		accept_the_dead(d);
}

static void
it_asks_us(struct death *d)
{
	struct place here = {.buf = (uintptr_t)d->we->buf, .token = nd_mr_remote_token(d->we->mr)};
	struct side *we = d->we;
	nd_status accepting = ND_PENDING;

	d->listener = side_listen(we, &here.where);
	tell(d->to_it[1], &here, sizeof(here));
	if (d->step >= TAKEN)
		take_it(d);
	if (d->step >= ACCEPTED)
		accepting = nd_connector_accept(we->connector, we->qp, 1, 1, NULL, 0, &d->pending);
	if (d->step >= CONNECTED) {
		WANT(ND_SUCCESS, side_receive(we, 100));
		WANT(ND_SUCCESS, finish(accepting, &d->pending));
		WANT(ND_PENDING, nd_connector_notify_disconnect(we->connector, &d->told));
	}
	wait_for_it(d);
	kill_it(d);
	if (d->step == ASKED)
		take_from_the_dead(d);
	else if (d->step == TAKEN)
		accept_the_dead(d);
	else if (d->step == ACCEPTED)
		soon(d, ND_CONNECTION_REFUSED, accepting, &d->pending);
	else
		ended(d);
	nd_listener_close(d->listener);
}

/* We have its answer: completing may be faster than the notice of its end; then that is told. */
static void
complete_with_the_dead(struct death *d)
{
	struct nd_connector *c = d->we->connector;
	struct nd_overlapped complete = {0};
	nd_status got = finish(nd_connector_complete_connect(c, &complete), &complete);

	if (got == ND_SUCCESS)
		soon(d, ND_SUCCESS, nd_connector_notify_disconnect(c, &d->told), &d->told);
	else
		WANT(ND_CONNECTION_ABORTED, got);
}

static void
we_ask_it(struct death *d)
{
	struct side *we = d->we;
	struct place it;

	hear(d->from_it[0], &it, sizeof(it));
	WANT(ND_PENDING, nd_connector_connect(we->connector, we->qp, (struct sockaddr *)&it.where,
				 we->addr_bytes, 1, 1, NULL, 0, &d->pending));
	tell(d->to_it[1], "?", 1);
	wait_for_it(d);
	if (d->step == ACCEPTS)
		WANT(ND_SUCCESS, nd_overlapped_wait(&d->pending, PATIENCE_MS));
	kill_it(d);
	if (d->step == ACCEPTS)
		complete_with_the_dead(d);
	else
		soon(d, ND_CONNECTION_REFUSED, ND_PENDING, &d->pending);
}

/* ---- a process with several connections ---- */

#define SEVERAL 4

static _Noreturn void
it_has_several(struct side *s, int to_us, int from_us)
{
	struct place to;

	hear(from_us, &to, sizeof(to));
	for (int i = 0; i < SEVERAL; i++) { /* two of each adapter */
		if (i % 2 == 0) {
			side_open_alone(s);
		} else {
			side_create_qp(s, 16);
			WANT(ND_SUCCESS, nd_connector_create(s->adapter, &s->connector));
		}
		it_asks(s, CONNECTED, &to);
	}
	tell(to_us, "!", 1);
	for (;;)
		pause();
}

/* checks R-DISC-13[1]: each of the connections that a process had ends with it. */
static void
all_end_with_it(struct pair *p)
{
	struct death d[SEVERAL] = {{.step = CONNECTED, .we = &p->b}};
	struct side we[SEVERAL];
	struct place here = {0};

	CHECK(pipe(d[0].to_it) == 0 && pipe(d[0].from_it) == 0);
	d[0].process = fork();
	CHECK(d[0].process >= 0);
	if (d[0].process == 0)
		it_has_several(&p->a, d[0].from_it[1], d[0].to_it[0]);
	side_open_alone(&p->b);
	d[0].listener = side_listen(&p->b, &here.where);
	tell(d[0].to_it[1], &here, sizeof(here));
	for (int i = 0; i < SEVERAL; i++) {
		d[i].listener = d[0].listener;
		d[i].we = &we[i];
		we[i] = p->b;
		side_create_qp(&we[i], 16);
		WANT(ND_SUCCESS, nd_connector_create(p->b.adapter, &we[i].connector));
		take_it(&d[i]);
		WANT(ND_SUCCESS, side_receive(&we[i], 100));
		WANT(ND_SUCCESS, finish(nd_connector_accept(we[i].connector, we[i].qp, 1, 1, NULL,
						0, &d[i].pending),
					 &d[i].pending));
		WANT(ND_PENDING, nd_connector_notify_disconnect(we[i].connector, &d[i].told));
	}
	wait_for_it(&d[0]);
	kill_it(&d[0]);
	for (int i = 0; i < SEVERAL; i++) {
		d[i].killed_ms = d[0].killed_ms;
		ended(&d[i]);
	}
	side_close(&p->b);
}

/*
 * checks R-CONN-12[5], R-DISC-11[3], R-DISC-13[2,3]: a process is killed at each step. Its peer
 * is told so, by a refusal or a disconnect, and not by a time-out.
 */
void
scenario_process_dies(struct pair *p)
{
	for (enum step step = 0; step < STEPS; step++) {
		struct death d = {.step = step, .we = &p->b};

		CHECK(pipe(d.to_it) == 0 && pipe(d.from_it) == 0);
		d.process = fork();
		CHECK(d.process >= 0);
		if (d.process == 0)
			it_lives(&p->a, step, d.from_it[1], d.to_it[0]);
		side_open_alone(d.we);
		if (step < OFFERED)
			it_asks_us(&d);
		else
			we_ask_it(&d);
		side_close(d.we);
		for (int i = 0; i < 2; i++) {
			close(d.to_it[i]);
			close(d.from_it[i]);
		}
	}
	all_end_with_it(p);
}

/* ---- its daemon ---- */

/* A meeting beside another's, with a listener of its own. */
static void
beside(const struct meeting *other, struct meeting *m, struct pair *p)
{
	*m = (struct meeting){.p = p};
	*p = *other->p;
	for (struct side *s = &p->a; s != NULL; s = s == &p->a ? &p->b : NULL) {
		WANT(ND_SUCCESS, nd_cq_create(s->adapter, 64, &s->cq));
		side_create_qp(s, 16);
		WANT(ND_SUCCESS, nd_connector_create(s->adapter, &s->connector));
	}
	m->listener = side_listen(&p->b, &m->where);
}

static void
reach(struct meeting *m, enum step step)
{
	meet_ask(m, 1, 1);
	if (step >= TAKEN)
		meet_get(m);
	if (step >= ACCEPTED)
		meet_accept(m, 1, 1);
	if (step >= CONNECTED)
		meet_complete(m);
}

/*
 * checks R-CONN-06[3], R-CONN-21[4], R-DISC-04[1,3]: daemon a is killed and says nothing any
 * more, while connections are at all steps. A peer that waits for its answer is told after a
 * while that there is none; a peer that does not can go on to an end of its own.
 */
void
scenario_daemon_dies(struct pair *p)
{
	struct meeting first, m[STEPS];
	struct pair of[STEPS];
	struct nd_overlapped ask = {0}, done = {0}, accept[2] = {{0}};
	struct sockaddr_storage there;
	struct nd_result result;

	meet_open(&first, p);
	for (enum step step = ASKED; step <= LEFT; step++) {
		beside(&first, &m[step], &of[step]);
		reach(&m[step], step);
	}
	(void)side_listen(&p->a, &there);
	WANT(ND_PENDING, nd_connector_connect(p->b.connector, p->b.qp, (struct sockaddr *)&there,
				 p->b.addr_bytes, 1, 1, NULL, 0, &ask));
	CHECK(p->daemon_a > 0 && kill(p->daemon_a, SIGKILL) == 0);
	side_close(&p->a);

	WANT(ND_SUCCESS, side_write(&of[BUSY].b, &p->a, 100, 1));
	meet_get(&m[ASKED]);
	for (enum step step = ASKED; step <= TAKEN; step++)
		WANT(ND_PENDING, nd_connector_accept(of[step].b.connector, of[step].b.qp, 1, 1,
					 NULL, 0, &accept[step]));
	WANT(ND_PENDING, nd_connector_disconnect(of[LEFT].b.connector, &done));
	for (enum step step = ASKED; step <= TAKEN; step++)
		WANT(ND_CONNECTION_ABORTED, nd_overlapped_wait(&accept[step], PATIENCE_MS));
	WANT(ND_CONNECTION_ABORTED, nd_overlapped_wait(&m[ACCEPTED].accept, PATIENCE_MS));
	WANT(ND_IO_TIMEOUT, nd_overlapped_wait(&ask, PATIENCE_MS));
	WANT(ND_TIMEOUT, nd_overlapped_wait(&done, PATIENCE_MS));
	WANT(ND_IO_TIMEOUT, side_result(&of[BUSY].b, &result));
	side_close(&p->b);
}
