/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues that call back, between real daemons. */
#include <errno.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>

#include "scenarios.h"

#define ROUNDS 500u
#define BALL   64u

/* One end of a connection, and what its queue's callback does. */
struct player {
	struct side *s;
	void (*act)(struct player *me);
	sem_t told;
	int inside;
	unsigned int runs, received, sent;
	nd_status status, closed;
};

static void
callback(void *context, nd_status status)
{
	struct player *me = context;

	CHECK(!__atomic_exchange_n(&me->inside, 1, __ATOMIC_ACQUIRE));
	me->runs++;
	me->status = status;
	me->act(me);
	__atomic_store_n(&me->inside, 0, __ATOMIC_RELEASE);
}

static void
tell(struct player *me)
{
	sem_post(&me->told);
}

static void
player_init(struct player *me, struct side *s, void (*act)(struct player *me))
{
	*me = (struct player){.s = s, .act = act};
	sem_init(&me->told, 0, 0);
	WANT(ND_SUCCESS, nd_cq_set_callback(s->cq, callback, me));
}

static void
arm(struct player *me, uint32_t type)
{
	WANT(ND_SUCCESS, nd_cq_arm_callback(me->s->cq, type));
}

/* False: not within ms. */
static int
told(struct player *me, unsigned int ms)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_nsec -= 1000000000;
		until.tv_sec++;
	}
	while (sem_timedwait(&me->told, &until) != 0)
		if (errno == ETIMEDOUT)
			return 0;
	return 1;
}

/* Everything happens in callbacks: take, post the next receive, send the ball back, arm. */
static void
play(struct player *me)
{
	struct nd_result r[4];
	int32_t n;

	do {
		n = nd_cq_get_results(me->s->cq, r, 4);
		CHECK(n >= 0);
		for (int32_t i = 0; i < n; i++) {
			WANT(ND_SUCCESS, r[i].status);
			if (r[i].request_type == ND_REQUEST_SEND) {
				me->sent++;
				continue;
			}
			me->received++;
			WANT(ND_SUCCESS, side_receive(me->s, BALL));
			if (me->received < ROUNDS || me->s->name[0] == 'b')
				WANT(ND_SUCCESS, side_send(me->s, BALL));
		}
	} while (n == 4);
	if (me->received == ROUNDS && me->sent == ROUNDS)
		sem_post(&me->told);
	else
		arm(me, ND_CQ_NOTIFY_ANY);
}

static void
ping_pong(struct player *a, struct player *b)
{
	WANT(ND_SUCCESS, side_receive(a->s, BALL));
	WANT(ND_SUCCESS, side_receive(b->s, BALL));
	arm(a, ND_CQ_NOTIFY_ANY);
	arm(b, ND_CQ_NOTIFY_ANY);
	CHECK(!told(b, 50) && b->runs == 0); /* R-CQ-26: nothing came */
	WANT(ND_SUCCESS, side_send(a->s, BALL));
	CHECK(told(a, PATIENCE_MS) && told(b, PATIENCE_MS));
	CHECK(b->runs <= 2 * ROUNDS && b->status == ND_SUCCESS);
}

/* a sends one message and waits until it has arrived; b has a receive for it. */
static void
message(struct pair *p, uint32_t flags)
{
	struct nd_sge sge = {p->a.buf, BALL, nd_mr_local_token(p->a.mr)};
	struct nd_result result;

	WANT(ND_SUCCESS, nd_qp_send(p->a.qp, NULL, &sge, 1, flags));
	WANT(ND_SUCCESS, side_result(&p->a, &result));
	WANT(ND_SUCCESS, side_receive(&p->b, BALL));
}

/* One callback for the solicited message, none for the plain ones before it; and with moderation
 * one for four of them. */
static void
by_type_and_number(struct pair *p, struct player *b)
{
	struct nd_result r[16];

	b->act = tell;
	b->runs = 0;
	arm(b, ND_CQ_NOTIFY_SOLICITED);
	message(p, 0);
	message(p, 0);
	CHECK(!told(b, 50) && b->runs == 0);
	message(p, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	CHECK(told(b, PATIENCE_MS) && b->runs == 1);
	CHECK(nd_cq_get_results(b->s->cq, r, 16) == 3);

	WANT(ND_SUCCESS, nd_cq_moderate(b->s->cq, 0xffffffff, 4));
	arm(b, ND_CQ_NOTIFY_ANY);
	for (int i = 0; i < 3; i++)
		message(p, 0);
	CHECK(!told(b, 50) && b->runs == 1);
	message(p, 0);
	CHECK(told(b, PATIENCE_MS) && b->runs == 2);
	CHECK(nd_cq_get_results(b->s->cq, r, 16) == 4);
}

static void
close_queue(struct player *me)
{
	me->closed = nd_cq_close(me->s->cq);
	WANT(ND_INVALID_DEVICE_STATE, nd_adapter_close(me->s->adapter));
	sem_post(&me->told);
}

/* The queue pair that uses it lives on and works. */
static void
close_inside(struct pair *p)
{
	static struct player b;
	struct pair other;

	pair_beside(p, &other);
	player_init(&b, &other.b, close_queue);
	for (int i = 0; i < 3; i++)
		WANT(ND_SUCCESS, side_receive(&other.b, BALL));
	arm(&b, ND_CQ_NOTIFY_ANY);
	message(&other, 0);
	CHECK(told(&b, PATIENCE_MS));
	WANT(ND_PENDING, b.closed);
	message(&other, 0);
	CHECK(!told(&b, 50) && b.runs == 1);
	WANT(ND_SUCCESS, nd_qp_close(other.b.qp));
}

/*
 * checks R-CQ-24, R-CQ-26[2,3], R-CQ-28, R-CQ-29[1], R-LIFE-09[3], R-LIFE-10[1], R-MOD-01[1,4]:
 * the data path in callbacks alone, types and moderation, the end of a queue in its own
 * callback.
 */
void
scenario_callbacks(struct pair *p)
{
	static struct player a, b; /* as long as the threads that run callbacks */

	side_open(&p->a, 64);
	side_open(&p->b, 64);
	side_create_qp(&p->a, 16);
	side_create_qp(&p->b, 16);
	pair_connect(p);
	player_init(&a, &p->a, play);
	player_init(&b, &p->b, play);
	ping_pong(&a, &b);
	a.act = b.act = tell;
	by_type_and_number(p, &b);
	close_inside(p);
	pair_close(p);
}

/*
 * checks R-CQ-35[2], R-LIFE-12[1]: an armed queue gets one callback, and calls made in it
 * return.
 */
static void
after_the_end(struct player *me)
{
	WANT(ND_DEVICE_REMOVED, nd_cq_arm_callback(me->s->cq, ND_CQ_NOTIFY_ANY));
	WANT(ND_DEVICE_REMOVED, side_send(me->s, BALL));
	sem_post(&me->told);
}

void
scenario_callback_daemon_dies(struct pair *p)
{
	static struct player a;

	pair_open(p);
	player_init(&a, &p->a, after_the_end);
	arm(&a, ND_CQ_NOTIFY_ERRORS);
	CHECK(p->daemon_a > 0 && kill(p->daemon_a, SIGKILL) == 0);
	CHECK(told(&a, PATIENCE_MS));
	WANT(ND_DEVICE_REMOVED, a.status);
	CHECK(!told(&a, 50) && a.runs == 1);
	pair_close(p);
}
