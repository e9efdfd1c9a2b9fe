/* SPDX-License-Identifier: BSD-3-Clause */
/* How often the clients of a principal are woken: its limit holds, none is lost, no other waits. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "rigs/lone_shard.h"
#include "roce/check.h"
#include "roce/queue/cq.h"
#include "roce/shard/principal.h"

#define PRINCIPALS 40u
#define DEPTH	   16u
#define US	   UINT64_C(1000)
#define MS	   (1000 * US)
#define S	   (1000 * MS)
#define TURN_NS	   (20 * US)
#define BUDGET	   4u /* of a turn, as an lcore has it */

/* Each principal has a client with one queue; further clients and queues are the tests' own. */
static struct roce_shard *s;
static uint64_t now_ns;
static struct roce_principal principal[PRINCIPALS];

struct queue {
	struct roce_cq *cq;
	struct ndsh_cq_reader reader;
	unsigned woken;
};

static void
wakeups_init(void)
{
	struct roce_shard_cfg cfg = lone_config();

	cfg.max_cqs = 2 * PRINCIPALS;
	s = lone_shard_new(&cfg);
	now_ns = 5 * S;
	cr_assert_null(roce_shard_fired_cq(s, now_ns));
}

static void
wakeups_fini(void)
{
	free(s);
}

TestSuite(wakeups, .init = wakeups_init, .fini = wakeups_fini);

/* limit: wake-ups in a second. */
static struct roce_client *
client_new(struct roce_principal *p, uint32_t limit)
{
	const struct roce_principal_cfg cfg = {
		.weight = 1, .wakeups = limit, .pool = {{0, 8}, {0, 8}}};
	struct roce_client *c = calloc(1, sizeof(*c));

	if (p->link.next == NULL)
		cr_assert(roce_principal_init(s, p, &cfg));
	roce_client_init(c, p);
	return c;
}

static void
queue_init(struct queue *q, struct roce_client *c)
{
	size_t bytes = (ndsh_cq_bytes(DEPTH) + 63) & ~63u;
	void *mem = memset(aligned_alloc(64, bytes), 0, bytes);

	*q = (struct queue){.cq = roce_cq_create(s, c, mem, DEPTH, q)};
	cr_assert_not_null(q->cq);
	ndsh_cq_reader_view(&q->reader, mem, DEPTH);
}

/* Its client takes what there is, waits for one more entry, and gets it. */
static void
fire(struct queue *q)
{
	struct ndsh_cqe c;

	while (ndsh_cq_poll(&q->reader, &c, 1) == 1)
		;
	cr_assert_eq(ndsh_cq_arm(&q->reader, NDSH_ARM_ANY, NULL), NDSH_ARMED);
	roce_cq_push(s, q->cq, &(struct ndsh_cqe){0});
	roce_shard_publish(s);
	cr_assert_eq(ndsh_cq_armed(&q->reader), NDSH_ARM_NONE);
}

/* The queue whose client is woken now, if there is any. */
static struct queue *
wake(void)
{
	struct roce_cq *cq = roce_shard_fired_cq(s, now_ns);
	struct queue *q = cq == NULL ? NULL : roce_cq_owner(cq);

	if (q == NULL)
		return NULL;
	cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
	q->woken++;
	return q;
}

/* All that a turn wakes; returns how many. */
static unsigned
turn(void)
{
	unsigned n = 0;

	while (n < BUDGET && wake() != NULL)
		n++;
	return n;
}

/*
 * A client that is woken, and waits again, without end: in a window of any length there are no more
 * wake-ups than come back in it and one burst; and on the whole not fewer.
 */
