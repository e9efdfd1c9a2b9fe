/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications, overlapped and by descriptor (cq_bench.h). */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <poll.h>
#include <unistd.h>

#include "ndclient/session/adapter.h"
#include "rigs/cq_bench.h"

#define NOTIFY(b, type, ov) cr_assert(eq(i32, nd_cq_notify(&(b)->cq, type, ov), ND_PENDING))
#define ANY		    ND_CQ_NOTIFY_ANY
#define SOLICITED	    ND_CQ_NOTIFY_SOLICITED
#define ERRORS		    ND_CQ_NOTIFY_ERRORS

static bool
readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	cr_assert(ge(int, fd, 0));
	return poll(&p, 1, 0) == 1;
}

Test(ndclient_notify, T1_one_notification_per_arm)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(b, ANY, &o1);
	cr_expect(eq(i32, cq_bench_after(b, &o1), ND_PENDING));
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &o1), ND_SUCCESS));
	cr_expect(eq(i32, cq_bench_poll_all(b), 1));
	cr_expect(eq(i32, cq_bench_poll_all(b), 0));
	NOTIFY(b, ANY, &o2);
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_PENDING));
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_SUCCESS));
	cq_bench_drop(b);
}

Test(ndclient_notify, T2_R_CQ_15_an_entry_between_poll_and_arm_completes_it)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	cr_expect(eq(i32, cq_bench_poll_all(b), 0));
	cq_bench_turn(b, "u");
	NOTIFY(b, ANY, &ov);
	cr_expect(eq(i32, nd_overlapped_status(&ov), ND_SUCCESS), "at once, without the daemon");
	cq_bench_drop(b);
}

Test(ndclient_notify, T3_R_CQ_14_a_polled_entry_does_not_count)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_poll_all(b), 1));
	NOTIFY(b, ANY, &ov);
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_PENDING));
	nd_cq_cancel(&b->cq);
	cq_bench_drop(b);
}

/* checks R-CQ-12[1,2] */
Test(ndclient_notify, T4_an_entry_behind_the_notification_counts)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};
	struct nd_result r;

	NOTIFY(b, ANY, &o1);
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &o1), ND_SUCCESS));
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, nd_cq_get_results(&b->cq, &r, 1), 1));
	NOTIFY(b, ANY, &o2);
	cr_expect(eq(i32, nd_overlapped_status(&o2), ND_SUCCESS));
	cq_bench_drop(b);
}

/* checks R-CQ-10, R-CQ-11[1,2] */
Test(ndclient_notify, T5_R_CQ_11_entries_of_the_last_notification_dont_count)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(b, ANY, &o1);
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &o1), ND_SUCCESS));
	NOTIFY(b, ANY, &o2);
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_PENDING));
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_SUCCESS));
	cq_bench_drop(b);
}

/* checks R-CQ-02[3], W-EVT-04 */
Test(ndclient_notify, T6_solicited_waits_for_a_solicited_receive)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	NOTIFY(b, SOLICITED, &ov);
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_PENDING));
	cq_bench_turn(b, "s");
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cq_bench_drop(b);
}

/* checks R-CQ-18[1], R-CQ-19[1,2], R-CQ-21[2], R-OV-14 */
Test(ndclient_notify, T7_T8_R_CQ_18_the_stronger_type_wins_and_all_are_released)
{
	const uint32_t types[2][2] = {{SOLICITED, ANY}, {ANY, SOLICITED}};

	for (int i = 0; i < 2; i++) {
		struct cq_bench *b = cq_bench_make();
		struct nd_overlapped o1 = {0}, o2 = {0};

		NOTIFY(b, types[i][0], &o1);
		NOTIFY(b, types[i][1], &o2);
		cq_bench_turn(b, "u");
		cr_expect(eq(i32, cq_bench_after(b, &o1), ND_SUCCESS));
		cr_expect(eq(i32, nd_overlapped_status(&o2), ND_SUCCESS));
		cq_bench_drop(b);
	}
}

/*
 * checks R-CQ-02[1-4], R-CQ-18[1], R-CQ-19[1,2]: every pair, in either order, against every kind
 * of entry.
 */
