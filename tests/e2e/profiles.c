/* SPDX-License-Identifier: BSD-3-Clause */
/* The points in which the two profiles differ, each in both. */
#include "meeting.h"
#include "scenarios.h"

static nd_status
either(const struct pair *p, nd_status test, nd_status doc)
{
	return p->a.profile == ND_PROFILE_DOC ? doc : test;
}

static void
fault_of_access(struct pair *p)
{
	struct nd_result result;

	pair_open(p);
	WANT(ND_SUCCESS, side_write(&p->a, &p->b, 100, nd_mr_remote_token(p->b.mr) ^ 0x5500));
	WANT(either(p, ND_ACCESS_VIOLATION, ND_REMOTE_ERROR), side_result(&p->a, &result));
	pair_close(p);
}

static void
long_message(struct pair *p)
{
	struct nd_result result;

	pair_open(p);
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_SUCCESS, side_send(&p->a, 200));
	WANT(either(p, ND_DATA_ERROR, ND_REMOTE_ERROR), side_result(&p->a, &result));
	WANT(either(p, ND_DATA_OVERRUN, ND_BUFFER_OVERFLOW), side_result(&p->b, &result));
	pair_close(p);
}

/* b's receive is cancelled by the peer's disconnect, or by its own. */
static void
peers_disconnect(struct pair *p)
{
	struct nd_overlapped told = {0}, ov = {0};
	struct nd_result result;

	pair_open(p);
	WANT(ND_SUCCESS, side_receive(&p->b, 100));
	WANT(ND_PENDING, nd_connector_notify_disconnect(p->b.connector, &told));
	WANT(ND_SUCCESS, finish(nd_connector_disconnect(p->a.connector, &ov), &ov));
	WANT(ND_SUCCESS, nd_overlapped_wait(&told, PATIENCE_MS));
	if (p->a.profile == ND_PROFILE_TEST)
		WANT(ND_CANCELED, side_result(&p->b, &result));
	else
		CHECK(side_quiet(&p->b, 300));
	WANT(ND_SUCCESS, finish(nd_connector_disconnect(p->b.connector, &ov), &ov));
	if (p->a.profile == ND_PROFILE_DOC)
		WANT(ND_CANCELED, side_result(&p->b, &result));
	pair_close(p);
}

static void
accept_given_up(struct pair *p)
{
	struct meeting m;

	meet_open(&m, p);
	meet_ask(&m, 1, 1);
	meet_get(&m);
	meet_accept(&m, 1, 1);
	WANT(ND_SUCCESS, nd_connector_reject(p->a.connector, NULL, 0));
	WANT(either(p, ND_CONNECTION_REFUSED, ND_CONNECTION_ABORTED),
		finish(m.accepting, &m.accept));
	meet_close(&m);
}

/* checks R-CONN-12[1,2], R-DISC-08[1-3] */
void
scenario_profiles(struct pair *p)
{
	for (uint32_t profile = ND_PROFILE_TEST; profile <= ND_PROFILE_DOC; profile++) {
		p->a.profile = p->b.profile = profile;
		fault_of_access(p);
		long_message(p);
		peers_disconnect(p);
		accept_given_up(p);
	}
}
