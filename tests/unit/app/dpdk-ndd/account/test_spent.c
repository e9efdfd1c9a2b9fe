/* SPDX-License-Identifier: BSD-3-Clause */
/* A user that leaves and comes again has no more commands, nor time, than one that stayed. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "account/account.h"
#include "account/credentials.h"
#include "config/config.h"
#include "platform/clock.h"

#define COMMANDS 10u
#define WEIGHT	 3u

#define PATIENCE_NS (20 * NDD_S)

/* Both are of the same rule, and one of them leaves. */
struct users {
	struct config cfg;
	struct ndd_accounts a;
	struct ndd_principal *stays, *leaves;
};

static const struct ndd_credentials staying = {.uid = 1000, .label = ""},
				    leaving = {.uid = 1001, .label = ""};

static struct users *
users_new(void)
{
	struct users *u = calloc(1, sizeof(*u));
	char why[NDD_WHY_BYTES];

	cr_assert_not_null(u);
	u->cfg.lcores = u->cfg.principals = 1;
	u->cfg.principal[0] = (struct config_principal){
		.allow = true, .each_user = true, .weight = WEIGHT, .commands = COMMANDS};
	cr_assert(ndd_accounts_init(&u->a, &u->cfg, 1024, why), "%s", why);
	u->stays = ndd_principal_get(&u->a, &staying);
	u->leaves = ndd_principal_get(&u->a, &leaving);
	return u;
}

static void
users_end(struct users *u)
{
	(void)ndd_accounts_end_couriers(&u->a);
	cr_assert(ndd_couriers_wait(&u->a.couriers, PATIENCE_NS));
	ndd_accounts_fini(&u->a);
	free(u);
}

/* It is away for so many turns. */
static void
leave_and_come_again(struct users *u, uint32_t turns)
{
	ndd_principal_put(&u->a, u->leaves);
	cr_assert(eq(ptr, TAILQ_NEXT(u->stays, next), NULL), "it is away");
	cr_assert(ndd_couriers_wait(&u->a.couriers, PATIENCE_NS), "and so is its courier");
	for (uint32_t i = 0; i < turns; i++)
		ndd_accounts_turn(&u->a);
	u->leaves = ndd_principal_get(&u->a, &leaving);
}

static void
expect_the_same(const struct users *u, const char *when)
{
	cr_expect(eq(i64, u->leaves->credit_ns, u->stays->credit_ns), "%s", when);
	cr_expect(eq(u64, ndd_principal_command_ns(u->leaves), ndd_principal_command_ns(u->stays)),
		"%s", when);
}

/* ... however few of a second's it has left, and however often it leaves. */
Test(spent, commands)
{
	struct users *u = users_new();
	const uint64_t now_ns = ndd_now_ns();

	for (uint32_t i = 0; i < 2 * COMMANDS; i++) {
		ndd_principal_command(u->stays, now_ns);
		ndd_principal_command(u->leaves, now_ns);
		leave_and_come_again(u, 0);
		expect_the_same(u, "between commands");
	}
	cr_expect(lt(u64, now_ns, ndd_principal_command_ns(u->leaves)), "it has none now");
	users_end(u);
}

/* ... or of its wake-ups, on whichever shard. */
Test(spent, wake_ups)
{
	struct users *u = users_new();

	for (uint32_t i = 0; i < CONFIG_LCORES_MAX; i++)
		u->leaves->woken[i].full_ns = NDD_S + i;
	leave_and_come_again(u, 1);
	for (uint32_t i = 0; i < CONFIG_LCORES_MAX; i++) {
		cr_expect(eq(u64, u->leaves->woken[i].full_ns, NDD_S + i));
		cr_expect(eq(u64, u->stays->woken[i].full_ns, 0));
	}
	users_end(u);
}

/* ... whatever is left to it or owed by it, and however long it is away. */
Test(spent, time_of_the_control_thread)
{
	static const int64_t turn_ns = (int64_t)NDD_TURN_NS * WEIGHT;
	const int64_t credit_ns[] = {turn_ns, turn_ns - 1, 1, 0, -1, -turn_ns, -5 * turn_ns - 1};
	struct users *u = users_new();

	for (uint32_t i = 0; i < sizeof(credit_ns) / sizeof(credit_ns[0]); i++)
		for (uint32_t turns = 0; turns < 10; turns++) {
			u->stays->credit_ns = u->leaves->credit_ns = credit_ns[i];
			leave_and_come_again(u, turns);
			expect_the_same(u, "after turns");
			leave_and_come_again(u, 0);
			expect_the_same(u, "at once");
		}
	users_end(u);
}

/* ---- time of couriers ----------------------------------------------------------------------- */

#define LONG_NS	 (10 * NDD_MS) /* of which 4 ms may be owed: 6 ms are a hundredth of 0.6 s */
#define RESTS_NS (590 * NDD_MS)

struct errand {
	struct ndd_errand errand; /* first */
	uint64_t takes_ns, began_ns, runs;
};

static uint64_t
time_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * NDD_S + (uint64_t)ts.tv_nsec;
}

static void
on_errand(struct ndd_errand *e, uint32_t asked)
{
	struct errand *errand = (struct errand *)e;
	const uint64_t cpu_ns = time_ns(CLOCK_THREAD_CPUTIME_ID);

	(void)asked;
	errand->began_ns = time_ns(CLOCK_MONOTONIC);
	while (time_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns < errand->takes_ns)
		;
	__atomic_store_n(&errand->runs, 1, __ATOMIC_RELEASE);
}

/* Returns when it began. */
static uint64_t
run_errand(struct users *u, struct ndd_principal *p, uint64_t takes_ns)
{
	struct ndd_account account = {.all = &u->a, .principal = p};
	struct errand e = {.errand.run = on_errand, .takes_ns = takes_ns};

	e.errand.courier = ndd_account_courier(&account);
	cr_assert_not_null(e.errand.courier);
	ndd_errand_ask(&e.errand, 1);
	while (__atomic_load_n(&e.runs, __ATOMIC_ACQUIRE) == 0)
		usleep(100);
	return e.began_ns;
}

/* Its next courier rests as the last one would have, however often it leaves, and nobody else's. */
Test(spent, time_of_couriers)
{
	struct users *u = users_new();
	const uint64_t long_ns = run_errand(u, u->leaves, LONG_NS);

	for (int i = 0; i < 3; i++)
		leave_and_come_again(u, 1);
	cr_expect(ge(u64, run_errand(u, u->leaves, 0), long_ns + RESTS_NS));
	users_end(u);
}

/* It is no other user that pays. */
Test(spent, by_one_user_alone)
{
	static const struct ndd_credentials third = {.uid = 1002, .label = ""};
	struct users *u = users_new();
	struct ndd_principal *p;

	u->leaves->credit_ns = -1;
	ndd_principal_command(u->leaves, ndd_now_ns());
	ndd_principal_put(&u->a, u->leaves);
	p = ndd_principal_get(&u->a, &third);
	cr_expect(eq(i64, p->credit_ns, (int64_t)NDD_TURN_NS * WEIGHT));
	cr_expect(eq(u64, ndd_principal_command_ns(p), 0));
	users_end(u);
}
