/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arm word while the other side changes it between any look and the swap: the code of
 * lib/shm/ndsh_arm.c, whose compare-and-swap comes to a word that has just been changed, as often
 * as a test says.
 */
#include <criterion/criterion.h>

#include "shm/ndsh_ring.h"

static struct {
	unsigned times;	     /* still to disturb */
	uint64_t words[2];   /* with these in turn */
	unsigned swaps;	     /* attempts so far */
	bool before_force;   /* and then the last time, in front of the exchange */
	uint64_t force_word; /* with this */
} other_side;

static bool
contended_swap(uint64_t *p, uint64_t *expected, uint64_t desired)
{
	other_side.swaps++;
	if (other_side.times > 0)
		*p = other_side.words[other_side.times-- % 2];
	if (*p != *expected) {
		*expected = *p;
		return false;
	}
	*p = desired;
	return true;
}

static uint64_t
contended_exchange(uint64_t *p, uint64_t desired)
{
	uint64_t was = other_side.before_force ? other_side.force_word : *p;

	*p = desired;
	return was;
}

#define __atomic_compare_exchange_n(p, expected, v, weak, success, failure)                        \
	contended_swap(p, expected, v)
#define __atomic_exchange_n(p, v, order) contended_exchange(p, v)

#include "../../../lib/shm/ndsh_arm.c"

#define WORD(type, n) NDSH_ARM_WORD(NDSH_ARM_##type, n)

/* Five entries are published; the client is armed for any behind the second. */
static void
begin(struct ndsh_cq *cq, struct ndsh_cq_page *page, unsigned times)
{
	*page = (struct ndsh_cq_page){.arm = WORD(ANY, 2), .produced = 5};
	*cq = (struct ndsh_cq){.page = page, .depth = 8, .produced = 5};
	other_side.times = times;
	other_side.words[0] = WORD(ANY, 3);
	other_side.words[1] = WORD(ANY, 4);
	other_side.swaps = 0;
	other_side.before_force = false;
}

/* checks R-CQ-20: a lost swap is judged again, and won when the client lets go. */
Test(arm_contended, r_cq_20_the_daemon_judges_again)
{
	struct ndsh_cq_page page;
	struct ndsh_cq cq;

	for (unsigned times = 0; times < 8; times++) {
		begin(&cq, &page, times);
		cr_expect(ndsh_cq_fire(&cq), "%u", times);
		cr_expect_eq(page.arm, WORD(NONE, 5));
		cr_expect_eq(other_side.swaps, times + 1);
	}
	begin(&cq, &page, 3);
	other_side.words[0] = other_side.words[1] = WORD(ANY, 5);
	cr_expect_not(ndsh_cq_fire(&cq), "what the client changed it to is not due");
	cr_expect_eq(page.arm, WORD(ANY, 5));
}

/* A client that never lets go costs the daemon eight tries, and then the word is taken by force:
 * the wake-up is due unless the client has disarmed at the last moment. */
Test(arm_contended, the_daemons_work_is_bounded)
{
	struct ndsh_cq_page page;
	struct ndsh_cq cq;

	for (unsigned disarmed = 0; disarmed < 2; disarmed++) {
		begin(&cq, &page, 1000);
		other_side.before_force = disarmed;
		other_side.force_word = WORD(NONE, 5);
		cr_expect_eq(ndsh_cq_fire(&cq), !disarmed);
		cr_expect_eq(page.arm, WORD(NONE, 5));
		cr_expect_eq(other_side.swaps, 8);
	}
}

/* The client's own swaps: it goes on until it has won, and its type joins what it meets. */
Test(arm_contended, r_cq_18_the_client_joins_what_it_meets)
{
	struct ndsh_cq_page page = {.arm = WORD(NONE, 2), .produced = 2};
	struct ndsh_cq_reader r = {.page = &page, .depth = 8, .taken = 2};
	enum ndsh_arm before;

	other_side.times = 2;
	other_side.words[0] = WORD(SOLICITED, 2);
	other_side.words[1] = WORD(ERRORS, 2);
	cr_expect_eq(ndsh_cq_arm(&r, NDSH_ARM_ERRORS, &before), NDSH_ARMED);
	cr_expect_eq(before, NDSH_ARM_ERRORS);
	cr_expect_eq(page.arm, WORD(ERRORS, 2));

	other_side.times = 2;
	other_side.words[0] = other_side.words[1] = WORD(ANY, 1);
	cr_expect_eq(ndsh_cq_arm(&r, NDSH_ARM_SOLICITED, &before), NDSH_ARMED);
	cr_expect_eq(before, NDSH_ARM_ANY);
	cr_expect_eq(page.arm, WORD(ANY, 1), "the stronger type, and its N");
}

/* Disarming: true only for the side that takes an arm away. */
Test(arm_contended, r_cq_34_disarmed_once)
{
	struct ndsh_cq_page page = {.arm = WORD(ANY, 2)};
	struct ndsh_cq_reader r = {.page = &page, .depth = 8};

	other_side.times = 1;
	other_side.words[0] = other_side.words[1] = WORD(NONE, 7);
	cr_expect_not(ndsh_cq_disarm(&r), "the daemon was faster");
	cr_expect_eq(page.arm, WORD(NONE, 7));

	page.arm = WORD(ANY, 2);
	other_side.times = 1;
	other_side.words[0] = other_side.words[1] = WORD(SOLICITED, 3);
	cr_expect(ndsh_cq_disarm(&r));
	cr_expect_eq(page.arm, WORD(NONE, 3));
}
