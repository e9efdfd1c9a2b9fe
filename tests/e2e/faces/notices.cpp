/* SPDX-License-Identifier: BSD-3-Clause */
/* Completion queues that tell of results, and those that get too many. It is b that is told. */
#include "scenarios.hpp"

static int request[8];

/* A message for b, which has come when its sender has been told so. */
static void
message(Pair &p, uint32_t flags = 0)
{
	WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
	WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8, flags));
	WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
}

/* Something goes from b to a and makes no result at b: what was to be told before has been told. */
static void
settle(Pair &p)
{
	WANT(ND_SUCCESS, p.a->receive(&request[2], 0, 8));
	WANT(ND_SUCCESS, p.b->send(&request[3], 0, 8, ND_OP_FLAG_SILENT_SUCCESS));
	WANT(ND_SUCCESS, status_of(*p.a, &request[2]));
}

/* checks R-CQ-09[1], R-CQ-12[1], R-CQ-14[1], R-CQ-15[1]: T1 to T3 of the table */
static void
taken_or_not(Pair &p)
{
	Result r;

	p.meet();
	for (unsigned i = 0; i < 2; i++) {
		WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY));
		message(p);
		WANT(ND_SUCCESS, p.b->told());
		WANT(ND_SUCCESS, polled(*p.b, &request[0]));
		CHECK(!p.b->take(&r));
	}
	message(p);
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY));
	WANT(ND_SUCCESS, p.b->told());
	WANT(ND_SUCCESS, polled(*p.b, &request[0]));
	message(p);
	WANT(ND_SUCCESS, polled(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY));
	settle(p);
	CHECK(p.b->armed());
	message(p);
	WANT(ND_SUCCESS, p.b->told());
}

/* checks R-CQ-10[1], R-CQ-11[1,2], R-CQ-12[1]: T4 and T5 of the table */
static void
old_or_new(Pair &p)
{
	p.meet();
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY));
	message(p);
	WANT(ND_SUCCESS, p.b->told());
	message(p);
	WANT(ND_SUCCESS, polled(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY));
	WANT(ND_SUCCESS, p.b->told());
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY));
	settle(p);
	CHECK(p.b->armed());
	message(p);
	WANT(ND_SUCCESS, p.b->told());
}

/* checks R-CQ-13[1,2]: a new result that nobody has taken satisfies SOLICITED, and never ERRORS. */
static void
looks_at_arms(Pair &p)
{
	p.meet();
	message(p);
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_SOLICITED));
	WANT(ND_SUCCESS, p.b->told());
	message(p);
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ERRORS));
	settle(p);
	CHECK(p.b->armed());
}

/* The stronger one of ERRORS < SOLICITED < ANY. */
static uint32_t
joined(uint32_t first, uint32_t second)
{
	if (first == ND_CQ_NOTIFY_ANY || second == ND_CQ_NOTIFY_ANY)
		return ND_CQ_NOTIFY_ANY;
	return first == ND_CQ_NOTIFY_ERRORS ? second : first;
}

static void
both_told(End &e)
{
	WANT(ND_SUCCESS, e.told(0));
	WANT(ND_SUCCESS, e.told(1));
}

/* Two that ask: what satisfies the stronger of their types ends both, and nothing less does. */
static void
two_ask(Pair &p, uint32_t first, uint32_t second)
{
	const uint32_t join = joined(first, second);

	WANT(ND_SUCCESS, p.b->arm(first, 0));
	WANT(ND_SUCCESS, p.b->arm(second, 1));
	message(p);
	WANT(ND_SUCCESS, polled(*p.b, &request[0]));
	if (join == ND_CQ_NOTIFY_ANY) {
		both_told(*p.b);
		return;
	}
	settle(p);
	CHECK(p.b->armed(0) && p.b->armed(1));
	message(p, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	WANT(ND_SUCCESS, polled(*p.b, &request[0]));
	if (join == ND_CQ_NOTIFY_SOLICITED) {
		both_told(*p.b);
		return;
	}
	settle(p);
	CHECK(p.b->armed(0) && p.b->armed(1));
}

/* checks R-CQ-18[1,2], R-CQ-19[1,2], R-CQ-20[2], R-CQ-21[1], R-CQ-06[2]: each two types. Those
 * who ask for errors alone are left, so they come last. */
static void
joined_arms(Pair &p)
{
	static const uint32_t types[] = {
		ND_CQ_NOTIFY_ANY, ND_CQ_NOTIFY_SOLICITED, ND_CQ_NOTIFY_ERRORS};

	p.meet();
	for (const uint32_t first : types)
		for (const uint32_t second : types)
			two_ask(p, first, second);
}

/* checks R-CQ-04[1], R-CQ-17[1,2], R-FL-05[2]: what is told of can be taken, all of what a flush
 * ends. */
static void
told_and_there(Pair &p)
{
	static int flushed[8];
	Result r;

	p.meet();
	for (unsigned i = 0; i < 50; i++) {
		WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_SOLICITED));
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
		WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
		WANT(ND_SUCCESS, p.b->told());
		CHECK(p.b->take(&r) && r.context == &request[0]);
		WANT(ND_SUCCESS, status_of(*p.a, &request[1]));
	}
	for (int &one : flushed)
		WANT(ND_SUCCESS, p.b->receive(&one, 0, 8));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY));
	WANT(ND_SUCCESS, p.b->flush());
	WANT(ND_SUCCESS, p.b->told());
	for (int &one : flushed)
		CHECK(p.b->take(&r) && r.context == &one && r.status == ND_CANCELED);
}