Test(wakeups, no_window_has_more_than_the_limit)
{
	static const uint32_t limits[] = {1, 7, 1000, 30000};

	for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
		const uint32_t limit = limits[k];
		const uint64_t end_ns = now_ns + 4 * S;
		uint64_t *at = calloc(6 * (size_t)limit, sizeof(*at));
		struct roce_principal *p = &principal[k];
		struct queue q;
		uint64_t n = 0;

		queue_init(&q, client_new(p, limit));
		now_ns += S; /* all tokens are there */
		for (fire(&q); now_ns < end_ns; now_ns += TURN_NS)
			for (unsigned i = 0; i < BUDGET && wake() != NULL; i++) {
				cr_assert_lt(n, 6 * (uint64_t)limit);
				at[n++] = now_ns;
				fire(&q);
			}
		for (uint64_t first = 0; first < n; first += 1 + n / 1000)
			for (uint64_t last = first; last < n; last++)
				cr_assert_leq((last - first + 1 - limit) * p->wakeups.token_ns,
					last - first < limit ? UINT64_MAX : at[last] - at[first],
					"%lu..%lu at a limit of %u", first, last, limit);
		cr_assert_leq(n, 4 * (uint64_t)limit);
		cr_assert_geq(n, 4 * (uint64_t)limit - limit / 100 - 1, "%lu of %u", n, limit);
		cr_assert(roce_cq_destroy(s, q.cq));
		free(at);
	}
}

/* All that fires while no wake-up is left is woken later, each once, in the clients' turns. */
Test(wakeups, none_is_lost_and_clients_take_turns)
{
	struct roce_client *a = client_new(&principal[0], 100), *b = client_new(&principal[0], 100);
	struct queue q[6], other;
	const uint64_t began_ns = now_ns;

	for (unsigned i = 0; i < 6; i++)
		queue_init(&q[i], a);
	queue_init(&other, b);
	for (unsigned i = 0; i < 6; i++)
		fire(&q[i]);
	fire(&other);
	cr_assert_eq(turn(), 1, "the one token of a beginning");
	for (unsigned n = 1; n < 7; now_ns += TURN_NS) {
		n += turn();
		cr_assert_leq(now_ns - began_ns, (n + 1) * 10 * MS + 2 * MS);
		if (n >= 2)
			cr_assert_eq(other.woken, 1, "the other client is the second one");
	}
	for (unsigned i = 0; i < 6; i++)
		cr_expect_eq(q[i].woken, 1);
	cr_expect_eq(principal[0].wakeups.delayed, 6);
	cr_expect_eq(roce_shard_counters(s)->wakeups_delayed, 6);
	now_ns += S;
	cr_expect_eq(turn(), 0, "and no more");
	fire(&other);
	cr_expect_eq(turn(), 1);
	cr_expect_eq(principal[0].wakeups.delayed, 6, "it has not waited");
}

/* One that fires again while it waits is woken once: its client takes all that there is. */
Test(wakeups, one_that_fires_twice_waits_once)
{
	struct queue q[2];
	struct roce_client *c = client_new(&principal[0], 100);

	for (unsigned i = 0; i < 2; i++)
		queue_init(&q[i], c);
	fire(&q[0]);
	cr_assert_eq(turn(), 1);
	for (unsigned i = 0; i < 3; i++)
		fire(&q[1]);
	cr_assert_eq(turn(), 0);
	now_ns += S;
	cr_assert_eq(turn(), 1);
	cr_expect_eq(q[1].woken, 1);
	cr_expect_eq(principal[0].wakeups.delayed, 1);
}

/* ... and has waited, also if it fires again between the end of a rest and its turn. */
Test(wakeups, one_that_fires_again_has_waited_all_the_same)
{
	struct queue q[3];
	struct roce_client *c = client_new(&principal[0], 100);

	for (unsigned i = 0; i < 3; i++) {
		queue_init(&q[i], c);
		fire(&q[i]);
	}
	cr_assert_eq(wake(), &q[0]);
	cr_assert_null(wake());
	now_ns += S;
	cr_assert_eq(wake(), &q[1]);
	fire(&q[2]);
	cr_assert_eq(wake(), &q[2]);
	cr_expect_eq(principal[0].wakeups.delayed, 2);
}