Test(ndclient_notify, R_CQ_18_every_pair_of_types_joins_to_the_stronger)
{
	static const uint32_t rank[] = {ERRORS, SOLICITED, ANY};
	static const char *const entries[] = {"u", "s", "f", "o"};
	static const int weakest[] = {2, 1, 1, 0}; /* that the entry satisfies */

	for (int i = 0; i < 9 * 4; i++) {
		struct cq_bench *b = cq_bench_make();
		struct nd_overlapped o1 = {0}, o2 = {0};
		int x = i % 3, y = i / 3 % 3, e = i / 9;
		nd_status want = ND_PENDING;

		NOTIFY(b, rank[x], &o1);
		NOTIFY(b, rank[y], &o2);
		cq_bench_turn(b, entries[e]);
		if ((x > y ? x : y) >= weakest[e])
			want = e == 3 ? ND_BUFFER_OVERFLOW : ND_SUCCESS;
		cr_expect(eq(i32, cq_bench_after(b, &o1), want), "%d %d %s", x, y, entries[e]);
		cr_expect(eq(i32, cq_bench_after(b, &o2), want), "%d %d %s", x, y, entries[e]);
		cq_bench_drop(b);
	}
}

/* checks R-CQ-17[1]: a thread that wakes up finds what it was woken for. */
Test(ndclient_notify, R_CQ_04_the_solicited_receive_is_there_when_the_notification_is)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};
	struct nd_result r[2];

	NOTIFY(b, SOLICITED, &ov);
	cr_assert(ndsh_cq_push(&b->daemon,
		&(struct ndsh_cqe){
			.op = NDSH_OP_RECV, .flags = NDSH_CQEF_SOLICITED, .context = 7}));
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_PENDING), "made, not published");
	cq_bench_turn(b, "");
	cr_assert(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cr_assert(eq(i32, nd_cq_get_results(&b->cq, r, 2), 1));
	cr_expect(eq(ptr, r[0].request_context, (void *)7));
	cr_expect(eq(int, r[0].request_type, ND_REQUEST_RECEIVE));
	cq_bench_drop(b);
}

/* checks R-CQ-01[1,2], R-CQ-05[1-3], R-CQ-10 */
Test(ndclient_notify, R_CQ_05_the_mark_means_nothing_unless_armed_for_it)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped any = {0}, errors = {0};

	cq_bench_turn(b, "s");
	cr_expect(not(readable(b->cq.notify_fd)), "unarmed");
	cr_expect(eq(i32, cq_bench_poll_all(b), 1));
	NOTIFY(b, ERRORS, &errors);
	cq_bench_turn(b, "s");
	cr_expect(eq(i32, cq_bench_after(b, &errors), ND_PENDING));
	nd_cq_cancel(&b->cq);
	cr_expect(eq(i32, cq_bench_poll_all(b), 1));
	NOTIFY(b, ANY, &any);
	cq_bench_turn(b, "s");
	cr_expect(eq(i32, cq_bench_after(b, &any), ND_SUCCESS));
	NOTIFY(b, ANY, &any);
	cr_expect(eq(i32, cq_bench_after(b, &any), ND_PENDING), "one event, not two");
	nd_cq_cancel(&b->cq);
	cq_bench_drop(b);
}

/* checks R-CQ-06[1,2] */
Test(ndclient_notify, R_CQ_06_good_sends_and_unmarked_receives_are_not_solicited)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	NOTIFY(b, SOLICITED, &ov);
	cq_bench_turn(b, "g");
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_PENDING));
	cq_bench_turn(b, "ugu");
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_PENDING));
	cq_bench_turn(b, "s");
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cq_bench_drop(b);
}

/*
 * checks R-CQ-13[1,2]: for SOLICITED either outcome is legal; ours looks at no type, but at arm
 * time only.
 */
Test(ndclient_notify, R_CQ_13_what_lies_there_at_arm_time_never_satisfies_errors)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	cq_bench_turn(b, "usgf");
	NOTIFY(b, ERRORS, &ov);
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_PENDING));
	nd_cq_cancel(&b->cq);
	NOTIFY(b, ANY, &ov);
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cq_bench_drop(b);
}

Test(ndclient_notify, R_CQ_16_one_event_for_three_entries)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(b, ANY, &o1);
	cq_bench_turn(b, "u");
	cq_bench_turn(b, "uu");
	cr_expect(eq(i32, cq_bench_after(b, &o1), ND_SUCCESS));
	cr_expect(eq(i32, cq_bench_poll_all(b), 3));
	NOTIFY(b, ANY, &o2);
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_PENDING), "all were taken");
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_SUCCESS));
	cq_bench_drop(b);
}

