/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of principals: whose they are when these come and go. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "account/number.h"
#include "cm/room.h"
#include "config/config.h"
#include "rigs/ndd_rig.h"

static const struct ndd_spent nothing;

static struct ndd_numbers *
numbers_new(void)
{
	return calloc(1, sizeof(struct ndd_numbers));
}

/* A user that leaves and comes again gets no number but its own, however often it does so and
 * whatever other users came meanwhile. */
Test(number, of_one_that_comes_again)
{
	struct ndd_numbers *all = numbers_new();
	static const struct config_principal rule[2];
	const uint32_t red = ndd_number_take(all, &rule[0], 0);
	uint32_t mine = ndd_number_take(all, NULL, 1000), other;

	cr_expect(ne(u32, mine, red));
	for (uint32_t i = 0; i < 3 * NDD_NUMBERS; i++) {
		ndd_number_give(all, mine, &nothing);
		other = ndd_number_take(all, &rule[1], 1000);
		cr_expect(eq(u32, ndd_number_take(all, NULL, 1000), mine));
		ndd_number_give(all, other, &nothing);
	}
	free(all);
}

/* A number that was somebody's is another's when there is none that has been free for longer. */
Test(number, the_one_that_was_left_first_goes_first)
{
	struct ndd_numbers *all = numbers_new();

	for (uint32_t uid = 0; uid < NDD_NUMBERS; uid++)
		cr_assert(eq(u32, ndd_number_take(all, NULL, uid), uid));
	ndd_number_give(all, 7, &nothing);
	ndd_number_give(all, 5, &nothing);
	ndd_number_give(all, 0, &nothing);
	cr_expect(eq(u32, ndd_number_take(all, NULL, 5), 5), "its own");
	ndd_number_give(all, 5, &nothing);
	cr_expect(eq(u32, ndd_number_take(all, NULL, 2000), 7));
	cr_expect(eq(u32, ndd_number_take(all, NULL, 2001), 0));
	cr_expect(eq(u32, ndd_number_take(all, NULL, 7), 5), "its own is another's now");
	free(all);
}

/* What it has spent is told when it comes again: not what others have, nor to others. */
Test(number, what_was_spent_is_its_owners)
{
	struct ndd_numbers *all = numbers_new();
	const struct ndd_spent mine = {.commands.full_ns = 1, .control_ns = 2, .turn = 3},
			       other = {.commands.full_ns = 4, .control_ns = 5, .turn = 6};
	struct ndd_spent spent;

	for (uint32_t uid = 0; uid < NDD_NUMBERS; uid++)
		cr_assert(eq(u32, ndd_number_take(all, NULL, uid), uid));
	ndd_number_arrears(all, 7)->paid_ns = 7;
	ndd_number_arrears(all, 8)->paid_ns = 8;
	ndd_number_give(all, 7, &mine);
	ndd_number_give(all, 8, &other);
	cr_assert(eq(u32, ndd_number_take(all, NULL, 7), 7));
	spent = ndd_number_spent(all, 7);
	cr_expect(eq(u64, spent.commands.full_ns, 1));
	cr_expect(eq(i64, spent.control_ns, 2));
	cr_expect(eq(u64, spent.turn, 3));
	cr_expect(eq(u64, ndd_number_arrears(all, 7)->paid_ns, 7));
	cr_assert(eq(u32, ndd_number_take(all, NULL, 2000), 8));
	spent = ndd_number_spent(all, 8);
	cr_expect(eq(u64, spent.commands.full_ns, 0));
	cr_expect(eq(i64, spent.control_ns, 0));
	cr_expect(eq(u64, ndd_number_arrears(all, 8)->paid_ns, 0));
	cr_expect(eq(ptr, ndd_number_arrears(all, NDD_NUMBERS), NULL));
	ndd_number_give(all, NDD_NUMBERS, &mine);
	cr_expect(eq(u64, ndd_number_spent(all, NDD_NUMBERS).commands.full_ns, 0));
	free(all);
}

/* Where there are more, several are one to the CM; those beyond leave the numbers of others alone.
 */
Test(number, more_than_there_are)
{
	struct ndd_numbers *all = numbers_new();
	uint32_t number;

	cr_expect(eq(u32, NDD_NUMBERS, CM_USERS));
	for (uint32_t uid = 0; uid < NDD_NUMBERS; uid++)
		(void)ndd_number_take(all, NULL, uid);
	for (uint32_t i = 0; i < NDD_NUMBERS + 1; i++) {
		number = ndd_number_take(all, NULL, NDD_NUMBERS + i);
		cr_expect(eq(u32, number, NDD_NUMBERS + i % NDD_NUMBERS));
		ndd_number_give(all, number, &nothing);
	}
	for (uint32_t i = 0; i < NDD_NUMBERS; i++)
		cr_expect(all->number[i].taken);
	free(all);
}

/* checks W-CM-54[7,8]: the CM knows it by the same number when it comes again: what it left in
 * time-wait is its own still, and coming often leads to nobody else's share. */
Test(number, of_a_principal_that_comes_again)
{
	struct ndd_rig *r = ndd_rig_new();
	struct ndd_session *s;
	int client = ndd_rig_open(r, &s);
	const uint32_t number = s->account.principal->number;

	for (int i = 0; i < 3; i++) {
		close(client);
		ndd_rig_turn(r);
		cr_assert(eq(ptr, TAILQ_FIRST(&r->d.accounts.principals), NULL));
		client = ndd_rig_open(r, &s);
		cr_expect(eq(u32, s->account.principal->number, number));
	}
}