/* A rest takes a millisecond, and tokens that come in it are there at its end. */
Test(wakeups, tokens_come_during_a_rest)
{
	struct queue q;

	queue_init(&q, client_new(&principal[0], 1000000));
	fire(&q);
	cr_assert_eq(wake(), &q);
	fire(&q);
	now_ns += MS - 1;
	cr_assert_null(wake());
	now_ns++;
	for (unsigned i = 0; i < 1000; i++) {
		cr_assert_eq(wake(), &q, "%u", i);
		fire(&q);
	}
	cr_assert_null(wake());
}

/* However many wait, and of however many principals: another one is woken at once. */
Test(wakeups, nobody_waits_for_another_principal)
{
	struct queue q[PRINCIPALS], second[PRINCIPALS - 1], free_one;

	for (unsigned i = 0; i < PRINCIPALS - 1; i++) {
		struct roce_client *c = client_new(&principal[i], 1);

		queue_init(&q[i], c);
		queue_init(&second[i], c);
		fire(&q[i]);
		fire(&second[i]);
	}
	while (turn() > 0)
		;
	queue_init(&free_one, client_new(&principal[PRINCIPALS - 1], 0));
	for (unsigned i = 0; i < 1000; i++, now_ns += TURN_NS) {
		fire(&free_one);
		cr_assert_eq(wake(), &free_one);
		cr_assert_null(wake());
	}
	cr_expect_eq(principal[PRINCIPALS - 1].wakeups.delayed, 0);
}

/* A turn looks at a few principals that rest, whatever their number. */
Test(wakeups, a_turn_looks_at_a_few)
{
	struct queue q[PRINCIPALS];
	unsigned waiting = PRINCIPALS, looks;

	for (unsigned i = 0; i < PRINCIPALS; i++) {
		queue_init(&q[i], client_new(&principal[i], 1));
		fire(&q[i]);
	}
	while (turn() > 0)
		;
	now_ns += 10 * MS; /* their rests are over, and they have no token */
	for (looks = 0; waiting > 0; looks++) {
		unsigned before = waiting;

		cr_assert_leq(roce_shard_next_deadline(s), now_ns, "the lcore goes on");
		cr_assert_null(wake());
		waiting = 0;
		for (unsigned i = 0; i < PRINCIPALS; i++)
			waiting += principal[i].wakeups.until_ns <= now_ns;
		cr_assert_leq(before - waiting, 4);
	}
	cr_expect_eq(looks, PRINCIPALS / 4);
	cr_expect_gt(roce_shard_next_deadline(s), now_ns, "the lcore may sleep");
}

/* An lcore that sleeps from deadline to deadline wakes all, not much later than their tokens are
 * there, and in no second more often than it looks at its ports anyway. */
Test(wakeups, an_lcore_may_sleep_until_the_next_one)
{
	static const uint32_t limit = 20;
	struct queue q;
	unsigned woken = 0;
	uint64_t turns = 0, end_ns = now_ns + 2 * S;

	cr_assert_eq(roce_shard_next_deadline(s), UINT64_MAX, "nobody rests");
	queue_init(&q, client_new(&principal[0], limit));
	fire(&q);
	cr_assert_eq(turn(), 1);
	for (; now_ns < end_ns; turns++) {
		uint64_t deadline = roce_shard_next_deadline(s);

		cr_assert_gt(deadline, now_ns, "no busy waiting");
		cr_assert_leq(deadline, now_ns + MS);
		if (q.woken > woken) {
			woken = q.woken;
			fire(&q);
		}
		now_ns = deadline;
		(void)turn();
	}
	cr_expect(woken >= 2 * limit - 2 && woken <= 2 * limit + 1, "%u", woken);
	cr_expect_leq(turns, 2001);
	now_ns += S;
	(void)turn();
	now_ns += S;
	cr_assert_eq(turn(), 0);
	cr_expect_eq(roce_shard_next_deadline(s), UINT64_MAX, "nobody rests any more");
}