/* checks R-CQ-17[1,2]: a flush is one turn: one Notify, and one call takes the whole batch. */
Test(ndclient_notify, R_CQ_17_the_whole_turn_is_there_when_the_notification_is)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};
	struct nd_result r[3];

	NOTIFY(b, ANY, &ov);
	cq_bench_turn(b, "ff");
	cr_assert(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cr_assert(eq(i32, nd_cq_get_results(&b->cq, r, 3), 2));
	cr_expect(eq(i32, r[0].status, ND_CANCELED));
	cr_expect(eq(i32, r[1].status, ND_CANCELED));
	cq_bench_drop(b);
}

Test(ndclient_notify, R_CQ_22_queues_are_independent)
{
	struct cq_bench *one = cq_bench_make(), *other = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(one, ANY, &o1);
	NOTIFY(other, ANY, &o2);
	cq_bench_turn(one, "uo");
	cr_expect(eq(i32, cq_bench_after(one, &o1), ND_BUFFER_OVERFLOW));
	cr_expect(eq(i32, cq_bench_after(other, &o2), ND_PENDING));
	cr_expect(eq(i32, cq_bench_poll_all(other), 0));
	nd_cq_cancel(&one->cq);
	cq_bench_turn(other, "u");
	cr_expect(eq(i32, cq_bench_after(other, &o2), ND_SUCCESS));
	cq_bench_drop(one);
	cq_bench_drop(other);
}

/* checks R-CQ-02[4], R-CQ-08[1,2]: a fault before the arm and after it, for each type */
Test(ndclient_notify, T10_a_fault_satisfies_every_type)
{
	for (uint32_t type = 0; type < 3; type++) {
		struct cq_bench *b = cq_bench_make();
		struct nd_overlapped o1 = {0}, o2 = {0};

		NOTIFY(b, type, &o1);
		cq_bench_turn(b, "o");
		cr_expect(eq(i32, cq_bench_after(b, &o1), ND_BUFFER_OVERFLOW));
		NOTIFY(b, type, &o2);
		cr_expect(eq(i32, nd_overlapped_status(&o2), ND_BUFFER_OVERFLOW));
		cq_bench_drop(b);
	}
}

Test(ndclient_notify, T9_R_CQ_03_a_failed_entry_satisfies_solicited)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	NOTIFY(b, SOLICITED, &ov);
	cq_bench_turn(b, "uf");
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cq_bench_drop(b);
}

/* checks R-CQ-02[1], R-CQ-21[1], R-CQ-31[6] */
Test(ndclient_notify, T10_R_CQ_08_only_a_fault_satisfies_errors)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(b, ERRORS, &o1);
	cq_bench_turn(b, "usf");
	cr_expect(eq(i32, cq_bench_after(b, &o1), ND_PENDING));
	cq_bench_turn(b, "o");
	cr_expect(eq(i32, cq_bench_after(b, &o1), ND_BUFFER_OVERFLOW));
	NOTIFY(b, ERRORS, &o2);
	cr_expect(eq(i32, nd_overlapped_status(&o2), ND_BUFFER_OVERFLOW), "sticky");
	cr_expect(eq(i32, cq_bench_poll_all(b), 3), "what was there stays retrievable");
	cr_expect(eq(i32, cq_bench_poll_all(b), ND_BUFFER_OVERFLOW));
	cq_bench_drop(b);
}

/* checks R-CQ-34[2] */
Test(ndclient_notify, T11_R_CQ_34_cancel_is_no_notification)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(b, ANY, &o1);
	cr_expect(eq(i32, nd_cq_cancel(&b->cq), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&o1), ND_CANCELED));
	cq_bench_turn(b, "u");
	NOTIFY(b, ANY, &o2);
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_SUCCESS));
	cq_bench_drop(b);
}

/* checks R-OV-11[1] */
Test(ndclient_notify, T12_R_OV_11_cancel_of_two_and_of_none)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(b, ANY, &o1);
	NOTIFY(b, ANY, &o2);
	cr_expect(eq(i32, nd_cq_cancel(&b->cq), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&o1), ND_CANCELED));
	cr_expect(eq(i32, nd_overlapped_status(&o2), ND_CANCELED));
	cr_expect(eq(i32, nd_cq_cancel(&b->cq), ND_SUCCESS));
	cq_bench_drop(b);
}