/* checks R-CQ-36: a type that does not exist arms nothing, where the call says so and where it
 * can't. */
static void
unknown_type(Pair &p)
{
	p.meet();
	WANT(p.b->word(ND_INVALID_PARAMETER_1), p.b->arm(7, 0));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ERRORS, 1));
	message(p);
	settle(p);
	CHECK(p.b->armed(1));
}

/* Messages for b, until its queue is so full that the connection ends. */
static void
too_many_results(Pair &p)
{
	Result r;

	for (unsigned i = 0; i < 100 * End::depth; i++) {
		WANT(ND_SUCCESS, p.b->receive(&request[0], 0, 8));
		WANT(ND_SUCCESS, p.a->send(&request[1], 0, 8));
		r = next(*p.a);
		if (r.status != ND_SUCCESS)
			return;
	}
	CHECK(!"it never gets full");
}

/* checks R-CQ-31[1,2,4-6], R-CQ-08[1,2], R-CQ-02[4]: results that nobody takes; those that there
 * was room for are there, and nothing behind them. */
static void
overrun(Pair &p)
{
	unsigned kept = 0;
	Result r;

	p.meet();
	const int32_t notice = p.a->notify_disconnect();
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ERRORS));
	too_many_results(p);
	WANT(ND_BUFFER_OVERFLOW, p.b->told());
	WANT(ND_SUCCESS, p.a->ended(Request::notice, notice));
	for (; p.b->take(&r); kept++)
		CHECK(r.status == ND_SUCCESS && r.context == &request[0]);
	CHECK(kept >= 4 * End::depth);
	for (unsigned i = 0; i < 2; i++) {
		const int32_t begun = p.b->arm(ND_CQ_NOTIFY_SOLICITED);
		WANT(ND_BUFFER_OVERFLOW, begun == ND_SUCCESS ? p.b->told() : begun);
	}
	CHECK(!p.b->take(&r));
}

/* checks R-RSZ-01[1,3,4,7]: what is there stays there, in a larger queue and in one that could
 * not be made smaller; and so does who waits. */
static void
resized(Pair &p)
{
	const uint32_t before = 3 * End::depth, behind = 10 * End::depth;

	p.meet();
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_SOLICITED));
	for (unsigned i = 0; i < before; i++)
		message(p);
	WANT(ND_BUFFER_OVERFLOW, p.b->resize(before / 4));
	WANT(ND_INVALID_PARAMETER, p.b->resize(p.b->limits().queue + 1));
	WANT(ND_SUCCESS, p.b->resize(before + behind + 1));
	CHECK(p.b->armed());
	for (unsigned i = 0; i < behind; i++)
		message(p);
	settle(p);
	CHECK(p.b->armed());
	message(p, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
	WANT(ND_SUCCESS, p.b->told());
	for (unsigned i = 0; i < before + behind + 1; i++)
		WANT(ND_SUCCESS, polled(*p.b, &request[0]));
}

/* checks R-CQ-20[1,2], R-CQ-21[2], R-CQ-35[1,3], R-OV-14[1]: as many as a queue keeps, of all
 * types, and one more; one result ends them all. */
static void
many_waiters(Pair &p)
{
	p.meet();
	for (uint32_t i = 0; i < End::waiters - 1; i++)
		WANT(ND_SUCCESS, p.b->arm(i % 3, i));
	WANT(ND_INSUFFICIENT_RESOURCES, p.b->arm(ND_CQ_NOTIFY_ANY, End::waiters - 1));
	settle(p);
	CHECK(p.b->armed(0) && p.b->armed(End::waiters - 2));
	message(p);
	for (uint32_t i = 0; i < End::waiters - 1; i++)
		WANT(ND_SUCCESS, p.b->told(i));
	WANT(ND_SUCCESS, polled(*p.b, &request[0]));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY, End::waiters - 1));
	settle(p);
	CHECK(p.b->armed(End::waiters - 1));
}

/* checks R-CQ-34[1,2], R-OV-10[1,2], R-OV-11[1], R-OV-07[3]: T11 and T12 of the table */
static void
canceled_waiters(Pair &p)
{
	p.meet();
	WANT(ND_SUCCESS, p.b->cancel_arms());
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY, 0));
	WANT(ND_SUCCESS, p.b->cancel_arms());
	CHECK(!p.b->armed(0));
	message(p);
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY, 1));
	WANT(ND_SUCCESS, p.b->told(1));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_ANY, 2));
	WANT(ND_SUCCESS, p.b->arm(ND_CQ_NOTIFY_SOLICITED, 3));
	WANT(ND_SUCCESS, p.b->cancel_arms());
	CHECK(!p.b->armed(2) && !p.b->armed(3));
	for (unsigned again = 0; again < 2; again++) {
		WANT(ND_CANCELED, p.b->told(0));
		WANT(ND_CANCELED, p.b->told(2));
		WANT(ND_CANCELED, p.b->told(3));
	}
}

const Scenario of_notices[] = {
	{"taken_or_not", taken_or_not},
	{"old_or_new", old_or_new},
	{"looks_at_arms", looks_at_arms},
	{"joined_arms", joined_arms},
	{"told_and_there", told_and_there},
	{"unknown_type", unknown_type},
	{"overrun", overrun},
	{"resized", resized},
	{},
};
const Scenario of_waiters[] = {
	{"many_waiters", many_waiters},
	{"canceled_waiters", canceled_waiters},
	{},
};
