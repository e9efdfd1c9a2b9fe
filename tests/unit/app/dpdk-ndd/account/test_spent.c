/* SPDX-License-Identifier: BSD-3-Clause */
/* A user that leaves and comes again has no more commands, nor time, than one that stayed. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "account/account.h"
#include "account/credentials.h"
#include "config/config.h"
#include "platform/clock.h"

#define COMMANDS 10u
#define WEIGHT	 3u

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
	ndd_accounts_fini(&u->a);
	free(u);
}

/* It is away for so many turns. */
static void
leave_and_come_again(struct users *u, uint32_t turns)
{
	ndd_principal_put(&u->a, u->leaves);
	cr_assert(eq(ptr, TAILQ_NEXT(u->stays, next), NULL), "it is away");
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