/* checks R-CQ-20[1,2,4] */
Test(ndclient_notify, R_CQ_20_three_waiters_one_event)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov[3] = {0};

	for (int i = 0; i < 3; i++)
		NOTIFY(b, ANY, &ov[i]);
	cq_bench_turn(b, "u");
	cq_bench_serve(b);
	for (int i = 0; i < 3; i++)
		cr_expect(eq(i32, nd_overlapped_status(&ov[i]), ND_SUCCESS));
	cq_bench_turn(b, "u");
	cr_expect(not(readable(b->cq.notify_fd)), "nothing is left armed");
	cq_bench_drop(b);
}

/* checks R-CQ-35[1,3]: one waiter too many changes nothing: not even the type that is armed for. */
Test(ndclient_notify, R_CQ_35_no_room_for_another_waiter_leaves_the_arm_as_it_is)
{
	static struct nd_overlapped ov[ND_CQ_NOTIFY_MAX];
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped late = {0};

	for (uint32_t i = 0; i < ND_CQ_NOTIFY_MAX; i++)
		NOTIFY(b, SOLICITED, &ov[i]);
	cr_expect(eq(i32, nd_cq_notify(&b->cq, ANY, &late), ND_INSUFFICIENT_RESOURCES));
	cr_expect(ne(i32, nd_overlapped_status(&late), ND_PENDING));
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &ov[0]), ND_PENDING), "still armed for solicited only");
	cq_bench_turn(b, "s");
	cr_expect(eq(i32, nd_overlapped_status(&ov[0]), ND_PENDING), "fired, not told yet");
	cr_expect(eq(i32, cq_bench_poll_all(b), 2));
	NOTIFY(b, ANY, &late);
	for (uint32_t i = 0; i < ND_CQ_NOTIFY_MAX; i++)
		cr_assert(eq(i32, nd_overlapped_status(&ov[i]), ND_SUCCESS));
	cr_expect(eq(i32, cq_bench_after(b, &late), ND_PENDING));
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &late), ND_SUCCESS));
	cq_bench_drop(b);
}

/* The event is on its way when a second request comes: the first one is owed it, the second not. */
Test(ndclient_notify, a_fired_arm_is_told_by_who_joins_next)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(b, ANY, &o1);
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_poll_all(b), 1));
	NOTIFY(b, ANY, &o2);
	cr_expect(eq(i32, nd_overlapped_status(&o1), ND_SUCCESS));
	cr_expect(
		eq(i32, cq_bench_after(b, &o2), ND_PENDING), "the byte in the pipe is the first's");
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_SUCCESS));
	cq_bench_drop(b);
}

/*
 * checks R-CQ-31[2]: a request that waited ends with the fault, even if the next one finds it
 * first
 */
Test(ndclient_notify, a_fault_is_told_to_all_by_who_joins_next)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped first = {0}, second = {0};

	NOTIFY(b, ERRORS, &first);
	cq_bench_turn(b, "o");
	NOTIFY(b, ANY, &second);
	cr_expect(eq(i32, nd_overlapped_status(&first), ND_BUFFER_OVERFLOW));
	cr_expect(eq(i32, nd_overlapped_status(&second), ND_BUFFER_OVERFLOW));
	cq_bench_drop(b);
}

Test(ndclient_notify, a_cancelled_arm_that_had_fired_completes_with_success)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped o1 = {0}, o2 = {0};

	NOTIFY(b, ANY, &o1);
	cq_bench_turn(b, "u");
	nd_cq_cancel(&b->cq);
	cr_expect(eq(i32, nd_overlapped_status(&o1), ND_SUCCESS));
	cr_expect(eq(i32, cq_bench_poll_all(b), 1));
	NOTIFY(b, ANY, &o2);
	cr_expect(eq(i32, cq_bench_after(b, &o2), ND_PENDING), "a stale byte completes no request");
	nd_cq_cancel(&b->cq);
	cq_bench_drop(b);
}

Test(ndclient_notify, R_CQ_36_bad_arguments)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	cr_expect(eq(i32, nd_cq_notify(&b->cq, 3, &ov), ND_INVALID_PARAMETER_1));
	cr_expect(eq(i32, nd_cq_notify(&b->cq, ANY, NULL), ND_INVALID_PARAMETER_2));
	cr_expect(eq(i32, nd_cq_arm(&b->cq, 3), ND_INVALID_PARAMETER_1));
	b->a->gone = 1;
	cr_expect(eq(i32, nd_cq_notify(&b->cq, ANY, &ov), ND_DEVICE_REMOVED));
	cr_expect(eq(i32, nd_cq_arm(&b->cq, ANY), ND_DEVICE_REMOVED));
	cq_bench_drop(b);
}