/* Without a limit there is no rest. */
Test(wakeups, each_wake_up_counts)
{
	struct queue q[2];

	for (unsigned i = 0; i < 2; i++)
		queue_init(&q[i], client_new(&principal[i], i == 0 ? 0 : 10));
	for (unsigned i = 0; i < 2; i++) {
		fire(&q[i]);
		cr_assert_eq(wake(), &q[i]);
		fire(&q[i]);
		cr_assert_eq(wake(), i == 0 ? &q[i] : NULL);
	}
	now_ns += 99 * MS;
	cr_assert_eq(turn(), 0);
	now_ns += 2 * MS;
	cr_assert_eq(wake(), &q[1]);
	cr_expect_eq(principal[0].wakeups.delayed, 0);
	cr_expect_eq(principal[1].wakeups.delayed, 1);
}

/* A principal that ends while it rests, with a queue that waits, is no more. One that comes again
 * begins with one token, so that nothing is won by it. */
Test(wakeups, a_principal_that_ends_and_comes_again_has_one)
{
	for (unsigned life = 0; life < 3; life++) {
		struct roce_client *c = client_new(&principal[0], 1000);
		struct queue q[2];

		for (unsigned i = 0; i < 2; i++) {
			queue_init(&q[i], c);
			fire(&q[i]);
		}
		cr_expect_eq(turn(), 1, "life %u", life);
		cr_expect_leq(roce_shard_next_deadline(s), now_ns + MS);
		for (unsigned i = 0; i < 2; i++)
			cr_assert(roce_cq_destroy(s, q[i].cq));
		cr_assert(roce_client_fini(s, c));
		cr_assert(roce_principal_fini(s, &principal[0]));
		free(c);
		cr_expect_eq(roce_shard_next_deadline(s), UINT64_MAX);
		cr_expect_null(wake());
	}
}

/* The principal comes now; tokens: as it left them. Its client has two queues that fire. */
static struct roce_client *
come_with_two(
	struct roce_principal *p, uint32_t limit, struct base_bucket tokens, struct queue q[2])
{
	const struct roce_principal_cfg cfg = {.weight = 1,
		.wakeups = limit,
		.now_ns = now_ns,
		.tokens = tokens,
		.pool = {{0, 8}, {0, 8}}};
	struct roce_client *c;

	cr_assert(roce_principal_init(s, p, &cfg));
	c = client_new(p, limit);
	for (unsigned i = 0; i < 2; i++) {
		queue_init(&q[i], c);
		fire(&q[i]);
	}
	return c;
}

static void
leave_with_two(struct roce_principal *p, struct roce_client *c, struct queue q[2])
{
	for (unsigned i = 0; i < 2; i++)
		cr_assert(roce_cq_destroy(s, q[i].cq));
	cr_assert(roce_client_fini(s, c));
	cr_assert(roce_principal_fini(s, p));
	free(c);
}

/* One that comes again has what it left: no token, if it had none, until one has come back. */
Test(wakeups, no_token_is_won_by_leaving)
{
	const unsigned limit = 10, lives = 50;
	struct base_bucket left = {0};
	struct queue q[2];
	unsigned woken = 0;

	for (unsigned life = 0; life < lives; life++, now_ns += 10 * MS) {
		struct roce_client *c = come_with_two(&principal[0], limit, left, q);

		cr_assert_null(roce_shard_check(s), "%s", roce_shard_check(s));
		woken += turn();
		cr_expect_leq(roce_shard_next_deadline(s), now_ns + MS, "the other one waits");
		now_ns += MS;
		woken += turn();
		left = principal[0].wakeups.tokens;
		leave_with_two(&principal[0], c, q);
	}
	cr_expect_leq(woken, 1 + lives * 11 * MS * limit / S);
	cr_expect_geq(woken, lives * 11 * MS * limit / S, "it gets what comes back");
}

/* The shard has had no turn for long, and its own time is old. */
Test(wakeups, one_that_comes_to_a_shard_that_slept_has_one)
{
	struct queue q[2];

	now_ns += 10 * S;
	(void)come_with_two(&principal[0], 10, (struct base_bucket){0}, q);
	cr_expect_eq(turn(), 1);
	now_ns += S / 10;
	cr_expect_eq(turn(), 1);
}
