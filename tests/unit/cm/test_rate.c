/* SPDX-License-Identifier: BSD-3-Clause */
/* How often a host, and a subnet, is heard. */
#include <criterion/criterion.h>

#include "rigs/cm_crowd.h"
#include "rigs/cm_flood.h"
#include "rigs/cm_net.h"

/* REQs from these hosts in turn, evenly, for so many seconds. Returns how many were looked at. */
static uint64_t
flood_heard(struct flood *f, struct roce_gid (*gid)(uint32_t n), unsigned hosts, unsigned a_second,
	unsigned seconds)
{
	const struct roce_cm_counters *n = roce_cm_counters(f->cm);
	const uint64_t over = n->rx_over_rate;
	const unsigned all = a_second * seconds;

	for (unsigned i = 0; i < all; i++) {
		const struct roce_gid from = gid(i % hosts);

		flood_req(f, &from);
		if (i % 64 == 0)
			flood_turn(f, true);
		f->now_ns += MS(1000) / a_second;
	}
	return all - (n->rx_over_rate - over);
}

/* checks W-CM-55[1,3]: what is beyond the rate is dropped, and it alone. */
Test(cm_rate, w_cm_55_a_host_is_heard_at_its_rate)
{
	struct flood f = flood_new(FLOOD_CAPACITY);

	cr_expect_eq(flood_heard(&f, cm_crowd_v4, 1, 4000, 5), 20000, "for ever");
	cr_expect_eq(flood_heard(&f, cm_crowd_v4, 1, 20000, 1), 8000 + 4000 - 1);
	cr_expect_eq(flood_heard(&f, cm_crowd_v4, 1, 20000, 2), 2 * 4000);
	cr_expect_eq(flood_heard(&f, cm_crowd_v6, 1, 8000, 2), 8000 + 2 * 4000 - 1, "another");
	cr_expect_eq(roce_cm_counters(f.cm)->rejected_invalid, 0);
	flood_free(&f);
}

/* checks W-CM-55[1]: the next token is back a 4,000th of a second after the first was taken. */
Test(cm_rate, w_cm_55_a_token_comes_back_at_its_time)
{
	struct flood f = flood_new(FLOOD_CAPACITY);
	const struct roce_cm_counters *n = roce_cm_counters(f.cm);
	const struct roce_gid from = cm_crowd_v4(1);

	for (unsigned i = 0; i < 8000; i++)
		flood_req(&f, &from);
	f.now_ns += MS(1000) / 4000 - 1;
	flood_req(&f, &from);
	cr_expect_eq(n->rx_over_rate, 1, "a nanosecond too early");
	f.now_ns += 1;
	for (unsigned i = 0; i < 2; i++)
		flood_req(&f, &from);
	cr_expect_eq(n->rx_over_rate, 2, "it is one");
	flood_free(&f);
}

/* checks W-CM-55[2] */
Test(cm_rate, w_cm_55_a_subnet_is_heard_at_eight_times_that)
{
	struct flood f = flood_new(FLOOD_CAPACITY);

	cr_expect_eq(flood_heard(&f, cm_crowd_v6, 100, 200000, 1), 8 * (8000 + 4000) - 1);
	cr_expect_eq(flood_heard(&f, cm_crowd_far, 100, 200000, 1), 200000, "as many subnets");
	cr_expect_eq(flood_heard(&f, cm_crowd_v4, 100, 200000, 1), 200000, "IPv4 has none");
	flood_free(&f);
}

/* checks W-CM-55[1,4]: each kind that asks for something new, and none of those that belong to a
 * connection. */
Test(cm_rate, w_cm_55_which_messages_take_a_token)
{
	static const enum cm_attr asks[] = {CM_ATTR_REQ, CM_ATTR_SIDR_REQ, CM_ATTR_DREQ},
				  others[] = {CM_ATTR_MRA, CM_ATTR_REJ, CM_ATTR_REP, CM_ATTR_RTU,
					  CM_ATTR_DREP, CM_ATTR_SIDR_REP};
	struct flood f = flood_new(FLOOD_CAPACITY);
	const struct roce_cm_counters *n = roce_cm_counters(f.cm);
	struct cm_mad m = {.local_id = 1, .remote_id = 1, .qpn = 2};
	struct roce_gid from;

	for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		from = cm_crowd_v4(i);
		m.attr = others[i];
		for (unsigned k = 0; k < 10000; k++)
			cm_crowd_send(f.cm, f.now_ns, &from, &f.gid, FLOOD_NIC, &m);
	}
	cr_expect_eq(n->rx_over_rate, 0);
	for (unsigned i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		const uint64_t over = n->rx_over_rate;

		from = cm_crowd_v4(100 + i);
		m.attr = asks[i];
		for (unsigned k = 0; k < 10000; k++)
			cm_crowd_send(f.cm, f.now_ns, &from, &f.gid, FLOOD_NIC, &m);
		cr_expect_eq(n->rx_over_rate - over, 2000, "%x", m.attr);
		while (roce_cm_has_work(f.cm))
			flood_turn(&f, false);
		cm_crowd_send(f.cm, f.now_ns, &from, &f.gid, FLOOD_NIC, &m);
		cr_expect_eq(n->rx_over_rate - over, 2001, "%x", m.attr);
		cr_expect_not(roce_cm_has_work(f.cm), "%x is not answered", m.attr);
	}
	flood_free(&f);
}
