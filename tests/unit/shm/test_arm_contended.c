/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arm word while the other side changes it between any look and the swap: the code of
 * lib/shm/ndsh_arm.c, whose compare-and-swap comes to a word that has just been changed, as often
 * as a test says.
 */
#include <criterion/criterion.h>

#include "shm/ndsh_ring.h"

static struct {
	unsigned quiet;	     /* swaps that it lets pass first */
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
	if (other_side.quiet > 0)
		other_side.quiet--;
	else if (other_side.times > 0)
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

/* checks R-CQ-14[1]: what an arm joins with, and from which entry on it counts. */
Test(arm_contended, r_cq_14_what_was_taken_never_counts)
{
	static const struct {
		uint64_t word, taken;
		enum ndsh_arm type;
		uint64_t joined;
		bool due; /* of five entries, all of them solicited */
	} rows[] = {
		{WORD(NONE, 0), 5, NDSH_ARM_ANY, WORD(ANY, 5), false},
		{WORD(NONE, 0), 5, NDSH_ARM_SOLICITED, WORD(SOLICITED, 5), false},
		{WORD(NONE, 5), 2, NDSH_ARM_ANY, WORD(ANY, 5), false},
		{WORD(NONE, 0), 5, NDSH_ARM_ERRORS, WORD(ERRORS, 5), false},
		{WORD(NONE, 0), 2, NDSH_ARM_ERRORS, WORD(ERRORS, 2), false},
		{WORD(ERRORS, 0), 5, NDSH_ARM_ANY, WORD(ANY, 5), false},
		{WORD(ERRORS, 0), 5, NDSH_ARM_ERRORS, WORD(ERRORS, 5), false},
		/* These have waited since before the newest was taken. */
		{WORD(SOLICITED, 4), 5, NDSH_ARM_ANY, WORD(ANY, 4), true},
		{WORD(SOLICITED, 4), 5, NDSH_ARM_ERRORS, WORD(SOLICITED, 4), true},
		{WORD(ANY, 4), 5, NDSH_ARM_SOLICITED, WORD(ANY, 4), true},
		{WORD(ANY, 5), 5, NDSH_ARM_ERRORS, WORD(ANY, 5), false},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ndsh_cq_page page = {.arm = rows[i].word, .produced = 5, .solicited = 5};
		struct ndsh_cq cq = {.page = &page, .depth = 8, .produced = 5, .solicited = 5};
		struct ndsh_cq_reader r = {.page = &page, .depth = 8, .taken = rows[i].taken};
		enum ndsh_arm before;

		cr_expect_eq(ndsh_cq_arm(&r, rows[i].type, &before), NDSH_ARMED, "row %u", i);
		cr_expect_eq(before, NDSH_ARM_TYPE(rows[i].word), "row %u", i);
		cr_expect_eq(page.arm, rows[i].joined, "row %u", i);
		cr_expect_eq(ndsh_cq_armed(&r), NDSH_ARM_TYPE(rows[i].joined), "row %u", i);
		cr_expect_eq(ndsh_cq_fire(&cq), rows[i].due, "row %u", i);
	}
}

/* checks R-CQ-08[1]: what each type waits for, with entries and without, failed and whole. */
Test(arm_contended, r_cq_08_a_fault_satisfies_every_type)
{
	for (unsigned type = 0; type < 4; type++)
		for (unsigned made = 0; made < 3; made++)
			for (uint32_t fault = NDSH_CQ_OK; fault <= NDSH_CQ_FATAL; fault++) {
				struct ndsh_cq_page page = {.arm = NDSH_ARM_WORD(type, 4)};
				struct ndsh_cq cq = {.page = &page,
					.depth = 8,
					.fault = fault,
					.produced = made > 0 ? 5 : 4,
					.solicited = made > 1 ? 5 : 4};
				const bool counts = type == NDSH_ARM_ANY	 ? made > 0
						    : type == NDSH_ARM_SOLICITED ? made > 1
										 : false;

				cr_expect_eq(ndsh_cq_fire(&cq),
					type != NDSH_ARM_NONE && (fault != NDSH_CQ_OK || counts),
					"type %u, %u made, fault %u", type, made, fault);
			}
}

/* Between its judgement and its swap the other side was faster: its wake-up is on the way, or the
 * client judges again. */
Test(arm_contended, r_cq_20_the_client_judges_again)
{
	for (unsigned fault = 0; fault < 2; fault++)
		for (unsigned times = 0; times < 5; times++) {
			struct ndsh_cq_page page = {.produced = 5, .fault = fault};
			struct ndsh_cq_reader r = {.page = &page, .depth = 8, .taken = 2};

			other_side.quiet = 1; /* the one that arms */
			other_side.times = times;
			other_side.words[0] = WORD(ANY, 3);
			other_side.words[1] = WORD(ANY, 4);
			cr_expect_eq(ndsh_cq_arm(&r, NDSH_ARM_ANY, NULL),
				fault ? NDSH_ARM_FAULT : NDSH_ARM_FIRED);
			cr_expect_eq(NDSH_ARM_TYPE(page.arm), NDSH_ARM_NONE);

			other_side.quiet = 1;
			other_side.times = times;
			other_side.words[0] = other_side.words[1] = WORD(NONE, 5);
			page.arm = WORD(NONE, 0);
			if (times > 0)
				cr_expect_eq(ndsh_cq_arm(&r, NDSH_ARM_ANY, NULL), NDSH_ARMED);
			other_side.quiet = other_side.times = 0;
		}
}

/* checks R-CQ-25[2]: all that was made is old, whatever the daemon does meanwhile. */
Test(arm_contended, r_cq_25_a_mark_is_made)
{
	for (unsigned times = 0; times < 4; times++) {
		struct ndsh_cq_page page = {.arm = WORD(ANY, 2), .produced = 5};
		struct ndsh_cq_reader r = {.page = &page, .depth = 8};

		other_side.times = times;
		other_side.words[0] = other_side.words[1] = WORD(SOLICITED, 7);
		ndsh_cq_mark(&r);
		cr_expect_eq(page.arm, times > 0 ? WORD(NONE, 7) : WORD(NONE, 5));
	}
}

/* Armed in any case; told when what it waits for is there already. */
Test(arm_contended, watching)
{
	static const struct {
		enum ndsh_arm type;
		uint64_t produced, solicited;
		uint32_t fault;
		bool there;
	} rows[] = {
		{NDSH_ARM_ANY, 3, 3, NDSH_CQ_OK, false},
		{NDSH_ARM_ANY, 4, 3, NDSH_CQ_OK, true},
		{NDSH_ARM_ANY, 4, 0, NDSH_CQ_OK, true},
		{NDSH_ARM_ANY, 5, 5, NDSH_CQ_OK, true},
		{NDSH_ARM_ANY, 3, 3, NDSH_CQ_FATAL, true},
		{NDSH_ARM_SOLICITED, 5, 3, NDSH_CQ_OK, false},
		{NDSH_ARM_SOLICITED, 5, 4, NDSH_CQ_OK, true},
		{NDSH_ARM_SOLICITED, 5, 3, NDSH_CQ_OVERRUN, true},
		{NDSH_ARM_ERRORS, 4, 3, NDSH_CQ_OK, true}, /* a failed one may be among them */
		{NDSH_ARM_ERRORS, 3, 3, NDSH_CQ_OK, false},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (unsigned times = 0; times < 3; times++) {
			struct ndsh_cq_page page = {.arm = WORD(ANY, 1),
				.produced = rows[i].produced,
				.solicited = rows[i].solicited,
				.fault = rows[i].fault};
			struct ndsh_cq_reader r = {.page = &page, .depth = 8};

			other_side.times = times;
			other_side.words[0] = other_side.words[1] = WORD(NONE, 2);
			cr_expect_eq(
				ndsh_cq_watch(&r, rows[i].type, 3), rows[i].there, "row %u", i);
			cr_expect_eq(page.arm, NDSH_ARM_WORD(rows[i].type, 3), "row %u", i);
		}
}