/* ---- fd style ------------------------------------------------------------------------ */

/* checks R-CQ-01, R-CQ-09 */
Test(ndclient_fd, readable_after_the_event_until_acknowledged)
{
	struct cq_bench *b = cq_bench_make();

	cr_assert(eq(i32, nd_cq_arm(&b->cq, ANY), ND_SUCCESS));
	cr_expect(not(readable(nd_cq_fd(&b->cq))));
	cq_bench_turn(b, "u");
	cr_expect(readable(nd_cq_fd(&b->cq)));
	nd_cq_ack(&b->cq);
	cr_expect(not(readable(nd_cq_fd(&b->cq))));
	cq_bench_turn(b, "u");
	cr_expect(not(readable(nd_cq_fd(&b->cq))), "not armed");
	cq_bench_drop(b);
}

Test(ndclient_fd, readable_at_once_if_a_result_is_waiting)
{
	struct cq_bench *b = cq_bench_make();

	cq_bench_turn(b, "u");
	cr_assert(eq(i32, nd_cq_arm(&b->cq, ANY), ND_SUCCESS));
	cr_expect(readable(nd_cq_fd(&b->cq)));
	nd_cq_ack(&b->cq);
	cr_expect(not(readable(nd_cq_fd(&b->cq))));
	cr_expect(eq(i32, cq_bench_poll_all(b), 1));
	cr_assert(eq(i32, nd_cq_arm(&b->cq, ANY), ND_SUCCESS));
	cr_expect(not(readable(nd_cq_fd(&b->cq))));
	cq_bench_drop(b);
}

/* checks R-CQ-08[3] */
Test(ndclient_fd, a_fault_is_told_and_makes_it_readable)
{
	struct cq_bench *b = cq_bench_make();

	cq_bench_turn(b, "o");
	cr_expect(eq(i32, nd_cq_arm(&b->cq, ERRORS), ND_BUFFER_OVERFLOW));
	cr_expect(readable(nd_cq_fd(&b->cq)));
	cq_bench_drop(b);
}

Test(ndclient_fd, readable_when_the_daemon_is_gone)
{
	struct cq_bench *b = cq_bench_make();

	cr_assert(eq(i32, nd_cq_arm(&b->cq, ANY), ND_SUCCESS));
	close(b->daemon_fd);
	b->daemon_fd = -1;
	cr_expect(readable(nd_cq_fd(&b->cq)));
	nd_cq_ack(&b->cq);
	cr_expect(readable(nd_cq_fd(&b->cq)));
	cq_bench_drop(b);
}

Test(ndclient_fd, the_two_styles_dont_mix_at_a_time)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0};

	NOTIFY(b, ANY, &ov);
	cr_expect(eq(i32, nd_cq_arm(&b->cq, ANY), ND_INVALID_DEVICE_STATE));
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cr_expect(eq(i32, cq_bench_poll_all(b), 1));
	cr_expect(eq(i32, nd_cq_arm(&b->cq, ANY), ND_SUCCESS));
	cr_expect(eq(i32, nd_cq_notify(&b->cq, ANY, &ov), ND_INVALID_DEVICE_STATE));
	nd_cq_cancel(&b->cq);
	NOTIFY(b, ANY, &ov);
	cq_bench_turn(b, "u");
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cq_bench_drop(b);
}

/* A late acknowledgement must not swallow what the other style waits for. */
Test(ndclient_fd, acknowledging_nothing_leaves_a_pending_request_alone)
{
	struct cq_bench *b = cq_bench_make();
	struct nd_overlapped ov = {0}, more = {0};

	cr_assert(ge(int, nd_cq_fd(&b->cq), 0));
	NOTIFY(b, ANY, &ov);
	nd_cq_ack(&b->cq);
	NOTIFY(b, ANY, &more);
	cq_bench_turn(b, "u");
	nd_cq_ack(&b->cq);
	cr_expect(eq(i32, cq_bench_after(b, &ov), ND_SUCCESS));
	cr_expect(eq(i32, nd_overlapped_status(&more), ND_SUCCESS));
	cq_bench_drop(b);
}
